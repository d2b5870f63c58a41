public import TidingsModel

// Accounts that people follow.
extension ChatClient {
    /// Follows an account, so that it may write to this person.
    ///
    /// ```swift
    /// try await client.follow(ConversationID(type: .publicService, target: "news"))
    /// ```
    ///
    /// - Parameter account: its kind and id, as the target of the conversation with it. Following it already changes nothing.
    /// - Throws: `ChatError.invalid` for a kind without accounts, `.notAllowed` for an account that is none, or whose audience is
    ///   everybody, and what every request throws.
    public func follow(_ account: ConversationID) async throws { try await self.setFollowing(account, true) }

    /// Follows an account no longer: what it sends from now on is for others. What it has sent stays.
    ///
    /// - Parameter account: its kind and id. Not following it changes nothing.
    /// - Throws: `ChatError.invalid` for a kind without accounts, and what every request throws.
    public func unfollow(_ account: ConversationID) async throws { try await self.setFollowing(account, false) }

    /// The accounts this person follows, by kind and id, sorted. An account that the app's backend has taken back is not among them.
    ///
    /// ```swift
    /// let isFollowed = try await client.followedAccounts().contains(news)
    /// ```
    ///
    /// - Throws: what every request throws: `ChatError.notSignedIn`, `.notConnected`, `.unknownOutcome`, `.tooManyRequests`,
    ///   `.unavailable`.
    public func followedAccounts() async throws -> [ConversationID] {
        guard case .following(let accounts) = try await self.request(.following) else {
            throw ChatError.unexpectedAnswer
        }
        return accounts
    }

    private func setFollowing(_ account: ConversationID, _ isFollowing: Bool) async throws {
        guard case .done = try await self.request(.setFollowing(account, isFollowing)) else {
            throw ChatError.unexpectedAnswer
        }
    }
}
