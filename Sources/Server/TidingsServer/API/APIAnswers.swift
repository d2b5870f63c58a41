import APNsModel
import ServerCore
import StoreModel
import TidingsModel

// The answers that a route expects one of; nil for an answer of another kind.

extension Optional {
    /// - Throws: `APIProblem.bug` for nil.
    func orBug() throws(APIProblem) -> Wrapped {
        guard case .some(let value) = self else { throw .bug }
        return value
    }
}

extension APIResult {
    var accepted: (accepted: ServerFrame.SendAccepted, isRepeat: Bool)? {
        if case .accepted(let accepted, let isRepeat) = self { (accepted, isRepeat) } else { nil }
    }
    var done: Void? { if case .done = self { () } else { nil } }
    var trace: MessageTrace?? { if case .trace(let trace) = self { trace } else { nil } }
    var legs: LegPage? { if case .legs(let page) = self { page } else { nil } }
    var openLegs: OpenLegPage? { if case .openLegs(let page) = self { page } else { nil } }
    var missed: (page: LogPage, words: NotificationWords, hidesContent: Bool)? {
        if case .missed(let page, let words, let hidesContent) = self { (page, words, hidesContent) } else { nil }
    }
    var pushLanes: (lanes: [PushLaneReport], open: OpenLegCounts)? {
        if case .pushLanes(let lanes, let open) = self { (lanes, open) } else { nil }
    }
    var pushPreview: PushPreview? { if case .pushPreview(let preview) = self { preview } else { nil } }
    var pushJob: PushJob?? { if case .pushJob(let job) = self { job } else { nil } }
    var audience: AudienceCount? { if case .audience(let count) = self { count } else { nil } }
    var ringing: Int64? { if case .ringing(let at) = self { at } else { nil } }
    var call: CallTrace?? { if case .call(let trace) = self { trace } else { nil } }
    var passed: Int64? { if case .passed(let at) = self { at } else { nil } }
    var activityPush: ActivityPushTrace?? { if case .activityPush(let trace) = self { trace } else { nil } }
    var channels: ChannelOutcome? { if case .channels(let outcome) = self { outcome } else { nil } }
    var testPush: TestPushReport? { if case .testPush(let report) = self { report } else { nil } }
    var silentPush: SilentPushReport? { if case .silentPush(let report) = self { report } else { nil } }
    var devices: [DeviceInfo]? { if case .devices(let devices) = self { devices } else { nil } }
    var installations: [InstallationOutcome]? { if case .installations(let outcomes) = self { outcomes } else { nil } }
    var mayIssueToken: Int64? { if case .mayIssueToken(let at) = self { at } else { nil } }
    var control: ControlAnswer? { if case .control(let answer) = self { answer } else { nil } }
    var answer: ClientAnswer? { if case .answer(let answer) = self { answer } else { nil } }
}

extension ClientAnswer {
    var done: LogPosition? { if case .done(let position) = self { position } else { nil } }
    var conversation: ConversationInfo? { if case .conversation(let info) = self { info } else { nil } }
    var settings: AllSettings? { if case .settings(let settings) = self { settings } else { nil } }
    var receipts: MessageReceipts? { if case .receipts(let receipts) = self { receipts } else { nil } }
    var history: (messages: [Message], hasMore: Bool)? {
        if case .history(let messages, let hasMore) = self { (messages, hasMore) } else { nil }
    }
    /// The people whom a change has invited instead of making them members.
    var invited: [UserID]? { if case .invited(let users, _) = self { users } else { self.done.map { _ in [] } } }
}

extension ControlAnswer {
    var app: ManagedApp? { if case .app(let app) = self { app } else { nil } }
    var ofOperator: OperatorRecord? { if case .ofOperator(let record) = self { record } else { nil } }
}

extension APNsChannelAnswer {
    var created: APNsChannelID? { if case .created(let id) = self { id } else { nil } }
    var channel: APNsChannel? { if case .channel(let channel) = self { channel } else { nil } }
    var deleted: Void? { if case .deleted = self { () } else { nil } }
    var list: [APNsChannelID]? { if case .list(let ids) = self { ids } else { nil } }
}
