package import APNsModel
package import TidingsModel

/// The target of a device token (APNs reference, section 16). Each Live Activity of an app has a token of its own under the one topic
/// (section 13).
package struct DeviceTopic: Hashable, Sendable, JSONCodable {
    package var phone: PhoneID
    package var topic: String
    package var environment: PushEnvironment
    /// Nil for every token that is no Live Activity's, push-to-start's included.
    package var activity: String?

    package static let leftOutMembers = ["activity"]

    package init(phone: PhoneID, topic: String, environment: PushEnvironment, activity: String? = nil) {
        self.phone = phone
        self.topic = topic
        self.environment = environment
        self.activity = activity
    }

    var app: DeviceTopic { self.with(activity: nil) }

    func with(activity: String?) -> DeviceTopic {
        var other = self
        other.activity = activity
        return other
    }
}

package struct RegisteredDevice: Hashable, Sendable, JSONCodable {
    package var token: PushToken
    package var target: DeviceTopic
    /// Wall milliseconds.
    package var since: Int64
    /// Wall milliseconds; nil while it is good.
    package var retiredAt: Int64?
    package var end: TokenEnd?
    /// Pushes that are still accepted after its end, and discarded.
    package var acceptedYet = 0

    private enum CodingKeys: String, CodingKey {
        case token
        case target = ""
        case since = "since_ms"
        case retiredAt = "retired_ms"
        case end
    }
    package static let leftOutMembers = ["end"]
}

extension RegisteredDevice {
    var record: ServiceRecord {
        var object = self.json.objectValue ?? JSONObject()
        if self.acceptedYet > 0 { object["accepted_yet"] = .int(self.acceptedYet) }
        return ServiceRecord(kind: .device, key: self.token.rawValue, json: .object(object))
    }

    init?(record: JSONValue) {
        guard let device = try? RegisteredDevice(json: record) else { return nil }
        self = device
        self.acceptedYet = record["accepted_yet"]?.intValue.map { Int($0) } ?? 0
    }
}

/// Retired tokens are kept: they answer 410 (APNs reference, section 11).
struct DeviceRegistry: Sendable {
    private var tokens: [PushToken: RegisteredDevice] = [:]
    private var current: [DeviceTopic: PushToken] = [:]
    private var activities: [DeviceTopic: Set<String>] = [:]

    /// The device an app has on a phone, or a new one with the drawn token; nil if that token stands for something
    /// else already.
    mutating func register(
        _ target: DeviceTopic, drawn: PushToken, wall: Int64
    ) -> (device: RegisteredDevice, isNew: Bool)? {
        if let token = self.current[target], let device = self.tokens[token] { return (device, false) }
        guard self.tokens[drawn] == nil else { return nil }
        let device = RegisteredDevice(token: drawn, target: target, since: wall)
        self.tokens[drawn] = device
        self.use(device)
        return (device, true)
    }

    func token(of target: DeviceTopic) -> PushToken? { self.current[target] }

    mutating func restore(_ device: RegisteredDevice) {
        self.tokens[device.token] = device
        if device.retiredAt == nil { self.use(device) }
    }

    private mutating func use(_ device: RegisteredDevice) {
        self.current[device.target] = device.token
        if let activity = device.target.activity {
            self.activities[device.target.app, default: []].insert(activity)
        }
    }

    /// The token of one Live Activity, or of an app's topic and of those that are it with a suffix, with those of
    /// every Live Activity.
    mutating func unregister(_ target: DeviceTopic, wall: Int64, acceptedYet: Int) -> [RegisteredDevice] {
        var ended = [target]
        if target.activity == nil {
            for suffix in APNsPushType.allCases.map(\.topicSuffix) where !suffix.isEmpty {
                let app = DeviceTopic(
                    phone: target.phone, topic: target.topic + suffix, environment: target.environment)
                ended.append(app)
                ended += (self.activities[app] ?? []).sorted().map { app.with(activity: $0) }
            }
        }
        return ended.compactMap { target in
            self.current[target].flatMap { self.retire($0, .unregistered, wall: wall, acceptedYet: acceptedYet) }
        }
    }

    /// Nil if it is unknown or has ended already.
    mutating func retire(
        _ token: PushToken, _ end: TokenEnd, wall: Int64, acceptedYet: Int
    ) -> RegisteredDevice? {
        guard var device = self.tokens[token], device.retiredAt == nil else { return nil }
        device.retiredAt = wall
        device.end = end
        device.acceptedYet = acceptedYet
        self.tokens[token] = device
        self.current[device.target] = nil
        if let activity = device.target.activity { self.activities[device.target.app]?.remove(activity) }
        return device
    }

    /// Step 6 of APNs reference, section 20: the token must be known in this environment, belong to the topic, and be
    /// good, or not have ended long ago.
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
        guard let retiredAt = device.retiredAt, device.acceptedYet == 0 else { return device }
        throw Refusal(device.end == .expired ? .expiredToken : .unregistered, timestamp: retiredAt)
    }

    mutating func acceptedAfterEnd(_ token: PushToken) -> RegisteredDevice? {
        guard var device = self.tokens[token], device.acceptedYet > 0 else { return nil }
        device.acceptedYet -= 1
        self.tokens[token] = device
        return device
    }

    /// In the order of registration, then by token.
    var devices: [RegisteredDevice] {
        self.tokens.values.sorted { ($0.since, $0.token) < ($1.since, $1.token) }
    }
}
