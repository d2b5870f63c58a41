package import APNsModel
package import StoreModel
package import TidingsModel

package enum ServerEffect: Hashable, Sendable {
    case write(SessionID, ServerFrame)
    /// Write out what is waiting, then close. The core has forgotten the session already.
    case close(SessionID)
    /// The address has had its share: refuse the handshake, and close.
    case turnAway(SessionID, afterMilliseconds: Int64)
    /// A WebSocket ping; the answer is `ServerEvent.heard`.
    case probe(SessionID)
    /// Answered by `ServerEvent.stored`. Commands are carried out in the order given.
    case store(StoreRequestID, StoreCommand)
    /// Count a leg that the store ends by itself; the others are counted by their `.endLeg`.
    case countEnd(LegEnd)
    /// Count a refused or dropped frame; no kind for too many commands that wait for the store.
    case countRefusal(RateScope, RateKind?)
    case countRefusedRegistration
    /// By the credential of the device's app; the request alone need not say whom it is for. Answered by
    /// `ServerEvent.pushEnded` or `.credentialMissing`.
    case push(PushID, to: DeviceKey, APNsRequest)
    /// To a token that the app's backend names. Answered as `push`.
    case pass(PushID, AppID, APNsRequest)
    /// Answered as `push`.
    case broadcast(PushID, AppID, APNsBroadcast)
    /// By the credential of the app. Answered by `ServerEvent.channelsAnswered`.
    case manageChannels(APIRequestID, AppID, APNsChannelRequest)
    /// Answered by `ServerEvent.timeZoneRead`.
    case readTimeZone(String)
    /// Answered by `ServerEvent.tokenChecked`.
    case checkToken(SessionID, RequestNumber, String)
    case reply(APIRequestID, APIResult)
    /// Tells the shell to keep apps, keys and operators outside the core as the answer says from now on.
    indirect case controlChanged(ControlChange, ControlAnswer)
    /// For the audit log; the session may have ended.
    indirect case noteAct(AccountAct, SessionID)
    case raiseAlarm(PushLane, PushAlarm)
    case clearAlarm(PushLane)
    /// The disk is almost full and nothing new is stored, or no longer.
    case storageChanged(isFull: Bool, free: Int64)
    /// The store refused to write. The process must end and start again.
    case stopForStoreFailure(String)
    /// No session is left and every store command is answered: the process may end.
    case drained
    case flagBug(String)
    /// A report for the server's watchers. Reports that other effects imply are made by `ServerReport.init`.
    case report(ServerReport)
}

/// An act of a person as an account, carried out or refused: nobody who is written to learns of it.
package struct AccountAct: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case sent(MessageID)
        case edited(MessageID)
        case recalled(MessageID)
        /// A message was not accepted.
        case refused(ServerFrame.Problem.Code)
    }

    package var kind: Kind
    package var account: ConversationID
    package var person: UserKey
}

package enum APIResult: Hashable, Sendable {
    /// The message is synced; a repeat of its client message id gets the first one's id and time.
    case accepted(ServerFrame.SendAccepted, isRepeat: Bool = false)
    case done
    /// Bad input, or try again (`unavailable`); nothing was changed.
    case refused(ServerFrame.Problem)
    /// nil if the app has no such message.
    case trace(MessageTrace?)
    case legs(LegPage)
    case openLegs(OpenLegPage)
    /// For a service extension; with `hidesContent` it shows nothing of what messages say.
    case missed(LogPage, NotificationWords, hidesContent: Bool)
    /// Sorted; and what open legs wait for.
    case pushLanes([PushLaneReport], open: OpenLegCounts = OpenLegCounts())
    case pushPreview(PushPreview)
    /// nil if the app has no such job.
    indirect case pushJob(PushJob?)
    /// How many people are in it now.
    case audience(AudienceCount)
    /// The wall time at which its pushes were handed over.
    case ringing(at: Int64)
    /// nil if the app has no such call, or it is no longer remembered.
    case call(CallTrace?)
    /// The wall time at which it was handed over.
    case passed(at: Int64)
    /// nil if the app has asked for none of that id, or it is no longer remembered.
    indirect case activityPush(ActivityPushTrace?)
    case channels(ChannelOutcome)
    indirect case testPush(TestPushReport)
    case silentPush(SilentPushReport)
    case mediaUse(MediaUse?)
    case devices([DeviceInfo])
    case installations([InstallationOutcome])
    /// The time at which it counts as issued.
    case mayIssueToken(at: Int64)
    /// The idempotency key was used for another request.
    case keyReused
    case keyInUse
    case quotas([RateQuota])
    case control(ControlAnswer)
    case answer(ClientAnswer)
}

package enum PushAlarm: Hashable, Sendable, JSONTagged {
    /// APNs refuses the credential or the topic, or there is none. The reason is Apple's word, or `NoCredential`.
    case configFault(reason: String)
    /// APNs has refused a token where it has accepted none: only those wait that it refuses, and what to check is told at the first.
    case tokenRefused(reason: String)
    /// APNs refuses the tokens of many people for one reason, which looks like an operator's mistake (design.md P8):
    /// tokens it had accepted before, and the lane is stopped; or it has accepted none, and only these wait.
    case burst(reason: String)
    /// APNs cannot be reached, or answers with its own faults.
    case providerDown(reason: String)

    package static let tag = JSONTag("state", meaning: "an alarm")

    /// Advice for an operator; nil where the reason says it, or nothing helps.
    package var advice: String? {
        switch self {
        case .configFault(let reason): APNsReason(name: reason).advice
        case .tokenRefused, .burst:
            "compare the environment of the app's build (sandbox when run from Xcode, production from TestFlight and the App Store), its "
                + "bundle identifier (the topic) and its push credential"
        case .providerDown: nil
        }
    }
}
