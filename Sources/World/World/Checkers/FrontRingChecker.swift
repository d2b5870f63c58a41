// P3: what the person can have seen on the screen does not ring in the foreground, where the kit is asked and knows
// what its store has and what it has let ring there before.
import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

struct FrontRingChecker: Checker {
    static let kinds = FactKinds(.applied, .signedOut, .appStarted, .presented)

    /// How many rings a process remembers at least, before the oldest.
    private static let remembered = RingLog.capacity / 2

    /// Since when a phone's store has each message. What was deleted is not known any more.
    private var stored: [DeviceKey: [MessageID: Int64]] = [:]
    /// The messages that have rung in the foreground since the app's process began.
    private var rang: [DeviceKey: OrderedSet<MessageID>] = [:]

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
        case .signedOut(let key):
            self.stored[key] = nil
            self.rang[key] = nil
        case .appStarted(let key): self.rang[key] = nil
        case .presented(let record, let key) where record.isRing && record.reason == .willPresent:
            guard let message = MessageID(record.identifier) else { return }
            self.check(message, on: key, at: state.now.monotonic, into: &findings)
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func check(
        _ message: MessageID, on key: DeviceKey, at now: Int64, into findings: inout Findings
    ) {
        guard self.rang[key, default: []].append(message).inserted else {
            return findings.add("P3", "\(key) rings in the foreground for \(message) a second time")
        }
        if self.rang[key, default: []].count > Self.remembered { self.rang[key]?.removeFirst() }
        // What the app had answered before may be on its way to the screen.
        guard let since = self.stored[key]?[message], now - since > PersonChecker.answerTolerance else { return }
        findings.add("P3", "\(key) rings in the foreground for \(message), which its store has")
    }
}
