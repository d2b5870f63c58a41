import StoreMachine
import StoreModel
import TidingsModel

// Push jobs, aliases and tags: so few people and ids a step that a job takes several, and that what happens in between meets them.
extension CommandGenerator {
    mutating func nextAboutPushes() -> StoreCommand {
        if self.isJobLocal, self.chance(45), let job = self.jobs.last { return self.nextOfPasses(of: job) }
        return switch self.number(0..<100) {
        case 0..<14: self.signIn()
        case 14..<26: self.createPush()
        case 26..<48: self.stepPush()
        case 48..<56: self.changePush()
        case 56..<60: self.readPush()
        case 60..<64: .countAudience(self.app(), self.audience(), after: UInt64(self.number(0..<4)), limit: 3)
        case 64..<70: self.setLabels()
        case 70..<72: .readLabels(self.userKey())
        case 72..<82: self.nextAboutLegs()
        case 82..<85: self.reportTimeZone()
        case 85..<94: self.nextAboutPushed()
        default: self.nextAboutDesk()
        }
    }

    private var desk: ConversationID { ConversationID(type: .pushService, target: "desk") }

    private mutating func job() -> (app: AppID, id: PushJobID) {
        if self.jobs.isEmpty || self.chance(6) { return (self.app(), MessageID(rawValue: 7)) }
        return self.chance(60) ? self.jobs[self.jobs.count - 1] : self.pick(self.jobs)
    }

    private mutating func sent() -> (app: AppID, job: PushJobID, id: MessageID) {
        if self.pushed.isEmpty { return ("shop", MessageID(rawValue: 7), MessageID(rawValue: 8)) }
        return self.pick(self.pushed)
    }

    private mutating func createPush() -> StoreCommand {
        let account =
            self.chance(85)
            ? self.desk
            : ConversationID(type: self.pick([.publicService, .system, .pushService]), target: self.user().rawValue)
        var template = Message(
            id: MessageID(rawValue: 0), app: "shop", sender: "x", conversation: account, clientMessageID: "x",
            objectName: self.objectName(), content: self.shortContent(),
            flags: self.chance(60) ? [.stored, .notified, .unlisted] : .normal,
            pushText: self.chance(40) ? "psst" : nil, sentAt: 5)
        if self.chance(25) { template.push = self.pushOptions().nonEmpty }
        let custom = CustomMessage(
            id: MessageID(rawValue: 0), title: self.chance(50) ? "t" : nil, content: "{}",
            extras: JSONObject([("n", .int(1))]), sentAt: 5)
        guard let id = self.ids(1).first else { return .readControl }
        let app: AppID = self.chance(92) ? "shop" : "club"
        self.jobs.append((app, id))
        self.isJobLocal = self.chance(30)
        self.passTurns = 0
        return .createPush(
            PushJob(
                id: id, app: app, account: account, body: self.chance(88) ? .message(template) : .custom(custom),
                audience: self.audience(), ignoresBlocks: self.chance(20),
                lifetimeMilliseconds: self.chance(20) ? 60_000 : nil, sendAt: self.chance(25) ? self.clock + 9 : nil,
                localTime: self.isJobLocal ? self.localTime() : nil,
                ratePerSecond: self.chance(20) ? 5 : nil, lateMilliseconds: self.chance(10) ? 0 : PushJob.lateUsual,
                textMode: self.chance(10) ? .idOnly : nil, createdAt: self.time()))
    }

    private mutating func localTime() -> PushLocalTime {
        let passes = [
            PushLocalTime.Pass(at: self.clock + 1, timeZones: ["Asia/Shanghai", "Asia/Tokyo"]),
            PushLocalTime.Pass(at: self.clock + 2, timeZones: ["Europe/Berlin"]),
            PushLocalTime.Pass(at: self.clock + 3, timeZones: ["America/Lima"]),
        ]
        return PushLocalTime(
            text: "2026-12-01T09:00", timeZone: self.chance(95) ? self.pick(["Europe/Berlin", "Asia/Tokyo"]) : "Moon",
            passes: Array(passes.prefix(self.number(1..<4))))
    }

