package import TidingsModel

/// What happens to a client: requests of the app, life-cycle moments, and the results of effects. The shell hands each one to
/// `ClientCore.handle(_:at:into:)`; whenever it returns, the shell arms one timer for `ClientCore.nextDeadline`.
package enum ClientEvent: Hashable, Sendable {
    // MARK: Wishes of the app

    /// The app wants to be connected. Repeating it ends a back-off.
    case connectRequested
    /// The app wants no connection; what was stored stays.
    case disconnectRequested
    /// The person signs out on this device: the server is told, then everything of the person is forgotten.
    case signOutRequested
    /// A message is to be sent. Its client message id was drawn by the shell.
    case sendRequested(MessageDraft)
    /// The person read a conversation up to and including a log position of their own.
    case markReadRequested(ConversationID, upTo: LogPosition)
    /// The person opened a message's notification, by whichever callback path.
    case notificationOpened(MessageID)
    /// The push registration the app received from the system; nil forgets it (S2.7).
    case pushRegistrationSet(PushRegistration?)
    /// What the kit may do from now on; nil when only the core library runs (S0.5).
    case kitConfigured(KitSettings?)
    /// The person has set something, which the local store has already.
    case settingRequested(PendingSettingsChange)
    /// The app asks the server something. The number is the shell's, never used twice. Answered by `.finishRequest`.
    case requestSubmitted(RequestNumber, ClientRequest)
    /// The person is typing, or no longer. Not worth keeping: without a connection it is lost.
    case typingRequested(ConversationID, isTyping: Bool)

    // MARK: Life cycle (S0.1; ios-delivery.md §8)

    /// The app stopped being active; the badge is written (S2.17).
    case appWillResignActive
    /// The app went to the background. `remainingMilliseconds` is what the system says it has left; nil if it does not say.
    case appDidEnterBackground(remainingMilliseconds: Int64?)
    /// The app is coming to the foreground.
    case appWillEnterForeground
    /// A silent push, a background refresh or an action woke the app, or came while it runs (ios-delivery.md §7.1).
    /// `remainingMilliseconds` is the background time left, nil if the system does not say. Answered by `.finishWake`.
    case wakeBegan(WakeNumber, remainingMilliseconds: Int64?)
    /// The system is about to end the background time (the expiration handler of the task).
    case backgroundTimeExpired

    // MARK: Results of effects

    /// Answer to `.askToken`, each once.
    case tokenProvided(String)
    /// Answer to `.askToken`: the provider threw.
    case tokenFailed(reason: String)
    /// Answer to `.open`: the transport is up, nothing was said yet.
    case connectionOpened(ConnectionNumber)
    /// A frame arrived.
    case frameReceived(ConnectionNumber, ServerFrame)
    /// The transport is gone: it could not be opened, was lost, or was closed by `.close`.
    case connectionClosed(ConnectionNumber, reason: String)
    /// Answer to `.storeEntries` and `.skipEntries`: the local store holds the log without gaps up to here, with this many
    /// unread messages outside muted conversations.
    case entriesStored(upTo: LogPosition, unread: Int)
    /// The local store has entries of conversations with members whose name or members it does not know for sure.
    case conversationsIncomplete([ConversationID])
    /// Answer to `.storeRead`, `.storePendingChange`, `.addPendingChange`, `.removePendingChange` and `.storeSettings`, and whenever else the local store counts anew: unread messages outside muted conversations.
    case unreadCounted(Int)
    /// Answer to any writing to the local store: nothing was written. What waited for it is heard again or given up.
    case storeFailed(reason: String)
    /// Answer to `.removeOutgoing`, `.addPendingChange` and `.removePendingChange` in place of `.storeFailed`: it is still there.
    case leftBehind(Leftover, reason: String)
    /// The local store was found damaged in the middle of its work: nothing in it can be relied on. Told once for each store.
    case storeDamaged(reason: String)
    /// Answer to `.storeOutgoing`.
    case outgoingStored(ClientMessageID)
    /// Answer to `.resolveNames`.
    case namesResolved(MessageID, ResolvedNames)
    /// Answer to `.askDelegate`: whether the app handled the message itself (S3.7).
    case delegateAnswered(MessageID, handled: Bool)
    /// Answer to `.claimRing`.
    case ringClaimed(MessageID, RingClaim)
    /// Answer to `.claimRing`: the ledger could not be asked. Nothing was claimed.
    case ringClaimFailed(MessageID)
    /// Answer to `.postNotification`.
    case notificationPosted(MessageID, PostResult)
    /// Answer to `.clearNotifications`, `.recallNotification`, `.lowerBadge` and `.writeBadge`, once for each: done, or there
    /// is no kit.
    case notificationWorkDone
    /// Answer to `.readDeviceStatus`.
    case deviceStatusRead(DeviceStatus)
    /// Answer to `.readTimeZone`; nil if there is no such zone.
    case timeZoneRead(String, TimeZoneFacts?)
    /// The time `nextDeadline` named has come.
    case deadlineReached
}

/// Numbers the connections of one process, so that a late event of an old one is told from the current one.
package typealias ConnectionNumber = UInt64

/// What the notification centre said to a request.
package enum PostResult: Hashable, Sendable {
    /// It was taken.
    case shown
    /// The person has not allowed notifications.
    case notAuthorized
    /// It failed for another reason.
    case failed
}

/// What the kit may do.
package struct KitSettings: Hashable, Sendable {
    /// The global switch of S3.3, in the positive.
    package var isLocalNotificationEnabled: Bool
    /// Whether a notification may show the message's text; otherwise `words.hidden` stands there and no title.
    package var showsContent: Bool
    /// Whether the app has a custom callback (S3.4). Without one it is not asked.
    package var hasDelegate: Bool
    /// Whether the kit writes the number on the icon (S2.11, S2.17).
    package var managesBadge: Bool
    /// What notifications say beside messages' own words. The core sets them, by the app's words and the person's language.
    package var words = NotificationWords.english

    /// Settings of the kit.
    package init(
        isLocalNotificationEnabled: Bool = true, showsContent: Bool = true, hasDelegate: Bool = false,
        managesBadge: Bool = true
    ) {
        self.isLocalNotificationEnabled = isLocalNotificationEnabled
        self.showsContent = showsContent
        self.hasDelegate = hasDelegate
        self.managesBadge = managesBadge
    }
}

/// The names the app's providers know for one message (S0.4, S3.5). Nil is "missing, unknown or no answer".
package struct ResolvedNames: Hashable, Sendable {
    /// The sender's name.
    package var user: String?
    /// The group's name.
    package var group: String?
    /// The sender's name in this group; overrides `user` in the text.
    package var member: String?

    /// Names from their parts.
    package init(user: String? = nil, group: String? = nil, member: String? = nil) {
        self.user = user
        self.group = group
        self.member = member
    }

    /// With the sender's name in the group as the server has recorded it, where the app's own provider says nothing. It
    /// stands in for no name that the app has to give: without one there is no notification (S0.4, S3.5).
    package func filled(nickname: String?) -> ResolvedNames {
        func known(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : $0 } }
        let member = known(self.member) ?? (known(self.user) == nil ? nil : known(nickname))
        return ResolvedNames(user: known(self.user), group: known(self.group), member: member)
    }
}
