package import Foundation
package import TidingsModel

// What the SDK's screens need beside what every app may use.
extension ChatClient {
    /// Returns the folder in which screens keep unsent texts and the images they have seen. It goes with the person's store, at a sign-out
    /// or when another person signs in.
    package func screensFolder() throws -> URL {
        guard let person = self.userID else { throw ChatError.notSignedIn }
        do { return try self.folders.screensFolder(app: self.configuration.appKey, person: person) } catch {
            throw ChatError.store(reason: "\(error)")
        }
    }

    /// Sends a draft under an id of the caller's: the same one again is the same message, for this client and for the server.
    package func send(_ draft: MessageDraft) async throws -> Message {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        try ChatError.check(draft.validate)
        return try await engine.send(draft)
    }

    /// The calendar time of the server as far as this device knows, in milliseconds since 1970.
    package var wallMilliseconds: Int64 { self.clock.now.wall }
}
