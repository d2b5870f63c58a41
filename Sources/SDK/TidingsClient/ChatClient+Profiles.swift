public import TidingsModel

// What people are called, as the server knows it.
extension ChatClient {
    /// Returns names and portraits of people and accounts, as the app's backend or they themselves have set them.
    ///
    /// - Parameter users: 1 to 100.
    /// - Returns: in the order asked; an empty profile for a person of whom the server knows nothing.
    /// - Throws: `ChatError.invalid`, and what every request throws.
    public func profiles(of users: [UserID]) async throws -> [UserProfile] {
        guard case .profiles(let profiles) = try await self.request(.profiles(users)) else {
            throw ChatError.unexpectedAnswer
        }
        return profiles
    }

    /// Sets this person's own profile, in place of what it was.
    ///
    /// - Throws: `ChatError.invalid` for a name that is no `DisplayName`, `.notAllowed` where the app does not let people choose
    ///   (`app.ID.own_profiles`, docs/server/configuration.md) and for the name of one of the app's accounts, and what every request throws.
    public func setProfile(_ profile: Profile) async throws {
        guard case .done = try await self.request(.setProfile(profile)) else { throw ChatError.unexpectedAnswer }
    }
}
