import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

@testable import ScenarioCore

/// The badge's rule (design.md §5 "Badge", S2.17–S2.20) a second time, written from its words alone.
struct BadgeModel {
    private(set) var server = 0
    private(set) var foreign = 0
    private(set) var position: LogPosition = 0
    /// Whether the app group holds a number at all (S2.20).
    private(set) var isStored = false
    /// What the icon should show.
    var icon = 0
    private(set) var stored: LogPosition = 0
    private var unreadMessages: [(id: MessageID, conversation: ConversationID, position: LogPosition)] = []
    /// What was read here before it came does not count when it comes.
    private var readUpTo: [ConversationID: LogPosition] = [:]
    let muted: Set<ConversationID>
    let person: UserID

    init(muted: Set<ConversationID>, person: UserID, stored: LogPosition) {
        self.muted = muted
        self.person = person
        self.stored = stored
    }

    var shown: Int? { self.isStored ? self.server + self.foreign : nil }
    var unread: Int { self.unreadMessages.count }

    // MARK: The local store

    mutating func stored(_ entry: LogEntry) {
        guard entry.position == self.stored + 1 else { return }
        self.stored = entry.position
        switch entry.body {
        case .message(let message):
            let conversation = message.conversation(seenBy: self.person)
            guard message.sender != self.person, message.flags.contains(.counted), !self.muted.contains(conversation),
                entry.position > self.readUpTo[conversation] ?? 0
            else { return }
            self.unreadMessages.append((message.id, conversation, entry.position))
        case .read(let conversation, let position): self.read(conversation, upTo: position)
        case .recall(let recall): self.unreadMessages.removeAll { $0.id == recall.message }
        case .custom, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown: break
        }
    }

    mutating func read(_ conversation: ConversationID, upTo position: LogPosition) {
        self.readUpTo[conversation] = max(self.readUpTo[conversation] ?? 0, position)
        self.unreadMessages.removeAll { $0.conversation == conversation && $0.position <= position }
    }

    // MARK: The rule

    /// The app stopped being active.
    mutating func resigned() {
        self.isStored = true
        self.set(self.unread, at: self.stored)
        self.foreign = 0
    }

    /// The kit shows a local notification, or the count fell while nobody looked.
    mutating func counted(_ unread: Int, at position: LogPosition) {
        guard self.isStored, position >= self.position else { return }
        self.set(unread, at: position)
    }

    /// A push with an absolute number, in the extension.
    mutating func pushed(_ absolute: Int, at position: LogPosition) {
        guard self.isStored, position > self.position else { return }
        self.set(absolute, at: position)
    }

    /// Another sender's push, in the extension.
    mutating func pushedByAnother(isRecall: Bool) {
        guard self.isStored else { return }
        self.foreign = max(-self.server, self.foreign + (isRecall ? -1 : 1))
    }

    private mutating func set(_ number: Int, at position: LogPosition) {
        self.server = number
        self.position = position
        self.foreign = max(-number, self.foreign)
    }
}
