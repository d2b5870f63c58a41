/// A message of the app's backend to the app itself (S4.10–S4.12): delivered while the app is in the foreground,
/// neither counted nor shown, never pushed.
public struct CustomMessage: Hashable, Sendable, Identifiable {
    /// The message's id.
    public var id: MessageID
    /// A title, if the sender gave one.
    public var title: String?
    /// The content, as the app and its backend agreed.
    public var content: String
    /// The kind of the content, as the app and its backend agreed.
    public var contentType: String?
    /// Further values.
    public var extras: JSONObject
    /// Wall milliseconds since 1970 at which the server took it.
    public var sentAt: Int64
    /// From when on nobody is handed it any more, wall milliseconds since 1970 by the server's clock; nil for never.
    public var expiresAt: Int64?
    /// The devices of its person that a push job's message is for, sorted; empty for all of them. The server's own affair: no frame
    /// carries it.
    package var devices: [DeviceID] = []

    package func isFor(_ device: DeviceID) -> Bool { self.devices.isEmpty || self.devices.contains(device) }

    /// A custom message from its parts.
    public init(
        id: MessageID, title: String? = nil, content: String, contentType: String? = nil,
        extras: JSONObject = JSONObject(), sentAt: Int64, expiresAt: Int64? = nil
    ) {
        self.id = id
        self.title = title
        self.content = content
        self.contentType = contentType
        self.extras = extras
        self.sentAt = sentAt
        self.expiresAt = expiresAt
    }

    /// Returns true if it is delivered no more, by the server's wall clock.
    public func isExpired(at wall: Int64) -> Bool { self.expiresAt.map { $0 <= wall } ?? false }

    /// The longest title in bytes of UTF-8.
    public static let titleBytesMax = 256
    /// The largest content in bytes of UTF-8.
    public static let contentBytesMax = 32_768
    /// The longest content type in bytes of UTF-8.
    public static let contentTypeBytesMax = 128
    /// The largest extras in bytes of their JSON text.
    public static let extrasBytesMax = 8_192

    /// Throws `InvalidField` naming `title`, `content`, `content_type`, `extras` or `lifetime_ms`.
    public func validate() throws(InvalidField) {
        guard !self.content.isEmpty else { throw InvalidField(field: "content", rule: "must not be empty") }
        let sizes = [
            ("title", self.title?.utf8.count ?? 0, Self.titleBytesMax),
            ("content", self.content.utf8.count, Self.contentBytesMax),
            ("content_type", self.contentType?.utf8.count ?? 0, Self.contentTypeBytesMax),
            ("extras", JSONValue.object(self.extras).text.utf8.count, Self.extrasBytesMax),
        ]
        for (field, bytes, max) in sizes { try InvalidField.check(bytes, atMost: max, field, unit: " bytes") }
        guard let expiresAt = self.expiresAt else { return }
        let lifetime = expiresAt.subtractingReportingOverflow(self.sentAt)
        try InvalidField.check(
            !lifetime.overflow && (1...MessageDraft.lifetimeMax).contains(lifetime.partialValue), "lifetime_ms",
            "must be 1 to \(MessageDraft.lifetimeMax) milliseconds after it was sent")
    }
}
