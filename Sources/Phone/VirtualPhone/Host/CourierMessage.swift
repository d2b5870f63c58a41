import APNsModel
import PhoneCore
import TidingsModel

/// One for each topic, and under the topic of Live Activities one for each activity (ios-delivery.md §12).
struct TokenRequest: Equatable {
    var topic: String
    var environment: PushEnvironment
    var activity: String?
}

struct ChannelSubscription: Equatable {
    var topic: String
    var environment: PushEnvironment
    var channel: String

    func request(isOn: Bool) -> CourierRequest {
        let id = APNsChannelID(self.channel)
        return isOn
            ? .subscribe(topic: self.topic, self.environment, channel: id)
            : .unsubscribe(topic: self.topic, self.environment, channel: id)
    }
}

extension Push {
    /// A push without a priority has that of an alert.
    init(_ push: CourierPush) {
        self.init(
            delivery: UInt64(clamping: push.delivery), topic: push.topic, payload: push.payload,
            pushType: push.pushType, priority: push.priority ?? 10, collapseID: push.collapseID,
            activity: push.activity, channel: push.channelID?.rawValue)
    }
}

/// 100 ms, doubling up to 5 s.
struct CourierBackoff: Equatable {
    private var failures = 0

    /// In milliseconds.
    mutating func next() -> Int64 {
        defer { self.failures = min(self.failures + 1, 10) }
        return BackOff(first: 100, longest: 5_000).ceiling(afterFailures: self.failures + 1)
    }

    mutating func reset() { self.failures = 0 }
}
