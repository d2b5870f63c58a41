package import TidingsModel

/// APNs reference, section 18.
package struct TopicMetrics: Hashable, Sendable {
    /// Answered with 200.
    package var accepted = 0
    package var refused = 0
    package var delivered = 0
    package var stored = 0
    package var overwritten = 0
    private var discardedByCause: [Int] = Array(repeating: 0, count: DeliveryLogEntry.DiscardCause.allCases.count)

    package func discarded(_ cause: DeliveryLogEntry.DiscardCause) -> Int {
        DeliveryLogEntry.DiscardCause.allCases.firstIndex(of: cause).map { self.discardedByCause[$0] } ?? 0
    }

    mutating func count(_ event: DeliveryLogEntry.Event) {
        switch event {
        case .accepted: self.accepted += 1
        case .refused: self.refused += 1
        case .delivered: self.delivered += 1
        case .stored: self.stored += 1
        case .overwritten: self.overwritten += 1
        case .discarded(let cause):
            if let index = DeliveryLogEntry.DiscardCause.allCases.firstIndex(of: cause) {
                self.discardedByCause[index] += 1
            }
        case .answerLost, .faulted, .held, .sent, .returned, .duplicated: break
        }
    }

    /// By the words of the delivery log; `discarded` is an object by cause.
    package var json: JSONValue {
        [
            "accepted": .int(self.accepted), "refused": .int(self.refused), "delivered": .int(self.delivered),
            "stored": .int(self.stored), "overwritten": .int(self.overwritten),
            "discarded": .members(
                DeliveryLogEntry.DiscardCause.allCases.map { ($0.rawValue, .int(self.discarded($0))) }),
        ]
    }
}

/// Topic and environment of a count; both empty for requests refused before a topic was read.
package struct MetricsKey: Hashable, Sendable, Comparable {
    /// Empty if none was read.
    package var topic: String
    package var environment: PushEnvironment

    package static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.environment.rawValue) < (right.topic, right.environment.rawValue)
    }
}

/// APNs reference, section 18.
package struct BroadcastMetrics: Hashable, Sendable, JSONCodable {
    package var published = 0
    package var delivered = 0
    package var subscriptions = 0
    package var subscribers = 0
}
