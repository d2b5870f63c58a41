import OrderedCollections
// Custom messages reach the app in front, in the order of the log, at most once; and those of whom nothing stands in the way, once.
import StoreModel
import TidingsModel

/// Watches what is handed over, and reads the logs at the end.
struct CustomChecker: Checker {
    private var handedOver: OrderedDictionary<DeviceKey, OrderedDictionary<MessageID, LogPosition>> = [:]

    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {
        guard case .handedOver(let messages, let isInFront, let key) = fact else { return }
        for (position, message) in messages {
            if !isInFront { findings.add("custom", "\(message.id) was handed to \(key), which is not in front") }
            if self.handedOver[key]?[message.id] != nil {
                findings.add("custom", "\(message.id) was handed to \(key) twice")
            }
            if let last = self.handedOver[key]?.elements.last?.value, position < last {
                findings.add("custom", "\(message.id) was handed to \(key) after a later one")
            }
            self.handedOver[key, default: [:]][message.id] = position
        }
    }

    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {
        for phone in ending.phones {
            let handedOver = self.handedOver[phone.key] ?? [:]
            for entry in ending.person(phone.key.user.user)?.log ?? [] {
                guard case .custom(let message) = entry.body, handedOver[message.id] == nil else { continue }
                findings.add("custom", "\(message.id) was never handed to \(phone.key)")
            }
        }
    }
}
