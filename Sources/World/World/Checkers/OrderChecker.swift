// Order: messages stand in every log in the order in which they were accepted, and one device's in the order they were written.
import OrderedCollections
import TidingsModel

struct OrderChecker: Checker {
    static let kinds = FactKinds(.written)

    private var written: OrderedDictionary<DeviceKey, OrderedDictionary<ClientMessageID, Int>> = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .written(let draft, let key) = fact else { return }
        self.written[key, default: [:]][draft.clientMessageID] = self.written[key]?.count ?? 0
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            var last = -1
            for entry in phone.disk.log {
                guard case .message(let message) = entry.body,
                    let number = state.committed.messages[message.id]?.number
                else { continue }
                if number < last {
                    findings.add("order", "\(phone.key) has \(message.id) after one that was accepted later")
                }
                last = number
            }
        }
        self.checkSenders(state, into: &findings)
    }

    private func checkSenders(_ state: CheckerState, into findings: inout Findings) {
        struct Line: Hashable {
            var device: DeviceKey
            var conversation: ConversationID
        }
        var last: OrderedDictionary<Line, Int> = [:]
        for accepted in state.committed.messages.values {
            let message = accepted.message
            guard let device = accepted.device else { continue }
            let key = DeviceKey(
                user: UserKey(app: message.app, user: accepted.author ?? message.sender), device: device)
            guard let number = self.written[key]?[message.clientMessageID] else { continue }
            let line = Line(device: key, conversation: message.conversation)
            if number < last[line] ?? -1 {
                findings.add("order", "\(message.id) of \(key) overtook one that was written earlier")
            }
            last[line] = number
        }
    }
}
