public import Foundation
public import TidingsModel

// Who may write in a conversation, who may come in, and who is asked first. What holds of the calls in ChatClient+Conversations.swift holds
// of these.
extension ChatClient {
    /// Keeps people from writing and editing in a group, discussion or chat room: for an owner, or an admin (who cannot mute the owner or
    /// another admin). Their sends end refused with `muted`; they may still recall what they have written. It outlasts a membership.
    ///
    /// - Parameters:
    ///   - users: who.
    ///   - conversation: where.
    ///   - until: when it ends by itself, in the future; nil for when it is lifted.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`; `.invalid` for a time that is past.
    public func mute(_ users: [UserID], in conversation: ConversationID, until: Date? = nil) async throws {
        let until = until?.timeIntervalSince1970.wholeMilliseconds
        try await self.requestChange(conversation, .mute(Set(users).sorted(), until: until))
    }

    /// Lifts mutes: for those who may mute. Who is muted stands in `ConversationInfo.members`.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func unmute(_ users: [UserID], in conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .unmute(Set(users).sorted()))
    }

    /// Lets only owner and admins write, or everybody again: for an owner or admin. `ConversationInfo.onlyAdminsWrite` says how it is.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func setOnlyAdminsWrite(_ isOn: Bool, in conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .setOnlyAdminsWrite(isOn))
    }

    /// Puts people out of a chat room and keeps them out: for an owner, or an admin (who cannot ban the owner or another admin).
    ///
    /// - Parameters:
    ///   - users: who.
    ///   - room: the chat room.
    ///   - until: when it ends by itself, in the future; nil for when it is lifted.
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`; `.invalid` for a time that is past, or another kind of
    ///   conversation.
    public func ban(_ users: [UserID], from room: ConversationID, until: Date? = nil) async throws {
        let until = until?.timeIntervalSince1970.wholeMilliseconds
        try await self.requestChange(room, .ban(Set(users).sorted(), until: until))
    }

    /// Lets banned people in again: for those who may ban.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`; `.invalid` for another kind of conversation.
    public func unban(_ users: [UserID], from room: ConversationID) async throws {
        try await self.requestChange(room, .unban(Set(users).sorted()))
    }

    // MARK: Consent

    /// Sets who may make the person a member of groups and discussions without asking, on all of their devices; everybody until it is
    /// set. Others invite (`invitations`).
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func setMayBeAdded(by consent: AddingConsent) throws { try self.storeSetting(.mayBeAddedBy(consent)) }

    /// Where the person is asked to come in and has not answered, as far as this device knows, oldest first; also without a connection.
    ///
    /// Accept by `join(_:)`:
    /// ```swift
    /// for invitation in try client.invitations() where invitation.by == "alice" {
    ///     try await client.join(invitation.id)
    /// }
    /// ```
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func invitations() throws -> [Invitation] { try self.reading { try $0.invitations() } }

    /// Changes of the person's invitations, from now on, once they are in the local store. They ring nowhere and count nowhere.
    public var invitationChanges: AsyncStream<InvitationChange> {
        let person = self.userID
        return self.outlets.entries.stream(gap: self.gap(in: .invitationChanges)) { [weak self] entry in
            guard case .change(let change) = entry.body, let person = self?.userID ?? person else { return nil }
            return change.invitation(of: person)
        }
    }

    /// Declines an invitation. Nothing happens if there is none any more.
    ///
    /// - Throws: `ChatError.unknownConversation`.
    public func declineInvitation(to conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .decline)
    }

    /// Withdraws invitations: for the inviter, an owner or an admin.
    ///
    /// - Throws: `ChatError.unknownConversation`, `.notAMember`, `.notAllowed`.
    public func withdrawInvitations(of users: [UserID], to conversation: ConversationID) async throws {
        try await self.requestChange(conversation, .withdraw(Set(users).sorted()))
    }
}
