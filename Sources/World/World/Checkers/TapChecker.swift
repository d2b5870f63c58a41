// P5: a tap opens the right conversation once, unless something happened to the phone.
import OrderedCollections
import TidingsModel

struct TapChecker: Checker {
    static let kinds = FactKinds(.tapped, .disturbed, .appEnded, .opened)

    private struct Tap: Hashable {
        var message: MessageID
        var isOpened = false
        var isExcused = false
    }

    private var taps: OrderedDictionary<DeviceKey, [Tap]> = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .tapped(let message, let key): self.taps[key, default: []].append(Tap(message: message))
        case .disturbed(let key), .appEnded(let key):
            for index in self.taps[key]?.indices ?? 0..<0 { self.taps[key]?[index].isExcused = true }
        case .opened(let conversation, let message, let key):
            guard let index = self.taps[key]?.firstIndex(where: { $0.message == message && !$0.isOpened }) else {
                findings.add("P5", "\(key) opened \(conversation) for \(message) without a tap, or once more")
                return
            }
            self.taps[key]?[index].isOpened = true
            let right = state.committed.messages[message]?.message.conversation(seenBy: key.user.user)
            if conversation != right {
                findings.add(
                    "P5", "\(key) opened \(conversation) for \(message) instead of \(String(describing: right))")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for (key, taps) in self.taps {
            for tap in taps where !tap.isOpened && !tap.isExcused {
                findings.add("P5", "\(key) opened nothing for a tap on \(tap.message)")
            }
        }
    }
}
