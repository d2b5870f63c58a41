import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

// Push jobs.
extension ServerBench {
    static let pushAccount = ConversationID(type: .pushService, target: "push")

    func jobName(_ job: PushJobID) -> String { "j\((self.jobs.firstIndex(of: job) ?? -1) + 1)" }

    static func pushDraft(
        _ text: String = "news", to audience: PushAudience = .everybody, isCounted: Bool = false
    ) -> PushDraft {
        var flags: MessageFlags = [.stored, .notified]
        if isCounted { flags.insert(.counted) }
        return PushDraft(
            account: Self.pushAccount,
            body: .message(
                MessageDraft(
                    clientMessageID: "push", conversation: Self.pushAccount, objectName: .text,
                    content: "{\"content\":\"\(text)\"}", flags: flags)),
            audience: audience)
    }

    @discardableResult
    mutating func push(_ draft: PushDraft, of app: AppID = ServerBench.app) -> [String] {
        self.run(.api(APIRequestID(0), .createPush(app, draft)))
    }

    @discardableResult
    mutating func change(_ job: Int, _ change: PushJobChange) -> [String] {
        self.run(.api(APIRequestID(0), .changePush(Self.app, self.jobs[job - 1], change)))
    }

    /// A job as the store has it.
    func job(_ number: Int) -> PushJob? {
        guard case .pushJob(let job)? = self.read(.readPush(Self.app, self.jobs[number - 1])) else { return nil }
        return job
    }

    /// People with a phone each that is gone: `p0`, `p1`, …; none of them is in memory.
    mutating func goneDevices(_ count: Int) {
        var prepared: [StoreCommand] = []
        for number in 0..<count {
            let device = Self.device(UserID("p\(number)"))
            prepared.append(.signIn(device, platform: "ios", at: self.now.wall))
            prepared.append(
                .setPushState(device, .registered(Self.registration(device.user.user), at: self.now.wall)))
        }
        _ = try? self.store.apply(prepared, epoch: self.opening.epoch)
    }

    var jobReports: [PushJobReport] {
        self.reports.compactMap { if case .pushJob(let report) = $0 { report } else { nil } }
    }
}

extension ServerBench {
    /// A server that pushes to bob: his phone has a token, and is gone.
    static func gone(_ settings: ServerSettings = ServerBench.plain) -> Self {
        var bench = Self(settings: settings)
        bench.goneDevice("bob")
        return bench
    }

    /// The same, right after a message to him.
    static func pushing() -> Self {
        var bench = Self.gone()
        bench.say(to: .direct("bob"))
        return bench
    }

    /// Connects a person's phone in the foreground, with a token.
    mutating func connectWithToken(_ user: UserID) -> SessionID {
        let session = self.connect(user).session
        self.run(.frame(session, .registerPush(Self.registration(user))))
        return session
    }
}
