import ClientCore
public import Foundation
public import TidingsModel

// Sending, receiving, and the local store.
extension ChatClient {
    /// Sends a text; returns when the server has it on disk (design.md P1).
    ///
    /// - Parameters:
    ///   - text: what it says.
    ///   - conversation: its conversation.
    ///   - mentions: whom it mentions, in a conversation with members.
    ///   - recipients: the members of a group or discussion it is for; empty for all of them.
    ///   - lifetime: how long it is worth a push and a place on the screen, in seconds, up to 30 days; nil for as long as the
    ///     server keeps it.
    ///   - push: how its notification looks and sounds, as far as the app lets its clients choose; nil for as usual.
    ///   - account: the account to send it as, of the conversation's kind, which is one of a service; nil for the person's own message.
    /// - Returns: the message. Sent as an account it is in the account's conversations, not in this person's.
    /// - Throws: `ChatError.invalid`, `.blocked`, `.notAMember`, `.unknownConversation`, `.refused`, and `.notAllowed` for an account
    ///   that the person does not operate: the message is not sent.
    ///   While there is no connection the call waits; the message is kept on the device and sent later, also after a restart.
    @discardableResult
    public func send(
        text: String, to conversation: ConversationID, mentions: Mentions = .none, recipients: [UserID] = [],
        lifetime: TimeInterval? = nil, push: PushOptions? = nil, as account: UserID? = nil
    ) async throws -> Message {
        try await self.send(
            content: MessageContent.text(text).json, objectName: .text, to: conversation, mentions: mentions,
            recipients: recipients, lifetime: lifetime, push: push, as: account)
    }

    /// Sends typed content: an image, a file, a place and so on; see `send(text:to:mentions:recipients:lifetime:push:as:)`. What lies
    /// on a web server is put there by the app before; the message carries its URL.
    ///
    /// - Parameters:
    ///   - content: what is sent.
    ///   - conversation: its conversation.
    ///   - flags: how it counts; nil for what is usual for the type: a command neither stays nor counts nor rings.
    ///   - pushText: the text a push shows; nil for the kind's default.
    ///   - mentions: whom it mentions, in a conversation with members.
    ///   - recipients: the members of a group or discussion it is for; empty for all of them.
    ///   - lifetime: how long it is worth a push, in seconds, up to 30 days; nil for as long as the server keeps it.
    ///   - push: how its notification looks and sounds, as far as the app lets its clients choose; nil for as usual.
    ///   - account: the account to send it as, of the conversation's kind, which is one of a service; nil for the person's own message.
    /// - Throws: also `ChatError.invalid` with a field that begins with `content.`: a URL that is none, a size below zero, a
    ///   latitude beyond a pole.
    @discardableResult
    public func send(
        _ content: MessageContent, to conversation: ConversationID, flags: MessageFlags? = nil,
        pushText: String? = nil, mentions: Mentions = .none, recipients: [UserID] = [], lifetime: TimeInterval? = nil,
        push: PushOptions? = nil, as account: UserID? = nil
    ) async throws -> Message {
        try ChatError.check(content.validate)
        return try await self.send(
            content: content.json, objectName: content.objectName, to: conversation,
            flags: flags ?? content.defaultFlags, pushText: pushText, mentions: mentions, recipients: recipients,
            lifetime: lifetime, push: push, as: account)
    }

    /// Sends an instruction to the apps of a conversation's members: it comes as a message of the type `RC:CmdMsg`, but neither
    /// stays in the history nor counts nor rings, and is never pushed.
    ///
    /// - Parameters:
    ///   - name: what is to be done, not empty.
    ///   - data: what it is to be done with.
    ///   - conversation: its conversation.
    ///   - recipients: the members of a group or discussion it is for; empty for all of them.
    /// - Throws: what `send(text:to:mentions:recipients:lifetime:push:as:)` throws.
    @discardableResult
    public func sendCommand(
        _ name: String, data: String = "", to conversation: ConversationID, recipients: [UserID] = []
    ) async throws -> Message {
        try await self.send(
            .command(MessageContent.Command(name: name, data: data)), to: conversation, recipients: recipients)
    }

