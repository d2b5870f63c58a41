public import TidingsModel

// What is of interest now and never again: who types, and what is said in chat rooms.
extension ChatClient {
    /// Somebody has begun or stopped typing.
    public struct TypingChange: Hashable, Sendable {
        /// Where, as this person sees the conversation.
        public var conversation: ConversationID
        /// Who.
        public var user: UserID
        /// Whether they type now. Somebody who is not heard of for some seconds has stopped without a word.
        public var isTyping: Bool
    }

    /// Tells the others of a conversation who have it before them that the person types, or no longer. Told once for each call;
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

    /// Hears a chat room from now on, also after the connection was lost and found again, until `exitRoom` or `signOut`.
    ///
    /// - Parameters:
    ///   - room: the chat room.
    ///   - history: how many of its newest messages are wanted, 0 to 100.
    /// - Returns: them, oldest first. What is said from now on comes by `roomMessages(_:)`; make that stream first.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, and what every request throws.
    @discardableResult
    public func enterRoom(_ room: ConversationID, history: Int = 20) async throws -> [Message] {
        let answer = try await self.ask(.enterRoom(room, history: UInt32(clamping: history)))
        guard case .history(let messages, _) = answer else { throw ChatError.unexpectedAnswer }
        return messages.reversed()
    }

    /// Hears a chat room no longer.
    ///
    /// - Throws: what every request throws; without a connection nothing is heard in any case.
    public func exitRoom(_ room: ConversationID) async throws {
        do { _ = try await self.ask(.exitRoom(room)) } catch ChatError.notConnected {}
    }

    /// What is said in a chat room that was entered, from now on, in order and each message once. Chat rooms are not stored on
    /// this device. After a lost connection up to 50 of the messages that were missed follow.
    public func roomMessages(_ room: ConversationID) -> AsyncStream<Message> {
        self.outlets.signals.stream(gap: self.gap(in: .roomMessages)) { signal in
            guard case .room(let message) = signal, message.conversation == room else { return nil }
            return message
        }
    }
}

// Who is there, and who has got and read what.
extension ChatClient {
    /// Somebody who is watched has got, or read, what this person wrote to them.
    public struct ReceiptChange: Hashable, Sendable {
        /// The conversation with them, as this person sees it.
        public var conversation: ConversationID
        /// Who.
        public var user: UserID
        /// Whether it has arrived, or was read.
        public var kind: ReceiptKind
        /// The newest message it is about; earlier ones of the conversation have come as far.
        public var upTo: MessageID
    }

    /// Who has got a message of this person's own and who has read it, as of now.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed` for somebody else's message, and what every request throws.
    public func receipts(of message: MessageID) async throws -> MessageReceipts {
        guard case .receipts(let receipts) = try await self.ask(.receipts(message)) else {
            throw ChatError.unexpectedAnswer
        }
        return receipts
    }

    /// Watches people from now on, also after the connection was lost and found again, until `unwatch` or `signOut`: when they come
    /// and go (`presenceChanges`), and how far they get with what this person writes to each of them (`receiptChanges`). Who has
    /// blocked this person never seems to be there.
    ///
    /// - Parameter users: 1 to 200; at most 500 in all.
    /// - Returns: whether they are there now, sorted by person.
    /// - Throws: `ChatError.invalid`, `.notAllowed` for too many, and what every request throws.
    @discardableResult
    public func watch(_ users: [UserID]) async throws -> [Presence] {
        guard case .presence(let people) = try await self.ask(.watch(users)) else { throw ChatError.unexpectedAnswer }
        return people
    }

    /// Watches people no longer.
    ///
    /// - Throws: what every request throws; without a connection nobody is watched in any case.
    public func unwatch(_ users: [UserID]) async throws {
        do { _ = try await self.ask(.unwatch(users)) } catch ChatError.notConnected {}
    }

    /// Who of those watched has come or gone, from now on; after a lost connection, everybody's state anew.
    public var presenceChanges: AsyncStream<Presence> {
        self.outlets.signals.stream(gap: self.gap(in: .presenceChanges)) { signal in
            guard case .presence(let presence) = signal else { return nil }
            return presence
        }
    }

    /// How far those watched have got with what this person wrote to them alone, from now on. What happens without a connection
    /// is not told later: `receipts(of:)` knows it.
    public var receiptChanges: AsyncStream<ReceiptChange> {
        self.outlets.signals.stream(gap: self.gap(in: .receiptChanges)) { signal in
            guard case .receipt(let conversation, let user, let kind, let message) = signal else { return nil }
            return ReceiptChange(conversation: conversation, user: user, kind: kind, upTo: message)
        }
    }
}
