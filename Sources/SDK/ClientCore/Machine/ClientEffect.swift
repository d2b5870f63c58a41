public import TidingsModel

/// Effects are performed in order, and none is started before the one before it was handed over: a frame before a
/// `.close` must reach the socket first.
package enum ClientEffect: Hashable, Sendable {
    // MARK: Connection

    /// For a connection, or to renew the token of an open one. Answered by `.tokenProvided` or `.tokenFailed`.
    case askToken(UserID)
    /// Answered by `.connectionOpened`, or by `.connectionClosed` if it fails.
    case open(ConnectionNumber)
    case sendFrame(ConnectionNumber, ClientFrame)
    /// After what was written before has left. Answered by `.connectionClosed`.
    case close(ConnectionNumber)

    // MARK: Local store

    /// Ascending and without gaps, in one transaction. Answered by `.entriesStored` or `.storeFailed`.
    case storeEntries([LogEntry])
    /// The server has trimmed its log: if the local store ends at the first position, it goes on after the second,
    /// and what lay between counts as written, but for settings, which are owed until `.storeSettings`. Answered by
    /// `.entriesStored` or `.storeFailed`; entries that follow come next.
    case skipEntries(after: LogPosition, upTo: LogPosition)
    case storeSettled(upTo: LogPosition)
    /// Answered by `.outgoingStored` or `.storeFailed`.
    case storeOutgoing(MessageDraft)
    /// If that fails, answered by `.leftBehind`.
    case removeOutgoing(ClientMessageID)
    /// Until the server's log confirms it. Answered by `.unreadCounted`.
    case storeRead(ConversationID, upTo: LogPosition)
    /// Until the server's log confirms it. Answered by `.unreadCounted`.
    case storePendingChange(PendingSettingsChange)
    /// Marks if the server may have taken the change, which holds over a restart. Only if it is still the same.
    case markPendingChange(PendingSettingsChange, isTold: Bool)
    /// Only if it is still the same; the log says what holds. Answered by `.unreadCounted` or `.leftBehind`.
    case removePendingChange(PendingSettingsChange)
    /// Removes the change like `.removePendingChange`, but applies it as if the log said so. Answered by `.unreadCounted` or `.leftBehind`.
    case addPendingChange(PendingSettingsChange)
    /// Take these settings for what the log says, because a part of it is gone. Answered by `.unreadCounted`.
    case storeSettings(AllSettings)
    case storeConversation(ConversationInfo)
    /// The server's log is another one than the local store's: begin at its start. Messages stay, without a place in
    /// the log until they come again. Nil from a server that does not name its log.
    case resetLog(LogOrigin?)
    case storeOrigin(LogOrigin)
    case setStoreAside
    case storeRecipient(Recipient)
    case noteHiddenContent(Bool)
    /// For the extension; nil for none.
    case noteLanguage(String?)
    case keepPendingSignOut
    /// After the effects of this event nobody hears of this core any more.
    case pendingSignOutEnded
    case forgetPerson

    /// In the time-zone database. Answered by `.timeZoneRead`.
    case readTimeZone(String)

    // MARK: To the app

    case publishStatus(ConnectionStatus)
    case publishRunState(RunState)
    case publishEntries([LogEntry])
    case publishSignal(Signal)
    /// Mark the custom messages that were not handed over yet, then hand them over in the order of the log (S4.10):
    /// at most once, even if the process dies. What has expired at `wall` by the server's clock is dropped; with nil
    /// that clock is not known yet, and everything from the first that expires at some time waits.
    case handOverCustomMessages(wall: Int64?)
    case publishProblem(ClientProblem)
    case finishWake(WakeNumber, BackgroundRefreshResult)
    case finishSend(ClientMessageID, SendOutcome)
    case finishRequest(RequestNumber, RequestOutcome)
    /// Nil when the server has welcomed us.
    case finishConnect(ConnectFailure?)

    // MARK: Kit

    /// Answered by `.namesResolved`; no answer within the core's limit counts as missing.
    case resolveNames(MessageID, NameQuestion)
    /// For the extension, which cannot ask the app: what the app calls who writes while it is in the foreground. Not answered.
    case learnNames(NameQuestion)
    /// For the system's suggestions. Answered by `.sentNamed`, or not at all.
    case nameSent(MessageID, NameQuestion)
    /// A message of the person's. Not answered.
    case donate(CommunicationForm)
    /// Not answered.
    case deleteDonations(DonationScope)
    /// The app's callback of S3.4. Answered by `.delegateAnswered`.
    case askDelegate(Message, senderName: String)
    /// In the app group's ledger (design.md P3). Answered by `.ringClaimed` or `.ringClaimFailed`.
    case claimRing(MessageID)
    /// Answered by `.notificationPosted`.
    case postNotification(LocalNotification)
    /// In the foreground, where the system shows nothing for a message. The ledger has it by now.
    case ringInForeground(LocalNotification)
    /// An extension that is at work on its push asks once more before it answers.
    case markRecalled(MessageID)
    case markShown(MessageID)
    case releaseClaim(MessageID)
    /// The conversation was read up to and including this position (design.md P6). Answered by `.notificationWorkDone`.
    case clearNotifications(ConversationID, upTo: LogPosition)
    /// If its notification is in the notification centre, put the silent replacement in its place, or remove it.
    /// Answered by `.notificationWorkDone`.
    case recallNotification(MessageID, replacement: LocalNotification?)
    case readDeviceStatus
    /// The count changed in the background without a new message. Other senders' share stays. Answered by
    /// `.notificationWorkDone`.
    case lowerBadge(unread: Int, position: LogPosition)
    /// The app stops being active (S2.17; design.md §5 "Badge"). Answered by `.notificationWorkDone`.
    case writeBadge(unread: Int, position: LogPosition)

    // MARK: System

    case beginBackgroundTask
    case endBackgroundTask

    /// The engine carries these out after all others of their event, so that a caller finds done what the answer
    /// stands for. Inlinable, because it is asked of each effect and an effect is large to copy.
    @inlinable package var answersCaller: Bool {
        switch self {
        case .finishConnect, .finishSend, .finishRequest, .finishWake: true
        default: false
        }
    }

    var isNotificationWork: Bool {
        switch self {
        case .clearNotifications, .recallNotification, .lowerBadge, .writeBadge: true
        default: false
        }
    }
}

