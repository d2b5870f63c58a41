// P3: what the person can have seen on the screen does not ring in the foreground, where the kit is asked and knows
// what its store has.
import ClientCore
import PhoneCore
import TidingsModel

struct FrontRingChecker: Checker {
    static let kinds = FactKinds(.applied, .signedOut, .presented)

    /// Since when a phone's store has each message. What was deleted is not known any more.
    private var stored: [DeviceKey: [MessageID: Int64]] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .applied(let entries, let key):
            for entry in entries {
                switch entry.body {
                case .message(let message): self.stored[key, default: [:]][message.id] = state.now.monotonic
                case .deletion(let deletion): for message in deletion.messages { self.stored[key]?[message] = nil }
                default: break  // tidy: the other entries bring and take no message
                }
            }
        case .signedOut(let key): self.stored[key] = nil
        case .presented(let record, let key) where record.isRing && record.reason == .willPresent:
            guard let message = MessageID(record.identifier), let since = self.stored[key]?[message] else { return }
            // What the app had answered before may be on its way to the screen.
            if state.now.monotonic - since > PersonChecker.answerTolerance {
                findings.add("P3", "\(key) rings in the foreground for \(message), which its store has")
            }
        default: break  // tidy: the other facts are other promises'
        }
    }
}