    /// Starts and steps in turns: by chance alone few jobs would come to their last pass.
    private mutating func nextOfPasses(of job: (app: AppID, id: PushJobID)) -> StoreCommand {
        self.passTurns += 1
        if self.passTurns > 3, self.chance(15) { return .changePush(job.app, job.id, .recall, at: self.time()) }
        guard self.passTurns % 2 == 0 else { return .changePush(job.app, job.id, .start, at: self.time()) }
        let ids = self.ids(self.number(2..<5))
        for id in ids { self.pushed.append((job.app, job.id, id)) }
        return .stepPush(job.app, job.id, ids: ids, at: self.time())
    }

    private mutating func reportTimeZone() -> StoreCommand {
        let status = DeviceStatus(
            authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available,
            timeZone: self.pick(["Asia/Shanghai", "Europe/Berlin", "America/Lima", "Moon", ""]))
        let device = DeviceKey(user: self.userKey(), device: self.pick(["phone", "pad"]))
        return .setDeviceStatus(device, ReportedStatus(status, at: self.time()))
    }

    /// They look the same, and are two.
    private static let aliases: [Alias] = ["caf\u{e9}", "cafe\u{301}"]

    private mutating func audience() -> PushAudience {
        switch self.number(0..<19) {
        case 16: .devices(self.audienceDevices())
        case 17: .all([.everybody, .not(.devices(self.audienceDevices()))])
        case 18: .any([.tag("gold"), .devices(self.audienceDevices())])
        case 0..<5: .everybody
        case 5..<8: .users(self.users(0..<4) + (self.chance(40) ? ["zed"] : []))
        case 8: .alias(self.pick(Self.aliases))
        case 9..<11: .tag("gold")
        case 11: .not(.tag("gold"))
        case 12: .all([.everybody, .not(.users(self.users(1..<3)))])
        case 13: .any([.alias(Self.aliases[0]), .users(self.users(1..<3))])
        case 14: .all([.users(self.users(1..<4)), .any([.tag("gold"), .everybody])])
        default: self.chance(40) ? .any([]) : .any([.tag("gold"), .alias(Self.aliases[1])])
        }
    }

    private mutating func audienceDevices() -> [PushAudience.Device] {
        self.users(1..<4).map { user in .init(user: user, device: self.chance(70) ? "phone" : "pad") }
    }

    private mutating func stepPush() -> StoreCommand {
        let job = self.job()
        let ids = self.ids(self.chance(96) ? self.number(1..<4) : 0)
        for id in ids { self.pushed.append((job.app, job.id, id)) }
        if self.pushed.count > 12 { self.pushed.removeFirst(self.pushed.count - 12) }
        return .stepPush(
            self.chance(97) ? job.app : self.app(), job.id, ids: ids,
            devicesMax: self.chance(50) ? .max : self.number(1..<4),
            at: self.time())
    }

    private mutating func changePush() -> StoreCommand {
        let job = self.job()
        return .changePush(job.app, job.id, self.pick([.start, .cancel, .recall, .recall]), at: self.time())
    }

    private mutating func readPush() -> StoreCommand {
        let job = self.job()
        if self.chance(40) { return .readPush(job.app, job.id) }
        return .readPushes(job.app, before: self.chance(50) ? job.id : nil, limit: self.chance(85) ? 2 : 0)
    }

    private mutating func setLabels() -> StoreCommand {
        let change: LabelChange =
            self.chance(50)
            ? .aliases(self.pick([[Self.aliases[0]], [Self.aliases[1]], Self.aliases, []]))
            : .tags(self.pick([["gold"], ["gold", "new"], [], ["a b"]]))
        let key = self.userKey()
        // Drawn from what is there, so that the other commands stay as they were.
        if change == .tags(["gold", "new"]) { return self.registerInstallations(key) }
        return .setLabels(key, change)
    }

