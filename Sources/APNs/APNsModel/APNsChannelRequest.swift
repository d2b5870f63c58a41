public import TidingsModel

/// The id of a broadcast channel: base64 as APNs made it, compared byte by byte (APNs reference, section 17).
public struct APNsChannelID: StringIdentifier, JSONWritable {
    /// The text.
    public let rawValue: String
    /// Wraps the text unchecked; `validate()` checks it.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// The largest id in bytes; Apple leaves the length open.
    public static var bytesMax: Int { 256 }

    static let rule = "must be a channel id: base64 with padding, 4 to 256 characters"

    /// Checks the form.
    ///
    /// - Throws: `InvalidField` naming `channel_id`.
    public func validate() throws(InvalidField) {
        try InvalidField.check(APNsFormat.isChannelID(self.rawValue.utf8), "channel_id", Self.rule)
    }
}

/// APNs's storage of a channel's messages: `message-storage-policy` (APNs reference, section 17). It cannot be changed.
public enum APNsStoragePolicy: Int, Hashable, Sendable, CaseIterable {
    /// Nothing; the app may send more in return.
    case noStorage = 0
    /// The most recent one, for at most 8 hours.
    case mostRecentMessage = 1
}

/// A channel as APNs describes it.
public struct APNsChannel: Hashable, Sendable {
    /// Its id.
    public var id: APNsChannelID
    /// APNs's storage of its messages.
    public var storagePolicy: APNsStoragePolicy

    /// A channel from its parts.
    public init(id: APNsChannelID, storagePolicy: APNsStoragePolicy) {
        self.id = id
        self.storagePolicy = storagePolicy
    }
}

/// One request to the host that manages an app's broadcast channels (APNs reference, section 17).
public struct APNsChannelRequest: Hashable, Sendable {
    /// The operation asked for.
    public enum Operation: Hashable, Sendable {
        /// A new channel; an app has at most 10,000 in each environment.
        case create(APNsStoragePolicy)
        /// A channel's policy.
        case read(APNsChannelID)
        /// The end of a channel; its id never returns.
        case delete(APNsChannelID)
        /// The ids of all channels.
        case list
    }

    /// The operation asked for.
    public var operation: Operation
    /// The app's bundle identifier, without a suffix.
    public var bundleID: String
    /// A UUID that names the request in logs; APNs makes one if it is nil.
    public var requestID: String?
    /// The side of Apple's the channels belong to.
    public var environment: PushEnvironment

    /// A request; nothing is checked until `validate()`.
    public init(
        _ operation: Operation, bundleID: String, requestID: String? = nil, environment: PushEnvironment
    ) {
        self.operation = operation
        self.bundleID = bundleID
        self.requestID = requestID
        self.environment = environment
    }

    /// How many channels an app may have in each environment.
    public static let channelsMax = 10_000

    /// The value of `:method`.
    public var method: String {
        switch self.operation {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    /// The value of `:path`.
    public var path: String {
        switch self.operation {
        case .create, .read, .delete: "/1/apps/\(self.bundleID)/channels"
        case .list: "/1/apps/\(self.bundleID)/all-channels"
        }
    }

    /// The headers of the request but `authorization`, names in lowercase.
    public var headerFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        switch self.operation {
        case .read(let id), .delete(let id): fields.append(("apns-channel-id", id.rawValue))
        case .create, .list: break
        }
        if let requestID = self.requestID { fields.append(("apns-request-id", requestID)) }
        return fields
    }

    /// The JSON as it is sent; empty for every request but `create`.
    public var payload: [UInt8] {
        guard case .create(let policy) = self.operation else { return [] }
        return JSONValue.members([
            (Self.policyKey, .int(policy.rawValue)), (Self.pushTypeKey, .string(Self.pushTypeName)),
        ]).serialized
    }

    package static let policyKey = "message-storage-policy"
    package static let pushTypeKey = "push-type"
    /// The one push type there is, as Apple's page writes it; compared in whatever case.
    package static let pushTypeName = "LiveActivity"
    package static let channelsKey = "channels"

    /// Checks what can be checked without APNs, so that a request that must be refused is never sent.
    ///
    /// - Throws: `InvalidField` naming the field and the rule: `bundle_id` (form, no suffix of a push type), `request_id`
    ///   (UUID), `channel_id` (base64).
    public func validate() throws(InvalidField) {
        try Self.validate(bundleID: self.bundleID, requestID: self.requestID)
        switch self.operation {
        case .read(let id), .delete(let id): try id.validate()
        case .create, .list: break
        }
    }

    static func validate(bundleID: String, requestID: String?) throws(InvalidField) {
        try InvalidField.check(
            APNsFormat.isBundleID(bundleID), "bundle_id",
            "must be 1 to 255 letters, digits, hyphens, underscores and dots, without a push type's suffix")
        if let requestID, !APNsFormat.isUUID(requestID.utf8) {
            throw InvalidField(field: "request_id", rule: "must be a UUID, 8-4-4-4-12 hexadecimal digits")
        }
    }
}

/// How a request about channels ended.
public enum APNsChannelAnswer: Hashable, Sendable {
    /// The new channel's id.
    case created(APNsChannelID)
    /// The channel that was asked for.
    case channel(APNsChannel)
    /// The channel is gone; a stored message may still arrive.
    case deleted
    /// The ids of all channels, in the order they came.
    case list([APNsChannelID])
    /// APNs refused it.
    case refused(APNsRefusal)
    /// A status of success with something else than what was asked for: it may have been done. What is missing, in words.
    case malformed(String)

    /// Reads an answer as it came. Never fails.
    ///
    /// - Parameters:
    ///   - operation: what was asked.
    ///   - status: the value of `:status`.
    ///   - headers: names in lowercase (RFC 9113, section 8.2); of a repeated name the first counts.
    ///   - body: the bytes of the DATA frames.
    public init(
        to operation: APNsChannelRequest.Operation, status: Int, headers: some Sequence<(String, String)>,
        body: some Collection<UInt8>
    ) {
        let response = APNsResponse(status: status, headers: headers, body: body)
        if let refusal = response.refusal {
            self = .refused(refusal)
            return
        }
        switch operation {
        case .create: self = response.channelID.map { .created($0) } ?? .malformed("no header apns-channel-id")
        case .read(let id):
            let policy = (try? JSONValue(parsing: body, depthMax: 4))?[APNsChannelRequest.policyKey]?.intValue
            self =
                policy.flatMap { Int(exactly: $0) }.flatMap { APNsStoragePolicy(rawValue: $0) }.map {
                    .channel(APNsChannel(id: id, storagePolicy: $0))
                } ?? .malformed("no storage policy in the body")
        case .delete: self = .deleted
        case .list:
            let list = (try? JSONValue(parsing: body, depthMax: 4))?[APNsChannelRequest.channelsKey]?.arrayValue
            let ids = list?.compactMap { $0.stringValue }
            guard let list, let ids, ids.count == list.count else {
                self = .malformed("no list of channels in the body")
                return
            }
            self = .list(ids.map { APNsChannelID($0) })
        }
    }
}
