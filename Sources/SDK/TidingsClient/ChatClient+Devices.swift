public import TidingsModel

// The devices on which the person is signed in. Nobody sees those of others.
extension ChatClient {
    /// The devices on which this person is signed in to the app, sorted by id.
    ///
    /// - Throws: what every request throws: `ChatError.notSignedIn`, `.notConnected`, `.unknownOutcome`, `.tooManyRequests`,
    ///   `.unavailable`.
    public func devices() async throws -> [OwnDevice] {
        guard case .devices(let devices) = try await self.request(.devices) else { throw ChatError.unexpectedAnswer }
        return devices
    }

    /// Signs the person out on another of their devices: its connection ends as `refused` with `kicked`, it gets no more pushes, and its
    /// extension token is void. One that is not connected is not told, and if its app connects with a user token that is still good it is
    /// signed in anew: against a lost phone your backend revokes the person's tokens.
    ///
    /// ```swift
    /// for device in try await client.devices() where !device.isCurrent {
    ///     try await client.signOut(device: device.id)
    /// }
    /// ```
    /// - Parameter device: not this one, which `signOut()` signs out.
    /// - Throws: `ChatError.invalid` for this device, and for one on which the person is not signed in (any more); and what every request
    ///   throws.
    public func signOut(device: DeviceID) async throws {
        guard case .done = try await self.request(.signOutDevice(device)) else { throw ChatError.unexpectedAnswer }
    }
}