/// Where the app is (S0.1).
public enum RunState: String, Hashable, Sendable, CaseIterable {
    /// The app is visible; messages are sent and received over the connection (S0.2).
    case foreground
    /// The app has gone to the background and is not frozen; messages are received over the connection (S0.3).
    case backgroundActive
    /// The connection is closed; the server pushes (S0.6, S0.7).
    case backgroundSuspended
}

/// Where the connection is.
public enum ConnectionStatus: Hashable, Sendable {
    /// Nobody asked for a connection, or the app asked to end it.
    case disconnected
    /// A connection is being made.
    case connecting
    /// The server has welcomed this device.
    case connected
    /// Lost or refused for now; the next attempt is in this many milliseconds.
    case waiting(milliseconds: Int64, reason: String)
    /// The background time is over; the connection comes back with the foreground (S0.7).
    case suspended
    /// The server will not have this device as it is; `connect` has to be called again.
    case refused(ServerFrame.Problem)
}

package enum SendOutcome: Hashable, Sendable {
    case accepted(Message)
    case refused(ServerFrame.Problem)
    /// It could not be written to the local store, or the person signed out.
    case abandoned(reason: String)
}

package enum ConnectFailure: Hashable, Sendable {
    case refused(ServerFrame.Problem)
    case noToken(reason: String)
    case cancelled
}

package struct NameQuestion: Hashable, Sendable {
    package var sender: UserID
    package var group: ConversationID?

    package init(sender: UserID, group: ConversationID?) {
        self.sender = sender
        self.group = group
    }
}

/// S3.9. The request's identifier is the message id, its thread the conversation.
package struct LocalNotification: Hashable, Sendable {
    package var message: MessageID
    /// Thread identifier and part of `rc`.
    package var conversation: ConversationID
    package var title: PushLine
    package var subtitle: PushLine?
    package var body: PushLine
    /// The `rc` dictionary (S0.10, S3.10).
    package var payload: NotificationPayload
    /// How it sounds and is grouped, and the app's own members; the lines stand above.
    package var options: PushOptions?
    package var isSilent = false
    /// True if the number on the icon follows it (S2.11).
    package var setsBadge = true
    /// With `position`, for the badge (design.md §5 "Badge").
    package var unread: Int
    package var position: LogPosition
    /// The recipient's tag as in a push; nil before the server has told it (design.md P7).
    package var recipientTag: String?
    /// Whom it is from; nil leaves it one of the app.
    package var communication: CommunicationForm?
}

extension LocalNotification {
    /// The `rc` dictionary (S3.10), and what a push for the same message carries for the SDK, so that position and
    /// person can be read from either.
    package var userInfo: JSONValue {
        let info = self.recipientTag.map { tag in
            PushInfo(message: self.message, position: self.position, badgePosition: self.position, recipientTag: tag)
        }
        return self.payload.userInfo(with: info, custom: self.options?.custom)
    }

    /// `category` is the kit's own, where it is registered.
    package func manner(category: String) -> NotificationManner {
        NotificationManner(
            self.options, of: self.conversation, isSilent: self.isSilent, category: self.isSilent ? "" : category)
    }

    /// With the lines from the app's tables as the app looks them up, for what the system does not show itself.
    package func lookedUp(_ text: (_ key: String, _ arguments: [String]) -> String) -> LocalNotification {
        func plain(_ line: PushLine) -> PushLine {
            guard case .localized(let key, let arguments) = line else { return line }
            return .text(text(key, arguments))
        }
        var notification = self
        notification.title = plain(self.title)
        notification.subtitle = self.subtitle.map(plain)
        notification.body = plain(self.body)
        return notification
    }
}

package struct Recipient: Hashable, Sendable, Codable {
    package var tag: String
    package var extensionToken: String
    package var position: LogPosition

    package init(tag: String, extensionToken: String, position: LogPosition) {
        self.tag = tag
        self.extensionToken = extensionToken
        self.position = position
    }
}
