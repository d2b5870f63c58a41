import ClientCore
public import Foundation
public import TidingsModel

// What a person sets for their conversations and devices. Levels, quiet hours, hidden content and language apply here at once,
// also without a connection, and are sent to the server when there is one; what it refuses is undone and reported as
// `settingRefused`.
extension ChatClient {
    /// Sets which messages of a conversation may ring, on all of the person's devices.
    ///
    /// - Parameters:
    ///   - level: nil for what is set for its kind.
    ///   - conversation: the conversation.
    ///   - until: when the level ends; nil for never.
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for an end without a level.
    public func setNotificationLevel(
        _ level: NotificationLevel?, for conversation: ConversationID, until: Date? = nil
    ) throws {
        let settings = ConversationSettings(
            level: level, levelUntil: until?.timeIntervalSince1970.wholeMilliseconds)
        try ChatError.check { () throws(InvalidField) in try conversation.validate() }
        try ChatError.check { () throws(InvalidField) in try settings.validate() }
        try self.storeSetting(.conversation(conversation, settings))
    }

    /// Sets the level of a kind's conversations that have none of their own, on all of the person's devices.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func setNotificationLevel(_ level: NotificationLevel, forAll type: ConversationType) throws {
        try self.storeSetting(.level(type, level))
    }

    /// The current level of a conversation: its own while that holds, else its kind's.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func notificationLevel(of conversation: ConversationID) throws -> NotificationLevel {
        let wall = self.clock.now.wall
        return try self.reading { try $0.preferences() }.level(of: conversation, wall: wall)
    }

    /// Sets the hours of each day in which no push may ring; nil for none. They do not hold back local notifications of an app
    /// that runs in the background.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a minute or day out of range, or an unknown time zone.
    public func setQuietHours(_ hours: QuietHours?) throws {
        if let hours {
            try ChatError.check(hours.validate)
            guard TimeZoneNames.has(hours.timeZone, TimeZone.knownTimeZoneIdentifiers) else {
                let rule = "must be in the time-zone database, got \"\(hours.timeZone)\""
                throw ChatError.invalid(InvalidField(field: "quiet_hours.time_zone", rule: rule))
            }
        }
        try self.storeSetting(.quietHours(hours))
    }

    /// Sets whether notifications, pushes too, say only that there is a message. `showsNotificationContent` is the app's own
    /// switch on this device; either one hides the content.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func setHidesNotificationContent(_ hides: Bool) throws { try self.storeSetting(.hidesContent(hides)) }

    /// Sets the language of the words the server puts into pushes, a BCP 47 tag such as `zh-Hans`; nil for the app's default.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for what is no tag, or longer than 35 bytes.
    public func setPushLanguage(_ language: String?) throws {
        try ChatError.check(PersonSettings(language: language).validate)
        try self.storeSetting(.language(language))
    }

    /// Everything the person has set, as it applies on this device.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func settings() throws -> AllSettings { try self.reading { try $0.preferences() }.current }

    /// Blocks a person: from now on their one-to-one messages are refused, they bring this person into no conversation, and in groups
    /// that both are in, what they write is in the history, and neither counts, rings nor mentions.
    ///
    /// - Throws: what every request throws: `ChatError.notSignedIn`, `.notConnected`, `.unknownOutcome`, `.tooManyRequests`,
    ///   `.unavailable`; `.invalid` for the person's own id.
    public func block(_ user: UserID) async throws { try await self.request(.setBlocked(user, true)) }

    /// Unblocks a person. Throws like `block(_:)`.
    public func unblock(_ user: UserID) async throws { try await self.request(.setBlocked(user, false)) }

    func storeSetting(_ pendingChange: PendingSettingsChange) throws {
        let command = LocalStoreCommand.addPendingChange(pendingChange)
        let outcome = try self.withStore { try $0.carryOut(command) }
        self.engine?.post(.settingRequested(pendingChange))
        for event in command.events(after: outcome) { self.engine?.post(event) }
    }

    @discardableResult
    func request(_ request: ClientRequest) async throws -> ClientAnswer {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        try ChatError.check(request.validate)
        return try await engine.request(request)
    }
}
