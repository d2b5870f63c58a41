package import APNsModel
import OrderedCollections
package import TidingsModel

/// Ids are compared within one app and environment (APNs reference, section 17).
package struct ChannelName: Hashable, Sendable, JSONCodable {
    /// Without a suffix.
    package var bundleID: String
    package var environment: PushEnvironment
    package var id: APNsChannelID

    package init(bundleID: String, environment: PushEnvironment, id: APNsChannelID) {
        self.bundleID = bundleID
        self.environment = environment
        self.id = id
    }
}

struct BroadcastChannel: Sendable {
    var name: ChannelName
    var policy: APNsStoragePolicy
    /// The newest one, without a phone; nil for none.
    var message: AcceptedPush?
    /// The sequence number of the newest message.
    var sequence: Int64 = 0
    var metrics = BroadcastMetrics()

    /// Nil when its time is over.
    func message(_ rules: APNsService.Configuration, at now: Now) -> AcceptedPush? {
        guard let message = self.message, now.wall - message.acceptedAt < rules.channelStorageMaxSeconds * 1_000,
            message.expiration.map({ now.wall / 1_000 < $0 }) ?? true
        else { return nil }
        return message
    }
}

extension BroadcastChannel {
    var record: ServiceRecord {
        var object = self.name.json.objectValue ?? JSONObject()
        object["policy"] = .int(self.policy.rawValue)
        object["sequence"] = .int(self.sequence)
        if let message = self.message { object["message"] = message.record.json }
        return ServiceRecord(kind: .channel, key: self.name.recordKey, json: .object(object))
    }

    init?(record: JSONValue) {
        guard let name = try? ChannelName(json: record),
            let policy = record["policy"]?.intValue.flatMap({ APNsStoragePolicy(rawValue: Int($0)) }),
            let sequence = record["sequence"]?.intValue
        else { return nil }
        self.init(
            name: name, policy: policy, message: record["message"].flatMap { AcceptedPush(record: $0) },
            sequence: sequence)
        self.message?.channel = AcceptedPush.ChannelOrigin(id: name.id, policy: policy, sequence: sequence)
    }
}

extension ChannelName {
    var recordKey: String { "\(self.environment.rawValue)/\(self.bundleID)/\(self.id.rawValue)" }
}

struct ChannelStore: Sendable {
    struct App: Hashable, Sendable {
        var bundleID: String
        var environment: PushEnvironment
    }

    struct Subscriber: Hashable, Sendable {
        var phone: PhoneID
        var channel: ChannelName
    }

    private var apps: [App: OrderedDictionary<APNsChannelID, BroadcastChannel>] = [:]
    /// They never return.
    private(set) var deleted: Set<ChannelName> = []
    /// The newest sequence number that each listener has acknowledged, in the order in which they came.
    private var listeners: [ChannelName: OrderedDictionary<PhoneID, Int64>] = [:]
    private var channelsOfPhone: [PhoneID: OrderedSet<ChannelName>] = [:]
    private(set) var off: Set<String> = []

    subscript(name: ChannelName) -> BroadcastChannel? {
        get { self.apps[App(bundleID: name.bundleID, environment: name.environment)]?[name.id] }
        set { self.apps[App(bundleID: name.bundleID, environment: name.environment), default: [:]][name.id] = newValue }
    }

    /// The channels of an app, oldest first.
    // tidy: order does not leave: the channels of one app are an OrderedDictionary.
    func channels(_ app: App) -> [BroadcastChannel] { self.apps[app].map { Array($0.values) } ?? [] }

    /// By app and side, then oldest first.
    var all: [BroadcastChannel] {
        self.apps.sorted {
            ($0.key.bundleID, $0.key.environment.rawValue) < ($1.key.bundleID, $1.key.environment.rawValue)
        }
        // tidy: order does not leave: the channels of one app are an OrderedDictionary.
        .flatMap { Array($0.value.values) }
    }

    /// - Returns: the phones that listened.
    mutating func delete(_ name: ChannelName) -> [PhoneID] {
        self[name] = nil
        self.deleted.insert(name)
        let phones = self.listeners.removeValue(forKey: name).map { Array($0.keys) } ?? []
        for phone in phones { self.channelsOfPhone[phone]?.remove(name) }
        return phones
    }

    mutating func restoreDeleted(_ name: ChannelName) { self.deleted.insert(name) }

    /// - Returns: the channels that have to go.
    mutating func switchBroadcast(_ bundleID: String, isOn: Bool) -> [ChannelName] {
        guard !isOn else {
            self.off.remove(bundleID)
            return []
        }
        self.off.insert(bundleID)
        return PushEnvironment.allCases.flatMap { environment in
            self.channels(App(bundleID: bundleID, environment: environment)).map(\.name)
        }
    }

    /// - Parameter seen: the newest message the phone has acknowledged. - Returns: whether it did not listen before.
    mutating func subscribe(_ subscriber: Subscriber, seen: Int64 = 0) -> Bool {
        guard self.listeners[subscriber.channel]?[subscriber.phone] == nil else { return false }
        self.listeners[subscriber.channel, default: [:]][subscriber.phone] = seen
        self.channelsOfPhone[subscriber.phone, default: []].append(subscriber.channel)
        self[subscriber.channel]?.metrics.subscriptions += 1
        self[subscriber.channel]?.metrics.subscribers += 1
        return true
    }

    /// - Returns: whether the phone did listen.
    mutating func unsubscribe(_ subscriber: Subscriber) -> Bool {
        guard self.listeners[subscriber.channel]?.removeValue(forKey: subscriber.phone) != nil else { return false }
        self.channelsOfPhone[subscriber.phone]?.remove(subscriber.channel)
        self[subscriber.channel]?.metrics.subscribers -= 1
        return true
    }

    /// In the order in which they came.
    func listeners(of name: ChannelName) -> [PhoneID] { self.listeners[name].map { Array($0.keys) } ?? [] }

    /// In the order in which the phone came.
    func channels(of phone: PhoneID) -> [ChannelName] { self.channelsOfPhone[phone].map { Array($0) } ?? [] }

    /// The newest message, 0 for none.
    func seen(_ subscriber: Subscriber) -> Int64 { self.listeners[subscriber.channel]?[subscriber.phone] ?? 0 }

    /// - Returns: whether the message is newer than what the listener had.
    mutating func acknowledge(_ subscriber: Subscriber, sequence: Int64) -> Bool {
        guard let seen = self.listeners[subscriber.channel]?[subscriber.phone], seen < sequence else { return false }
        self.listeners[subscriber.channel]?[subscriber.phone] = sequence
        return true
    }

    func record(_ subscriber: Subscriber) -> ServiceRecord {
        var object = subscriber.channel.json.objectValue ?? JSONObject()
        object["phone"] = .string(subscriber.phone.rawValue)
        object["seen"] = .int(self.seen(subscriber))
        return ServiceRecord(kind: .subscription, key: Self.key(subscriber), json: .object(object))
    }

    static func key(_ subscriber: Subscriber) -> String {
        "\(subscriber.channel.recordKey)/\(subscriber.phone.rawValue)"
    }

    var subscriptionRecords: [ServiceRecord] {
        // tidy: order does not leave: `APNsService.records` sorts them.
        self.listeners.flatMap { channel, phones in
            phones.keys.map { self.record(Subscriber(phone: $0, channel: channel)) }
        }
    }
}
