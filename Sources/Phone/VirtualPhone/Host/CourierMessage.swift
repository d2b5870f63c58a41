import APNsModel
import PhoneCore
import TidingsModel

/// A token the phone wants of the courier: one for each topic, and under the topic of Live Activities one for each
/// activity (ios-delivery.md §12).
struct TokenRegistration: Equatable {
    /// The topic, suffix included.
    var topic: String
    var environment: PushEnvironment
    /// The Live Activity; nil for a topic's own token.
    var activity: String?
}

/// A broadcast channel the phone listens to.
struct ChannelSubscription: Equatable {
    /// The app's bundle identifier.
    var topic: String
    var environment: PushEnvironment
    /// The channel's id.
    var channel: String

    /// The request to listen to it, or no longer.
    func request(isOn: Bool) -> CourierRequest {
        let id = APNsChannelID(self.channel)
        return isOn
            ? .subscribe(topic: self.topic, self.environment, channel: id)
            : .unsubscribe(topic: self.topic, self.environment, channel: id)
    }
}

extension Push {
    /// A push as the phone takes it; one without a priority has that of an alert.
    init(_ push: CourierPush) {
        self.init(
            delivery: UInt64(clamping: push.delivery), topic: push.topic, payload: push.payload,
            pushType: push.pushType, priority: push.priority ?? 10, collapseID: push.collapseID,
            activity: push.activity, channel: push.channelID?.rawValue)
    }
}

/// How long to wait before the next attempt to connect: 100 ms, doubling up to 5 s.
struct CourierBackoff: Equatable {
    private var failures = 0

    /// The wait before the next attempt, in milliseconds.
    mutating func next() -> Int64 {
        defer { self.failures = min(self.failures + 1, 10) }
        return BackOff(first: 100, longest: 5_000).ceiling(afterFailures: self.failures + 1)
    }

    /// The connection stands.
    mutating func reset() { self.failures = 0 }
}
