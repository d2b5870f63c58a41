public import Foundation
public import TidingsModel

// Groups, discussions and chat rooms. Every call returns when the server has made the change, which reaches all members as an
// entry of their logs. Besides the errors each one names, all throw `ChatError.notSignedIn`, `.notConnected`,
// `.unknownOutcome`, `.tooManyRequests`, `.unavailable`, and `.invalid` for a field that breaks its rule.
extension ChatClient {
    /// Creates a group, owned by the person.
    ///
    /// - Parameters:
    ///   - name: 1 to 256 bytes.
    ///   - portrait: its image.
    ///   - members: its first members besides the person.
    ///   - id: its id, which no other group has or had; nil draws one.
    /// - Returns: the group. Of `members`, those who may not be added without their consent are invited: they are not among the members
    ///   of `conversationInfo` until they accept.
    /// - Throws: `ChatError.exists`; `.blocked` if one of them has blocked this person.
    public func createGroup(
        named name: String, portrait: URL? = nil, members: [UserID] = [], id: String? = nil
    ) async throws -> ConversationID {
        try await self.create(.group, name: name, portrait: portrait, members: members, id: id)
    }

    /// Creates a discussion: every member may add others and rename it, and anybody may join. See `createGroup`.
    public func createDiscussion(
        named name: String, portrait: URL? = nil, members: [UserID] = [], id: String? = nil
    ) async throws -> ConversationID {
        try await self.create(.discussion, name: name, portrait: portrait, members: members, id: id)
    }

    /// Creates a chat room. See `createGroup`.
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
        try await self.requestChange(
            conversation, .create(name: name, portrait: portrait?.absoluteString, members: members))
        return conversation
    }

    /// Adds people: for an owner or admin, in a discussion for every member. Present members are skipped.
    ///
    /// - Returns: those who may not be added without their consent (`setMayBeAdded`): they are invited instead. Sorted.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`; `.blocked` if one of them has blocked this person;
    ///   `.invalid` for more members than allowed.
    @discardableResult
    public func addMembers(_ users: [UserID], to conversation: ConversationID) async throws -> [UserID] {
        guard
            case .invited(let invited, _) = try await self.requestChange(conversation, .add(Set(users).sorted()))
        else { return [] }
        return invited
    }

    /// Removes people: for an owner, or an admin (who cannot remove the owner or another admin).
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func removeMembers(_ users: [UserID], from conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .remove(Set(users).sorted()))
    }

    /// Joins a discussion or chat room, or accepts an invitation (`invitations`).
    ///
    /// - Throws: `ChatError.unknownConversation`; `.notAllowed` for a group the person is not invited to.
    public func join(_ conversation: ConversationID) async throws { try await self.requestChange(conversation, .join) }

    /// Leaves. When the owner leaves, the next admin, else the member with the smallest id, becomes owner.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`.
    public func leave(_ conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .leave)
    }

    /// Renames it: for an owner or admin, in a discussion for every member.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func rename(_ conversation: ConversationID, to name: String) async throws {
        try await self.requestChange(conversation, .rename(name))
    }

    /// Sets or removes its image: for those who may rename it.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setPortrait(_ portrait: URL?, of conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .setPortrait(portrait?.absoluteString))
    }

    /// Changes what a member may do: for the owner. A new owner makes the old one an admin.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setRole(_ role: MemberRole, of user: UserID, in conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .setRole(user, role))
    }

    /// Sets what a member is called here, nil for their own name: for the member, an owner or an admin, where the app lets people choose
    /// (`app.ID.own_profiles`, docs/server/configuration.md).
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setNickname(_ nickname: String?, of user: UserID, in conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .setNickname(user, nickname))
    }

    /// Dissolves it, for the owner: nobody can write any more; its messages stay readable.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func dissolve(_ conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .dissolve)
    }

    /// Name, portrait and members of a group, discussion or chat room as the server has them now.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`.
    public func conversationInfo(_ conversation: ConversationID) async throws -> ConversationInfo {
        guard case .conversation(let info) = try await self.request(.conversation(conversation)) else {
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

    @discardableResult
    func requestChange(_ conversation: ConversationID, _ action: ConversationAction) async throws -> ClientAnswer {
        try await self.request(.change(conversation, action))
    }

    // MARK: Messages that were sent

    /// Recalls a message for everybody: the person's own within the server's time limit, anybody's as an admin or owner.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`.
    public func recall(_ message: MessageID) async throws { try await self.request(.recall(message)) }

    /// Changes the text of one of the person's own messages, within the server's time limit.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`, `.muted`.
    public func edit(_ message: MessageID, text: String) async throws {
        let stored = try self.reading { try $0.message(message) }
        let content = stored.flatMap { try? JSONValue(parsing: $0.message.content) }
        var object = content?.objectValue ?? JSONObject()
        object["content"] = .string(text)
        try await self.edit(message, content: JSONValue.object(object).text)
    }

    /// Changes the content of one of the person's own messages, within the server's time limit.
    ///
    /// - Throws: `ChatError.unknownMessage`, `.notAllowed`, `.tooLate`, `.muted`; `.invalid` for an empty or oversize content.
    public func edit(_ message: MessageID, content: String) async throws {
        try await self.request(.edit(message, content: content))
    }

    /// Deletes messages for the person alone, on all their devices. Nobody else notices.
    ///
    /// - Parameters:
    ///   - messages: 1 to 100.
    ///   - conversation: their conversation.
    /// - Throws: `ChatError.unknownMessage`, `.invalid`.
    public func deleteMessages(_ messages: [MessageID], in conversation: ConversationID) async throws {
        let messages = Set(messages).sorted()
        try await self.request(.delete(Deletion(conversation: conversation, messages: messages)))
    }

    /// One page of the server's history.
    public struct HistoryPage: Hashable, Sendable {
        /// Messages, newest first.
        public var messages: [Message]
        /// True if there are older ones: ask with `before` the last of these.
        public var hasMore: Bool
    }

    /// Messages of a conversation on the server, newest first, also those from before this device signed in. Recalled and
    /// deleted ones are left out, edited ones have their new content.
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
        let answer = try await self.request(.history(conversation, before: before, limit: limit))
        guard case .history(let messages, let hasMore) = answer else { throw ChatError.unexpectedAnswer }
        return HistoryPage(messages: messages, hasMore: hasMore)
    }
}
