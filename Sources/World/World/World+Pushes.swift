import OrderedCollections
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

// The app's backend pushes to audiences at once, later or slowly, stops and takes back some of them, and gives people the labels they are
// chosen by.
extension World {
    static let pushService = ConversationID(type: .pushService, target: "push")
    static let pushTags = ["gold", "quiet"]
    private static let pushAliases: [Alias] = ["customer-1", "customer-2"]
    /// The number of pushes, the newest, of which one may be changed.
    private static let changedMax = 8

    mutating func beginPushes() {
        guard self.options.population.hasPushes else { return }
        // Draw 102 is the accounts'.
        self.chance = SplitMix64(seed: self.options.seed, stream: .setup, draw: 103)
        for person in self.people { self.label(person) }
        self.plan(.pushesAct, after: 60_000)
    }

    mutating func pushesAct() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .pushes)
        self.plan(.pushesAct, after: self.chance.number(20_000...150_000) * Night.slowness(at: self.time))
        guard self.server != nil, self.happens() else { return }
        switch self.chance.number(0...12) {
        case 0...6: self.pushToAudience()
        case 7: self.changePush(.cancel)
        case 8...9: self.changePush(.recall)
        case 10...11: if let person = self.drawn(self.people + self.anonymousPeople) { self.label(person) }
        default: self.blockPushes()
        }
    }

    private mutating func pushToAudience() {
        let name = "j\(self.time)"
        let account = self.pushAccount()
        var message = Self.draft(name, to: account)
        if self.chance.chance(perMille: 600) { message.flags = [.stored, .notified, .unlisted] }
        if self.chance.chance(perMille: 150) { message.push = Self.loudOptions(of: name) }
        let custom = CustomMessage(id: MessageID(rawValue: 0), content: name, sentAt: 0)
        var draft = PushDraft(
            account: account, body: self.chance.chance(perMille: 150) ? .custom(custom) : .message(message),
            audience: self.audience(depth: 0))
        draft.ignoresBlocks = self.chance.chance(perMille: 200)
        if self.chance.chance(perMille: 200) {
            draft.lifetimeMilliseconds = self.chance.number(30_000...3_600_000)
        }
        if self.chance.chance(perMille: 300) {
            draft.sendAt = self.serverNow.wall + self.chance.number(-60_000...300_000)
        }
        if self.chance.chance(perMille: 300) { draft.ratePerSecond = Int(self.chance.number(1...4)) }
        self.appendTrace("the backend pushes \(name) to \(draft.audience)", more: "\(draft)")
        self.callAPI(.createPush(Self.app, draft))
    }

    /// Some of these may be for followers, or taken back.
    private mutating func pushAccount() -> ConversationID {
        let isOfAccount = self.chance.chance(perMille: 400)
        guard isOfAccount, let account = self.drawn(self.accounts.known.keys.elements) else {
            return Self.pushService
        }
        return account
    }

    private mutating func audience(depth: Int) -> PushAudience {
        switch self.chance.number(0...(depth < 2 ? 10 : 6)) {
        case 0...1: return .everybody
        case 2:
            return .users(
                (self.people + self.anonymousPeople).filter { _ in self.chance.chance(perMille: 500) }
                    + [self.people[0]])
        case 3: return .alias(self.drawn(Self.pushAliases) ?? "")
        case 4...5: return .tag(self.drawn(Self.pushTags) ?? "")
        case 6:
            let keys = self.phones.map(\.key).filter { _ in self.chance.chance(perMille: 400) }
            return .devices((keys + [self.phones[0].key]).map { .init(user: $0.user.user, device: $0.device) })
        case 7: return .not(self.audience(depth: depth + 1))
        case 8: return .all([self.audience(depth: depth + 1), self.audience(depth: depth + 1)])
        default: return .any([self.audience(depth: depth + 1), self.audience(depth: depth + 1)])
        }
    }

    private mutating func changePush(_ change: PushJobChange) {
        guard let job = self.drawn(Array(self.pushJobs.suffix(Self.changedMax))) else { return }
        self.appendTrace("the backend asks of push \(job): \(change)")
        self.callAPI(.changePush(Self.app, job, change))
    }

    /// Has a person block the push service or unblock it, on the app's web page.
    private mutating func blockPushes() {
        guard let person = self.drawn(self.people) else { return }
        let blocks = self.chance.chance(perMille: 600)
        self.appendTrace("\(person) \(blocks ? "blocks" : "unblocks") \(Self.pushService.target)")
        self.callAPI(.request(Self.app, actor: person, .setBlocked(UserID(Self.pushService.target), blocks)))
    }

    /// Cancels pushes that a clock ahead has put off: they would disturb the final probe's unread count. Running ones end by themselves.
    mutating func endPushes() {
        for job in self.pushJobs {
            guard case .pushJob(let job?)? = try? self.store.apply(.readPush(Self.app, job), epoch: self.epoch),
                job.state == .scheduled
            else { continue }
            self.callAPI(.changePush(Self.app, job.id, .cancel))
        }
    }

    private mutating func label(_ person: UserID) {
        let change: LabelChange =
            self.chance.chance(perMille: 500)
            ? .aliases(self.drawn(Self.pushAliases).map { [$0] } ?? [])
            : .tags(Self.pushTags.filter { _ in self.chance.chance(perMille: 500) })
        self.appendTrace("the backend gives \(person) \(change)")
        self.callAPI(.setLabels(UserKey(app: Self.app, user: person), change))
    }
}

extension PushStep {
    /// Returns the step as if the store had accepted, or recalled, each message by itself: the same holds for a step's.
    func asCommands(at: Int64) -> [(command: StoreCommand, result: StoreResult)] {
        let sent = self.sent.compactMap { id, delivery, devices -> (StoreCommand, StoreResult)? in
            let result = StoreResult.accepted(deliveries: [delivery], names: self.names)
            switch self.job.entry(for: delivery.user, on: devices, id: id, at: at) {
            case .message(let message):
                return (
                    .accept(message: message, senderDevice: nil, past: self.job.ignoresBlocks ? .blocks : []), result
                )
            case .custom(let message):
                let operation = CustomOperation(
                    app: self.job.app, message: message, recipients: [delivery.user],
                    clientMessageID: ClientMessageID(id.description))
                return (.acceptCustom(operation), result)
            case .read, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change, .unknown:
                return nil
            }
        }
        let recalled = self.recalls.map { one -> (StoreCommand, StoreResult) in
            let operation = RecallOperation(
                id: one.recall.id, app: self.job.app, message: one.recall.message, actor: nil, window: 0, at: at)
            return (
                .recall(operation),
                .recalled(one.recall, of: one.message, deliveries: [one.delivery], shown: one.shown)
            )
        }
        return (sent + recalled).map { (command: $0.0, result: $0.1) }
    }
}

extension StoreResult {
    /// How many facts the World tells of it.
    var factCount: Int {
        if case .pushStep(let step) = self { 1 + step.ids.count + step.recalls.count } else { 1 }
    }
}
