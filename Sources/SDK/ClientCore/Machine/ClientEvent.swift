package import TidingsModel

/// The shell hands each one to `ClientCore.handle(_:at:into:)`, and afterwards arms one timer for
/// `ClientCore.nextDeadline`.
package enum ClientEvent: Hashable, Sendable {
    // MARK: Wishes of the app

    case connectRequested
    case disconnectRequested
    case signOutRequested
    case sendRequested(MessageDraft)
    /// Up to and including a position of the person's log.
    case markReadRequested(ConversationID, upTo: LogPosition)
    case notificationOpened(MessageID)
    /// Nil forgets it (S2.7).
    case pushRegistrationSet(PushRegistration?)
    /// The token for calls; nil forgets it.
    case voIPRegistrationSet(PushRegistration?)
    /// Nil when only the core library runs (S0.5).
    case kitConfigured(KitSettings?)
    case settingRequested(PendingSettingsChange)
    /// The number is the shell's and never used twice. Answered by `.finishRequest`.
    case requestSubmitted(RequestNumber, ClientRequest)
    /// Lost without a connection.
    case typingRequested(ConversationID, isTyping: Bool)

    // MARK: Life cycle (S0.1; ios-delivery.md §8)

    /// The badge is written (S2.17).
    case appWillResignActive
    /// Nil if the system does not say how much time is left.
    case appDidEnterBackground(remainingMilliseconds: Int64?)
    case appWillEnterForeground
    /// A silent push, a background refresh or an action woke the app, or came while it runs (ios-delivery.md §7.1).
    /// Nil if the system does not say how much time is left. Answered by `.finishWake`.
    case wakeBegan(WakeNumber, remainingMilliseconds: Int64?)
    case backgroundTimeExpired

    // MARK: Results of effects

    case tokenProvided(String)
    case tokenFailed(reason: String)
    case connectionOpened(ConnectionNumber)
    case frameReceived(ConnectionNumber, ServerFrame)
    /// It could not be opened, was lost, or was closed by `.close`.
    case connectionClosed(ConnectionNumber, reason: String)
    /// Answer to `.storeEntries` and `.skipEntries`: the log is stored without gaps up to here. Muted conversations
    /// are not counted.
    case entriesStored(upTo: LogPosition, unread: Int)
    /// Their name or members are not known for sure.
    case conversationsIncomplete([ConversationID])
    /// Answer to `.storeRead`, `.storePendingChange`, `.addPendingChange`, `.removePendingChange` and `.storeSettings`, and whenever else the
    /// local store counts anew. Muted conversations are not counted.
    case unreadCounted(Int)
    /// Answer to any write to the local store: nothing was written. What waited for it is asked for again or given
    /// up.
    case storeFailed(reason: String)
    case leftBehind(Leftover, reason: String)
    /// Nothing in the local store can be relied on. Told once for each store.
    case storeDamaged(reason: String)
    case outgoingStored(ClientMessageID)
    case namesResolved(MessageID, ResolvedNames)
    /// Answer to `.nameSent`.
    case sentNamed(MessageID, ResolvedNames)
    /// Answer to `.askDelegate` (S3.7).
    case delegateAnswered(MessageID, handled: Bool)
    case ringClaimed(MessageID, RingClaim)
    /// Answer to `.claimRing`: nothing was claimed.
    case ringClaimFailed(MessageID)
    case notificationPosted(MessageID, PostResult)
    /// Answer to `.clearNotifications`, `.recallNotification`, `.lowerBadge` and `.writeBadge`, once for each.
    case notificationWorkDone
    /// Who sets the icon's number is the core's to say. `extensionFilters`: the app group has it that the service extension may discard
    /// alerts.
    case deviceStatusRead(DeviceStatus, extensionFilters: Bool = false)
    /// Answer to `.readTimeZone`; nil if there is no such zone.
    case timeZoneRead(String, TimeZoneFacts?)
    case deadlineReached
}

/// Tells a late event of an old connection from one of the current.
package typealias ConnectionNumber = UInt64

package enum PostResult: Hashable, Sendable {
    case shown
    /// The person has not allowed notifications.
    case notAuthorized
    case failed
}

package struct KitSettings: Hashable, Sendable {
    package var isLocalNotificationEnabled: Bool
    /// Otherwise the text is `words.hidden`, without a title.
    package var showsContent: Bool
    /// Without a custom callback (S3.4) the app is not asked.
    package var hasDelegate: Bool
    package var managesBadge: Bool
    /// The server's names of people and groups stand in for those of the app's providers.
    package var usesServerNames = false
    /// A message for another screen than the one that is open rings in the foreground (S4.2, S4.6).
    package var ringsInForeground = false
    /// On the screen.
    package var activeConversation: ConversationID?
    /// The app has the entitlement, and the system knows such notifications (`CommunicationForm.majorMin`).
    package var usesCommunicationNotifications = false
    package var words = NotificationWords.english

    package init(
        isLocalNotificationEnabled: Bool = true, showsContent: Bool = true, hasDelegate: Bool = false,
        managesBadge: Bool = true
    ) {
        self.isLocalNotificationEnabled = isLocalNotificationEnabled
        self.showsContent = showsContent
        self.hasDelegate = hasDelegate
        self.managesBadge = managesBadge
    }

    /// Without what the system does not know; nil for one that is not known.
    package func fitted(to major: Int?) -> KitSettings {
        var fitted = self
        if let major, major < CommunicationForm.majorMin { fitted.usesCommunicationNotifications = false }
        return fitted
    }
}

/// S0.4, S3.5. Nil means missing, unknown or no answer.
package struct ResolvedNames: Hashable, Sendable {
    package var user: String?
    package var group: String?
    package var member: String?
    /// The number of members of the group, as far as this phone knows.
    package var memberCount: Int?

    package init(user: String? = nil, group: String? = nil, member: String? = nil, memberCount: Int? = nil) {
        self.user = user
        self.group = group
        self.member = member
        self.memberCount = memberCount
    }

    /// Returns the names, completed by the server's where the app has no provider of names in the group. Names that the app has to give
    /// stay empty, so that there is no notification without them (S0.4, S3.5), unless the app has chosen the server's names.
    package func filled(by server: ResolvedNames, _ kit: KitSettings) -> ResolvedNames {
        func known(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : $0 } }
        let isChosen = kit.usesServerNames
        let user = known(self.user) ?? (isChosen ? known(server.user) : nil)
        let member = known(self.member) ?? (user == nil && !isChosen ? nil : known(server.member))
        return ResolvedNames(
            user: user, group: known(self.group) ?? (isChosen ? known(server.group) : nil), member: member,
            memberCount: server.memberCount)
    }
}