    /// The same tokens as those of devices.
    private func registerInstallations(_ key: UserKey) -> StoreCommand {
        let user = self.clock % 3 == 0 ? nil : key.user
        let all = ["ab12", "cd34"].map { token in
            ImportedInstallation(
                PushRegistration(token: PushToken(token), environment: .sandbox, topic: "com.example"), of: user,
                tags: user == nil ? nil : ["gold"], digest: Array(token.utf8))
        }
        return .registerInstallations(key.app, self.clock % 2 == 0 ? all : all.reversed(), at: self.clock)
    }

    private mutating func nextAboutLegs() -> StoreCommand {
        let sent = self.sent()
        let device: DeviceID? = self.chance(90) ? self.pick(["phone", "phone", "pad"]) : nil
        let leg = LegID(message: sent.id, user: UserKey(app: sent.app, user: self.user()), device: device)
        let job = self.chance(95) ? sent.job : nil
        switch self.number(0..<10) {
        case 0..<3:
            return .keepLeg(
                OpenLeg(
                    leg: leg, position: self.position(), wait: .inFlight, apnsID: self.chance(50) ? "A-3" : nil,
                    pushJob: job, steps: self.steps()))
        case 3..<7:
            return .endLeg(
                EndedLeg(
                    leg: leg, end: self.end(), at: self.time(), pushJob: job, isRepeated: self.chance(20),
                    steps: self.steps()))
        default: return .receipt(leg, self.pick([.shown, .opened]), at: self.time())
        }
    }

    /// About one of a job's messages, as about any.
    private mutating func nextAboutPushed() -> StoreCommand {
        let sent = self.sent()
        let key = UserKey(app: sent.app, user: self.user())
        switch self.number(0..<12) {
        case 0..<2:
            return .recall(
                RecallOperation(
                    id: self.ids(1)[0], app: sent.app, message: sent.id, actor: self.chance(80) ? nil : "desk",
                    window: 5_000, at: self.time()))
        case 2:
            return .edit(
                EditOperation(
                    app: sent.app, message: sent.id, actor: nil,
                    content: self.chance(50) ? self.mediaContent() : "new", window: 0, at: self.time()))
        case 3: return .delete(key, Deletion(conversation: self.desk, messages: [sent.id]), at: self.time())
        case 4: return .markRead(key, self.desk, upTo: self.position(), at: self.time())
        case 5: return self.clock % 2 == 0 ? .readMessage(sent.app, sent.id) : .trace(sent.app, sent.id)
        case 6: return .readReceipts(sent.app, sent.id, asked: nil)
        case 7...9: return .readPushRecipient(key, sent.job)
        case 10: return .readMedia(key, self.pick(Self.media), in: sent.id)
        default: return .signOut(DeviceKey(user: key, device: "phone"), at: self.time())
        }
    }

    private mutating func nextAboutDesk() -> StoreCommand {
        let app = self.job().app
        let key = UserKey(app: app, user: self.user())
        switch self.number(0..<7) {
        case 0: return .setBlocked(key, "desk", self.chance(80), at: self.time())
        case 1: return .putAccount(app, ServiceAccount(self.desk, audience: self.chance(50) ? .followers : .everybody))
        case 2: return .setFollowing(key, self.desk, self.chance(80))
        case 3: return .readHistory(key, self.desk, before: self.chance(40) ? self.sent().id : nil, limit: 3)
        case 4: return .readLog(key, after: self.position(), limit: self.number(0..<8))
        case 5: return .readMediaUses(app, self.pick(Self.media), by: self.chance(50) ? "desk" : nil)
        default:
            return .setObjectNames(app, self.chance(50) ? [] : ["my:Poll"])
        }
    }
}
