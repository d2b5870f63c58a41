public import TidingsModel

// What is not stored: typing, and messages of chat rooms.
extension ChatClient {
    /// A person has begun or stopped typing.
    public struct TypingChange: Hashable, Sendable {
        /// The conversation, as this person sees it.
        public var conversation: ConversationID
        /// Who.
        public var user: UserID
        /// True if they type now. After some seconds without a signal they count as having stopped.
        public var isTyping: Bool
    }

    /// Tells the others who have the conversation open that the person has begun or stopped typing. Sent once for each call;
    /// without a connection it is lost.
    public func setTyping(_ isTyping: Bool, in conversation: ConversationID) {
        self.engine?.post(.typingRequested(conversation, isTyping: isTyping))
    }

    /// Who types, from now on.
    public var typingChanges: AsyncStream<TypingChange> {
        self.outlets.signals.stream(gap: self.gap(in: .typingChanges)) { signal in
            guard case .typing(let conversation, let user, let isTyping) = signal else { return nil }
            return TypingChange(conversation: conversation, user: user, isTyping: isTyping)
        }
    }

    /// Receives a chat room's messages from now on, also after a reconnect, until `exitRoom` or `signOut`.
    ///
    /// - Parameters:
    ///   - room: the chat room.
    ///   - history: how many of its newest messages to return, 0 to 100.
    /// - Returns: those messages, oldest first. Later ones come from `roomMessages(_:)`; make that stream first.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, and what every request throws.
    @discardableResult
    public func enterRoom(_ room: ConversationID, history: Int = 20) async throws -> [Message] {
        let answer = try await self.request(.enterRoom(room, history: UInt32(clamping: history)))
        guard case .history(let messages, _) = answer else { throw ChatError.unexpectedAnswer }
        return messages.reversed()
    }

    /// Stops receiving a chat room's messages.
    ///
    /// - Throws: what every request throws, except for a missing connection.
    public func exitRoom(_ room: ConversationID) async throws {
        do { try await self.request(.exitRoom(room)) } catch ChatError.notConnected {}
    }

    /// The messages of an entered chat room from now on, in order and each once. Chat rooms are not stored on this device. After a
    /// reconnect up to 50 missed messages follow.
    public func roomMessages(_ room: ConversationID) -> AsyncStream<Message> {
        self.outlets.signals.stream(gap: self.gap(in: .roomMessages)) { signal in
            guard case .room(let message) = signal, message.conversation == room else { return nil }
            return message
        }
    }
}

// Presence and receipts.
extension ChatClient {
    /// A watched person has received or read what this person wrote to them.
    public struct ReceiptChange: Hashable, Sendable {
        /// The conversation with them, as this person sees it.
        public var conversation: ConversationID
        /// Who.
        public var user: UserID
        /// Received or read.
        public var kind: ReceiptKind
        /// The newest message it is about; earlier ones of the conversation are included.
        public var upTo: MessageID
    }

    /// Who has received and who has read one of this person's own messages.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed` for another person's message, and what every request throws.
    public func receipts(of message: MessageID) async throws -> MessageReceipts {
        guard case .receipts(let receipts) = try await self.request(.receipts(message)) else {
            throw ChatError.unexpectedAnswer
        }
        return receipts
    }

    /// Watches people from now on, also after a reconnect, until `unwatch` or `signOut`: when they come and go (`presenceChanges`),
    /// and how far they have received and read what this person writes to them (`receiptChanges`). Those who have blocked this
    /// person always appear absent.
    ///
    /// - Parameter users: 1 to 200; at most 500 in all.
    /// - Returns: their present state, sorted by person.
    /// - Throws: `ChatError.invalid`, `.notAllowed` for too many, and what every request throws.
    @discardableResult
    public func watch(_ users: [UserID]) async throws -> [Presence] {
        guard case .presence(let people) = try await self.request(.watch(users)) else {
            throw ChatError.unexpectedAnswer
        }
        return people
    }

    /// Stops watching people.
    ///
    /// - Throws: what every request throws, except for a missing connection.
    public func unwatch(_ users: [UserID]) async throws {
        do { try await self.request(.unwatch(users)) } catch ChatError.notConnected {}
    }

    /// Watched people who come or go from now on; after a reconnect, everybody's state.
    public var presenceChanges: AsyncStream<Presence> {
        self.outlets.signals.stream(gap: self.gap(in: .presenceChanges)) { signal in
            guard case .presence(let presence) = signal else { return nil }
            return presence
        }
    }

    /// How far watched people have received and read this person's direct messages, from now on. What happens without a
    /// connection is not sent later: ask `receipts(of:)`.
    public var receiptChanges: AsyncStream<ReceiptChange> {
        self.outlets.signals.stream(gap: self.gap(in: .receiptChanges)) { signal in
            guard case .receipt(let conversation, let user, let kind, let message) = signal else { return nil }
            return ReceiptChange(conversation: conversation, user: user, kind: kind, upTo: message)
        }
    }
}
