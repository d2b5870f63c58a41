// P2, P3, P4: when all has healed, a message to a person whose phones are away rings once on each that has a token, and brings the number
// of unread messages. One that is recalled at once rings at most once; then nothing of it can be read, and the number is right again.
import OrderedCollections
import PhoneCore
import StoreModel
import TidingsModel

struct FinalProbePhone: Hashable {
    var key: DeviceKey
    var mayRing: Bool
    /// By a silent push.
    var mayBeWoken = true
    /// By an alert that nobody sees: an extension can read who is signed in, and APNs delivers what is not urgent.
    var mayBeTold = true
    var icon: Int
    var shown: [Notification] = []

    struct Notification: Hashable {
        var identifier: String
        var text: String
    }
}

struct FinalProbeChecker: Checker {
    static let kinds = FactKinds(.accept, .recall, .presented, .probeEnded)

    private struct Call {
        var user: UserKey
        /// With the message, or without it once it was recalled. A level that ends later adds to it without a push.
        var unread: Int
        var isRecalled = false
    }

    private var called: OrderedDictionary<MessageID, Call> = [:]
    private var rings: OrderedDictionary<MessageID, [DeviceKey]> = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(.accept(let message, _, _, _, _, _), .accepted(let deliveries, _, _))
        where message.sender == World.caller:
            let user = UserID(message.conversation.target)
            let unread = deliveries.first { $0.user == user }?.unread ?? 0
            self.called[message.id] = Call(user: UserKey(app: message.app, user: user), unread: unread)
        case .committed(.recall, .recalled(let recall, _, let deliveries, _)):
            guard let call = self.called[recall.message] else { return }
            self.called[recall.message]?.isRecalled = true
            self.called[recall.message]?.unread =
                deliveries.first { $0.user == call.user.user }?.unread ?? call.unread
        case .presented(let record, let key) where record.isRing:
            guard !self.called.isEmpty, let message = MessageID(record.identifier), self.called[message] != nil else {
                return
            }
            self.rings[message, default: []].append(key)
        case .finalProbeEnded(let phones): self.check(phones, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func check(_ phones: [FinalProbePhone], into findings: inout Findings) {
        for (message, call) in self.called {
            for phone in phones where phone.key.user == call.user && phone.mayRing {
                let count = self.rings[message]?.count { $0 == phone.key } ?? 0
                if count > 1 || count == 0 && !call.isRecalled {
                    findings.add("P3", "\(phone.key) rang \(count) times for \(message), after everything had healed")
                } else if phone.icon != call.unread {
                    findings.add(
                        "P4", "the push to \(phone.key) left \(phone.icon) on the icon, unread were \(call.unread)")
                }
                let text = phone.shown.first { $0.identifier == message.description }?.text
                if call.isRecalled, let text, text != NotificationWords.english.recalled {
                    findings.add("recall", "\(phone.key) shows \"\(text)\" of \(message), which was recalled")
                }
            }
        }
    }
}
