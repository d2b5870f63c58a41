public import TidingsModel

/// The JSON of a push, member by member (apns.md §13). Writing it is byte-exact: what is measured is what is sent.
public struct APNsPayload: Hashable, Sendable {
    /// The words of an alert; at least one of them must be there if the service extension shall run (apns.md §13).
    public struct Alert: Hashable, Sendable {
        /// The first line.
        public var title: String?
        /// The second line.
        public var subtitle: String?
        /// The text; shortened if the payload would not fit.
        public var body: String?

        /// The words.
        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }
    }

    /// How loudly a notification may interrupt: `interruption-level`.
    public enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
        /// Into the list without lighting the screen.
        case passive
        /// As usual.
        case active
        /// Breaks through a Focus; needs an entitlement.
        case timeSensitive = "time-sensitive"
        /// Breaks through the mute switch; needs an entitlement.
        case critical
    }

    /// The alert.
    public var alert: Alert?
    /// The absolute number on the icon, 0 or more; 0 removes it.
    public var badge: Int?
    /// A sound file of the app, or `default`.
    public var sound: String?
    /// Groups notifications: the conversation.
    public var threadID: String?
    /// A registered category, for action buttons.
    public var category: String?
    /// Run the notification service extension first.
    public var mutableContent: Bool
    /// Wake the app in the background.
    public var contentAvailable: Bool
    /// How loudly it may interrupt.
    public var interruptionLevel: InterruptionLevel?
    /// The app's own members beside `aps`, in order.
    public var custom: JSONObject

    /// A payload.
    public init(
        alert: Alert? = nil, badge: Int? = nil, sound: String? = nil, threadID: String? = nil, category: String? = nil,
        mutableContent: Bool = false, contentAvailable: Bool = false, interruptionLevel: InterruptionLevel? = nil,
        custom: JSONObject = JSONObject()
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.threadID = threadID
        self.category = category
        self.mutableContent = mutableContent
        self.contentAvailable = contentAvailable
        self.interruptionLevel = interruptionLevel
        self.custom = custom
    }

    /// What stands at the end of a shortened body.
    public static let ellipsis = "\u{2026}"

    /// The JSON in at most `bytesMax` bytes; the alert's body is shortened at the end of a character if need be, and
    /// ends with `…` then.
    ///
    /// - Parameter bytesMax: normally the push type's `payloadBytesMax`.
    /// - Throws: `InvalidField`: `payload` if it does not fit even with an empty body, `badge` if negative,
    ///   `custom.aps` if a custom
    ///   member has Apple's name.
    public func serialized(bytesMax: Int) throws(InvalidField) -> [UInt8] {
        if let badge = self.badge, badge < 0 { throw InvalidField(field: "badge", rule: "must be 0 or more") }
        guard self.custom["aps"] == nil else {
            throw InvalidField(field: "custom.aps", rule: "must not be set: aps holds Apple's members")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(bytesMax, 1_024))
        self.write(into: &bytes, body: self.alert?.body)
        guard bytes.count > bytesMax, let body = self.alert?.body, !body.isEmpty else {
            return try Self.checked(bytes, bytesMax: bytesMax)
        }
        let around = bytes.count - Self.escapedCount(body.utf8)
        let short = Self.shortened(body, bytesMax: bytesMax - around)
        bytes.removeAll(keepingCapacity: true)
        self.write(into: &bytes, body: short)
        return try Self.checked(bytes, bytesMax: bytesMax)
    }

    private static func checked(_ bytes: [UInt8], bytesMax: Int) throws(InvalidField) -> [UInt8] {
        guard bytes.count <= bytesMax else {
            throw InvalidField(
                field: "payload", rule: "must be at most \(bytesMax) bytes without the alert's body, got \(bytes.count)"
            )
        }
        return bytes
    }

    /// The longest run of whole characters that, escaped and with the ellipsis, takes at most `bytesMax` bytes; empty
    /// if none does.
    package static func shortened(_ text: String, bytesMax: Int) -> String {
        let budget = bytesMax - Self.ellipsis.utf8.count
        guard budget > 0 else { return "" }
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            let next = text.index(after: end)
            used += Self.escapedCount(text.utf8[end..<next])
            guard used <= budget else { break }
            end = next
        }
        guard end > text.startIndex else { return "" }
        return String(text[..<end]) + Self.ellipsis
    }

    /// How many bytes a text takes between the quotation marks of JSON; counts what `JSONValue.serialize` writes.
    package static func escapedCount(_ text: some Sequence<UInt8>) -> Int {
        var count = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0a, 0x0c, 0x0d: count += 2
            case 0x00..<0x20: count += 6
            default: count += 1
            }
        }
        return count
    }

    private func write(into bytes: inout [UInt8], body: String?) {
        var aps = MemberWriter()
        bytes.append(contentsOf: "{\"aps\":{".utf8)
        if let alert = self.alert {
            aps.key("alert", into: &bytes)
            bytes.append(UInt8(ascii: "{"))
            var words = MemberWriter()
            if let title = alert.title { words.text("title", title, into: &bytes) }
            if let subtitle = alert.subtitle { words.text("subtitle", subtitle, into: &bytes) }
            if let body { words.text("body", body, into: &bytes) }
            bytes.append(UInt8(ascii: "}"))
        }
        if let badge = self.badge { aps.number("badge", badge, into: &bytes) }
        if let sound = self.sound { aps.text("sound", sound, into: &bytes) }
        if let threadID = self.threadID { aps.text("thread-id", threadID, into: &bytes) }
        if let category = self.category { aps.text("category", category, into: &bytes) }
        if self.contentAvailable { aps.number("content-available", 1, into: &bytes) }
        if self.mutableContent { aps.number("mutable-content", 1, into: &bytes) }
        if let level = self.interruptionLevel { aps.text("interruption-level", level.rawValue, into: &bytes) }
        bytes.append(UInt8(ascii: "}"))
        for (key, value) in self.custom.members {
            bytes.append(UInt8(ascii: ","))
            JSONValue.string(key).serialize(into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            value.serialize(into: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

/// Writes the members of one object, with commas between them.
private struct MemberWriter {
    private var isFirst = true

    mutating func key(_ key: StaticString, into bytes: inout [UInt8]) {
        if !self.isFirst { bytes.append(UInt8(ascii: ",")) }
        self.isFirst = false
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func text(_ key: StaticString, _ value: String, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        JSONValue.string(value).serialize(into: &bytes)
    }

    mutating func number(_ key: StaticString, _ value: Int, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        JSONValue.int(value).serialize(into: &bytes)
    }
}
