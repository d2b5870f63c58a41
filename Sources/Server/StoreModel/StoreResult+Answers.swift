package import TidingsModel

// The answers that a caller expects one of; nil for a result of another kind.
extension StoreResult {
    package var done: Void? { if case .done = self { () } else { nil } }
    package var accepted: (deliveries: [Delivery], names: MessageNames, push: SharedPushOptions?)? {
        if case .accepted(let deliveries, let names, let push) = self { (deliveries, names, push) } else { nil }
    }
    package var duplicate: (id: MessageID, sentAt: Int64)? {
        if case .duplicate(let id, let sentAt) = self { (id, sentAt) } else { nil }
    }
    /// None if it is done, and no other device had the token.
    package var taken: [DeviceKey]? { if case .taken(let devices) = self { devices } else { self.done.map { [] } } }
    package var installations: [InstallationOutcome]? { if case .installations(let all) = self { all } else { nil } }
    package var conversation: ConversationInfo? { if case .conversation(let info) = self { info } else { nil } }
    package var history: (messages: [Message], hasMore: Bool)? {
        if case .history(let messages, let hasMore) = self { (messages, hasMore) } else { nil }
    }
    package var settings: AllSettings? { if case .settings(let settings) = self { settings } else { nil } }
    package var receipts: MessageReceipts? { if case .receipts(let receipts) = self { receipts } else { nil } }
    package var trace: MessageTrace?? { if case .trace(let trace) = self { trace } else { nil } }
    package var unread: UnreadReport? { if case .unread(let report) = self { report } else { nil } }
    package var objectNames: [ObjectName]? { if case .objectNames(let names) = self { names } else { nil } }
    package var accounts: [AccountInfo]? { if case .accounts(let accounts) = self { accounts } else { nil } }
    package var followers: (users: [UserID], hasMore: Bool)? {
        if case .followers(let users, let hasMore) = self { (users, hasMore) } else { nil }
    }
    package var following: [ConversationID]? { if case .following(let accounts) = self { accounts } else { nil } }
    package var people: (people: [PersonSummary], hasMore: Bool)? {
        if case .people(let people, let hasMore) = self { (people, hasMore) } else { nil }
    }
    package var conversations: (conversations: [ListedConversation], hasMore: Bool)? {
        if case .conversations(let conversations, let hasMore) = self { (conversations, hasMore) } else { nil }
    }
    package var conversationList: (conversations: [PersonalConversation], hasMore: Bool)? {
        if case .conversationList(let conversations, let hasMore) = self { (conversations, hasMore) } else { nil }
    }
    package var pushJob: PushJob?? { if case .pushJob(let job) = self { job } else { nil } }
    package var pushJobs: (jobs: [PushJob], hasMore: Bool)? {
        if case .pushJobs(let jobs, let hasMore) = self { (jobs, hasMore) } else { nil }
    }
    package var pushStep: PushStep? { if case .pushStep(let step) = self { step } else { nil } }
    package var pushRecipient: MessageID?? { if case .pushRecipient(let id) = self { id } else { nil } }
    package var labels: PersonLabels? { if case .labels(let labels) = self { labels } else { nil } }
    package var control: ControlAnswer? { if case .control(let answer) = self { answer } else { nil } }
    package var audit: (records: [AuditRecord], hasMore: Bool)? {
        if case .audit(let records, let hasMore) = self { (records, hasMore) } else { nil }
    }
    package var profiles: [UserProfile]? { if case .profiles(let profiles) = self { profiles } else { nil } }
    package var bans: [Ban]? { if case .bans(let bans) = self { bans } else { nil } }
    package var invited: [Invitee]? { if case .invited(let people) = self { people } else { nil } }
    package var userAccount: AccountState? { if case .userAccount(let account) = self { account } else { nil } }
    package var mediaUse: MediaUse?? { if case .mediaUse(let use) = self { use } else { nil } }
    package var isSameLog: Bool? { if case .isSameLog(let isSame) = self { isSame } else { nil } }
    package var device: DeviceRecord? { if case .device(let record) = self { record } else { nil } }
    package var read: (position: LogPosition?, unread: Int)? {
        if case .read(let position, let unread) = self { (position, unread) } else { nil }
    }
    package var user: UserRecord? { if case .user(let record) = self { record } else { nil } }
    package var page: LogPage? { if case .page(let page) = self { page } else { nil } }
    package var legs: LegPage? { if case .legs(let page) = self { page } else { nil } }
    package var kept: KeptAnswer?? { if case .kept(let kept) = self { kept } else { nil } }
}
