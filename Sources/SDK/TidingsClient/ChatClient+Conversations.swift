public import Foundation
public import TidingsModel

// Groups, discussions and chat rooms. Every call asks the server and returns when it has done it; the change itself comes to all
// members as an entry of their logs. Beside the errors each one names, all throw `ChatError.notSignedIn`, `.notConnected`,
// `.unknownOutcome`, `.tooManyRequests`, `.unavailable`, and `.invalid` for a field that breaks its rule.
extension ChatClient {
    /// Makes a group, whose owner the person becomes.
    ///
    /// - Parameters:
    ///   - name: 1 to 256 bytes.
    ///   - portrait: its image.
    ///   - members: who is in it from the start, beside the person.
    ///   - id: its id, which no other group has or had; nil draws one.
    /// - Throws: `ChatError.exists`.
    public func createGroup(
        named name: String, portrait: URL? = nil, members: [UserID] = [], id: String? = nil
    ) async throws -> ConversationID {
        try await self.create(.group, name: name, portrait: portrait, members: members, id: id)
    }

    /// Makes a discussion: every member may add others, rename it, and join by themselves. See `createGroup`.
    public func createDiscussion(
        named name: String, portrait: URL? = nil, members: [UserID] = [], id: String? = nil
    ) async throws -> ConversationID {
        try await self.create(.discussion, name: name, portrait: portrait, members: members, id: id)
    }

    /// Makes a chat room. See `createGroup`.
    public func createChatRoom(
        named name: String, portrait: URL? = nil, id: String? = nil
    ) async throws -> ConversationID {
        try await self.create(.chatRoom, name: name, portrait: portrait, members: [], id: id)
    }

    private func create(
        _ type: ConversationType, name: String, portrait: URL?, members: [UserID], id: String?
    ) async throws -> ConversationID {
        let conversation = ConversationID(type: type, target: id ?? UUID().uuidString.lowercased())
        let members = Set(members).sorted()
        try await self.change(
            conversation, .create(name: name, portrait: portrait?.absoluteString, members: members))
        return conversation
    }

    /// Adds people: an owner, an admin, in a discussion every member. Those who are in it already change nothing.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`; `.invalid` for more members than allowed.
    public func addMembers(_ users: [UserID], to conversation: ConversationID) async throws {
        try await self.change(conversation, .add(Set(users).sorted()))
    }

    /// Removes people: an owner, an admin (no owner and no other admin).
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func removeMembers(_ users: [UserID], from conversation: ConversationID) async throws {
        try await self.change(conversation, .remove(Set(users).sorted()))
    }

    /// Comes into a discussion or chat room.
    ///
    /// - Throws: `ChatError.unknownConversation`; `.notAllowed` for a group.
    public func join(_ conversation: ConversationID) async throws { try await self.change(conversation, .join) }

    /// Leaves. When the owner goes, the next admin, then the member with the smallest id, becomes owner.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`.
    public func leave(_ conversation: ConversationID) async throws { try await self.change(conversation, .leave) }

    /// Gives it another name: an owner, an admin, in a discussion every member.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func rename(_ conversation: ConversationID, to name: String) async throws {
        try await self.change(conversation, .rename(name))
    }

    /// Gives it another image, or none: who may rename may do this.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setPortrait(_ portrait: URL?, of conversation: ConversationID) async throws {
        try await self.change(conversation, .setPortrait(portrait?.absoluteString))
    }

    /// Changes what a member may do: the owner. A new owner makes the old one an admin.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setRole(_ role: MemberRole, of user: UserID, in conversation: ConversationID) async throws {
        try await self.change(conversation, .setRole(user, role))
    }

    /// What a member is called here, nil for their own name: the member, an owner, an admin.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setNickname(_ nickname: String?, of user: UserID, in conversation: ConversationID) async throws {
        try await self.change(conversation, .setNickname(user, nickname))
    }

    /// Ends it: nobody can write any more, what was written stays readable. The owner.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func dissolve(_ conversation: ConversationID) async throws {
        try await self.change(conversation, .dissolve)
    }

    /// Name, portrait and members of a group, discussion or chat room as the server has them now.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`.
    public func conversationInfo(_ conversation: ConversationID) async throws -> ConversationInfo {
        guard case .conversation(let info) = try await self.ask(.conversation(conversation)) else {
            throw ChatError.unexpectedAnswer
        }
        return info
    }

    /// The same as far as this device knows it, also without a connection; nil if it knows nothing.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func storedConversationInfo(_ conversation: ConversationID) throws -> ConversationInfo? {
        try self.reading { try $0.info(conversation) }
    }

    private func change(_ conversation: ConversationID, _ action: ConversationAction) async throws {
        _ = try await self.ask(.change(conversation, action))
    }

    // MARK: Messages that were sent

    /// Recalls a message for everybody: the person's own within the server's time for it, anybody's as an admin or owner.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`.
    public func recall(_ message: MessageID) async throws { _ = try await self.ask(.recall(message)) }

    /// Gives a text message of the person's own another text, within the server's time for it.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`.
    public func edit(_ message: MessageID, text: String) async throws {
        let stored = try self.reading { try $0.message(message) }
        let content = stored.flatMap { try? JSONValue(parsing: $0.message.content) }
        var object = content?.objectValue ?? JSONObject()
        object["content"] = .string(text)
        try await self.edit(message, content: JSONValue.object(object).text)
    }

    /// Gives a message of the person's own another content, within the server's time for it.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`; `.invalid` for an empty or oversize content.
    public func edit(_ message: MessageID, content: String) async throws {
        _ = try await self.ask(.edit(message, content: content))
    }

    /// Deletes messages for the person alone, on all their devices. Nobody else notices.
    ///
    /// - Parameters:
    ///   - messages: 1 to 100.
    ///   - conversation: where they stand.
    /// - Throws: `ChatError.unknownMessage`, `.invalid`.
    public func deleteMessages(_ messages: [MessageID], in conversation: ConversationID) async throws {
        let messages = Set(messages).sorted()
        _ = try await self.ask(.delete(Deletion(conversation: conversation, messages: messages)))
    }

    /// One page of the server's history.
    public struct HistoryPage: Hashable, Sendable {
        /// Messages, newest first.
        public var messages: [Message]
        /// Whether there are older ones: ask with `before` the last of these.
        public var hasMore: Bool
    }

    /// Messages of a conversation as the server keeps them, newest first: also those from before this device was there.
    /// Recalled and deleted ones are left out, edited ones say what they say now.
    ///
    /// - Parameters:
    ///   - conversation: the conversation.
    ///   - before: only messages before this one; nil for the newest.
    ///   - limit: how many at most, 1 to 100.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`; `.invalid` for another limit.
    public func serverHistory(
        conversation: ConversationID, before: MessageID? = nil, limit: Int = 50
    ) async throws -> HistoryPage {
        let limit = UInt32(clamping: limit)
        let answer = try await self.ask(.history(conversation, before: before, limit: limit))
        guard case .history(let messages, let hasMore) = answer else { throw ChatError.unexpectedAnswer }
        return HistoryPage(messages: messages, hasMore: hasMore)
    }
}

extension ChatError {
    /// The server has answered something else than what was asked.
    static var unexpectedAnswer: ChatError {
        .refused(
            ServerFrame.Problem(code: .unexpectedFrame, field: "answer", rule: "is not of the kind that was asked"))
    }
}
