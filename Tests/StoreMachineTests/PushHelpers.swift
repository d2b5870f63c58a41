import StoreModel
import TidingsModel

let news = ConversationID(type: .pushService, target: "push")

func template(_ content: String = "Sale!", flags: MessageFlags = [.stored, .notified]) -> Message {
    Message(
        id: MessageID(rawValue: 0), app: "shop", sender: "push", conversation: news, clientMessageID: "",
        objectName: .text, content: content, flags: flags, pushText: "Sale", sentAt: 0)
}

func job(
    _ id: UInt64, _ audience: PushAudience, body: PushJob.Body = .message(template()),
    account: ConversationID = news, app: AppID = "shop", ignoresBlocks: Bool = false, lifetime: Int64? = nil,
    sendAt: Int64? = nil, rate: Int? = nil
) -> PushJob {
    PushJob(
        id: MessageID(rawValue: id), app: app, account: account, body: body, audience: audience,
        ignoresBlocks: ignoresBlocks, lifetimeMilliseconds: lifetime, sendAt: sendAt, ratePerSecond: rate,
        createdAt: 10)
}

func ids(_ range: ClosedRange<UInt64>) -> [MessageID] { range.map { MessageID(rawValue: $0) } }

extension Opened {
    /// Somebody with one device that is signed in.
    mutating func signIn(_ users: UserID..., app: AppID = "shop") throws {
        for user in users {
            let device = DeviceKey(user: UserKey(app: app, user: user), device: "phone")
            _ = try self.apply(.signIn(device, platform: "iOS", at: 1))
        }
    }

    @discardableResult
    mutating func create(_ job: PushJob) throws -> PushJob? {
        guard case .pushJob(let made) = try self.apply(.createPush(job)) else { return nil }
        return made
    }

    mutating func step(_ id: UInt64, _ messages: ClosedRange<UInt64>, at: Int64 = 100) throws -> PushStep? {
        let command = StoreCommand.stepPush("shop", MessageID(rawValue: id), ids: ids(messages), at: at)
        guard case .pushStep(let step) = try self.apply(command) else { return nil }
        return step
    }

    mutating func told(_ id: UInt64, _ change: PushJobChange, at: Int64 = 200) throws -> StoreResult {
        try self.apply(.changePush("shop", MessageID(rawValue: id), change, at: at))
    }

    /// Tells the job to change; the job as it is then, nil if something else was answered.
    mutating func toldJob(_ id: UInt64, _ change: PushJobChange, at: Int64) throws -> PushJob? {
        guard case .pushJob(let job) = try self.told(id, change, at: at) else { return nil }
        return job
    }

    mutating func job(_ id: UInt64) throws -> PushJob? {
        guard case .pushJob(let job) = try self.apply(.readPush("shop", MessageID(rawValue: id))) else { return nil }
        return job
    }

    /// How many get a push to the audience.
    mutating func count(_ audience: PushAudience) throws -> Int? {
        guard case .audience(let count, nil) = try self.apply(.countAudience("shop", audience, after: 0, limit: 1_000))
        else { return nil }
        return count.people
    }

    mutating func label(_ user: UserID, _ change: LabelChange) throws -> StoreResult {
        try self.apply(.setLabels(UserKey(app: "shop", user: user), change))
    }
}
