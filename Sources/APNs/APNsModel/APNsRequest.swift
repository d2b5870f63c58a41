public import TidingsModel

/// One push to one device token: everything APNs is told (apns.md §6).
public struct APNsRequest: Hashable, Sendable {
    /// The device token in hexadecimal.
    public var token: PushToken
    /// The bundle identifier with the suffix of the push type.
    public var topic: String
    /// The kind of push.
    public var pushType: APNsPushType
    /// How urgent it is.
    public var priority: APNsPriority
    /// UNIX seconds until which APNs may store it; 0 is one attempt without storing; nil leaves APNs its 30 days.
    public var expiration: Int64?
    /// Pushes of equal value become one entry in the notification list, 1 to 64 bytes.
    public var collapseID: String?
    /// A UUID in lowercase that names the push in logs; APNs makes one if it is nil.
    public var apnsID: String?
    /// The JSON as it is sent.
    public var payload: [UInt8]
    /// The side of Apple's the token belongs to.
    public var environment: PushEnvironment

    /// A push; nothing is checked until `validate()`.
    public init(
        token: PushToken, topic: String, pushType: APNsPushType = .alert, priority: APNsPriority = .immediate,
        expiration: Int64? = nil, collapseID: String? = nil, apnsID: String? = nil, payload: [UInt8],
        environment: PushEnvironment
    ) {
        self.token = token
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.apnsID = apnsID
        self.payload = payload
        self.environment = environment
    }

    /// The largest `apns-collapse-id` in bytes (apns.md §6).
    public static let collapseIDBytesMax = 64

    /// Checks what can be checked without APNs, so that a request that must be refused is never sent.
    ///
    /// - Throws: `InvalidField` naming the field and the rule: `token` (hexadecimal, 1 to 100 bytes), `topic` (not
    ///   empty, suffix
    ///   of the push type), `priority` (10 is an error with `background`), `expiration` (0 or later), `collapse_id`
    ///   (1 to 64
    ///   bytes), `apns_id` (lowercase UUID), `payload` (not empty, 4,096 bytes, 5,120 for `voip`).
    public func validate() throws(InvalidField) {
        guard APNsFormat.isDeviceToken(self.token.rawValue.utf8) else {
            throw InvalidField(field: "token", rule: "must be 2 to 200 hexadecimal digits, an even number of them")
        }
        guard APNsFormat.isTopic(self.topic.utf8) else {
            throw InvalidField(
                field: "topic", rule: "must be 1 to 255 letters, digits, hyphens, underscores and dots")
        }
        let suffix = self.pushType.topicSuffix
        guard self.topic.utf8.count > suffix.utf8.count, self.topic.hasSuffix(suffix) else {
            throw InvalidField(field: "topic", rule: "must end with \(suffix) for push type \(self.pushType.rawValue)")
        }
        guard self.pushType.allows(self.priority) else {
            throw InvalidField(field: "priority", rule: "must be 5 or 1 for push type background")
        }
        if let expiration = self.expiration, expiration < 0 {
            throw InvalidField(field: "expiration", rule: "must be 0 or UNIX seconds")
        }
        if let collapseID = self.collapseID {
            guard APNsFormat.isCollapseID(collapseID.utf8) else {
                throw InvalidField(
                    field: "collapse_id",
                    rule: "must be 1 to \(Self.collapseIDBytesMax) bytes without control characters")
            }
        }
        if let apnsID = self.apnsID, !APNsFormat.isCanonicalUUID(apnsID.utf8) {
            throw InvalidField(field: "apns_id", rule: "must be a UUID of 32 lowercase hexadecimal digits, 8-4-4-4-12")
        }
        guard !self.payload.isEmpty else { throw InvalidField(field: "payload", rule: "must not be empty") }
        guard self.payload.count <= self.pushType.payloadBytesMax else {
            throw InvalidField(
                field: "payload",
                rule: "must be at most \(self.pushType.payloadBytesMax) bytes, got \(self.payload.count)")
        }
    }
}

/// The forms both sides check byte by byte.
public enum APNsFormat {
    /// Whether a text is a device token: hexadecimal, an even number of digits, at most 100 bytes of token (apns.md
    /// §6).
    public static func isDeviceToken(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 2 && count <= 200 && count.isMultiple(of: 2) && text.allSatisfy(Self.isHexadecimal)
    }

    /// Whether a text is a canonical UUID: 32 lowercase hexadecimal digits in the form 8-4-4-4-12 (apns.md §6).
    public static func isCanonicalUUID(_ text: some Collection<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        var position = 0
        for byte in text {
            switch position {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default: guard Self.isLowercaseHexadecimal(byte) else { return false }
            }
            position += 1
        }
        return true
    }

    /// Whether a text can be a topic: 1 to 255 letters, digits, hyphens, underscores and dots.
    public static func isTopic(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 1 && count <= 255
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether a text can be a collapse id: 1 to 64 bytes (apns.md §6) and nothing a header cannot carry.
    public static func isCollapseID(_ text: some Collection<UInt8>) -> Bool {
        let count = text.count
        return count >= 1 && count <= APNsRequest.collapseIDBytesMax && text.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Self.isLowercaseHexadecimal(byte) || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"))
    }

    private static func isLowercaseHexadecimal(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
            || (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"))
    }
}

extension APNsRequest {
    /// The value of `:path` (apns.md §6).
    public var path: String { "/3/device/\(self.token.rawValue)" }

    /// The headers of the request but `authorization`, names in lowercase; the method is POST.
    public var headerFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("apns-topic", self.topic), ("apns-push-type", self.pushType.rawValue),
            ("apns-priority", String(self.priority.rawValue)),
        ]
        if let expiration = self.expiration { fields.append(("apns-expiration", String(expiration))) }
        if let collapseID = self.collapseID { fields.append(("apns-collapse-id", collapseID)) }
        if let apnsID = self.apnsID { fields.append(("apns-id", apnsID)) }
        return fields
    }
}
