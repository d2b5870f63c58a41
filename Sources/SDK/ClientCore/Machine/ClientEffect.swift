public import TidingsModel

/// What the shell is to do. The order of a list is meaning: effects are performed in order, and none is started before the
/// one before it was handed over (a frame before a `.close` must reach the socket first).
package enum ClientEffect: Hashable, Sendable {
    // MARK: Connection

    /// Ask the app's token provider, for a connection or for another token on one that is open. Answered by `.tokenProvided` or `.tokenFailed`.
    case askToken(UserID)
    /// Open a transport. Answered by `.connectionOpened`, or `.connectionClosed` if it fails.
    case open(ConnectionNumber)
    /// Write a frame.
    case sendFrame(ConnectionNumber, ClientFrame)
    /// Close the transport after what was written before has left. Answered by `.connectionClosed`.
    case close(ConnectionNumber)

    // MARK: Local store

    /// Write entries of the log, ascending and without gaps, in one transaction. Answered by `.entriesStored` or `.storeFailed`.
    case storeEntries([LogEntry])
    /// The server has trimmed its log: if the local store ends at the one position, it goes on after the other, and what lay
    /// between counts as written. Answered by `.entriesStored` or `.storeFailed`; entries that follow come next.
    case skipEntries(after: LogPosition, upTo: LogPosition)
    /// Remember that everything up to here has been settled.
    case storeSettled(upTo: LogPosition)
    /// Write a message that waits to be sent. Answered by `.outgoingStored` or `.storeFailed`.
    case storeOutgoing(MessageDraft)
    /// Forget a message that was accepted or refused. If that fails, answered by `.leftBehind`.
    case removeOutgoing(ClientMessageID)
    /// Remember a reading position until the server's log confirms it. Answered by `.unreadCounted`.
    case storeRead(ConversationID, upTo: LogPosition)
    /// Remember what the person has set until the server's log confirms it. Answered by `.unreadCounted`.
    case storePendingChange(PendingSettingsChange)
    /// Forget a pending change, if it is still that one: the log says what holds. Answered by `.unreadCounted` or `.leftBehind`.
    case removePendingChange(PendingSettingsChange)
    /// The same, but the log need not say it: take it for what the log says. Answered by `.unreadCounted`
    /// or `.leftBehind`.
    case addPendingChange(PendingSettingsChange)
    /// Take these settings for what the log says: a part of it is gone. Answered by `.unreadCounted`.
    case storeSettings(AllSettings)
    /// Remember a conversation's name, portrait and members, if what is there is older.
    case storeConversation(ConversationInfo)
    /// The server's log is another one than the local store's: begin with its start. Messages stay, without a place in the log until they
    /// come again. The origin is the new log's; nil from a server that does not say it.
    case resetLog(LogOrigin?)
    /// Remember which log the local store holds.
    case storeOrigin(LogOrigin)
    /// The local store is damaged: put it aside and begin an empty one.
    case setStoreAside
    /// Write what the notification service extension needs to the app group.
    case storeRecipient(Recipient)
    /// Tell the extension whether the person wants notifications to hide their content.
    case noteHiddenContent(Bool)
    /// Tell the extension the language the person has set for their notifications; nil for none.
    case noteLanguage(String?)
    /// Remember that the server has not heard of the sign-out yet, for a later process.
    case keepPendingSignOut
    /// The server has heard of the sign-out, or never will: nothing of this person is left to do.
    case pendingSignOutEnded
    /// Forget everything of the person: log, outbox, ledger, badge, recipient, and what of ours is in the notification centre.
    case forgetPerson

    /// Look up a zone of the time-zone database by its name. Answered by `.timeZoneRead`.
    case readTimeZone(String)

    // MARK: To the app

    /// The connection's status changed.
    case publishStatus(ConnectionStatus)
    /// The run state changed (S0.1).
    case publishRunState(RunState)
    /// These entries are in the local store now.
    case publishEntries([LogEntry])
    /// Somebody types, or a message of a room that is heard: of interest now and never again.
    case publishSignal(Signal)
    /// Mark the custom messages of the local store that were not handed over yet as handed over, then hand them over, in the
    /// order of the log (S4.10): at most once, whatever becomes of the process. What has expired at `wall` by the server's clock is
    /// dropped; with nil nobody knows that clock yet, and all from the first one on that expires at some time wait.
    case handOverCustomMessages(wall: Int64?)
    /// Something the app's developer should know.
    case publishProblem(ClientProblem)
    /// A wake is answered: the last word about it.
    case finishWake(WakeNumber, BackgroundRefreshResult)
    /// A send ended.
    case finishSend(ClientMessageID, SendOutcome)
    /// A request ended, by the number the shell gave it.
    case finishRequest(RequestNumber, RequestOutcome)
    /// The connect request ended: nil when the server welcomed us, otherwise why it will not.
    case finishConnect(ConnectFailure?)

    // MARK: Kit

    /// Ask the app's providers. Answered by `.namesResolved`; no answer within the core's limit counts as missing.
    case resolveNames(MessageID, NameQuestion)
    /// Ask the app's custom callback (S3.4). Answered by `.delegateAnswered`.
    case askDelegate(Message, senderName: String)
    /// Claim the message in the app group's ledger (DESIGN P3). Answered by `.ringClaimed`.
    case claimRing(MessageID)
    /// Post a local notification. Answered by `.notificationPosted`.
    case postNotification(LocalNotification)
    /// Mark the message recalled in the ledger: an extension that is at work on its push asks once more before it answers.
    case markRecalled(MessageID)
    /// Mark the message shown in the ledger.
    case markShown(MessageID)
    /// Give the claim back: nothing was shown.
    case releaseClaim(MessageID)
    /// Take the notifications of a conversation's messages up to and including this position out of the notification centre:
    /// they were read (DESIGN P6). Answered by `.notificationWorkDone`.
    case clearNotifications(ConversationID, upTo: LogPosition)
    /// A message was withdrawn: if its notification is in the notification centre, put the replacement in its place, which
    /// neither sounds nor lights up, or take it out. Answered by `.notificationWorkDone`.
    case recallNotification(MessageID, replacement: LocalNotification?)
    /// Ask the system what the person allows. Answered by `.deviceStatusRead`.
    case readDeviceStatus
    /// The count changed in the background without a new message: show it, and keep other senders' share. Answered by
    /// `.notificationWorkDone`.
    case lowerBadge(unread: Int, position: LogPosition)
    /// Write the badge as of resigning active, and show it (S2.17; DESIGN §5 "Badge"). Answered by `.notificationWorkDone`.
    case writeBadge(unread: Int, position: LogPosition)

    // MARK: System

    /// Ask the system not to suspend the app.
    case beginBackgroundTask
    /// The app may be suspended now.
    case endBackgroundTask

    /// Whether it lets a call of the app, or the system's wake-up, end. The engine carries these out after all others of their
    /// event, so that a caller finds done what the answer stands for.
    package var answersCaller: Bool {
        switch self {
        case .finishConnect, .finishSend, .finishRequest, .finishWake: true
        default: false
        }
    }

    /// Whether `.notificationWorkDone` answers it.
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

/// How a send ended.
package enum SendOutcome: Hashable, Sendable {
    /// The message is on the server's disk (DESIGN P1).
    case accepted(Message)
    /// The server refused it; nothing was stored there.
    case refused(ServerFrame.Problem)
    /// It could not be written to the local store, or the person signed out.
    case abandoned(reason: String)
}

/// Why a connect request failed for good.
package enum ConnectFailure: Hashable, Sendable {
    /// The server refused.
    case refused(ServerFrame.Problem)
    /// The token provider failed.
    case noToken(reason: String)
    /// The pending change was taken back.
    case cancelled
}

/// Which names the app's providers are asked for.
package struct NameQuestion: Hashable, Sendable {
    /// The sender.
    package var sender: UserID
    /// The group or discussion group; nil for other conversations.
    package var group: ConversationID?

    /// A question.
    package init(sender: UserID, group: ConversationID?) {
        self.sender = sender
        self.group = group
    }
}

/// What a local notification says (S3.9). The request's identifier is the message id, its thread the conversation.
package struct LocalNotification: Hashable, Sendable {
    /// The message: request identifier and ledger key.
    package var message: MessageID
    /// The conversation: thread identifier and part of `rc`.
    package var conversation: ConversationID
    /// The group's or the sender's name; empty when content is hidden.
    package var title: String
    /// The text.
    package var body: String
    /// The `rc` dictionary under its key (S0.10, S3.10).
    package var payload: NotificationPayload
    /// Whether it neither sounds nor lights up: the replacement of a recalled one.
    package var isSilent: Bool
    /// Whether the number on the icon follows it (S2.11).
    package var setsBadge: Bool
    /// The unread count and its position, for the badge (DESIGN §5 "Badge").
    package var unread: Int
    /// The position of the entry in the person's log.
    package var position: LogPosition
    /// Names the person it is for, as a push does; nil before the server has said (DESIGN P7).
    package var recipientTag: String?

    /// A notification from its parts.
    package init(
        message: MessageID, conversation: ConversationID, title: String, body: String, payload: NotificationPayload,
        isSilent: Bool = false, setsBadge: Bool = true, unread: Int, position: LogPosition, recipientTag: String? = nil
    ) {
        self.recipientTag = recipientTag
        self.isSilent = isSilent
        self.setsBadge = setsBadge
        self.message = message
        self.conversation = conversation
        self.title = title
        self.body = body
        self.payload = payload
        self.unread = unread
        self.position = position
    }
}

extension LocalNotification {
    /// What the notification carries: the `rc` dictionary (S3.10), and what a push for the same message carries for the SDK, so
    /// that position and person can be told by either.
    package var userInfo: JSONValue {
        guard let tag = self.recipientTag else { return self.payload.userInfo }
        return self.payload.userInfo(
            with: PushInfo(
                message: self.message, position: self.position, badgePosition: self.position, recipientTag: tag))
    }
}

/// What the notification service extension needs to know of the person who is signed in (DESIGN §7 "Extension").
package struct Recipient: Hashable, Sendable {
    /// Names the person on this device; a push for another tag is stripped.
    package var tag: String
    /// Lets the extension fetch what was missed.
    package var extensionToken: String
    /// The position the local log has reached; a push beyond the next one tells that something was overwritten.
    package var position: LogPosition

    /// A recipient from its parts.
    package init(tag: String, extensionToken: String, position: LogPosition) {
        self.tag = tag
        self.extensionToken = extensionToken
        self.position = position
    }
}
