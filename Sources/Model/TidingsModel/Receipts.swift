/// Who has received a message and who has read it, for its sender and the app's backend. Counted by person: one
/// device is enough.
public struct MessageReceipts: Hashable, Sendable, Identifiable {
    /// The message.
    public var id: MessageID
    /// How many people it went to, without its sender.
    public var recipients: Int
    /// The people on one of whose devices it has arrived, or who have read it, sorted.
    public var delivered: [UserID]
    /// The people who have read it: their cursor of the conversation stands at it or after it. Sorted.
    public var read: [UserID]

    /// Receipts from their parts.
    public init(id: MessageID, recipients: Int, delivered: [UserID], read: [UserID]) {
        self.id = id
        self.recipients = recipients
        self.delivered = delivered
        self.read = read
    }
}

/// How far a message has come with a person.
public enum ReceiptKind: String, Hashable, Sendable, CaseIterable {
    /// On one of the person's devices.
    case delivered
    case read
}

/// The presence of a person, as their watchers are told.
public struct Presence: Hashable, Sendable, Identifiable {
    /// The person.
    public var id: UserID
    /// True if the app is in the foreground on one of their devices.
    public var isOnline: Bool
    /// Milliseconds since 1970; nil while they are online, and if unknown: the server keeps this in memory only, as
    /// long as the person has anything to do there.
    public var lastSeenAt: Int64?

    /// Presence from its parts.
    public init(id: UserID, isOnline: Bool, lastSeenAt: Int64? = nil) {
        self.id = id
        self.isOnline = isOnline
        self.lastSeenAt = lastSeenAt
    }
}
