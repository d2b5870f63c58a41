package import StoreModel
package import TidingsModel

/// An event for the watchers of the server: ids and numbers, and nothing that people have written. It is told when it is decided; its
/// record may not be on the disk yet.
///
/// Indirect: a hundred thousand are kept (`ReportBuffer`), and the largest case has four times the bytes of the usual ones.
package indirect enum ServerReport: Hashable, Sendable {
    /// Synced, and in the logs of `recipients` people; a chat room's is in none.
    case accepted(MessageID, by: UserKey, in: ConversationID, ObjectName, recipients: Int)
    case acceptedCustom(MessageID, AppID, recipients: Int)
    case recalled(MessageID, by: MessageID, UserKey, in: ConversationID)
    case edited(MessageID, AppID, in: ConversationID)
    /// In a push that is handed to the APNs client.
    case sentLeg(LegID, apnsID: String?)
    case waitingLeg(OpenLeg)
    case endedLeg(EndedLeg)
    case receipt(LegID, LegReceipt)
    case device(DeviceKey, DeviceChange)
    case answeredPush(DeviceKey, PushSubject, PushResult)
    case raisedAlarm(PushLane, PushAlarm)
    case clearedAlarm(PushLane)
    case pushJob(PushJobReport)
    /// An active push credential of the app expires soon, or has expired.
    case expiringCredential(AppID, credential: String, expiresAt: Int64, isExpired: Bool)
    /// The server's storage, for every app.
    case storage(isFull: Bool, free: Int64)

    package enum DeviceChange: Hashable, Sendable {
        /// It was unknown, or had signed out.
        case signedIn(platform: String)
        case signedOut
        case connected
        case disconnected
        case lease(Lease)
    }

    package enum PushSubject: Hashable, Sendable {
        /// A message; for several messages in one push the newest.
        case message(MessageID)
        case badge
        case call(CallID)
        /// A test push, or a silent one that the app's backend asks for.
        case test
        case silent
    }

    package enum PushResult: Hashable, Sendable {
        case accepted(apnsID: String)
        case refused(apnsID: String?, status: Int, reason: String)
        /// It was sent, and the answer never came.
        case unknown(String)
        case notSent(String)
        case noCredential
    }

    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case messageAccepted = "message_accepted"
        case messageRecalled = "message_recalled"
        case messageEdited = "message_edited"
        case legSent = "leg_sent"
        case legWaiting = "leg_waiting"
        case legEnded = "leg_ended"
        case receipt
        case deviceSignedIn = "device_signed_in"
        case deviceSignedOut = "device_signed_out"
        case deviceConnected = "device_connected"
        case deviceDisconnected = "device_disconnected"
        case deviceLease = "device_lease"
        case pushAnswered = "push_answered"
        case lane
        case pushJob = "push_job"
        case credentialExpiring = "credential_expiring"
        case storage
    }

    package var kind: Kind {
        switch self {
        case .accepted, .acceptedCustom: .messageAccepted
        case .recalled: .messageRecalled
        case .edited: .messageEdited
        case .sentLeg: .legSent
        case .waitingLeg: .legWaiting
        case .endedLeg: .legEnded
        case .receipt: .receipt
        case .device(_, let change):
            switch change {
            case .signedIn: .deviceSignedIn
            case .signedOut: .deviceSignedOut
            case .connected: .deviceConnected
            case .disconnected: .deviceDisconnected
            case .lease: .deviceLease
            }
        case .answeredPush: .pushAnswered
        case .raisedAlarm, .clearedAlarm: .lane
        case .pushJob: .pushJob
        case .expiringCredential: .credentialExpiring
        case .storage: .storage
        }
    }

    /// Nil for what is the server's, and so every app's.
    package var app: AppID? {
        switch self {
        case .accepted(_, let sender, _, _, _): sender.app
        case .acceptedCustom(_, let app, _): app
        case .recalled(_, _, let sender, _): sender.app
        case .edited(_, let app, _): app
        case .sentLeg(let leg, _): leg.user.app
        case .waitingLeg(let open): open.leg.user.app
        case .endedLeg(let ended): ended.leg.user.app
        case .receipt(let leg, _): leg.user.app
        case .device(let device, _): device.user.app
        case .answeredPush(let device, _, _): device.user.app
        case .raisedAlarm(let lane, _), .clearedAlarm(let lane): lane.app
        case .pushJob(let job): job.app
        case .expiringCredential(let app, _, _, _): app
        case .storage: nil
        }
    }

    /// Which message it is about, if it is about one.
    package var message: MessageID? {
        switch self {
        case .accepted(let id, _, _, _, _), .acceptedCustom(let id, _, _), .recalled(let id, _, _, _),
            .edited(let id, _, _):
            id
        case .sentLeg(let leg, _), .receipt(let leg, _): leg.message
        case .waitingLeg(let open): open.leg.message
        case .endedLeg(let ended): ended.leg.message
        case .answeredPush(_, .message(let id), _): id
        case .device, .answeredPush, .raisedAlarm, .clearedAlarm, .pushJob, .expiringCredential, .storage: nil
        }
    }
}

extension ServerReport {
    /// Makes the report of an effect; nil for one that no watcher needs.
    package init?(_ effect: ServerEffect) {
        switch effect {
        case .report(let report): self = report
        case .store(_, let command):
            guard let report = ServerReport(command) else { return nil }
            self = report
        case .raiseAlarm(let lane, let alarm): self = .raisedAlarm(lane, alarm)
        case .clearAlarm(let lane): self = .clearedAlarm(lane)
        case .storageChanged(let isFull, let free): self = .storage(isFull: isFull, free: free)
        case .write, .close, .turnAway, .probe, .countEnd, .countRefusal, .countRefusedRegistration, .push,
            .pass, .broadcast, .manageChannels, .readTimeZone, .checkToken, .reply, .noteAct, .stopForStoreFailure,
            .controlChanged, .drained, .flagBug:
            return nil
        }
    }

    private init?(_ command: StoreCommand) {
        switch command {
        // Their steps have been told one by one, and many reports are kept.
        case .keepLeg(var open):
            open.steps = LegSteps()
            self = .waitingLeg(open)
        case .endLeg(var ended):
            ended.steps = LegSteps()
            self = .endedLeg(ended)
        case .receipt(let leg, let receipt, _): self = .receipt(leg, receipt)
        default: return nil  // tidy: what else is stored is told when the store has answered, or to nobody
        }
    }
}

extension Lease {
    /// In reports.
    package var name: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        case .probing: "probing"
        case .grace: "grace"
        case .returning: "returning"
        case .gone: "gone"
        }
    }
}
