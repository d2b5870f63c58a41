import ClientCore
public import Foundation
public import TidingsModel

// What a person sets for their conversations and devices. Levels, quiet hours, hidden content and language are stored and hold
// here at once, also without a connection; the server is told as soon as there is one, and what it refuses is taken back with
// the problem `settingRefused`.
extension ChatClient {
    /// How loud a conversation may be, on all of the person's devices.
    ///
    /// - Parameters:
    ///   - level: nil for what is set for its kind.
    ///   - conversation: the conversation.
    ///   - until: when the level ends; nil for never.
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for an end without a level.
    public func setNotificationLevel(
        _ level: NotificationLevel?, for conversation: ConversationID, until: Date? = nil
    ) throws {
        let end = until.map { ($0.timeIntervalSince1970).wholeMilliseconds }
        let settings = ConversationSettings(level: level, levelUntil: end)
        do throws(InvalidField) {
            try conversation.validate()
            try settings.validate()
        } catch { throw ChatError.invalid(error) }
        try self.pendingChange(.conversation(conversation, settings))
    }

    /// How loud the conversations of a kind may be that have no level of their own, on all of the person's devices.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func setNotificationLevel(_ level: NotificationLevel, forAll type: ConversationType) throws {
        try self.pendingChange(.level(type, level))
    }

    /// How loud a conversation may be just now: its own level while that holds, else its kind's.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func notificationLevel(of conversation: ConversationID) throws -> NotificationLevel {
        let wall = self.clock.now.wall
        return try self.reading { try $0.preferences() }.level(of: conversation, wall: wall)
    }

    /// The hours of each day in which no push is to ring; nil for none. Local notifications of an app that runs in the
    /// background are not held back by them.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for a minute or day out of range, or an unknown time zone.
    public func setQuietHours(_ hours: QuietHours?) throws {
        do throws(InvalidField) {
            try hours?.validate()
            if let hours, TimeZone(identifier: hours.timeZone) == nil {
                throw InvalidField(
                    field: "quiet_hours.time_zone", rule: "must be in the time-zone database, got \"\(hours.timeZone)\""
                )
            }
        } catch { throw ChatError.invalid(error) }
        try self.pendingChange(.quietHours(hours))
    }

    /// Whether notifications say only that there is a message, in pushes too. `showsNotificationContent` is the app's own switch
    /// on this device; either hides it.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func setHidesNotificationContent(_ hides: Bool) throws { try self.pendingChange(.hidesContent(hides)) }

    /// The language of the words the server puts into pushes, a BCP 47 tag such as `zh-Hans`; nil for the app's default.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`; `.invalid` for what is no tag, or longer than 35 bytes.
    public func setPushLanguage(_ language: String?) throws {
        do throws(InvalidField) {
            try PersonSettings(language: language).validate()
        } catch { throw ChatError.invalid(error) }
        try self.pendingChange(.language(language))
    }

    /// Everything the person has set, as it holds on this device.
    ///
    /// - Throws: `ChatError.notSignedIn`, `.store`.
    public func settings() throws -> AllSettings { try self.reading { try $0.preferences() }.current }

    /// Refuses one-to-one messages of somebody from now on.
    ///
    /// - Throws: what every request throws: `ChatError.notSignedIn`, `.notConnected`, `.unknownOutcome`, `.tooManyRequests`,
    ///   `.unavailable`; `.invalid` for the person's own id.
    public func block(_ user: UserID) async throws { _ = try await self.ask(.setBlocked(user, true)) }

    /// Accepts somebody's messages again. Throws like `block(_:)`.
    public func unblock(_ user: UserID) async throws { _ = try await self.ask(.setBlocked(user, false)) }

    private func pendingChange(_ pendingChange: PendingSettingsChange) throws {
        let unread = try self.reading { try $0.write(pendingChange) }
        self.engine?.post(.settingRequested(pendingChange))
        self.engine?.post(.unreadCounted(unread))
    }

    /// Asks the server something.
    func ask(_ request: ClientRequest) async throws -> ClientAnswer {
        guard let engine = self.engine else { throw ChatError.notSignedIn }
        do throws(InvalidField) { try request.validate() } catch { throw ChatError.invalid(error) }
        return try await engine.request(request)
    }
}
