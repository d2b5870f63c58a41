import ClientCore
import TidingsClient
public import TidingsModel

/// The content of a row in the list of conversations.
public struct ConversationRow: Hashable, Sendable, Identifiable {
    /// The conversation.
    public var id: ConversationID
    /// The other person's name, or the group's.
    public var title: String
    /// The mark before the summary: it is a draft, or a message mentions this person.
    public var mark: String?
    /// The draft, or the newest message in a line.
    public var summary: String
    /// When the newest message came.
    public var time: String
    /// How many messages are unread; nil for none.
    public var badge: String?
    /// True if nothing of it rings.
    public var isMuted: Bool
    /// True if it stays at the top.
    public var isPinned: Bool
    /// True if several people are in it.
    public var isOfGroup: Bool
    /// The text that VoiceOver speaks for the whole row.
    public var spoken: String

    /// More unread messages than these are not counted out.
    static let badgeMax = 99

    static func badge(_ unread: Int) -> String? {
        unread <= 0 ? nil : unread > Self.badgeMax ? "\(Self.badgeMax)+" : "\(unread)"
    }
}

extension ConversationRow {
    /// - Parameters: title: what it is called. sender: what the sender of its newest message is called there; nil where nobody is named.
    ///   now: a moment of the wall clock in milliseconds.
    @MainActor init(_ item: ConversationSummary, title: String, sender: String?, texts: RowTexts, now: Int64) {
        let words = texts.words
        self.id = item.id
        self.title = title
        self.mark = item.draft != nil ? words.draft : item.mentions > 0 ? words.mentioned : nil
        self.summary = Self.line(
            item.draft?.text ?? Self.summary(of: item.last, sender: sender, in: texts.notifications))
        self.time = texts.time.short(item.last.message.sentAt, now: now)
        self.badge = Self.badge(item.unread)
        self.isMuted = item.level.isMuted
        self.isPinned = item.pinnedAt != nil
        self.isOfGroup = item.id.type.isGroup
        self.spoken = [
            title, item.unread > 0 ? words.filled(\.unread, "count", "\(item.unread)") : nil, self.mark, self.summary,
            self.time, self.isMuted ? words.muted : nil, self.isPinned ? words.pinned : nil,
        ].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// - Parameter inviter: what the one who invites is called.
    @MainActor init(_ invitation: Invitation, inviter: String, texts: RowTexts, now: Int64) {
        let summary = texts.words.filled(\.invites, "name", inviter)
        let time = texts.time.short(invitation.at, now: now)
        self.init(
            id: invitation.id, title: invitation.name, summary: summary, time: time, isMuted: false, isPinned: false,
            isOfGroup: invitation.id.type.isGroup, spoken: [invitation.name, summary, time].joined(separator: ", "))
    }

    private static func summary(of last: StoredMessage, sender: String?, in words: NotificationWords) -> String {
        if last.isRecalled { return words.recalled }
        // What a push says instead is for the push.
        let text = last.text.flatMap { $0.isEmpty ? nil : $0 } ?? MessageSummary.text(of: last.message, in: words)
        return sender.map { "\($0): \(text)" } ?? text
    }

    /// A row has one line.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

/// A person's action on a conversation in the list.
public enum ConversationListAction: Hashable, Sendable, CaseIterable {
    /// Reads everything.
    case markRead
    /// Keeps it at the top.
    case pin
    /// Lets it go from there.
    case unpin
    /// Lets nothing of it ring.
    case mute
    /// Lets it ring again.
    case unmute
    /// Takes it from the list until a new message comes.
    case hide

    /// Returns the actions of a swipe from the leading edge, the outermost first.
    static func leading(for item: ConversationSummary) -> [ConversationListAction] {
        (item.unread > 0 ? [.markRead] : []) + [item.pinnedAt == nil ? .pin : .unpin]
    }

    /// Returns the actions of a swipe from the trailing edge, the outermost first.
    static func trailing(for item: ConversationSummary) -> [ConversationListAction] {
        [.hide, item.level.isMuted ? .unmute : .mute]
    }

    /// Returns the actions of the menu.
    static func menu(for item: ConversationSummary) -> [ConversationListAction] {
        Self.leading(for: item) + Self.trailing(for: item).reversed()
    }

    var symbol: String {
        switch self {
        case .markRead: "envelope.open"
        case .pin: "pin"
        case .unpin: "pin.slash"
        case .mute: "bell.slash"
        case .unmute: "bell"
        case .hide: "eye.slash"
        }
    }
}

extension PersonSettings {
    /// The level of its own that lets a conversation ring: none if its kind rings.
    func levelThatRings(for type: ConversationType) -> NotificationLevel? {
        self.levels[type]?.isMuted == true ? .all : nil
    }
}

/// The list's notice about the connection; none while it is there.
enum ConnectionNotice {
    static func text(for status: ConnectionStatus, in words: ListWords) -> String? {
        switch status {
        case .connected, .suspended: nil
        case .connecting: words.connecting
        case .waiting: words.waiting
        case .disconnected: words.disconnected
        case .refused: words.refused
        }
    }
}
