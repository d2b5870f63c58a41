package import TidingsModel

package enum StoreResult: Hashable, Sendable {
    case done
    /// Sorted by person, the sender included; empty only for a chat room. `push`: the message's options over the conversation's and
    /// the app's.
    case accepted(deliveries: [Delivery], names: MessageNames = MessageNames(), push: SharedPushOptions? = nil)
    /// This client message id was accepted before; nothing was written.
    case duplicate(MessageID, sentAt: Int64)
    case refused(ServerFrame.Problem)
    /// In the order they were made, each with the entry of everybody who was a member before or is one after, or whom it invites; none
    /// if it was so already. `invited`, sorted, were to be made members and are asked first.
    case changed([MadeChange], invited: [UserID] = [])
    /// The entry in each log that has the message, sorted by person; and the message's legs, sorted, that had shown
    /// it or may have, and for which it is not hushed. The message says nothing any more.
    indirect case recalled(Recall, of: Message, deliveries: [Delivery], shown: [LegID])
    /// Sorted by person; nil if nothing changed.
    case noted(LogEntry.Body?, deliveries: [Delivery])
    /// Other devices that had the token and have none now, sorted.
    case taken([DeviceKey])
    case installations([InstallationOutcome])
    indirect case conversation(ConversationInfo)
    case history([Message], hasMore: Bool)
    case settings(AllSettings)
    indirect case receipts(MessageReceipts)
    indirect case unread(UnreadReport)
    case objectNames([ObjectName])
    case userAccount(AccountState)
    case accounts([AccountInfo])
    case followers([UserID], hasMore: Bool)
    case following([ConversationID])
    case people([PersonSummary], hasMore: Bool)
    case conversations([ListedConversation], hasMore: Bool)
    case conversationList([PersonalConversation], hasMore: Bool)
    /// nil if the app has no such job.
    indirect case pushJob(PushJob?)
    case pushJobs([PushJob], hasMore: Bool)
    indirect case pushStep(PushStep)
    /// `next` is nil after the last.
    case audience(AudienceCount, next: UInt64?)
    /// nil if there is none.
    case pushRecipient(MessageID?)
    case labels(PersonLabels)
    case control(ControlAnswer)
    case controlState(ControlState)
    case audit([AuditRecord], hasMore: Bool)
    case profiles([UserProfile])
    /// Or mutes.
    case bans([Ban])
    case invited([Invitee])
    /// nil if the person has no such message, or it does not name the media, which is not its sender's portrait either.
    case mediaUse(MediaUse?)
    case mediaUses([MediaUse])
    indirect case storageUse(StorageUse)
    case isSameLog(Bool)
    /// Stored bytes that the command needs cannot be read; nothing was written. A person named here is set aside: the
    /// store takes nothing for them until it is rebuilt.
    indirect case unreadable(UserKey?, String)
    indirect case device(DeviceRecord)
    /// `position` is nil if the cursor stood there already.
    case read(position: LogPosition?, unread: Int)
    indirect case user(UserRecord)
    indirect case page(LogPage)
    /// nil if the app has no such message.
    indirect case trace(MessageTrace?)
    indirect case legs(LegPage)
    /// nil if nothing is kept under the key, or no longer.
    indirect case kept(KeptAnswer?)
    /// The disk refused: nothing of the whole batch was written, and the store accepts no more until it is opened
    /// again.
    case failed(String)
}

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
    package var storageUse: StorageUse? { if case .storageUse(let use) = self { use } else { nil } }
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
