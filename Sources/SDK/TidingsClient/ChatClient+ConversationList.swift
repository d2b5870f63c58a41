import ClientCore
public import TidingsModel

// The list of conversations, and what the person has made of it. It applies here at once, also without a connection, and is sent to the
// server when there is one, which tells the person's other devices; a new device has it after its first connection. Of the same thing of a
// conversation the change that the server takes last holds. What the server refuses is undone and reported as `settingRefused`, but for
// drafts: these stay on this device and are told again at the next connection.
//
// No notification and no count depends on it: a hidden or archived conversation rings and counts as its level says.
extension ChatClient {
    /// A change of a conversation's settings.
    public struct ConversationSettingsChange: Hashable, Sendable {
        /// The conversation, as this person sees it.
        public var conversation: ConversationID
        /// The settings that the server has now.
        public var settings: ConversationSettings
    }

    /// The person's conversations that are neither archived nor hidden: the pinned ones first, the one pinned last before all others, then
    /// those with the newest message.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func conversations() throws -> [ConversationSummary] { try self.listed().filter { !$0.isArchived } }

    /// The person's archived conversations, in the order of `conversations()`. A new message leaves them here.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func archivedConversations() throws -> [ConversationSummary] { try self.listed().filter(\.isArchived) }

    private func listed() throws -> [ConversationSummary] {
        let wall = self.clock.now.wall
        return try self.reading { try $0.conversations(wall: wall) }
    }

    /// Pins a conversation to the top of its list, or takes it from there, on all of the person's devices.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a conversation without a valid id.
    public func setPinned(_ isPinned: Bool, for conversation: ConversationID) throws {
        try self.change(conversation, .pinned(isPinned))
    }

    /// Moves a conversation to the archive, or out of it, on all of the person's devices.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a conversation without a valid id.
    public func setArchived(_ isArchived: Bool, for conversation: ConversationID) throws {
        try self.change(conversation, .archived(isArchived))
    }

    /// Takes a conversation out of every list until a newer message comes, of anybody, or puts it back. Its messages stay.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a conversation without a valid id.
    public func setHidden(_ isHidden: Bool, for conversation: ConversationID) throws {
        guard isHidden else { return try self.change(conversation, .hidden(upTo: nil)) }
        let newest = try self.reading { try $0.newestInHistory(conversation) }
        try self.change(conversation, .hidden(upTo: newest ?? MessageID(rawValue: 0)))
    }

    /// Keeps what the person has written in a conversation and not sent, on all of their devices. Call it when the person pauses or leaves
    /// the conversation, and with nil when the message is sent: each call is a request to the server.
    ///
    /// ```swift
    /// try client.setDraft(textView.text, for: conversation)
    /// ```
    /// - Parameters:
    ///   - text: at most 4,096 bytes of UTF-8; nil or empty for nothing any more.
    ///   - conversation: the conversation.
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a longer text.
    public func setDraft(_ text: String?, for conversation: ConversationID) throws {
        try self.change(conversation, .draft(text.flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// Returns the text that the person has typed in a conversation, on any device, and not sent; nil for none.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func draft(for conversation: ConversationID) throws -> ConversationDraft? {
        try self.settings().conversations[conversation]?.draft
    }

    /// Changes of a conversation's settings by any of the person's devices, this one too: level, pin, archive, hiding and draft, from now
    /// on, once the server has taken them and they are in the local store.
    public var conversationSettingsChanges: AsyncStream<ConversationSettingsChange> {
        self.outlets.entries.stream(gap: self.gap(in: .conversationSettingsChanges)) { entry in
            guard case .conversationSettings(let conversation, let settings) = entry.body else { return nil }
            return ConversationSettingsChange(conversation: conversation, settings: settings)
        }
    }

    private func change(_ conversation: ConversationID, _ change: ConversationStateChange) throws {
        try ChatError.check { () throws(InvalidField) in try conversation.validate() }
        try ChatError.check(change.validate)
        try self.storeSetting(.state(conversation, change, at: self.clock.now.wall))
    }
}
