import TidingsModel

extension ChatClient {
    /// Says what this person is called in the audiences of pushes, in place of what it was: all their devices share it.
    ///
    /// ```swift
    /// try await client.setTags(["shoes", "vip"])
    /// ```
    ///
    /// The app's backend may do the same (`PUT users/{user}/tags`); what was said last holds.
    /// - Parameter tags: out of the app's list, at most 100; empty for none.
    /// - Returns: the tags as the server has stored them: sorted, each once.
    /// - Throws: `ChatError.invalid` for a tag that is not in the app's list, or for too many, and what every request throws:
    ///   `ChatError.notSignedIn`, `.notConnected`, `.unknownOutcome`, `.tooManyRequests`, `.unavailable`.
    @discardableResult public func setTags(_ tags: [String]) async throws -> [String] {
        guard case .tags(let stored) = try await self.request(.setTags(tags)) else { throw ChatError.unexpectedAnswer }
        return stored
    }
}
