import APNsModel
package import TidingsModel

/// A phone, named by itself when it calls the courier.
package struct PhoneID: StringIdentifier {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// One app on one phone, in one environment: what a device token stands for (apns.md §16).
package struct DeviceTopic: Hashable, Sendable {
    /// The phone.
    package var phone: PhoneID
    /// The full topic, with the suffix of the push kind if it has one.
    package var topic: String
    /// The side of Apple's.
    package var environment: PushEnvironment

    /// Names an app on a phone.
    package init(phone: PhoneID, topic: String, environment: PushEnvironment) {
        self.phone = phone
        self.topic = topic
        self.environment = environment
    }
}

/// A device token and what has become of it.
package struct RegisteredDevice: Hashable, Sendable {
    /// The token.
    package var token: PushToken
    /// What it stands for.
    package var target: DeviceTopic
    /// Wall milliseconds of its first registration.
    package var since: Int64
    /// Wall milliseconds at which it became invalid; nil while it is good.
    package var retiredAt: Int64?

    /// The device as JSON: `token`, `phone`, `topic`, `environment`, `since_ms`, `retired_ms`.
    package var json: JSONValue {
        .members([
            ("token", .string(self.token.rawValue)), ("phone", .string(self.target.phone.rawValue)),
            ("topic", .string(self.target.topic)), ("environment", .string(self.target.environment.rawValue)),
            ("since_ms", .int(self.since)), ("retired_ms", self.retiredAt.map { .int($0) } ?? .null),
        ])
    }
}

/// Every token ever given out. Retired ones are kept: they answer 410 (apns.md §11).
struct DeviceRegistry: Sendable {
    private var tokens: [PushToken: RegisteredDevice] = [:]
    private var current: [DeviceTopic: PushToken] = [:]

    /// The token of an app on a phone: the one it has, or else the drawn one.
    mutating func register(_ target: DeviceTopic, drawn: PushToken, wall: Int64) -> PushToken {
        if let token = self.current[target] { return token }
        self.tokens[drawn] = RegisteredDevice(token: drawn, target: target, since: wall, retiredAt: nil)
        self.current[target] = drawn
        return drawn
    }

    /// Ends the token of an app on a phone, if it has one.
    mutating func unregister(_ target: DeviceTopic, wall: Int64) -> RegisteredDevice? {
        guard let token = self.current[target] else { return nil }
        return self.retire(token, wall: wall)
    }

    /// Ends a token; nil if it is unknown or has ended already.
    mutating func retire(_ token: PushToken, wall: Int64) -> RegisteredDevice? {
        guard var device = self.tokens[token], device.retiredAt == nil else { return nil }
        device.retiredAt = wall
        self.tokens[token] = device
        self.current[device.target] = nil
        return device
    }

    /// Step 6 of apns.md §20: the token must be known in this environment, belong to the topic, and be good.
    func device(
        token text: String, topic: String, environment: PushEnvironment
    ) throws(Refusal) -> RegisteredDevice {
        guard let device = self.tokens[PushToken(text)] else { throw Refusal(.badDeviceToken, detail: "unknown token") }
        guard device.target.environment == environment else {
            throw Refusal(.badDeviceToken, detail: "a token of the \(device.target.environment.rawValue) environment")
        }
        guard device.target.topic == topic else {
            throw Refusal(.deviceTokenNotForTopic, detail: "a token of \(device.target.topic)")
        }
        if let retiredAt = device.retiredAt { throw Refusal(.unregistered, timestamp: retiredAt) }
        return device
    }

    /// Every token, in the order of registration, then by token.
    var devices: [RegisteredDevice] {
        self.tokens.values.sorted { ($0.since, $0.token) < ($1.since, $1.token) }
    }
}
