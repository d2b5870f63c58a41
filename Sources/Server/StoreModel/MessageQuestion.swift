package import TidingsModel

/// A search in the texts of an app's messages.
package struct MessageQuestion: Hashable, Sendable {
    package var app: AppID
    package var text: String
    /// Who wrote it, or to whom it was directed: as the other one of two, or by name.
    package var user: UserID?
    /// The conversation as `user` sees it, who must be there for a kind whose target is a peer.
    package var conversation: ConversationID?
    /// Both included, wall milliseconds.
    package var since: Int64?
    package var until: Int64?
    /// Only messages older than this one.
    package var before: MessageID?
    package var limit: Int

    package init(
        app: AppID, text: String, user: UserID? = nil, conversation: ConversationID? = nil, since: Int64? = nil,
        until: Int64? = nil, before: MessageID? = nil, limit: Int
    ) {
        self.app = app
        self.text = text
        self.user = user
        self.conversation = conversation
        self.since = since
        self.until = until
        self.before = before
        self.limit = limit
    }

    /// Everything but its words.
    package func admits(_ message: Message) -> Bool {
        guard message.app == self.app else { return false }
        if let user, !message.isDirected(to: user), message.sender != user { return false }
        if let conversation, conversation != message.conversation(seenBy: self.user ?? message.sender) { return false }
        return (self.since ?? .min)...(self.until ?? .max) ~= message.sentAt
    }
}

extension Message {
    fileprivate func isDirected(to user: UserID) -> Bool {
        self.conversation.type.targetIsPeer
            ? self.conversation.target == user.rawValue : self.recipients.contains(user)
    }
}

/// Newest first.
package struct FoundMessages: Hashable, Sendable {
    package var messages: [Message]
    package var hasMore: Bool
    /// When the newest message was accepted that has been looked at; nil before the first.
    package var indexedUntil: Int64?
    /// The store has more than was looked at.
    package var isBehind: Bool

    package init(messages: [Message], hasMore: Bool, indexedUntil: Int64?, isBehind: Bool) {
        self.messages = messages
        self.hasMore = hasMore
        self.indexedUntil = indexedUntil
        self.isBehind = isBehind
    }
}

package enum MessageSearchFault: Error, Hashable, Sendable {
    /// The text has nothing in it that is indexed.
    case noWords
    /// `before` names no message of the app.
    case unknownMessage
    /// So many messages have the words that the time for an answer is over.
    case tooSlow
    /// There is no index now, for example because its disk is full; the log says why.
    case unavailable
}

package struct SearchProgress: Hashable, Sendable {
    package var messages = 0
    /// Records of the journal that were not looked at yet.
    package var behind = 0
    package var fileBytes = 0

    package init(messages: Int = 0, behind: Int = 0, fileBytes: Int = 0) {
        self.messages = messages
        self.behind = behind
        self.fileBytes = fileBytes
    }
}