    /// Sends content of any type as a JSON text; see `send(text:to:mentions:recipients:lifetime:push:as:)`.
    ///
    /// - Parameters:
    ///   - content: JSON as the object name defines it.
    ///   - objectName: the type of the content.
    ///   - conversation: its conversation.
    ///   - flags: how it counts.
    ///   - pushText: the text a push shows; nil for the kind's default.
    ///   - mentions: whom it mentions, in a conversation with members.
    ///   - recipients: the members of a group or discussion it is for; empty for all of them.
    ///   - lifetime: how long it is worth a push, in seconds, up to 30 days; nil for as long as the server keeps it.
    ///   - push: how its notification looks and sounds, as far as the app lets its clients choose; nil for as usual.
    ///   - account: the account to send it as, of the conversation's kind, which is one of a service; nil for the person's own message.
    @discardableResult
    public func send(
        content: String, objectName: ObjectName, to conversation: ConversationID, flags: MessageFlags = .normal,
        pushText: String? = nil, mentions: Mentions = .none, recipients: [UserID] = [], lifetime: TimeInterval? = nil,
        push: PushOptions? = nil, as account: UserID? = nil
    ) async throws -> Message {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        var mentions = mentions
        if case .users(let users) = mentions { mentions = .users(Set(users).sorted()) }
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(UUID().uuidString.lowercased()), conversation: conversation,
            objectName: objectName, content: content, flags: flags, pushText: pushText, mentions: mentions,
            recipients: Set(recipients).sorted(), lifetimeMilliseconds: lifetime?.wholeMilliseconds,
            push: push?.nonEmpty, account: account)
        try ChatError.check(draft.validate)
        return try await engine.send(draft)
    }

    /// Every message of the person's log from now on, own ones included, once it is in the local store.
    public var messages: AsyncStream<StoredMessage> {
        let person = self.userID
        return self.outlets.entries.stream(gap: self.gap(in: .messages)) { [weak self] entry in
            guard case .message(let message) = entry.body else { return nil }
            let seenBy = self?.userID ?? person ?? message.sender
            return StoredMessage(
                message: message, conversation: message.conversation(seenBy: seenBy), position: entry.position,
                isUnread: message.sender != seenBy && message.flags.contains(.counted),
                mentionsMe: message.mentions.include(seenBy))
        }
    }

    /// Every entry of the person's log from now on: messages, and what was read on any of the person's devices.
    public var logEntries: AsyncStream<LogEntry> { self.outlets.entries.stream(gap: self.gap(in: .logEntries)) }

    /// Messages of a conversation from the local store, oldest first.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - before: only messages before this position of the log; nil for the newest.
    ///   - limit: how many at most, 1 to 1,000.
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func history(
        conversation: ConversationID, before: LogPosition? = nil, limit: Int = 50
    ) throws -> [StoredMessage] {
        try self.reading { try $0.history(conversation, before: before, limit: min(max(1, limit), 1_000)) }
    }

    /// A message of the local store; nil for one that is not there.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func storedMessage(_ id: MessageID) throws -> StoredMessage? { try self.reading { try $0.message(id) } }

    /// Marks everything in a conversation as read, on all of the person's devices, and clears its notifications.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func markRead(_ conversation: ConversationID) throws {
        guard let position = try self.reading({ try $0.newest(conversation) }) else { return }
        self.engine?.post(.markReadRequested(conversation, upTo: position))
    }

    /// Unread messages (S2.12).
    ///
    /// - Parameter includingMuted: whether muted conversations (level `blocked`) count too; for the badge they do not.
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func unreadMessageCount(includingMuted: Bool = false) throws -> Int {
        let counts = try self.reading { try $0.counts() }
        return includingMuted ? counts.unreadWithMuted : counts.unread
    }

    /// Unread messages of one conversation, muted or not.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func unreadCount(of conversation: ConversationID) throws -> Int {
        try self.reading { try $0.counts() }.by[conversation]?.unread ?? 0
    }

    /// Unread messages that mention the person, by id or with everybody.
    ///
    /// - Parameter conversation: only of this one; nil for all, muted ones included.
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func mentionCount(of conversation: ConversationID? = nil) throws -> Int {
        let counts = try self.reading { try $0.counts() }
        guard let conversation else { return counts.mentions }
        return counts.by[conversation]?.mentions ?? 0
    }

    /// Text messages of this device that have all the words, newest first. Chinese, Japanese and Korean characters are found
    /// wherever they stand together as asked, other words by how they begin; capitals and accents make no difference.
    ///
    /// - Parameters:
    ///   - text: the words.
    ///   - conversation: only in this one; nil for everywhere.
    ///   - limit: how many at most, 1 to 1,000.
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func search(
        _ text: String, in conversation: ConversationID? = nil, limit: Int = 50
    ) throws -> [StoredMessage] {
        try self.reading { try $0.rows.search(text, in: conversation, limit: min(max(1, limit), 1_000)) }
    }
}
