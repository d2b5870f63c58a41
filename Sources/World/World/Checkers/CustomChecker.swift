// Custom messages reach the app in the foreground, in the order of the log, at most once, and once if nothing prevents
// it. None that has expired is handed over, and none that has not is passed over.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

struct CustomChecker: Checker {
    static let kinds = FactKinds(.acceptCustom, .handedOver, .probeEnded)

    private struct Sent: Hashable {
        var message: CustomMessage
        var position: LogPosition
    }

    /// A phone has the server's clock from its welcome, of which it takes none that came later than this after its
    /// hello: so much later it may still hand over what has expired, in milliseconds.
    private static let clockTolerance = ConnectionMachine.Settings().greetMilliseconds

    private var sent: OrderedDictionary<UserID, [Sent]> = [:]
    private var handedOver: OrderedDictionary<DeviceKey, OrderedDictionary<MessageID, LogPosition>> = [:]
    /// The server's wall clocks (`CheckerState.walls`) when everybody had looked at the app after healing.
    private var lastLook: [Int64] = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(.acceptCustom(let operation), .accepted(let deliveries, _, _)):
            for delivery in deliveries {
                self.sent[delivery.user, default: []].append(
                    Sent(message: operation.message, position: delivery.position))
            }
        case .handedOver(let messages, let isInForeground, let key):
            for (position, message) in messages {
                if !message.isFor(key.device) {
                    findings.add("custom", "\(message.id) was handed to \(key), and is for \(message.devices)")
                }
                if !isInForeground {
                    findings.add("custom", "\(message.id) was handed to \(key), which is not in the foreground")
                }
                if state.walls.allSatisfy({ message.isExpired(at: $0 - Self.clockTolerance) }) {
                    findings.add("custom", "\(message.id) was handed to \(key) after it had expired")
                }
                self.hand(message, at: position, to: key, in: state, into: &findings)
            }
        case .readingProbeEnded: self.lastLook = state.walls
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func hand(
        _ message: CustomMessage, at position: LogPosition, to key: DeviceKey, in state: CheckerState,
        into findings: inout Findings
    ) {
        let last = self.handedOver[key]?.elements.last?.value ?? 0
        if self.handedOver[key]?[message.id] != nil {
            findings.add("custom", "\(message.id) was handed to \(key) twice")
        }
        if position < last { findings.add("custom", "\(message.id) was handed to \(key) after a later one") }
        for passed in self.sent[key.user.user] ?? [] where passed.position > last && passed.position < position {
            guard passed.message.isFor(key.device) else { continue }
            if state.walls.allSatisfy({ !passed.message.isExpired(at: $0) }) {
                findings.add("custom", "\(passed.message.id) was passed over on \(key), and has not expired")
            } else {
                findings.reach(.expiredCustom)
            }
        }
        self.handedOver[key, default: [:]][message.id] = position
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        for phone in ending.phones {
            let handedOver = self.handedOver[phone.key] ?? [:]
            for entry in ending.person(phone.key.user.user)?.log ?? [] {
                guard case .custom(let message) = entry.body, handedOver[message.id] == nil,
                    message.isFor(phone.key.device)
                else { continue }
                // Nobody had to see what expired while all phones were put away.
                guard !self.lastLook.contains(where: { message.isExpired(at: $0) }) else { continue }
                findings.add("custom", "\(message.id) was never handed to \(phone.key)")
            }
        }
    }
}
