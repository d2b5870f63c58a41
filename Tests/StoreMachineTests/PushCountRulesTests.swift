import StoreMachine
import StoreModel
import Testing
import TidingsModel

private func leg(_ message: UInt64, _ user: UserKey, _ device: DeviceID? = "phone") -> LegID {
    LegID(message: MessageID(rawValue: message), user: user, device: device)
}

private func end(
    _ message: UInt64, _ end: LegEnd = .accepted(apnsID: "a"), of user: UserKey = ada, at: Int64 = 7,
    isRepeated: Bool = false
) -> StoreCommand {
    let job = MessageID(rawValue: 1)
    return .endLeg(EndedLeg(leg: leg(message, user), end: end, at: at, pushJob: job, isRepeated: isRepeated))
}

@Suite struct `The counts of a push job` {
    /// Ada has message 11 and Bo 12.
    private func sent() throws -> Opened {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        try opened.create(job(1, .everybody))
        _ = try opened.step(1, 11...12)
        return opened
    }

    @Test func `grow by each leg that ends, once`() throws {
        var opened = try self.sent()
        _ = try opened.apply(end(11))
        _ = try opened.apply(end(11, .expired))
        _ = try opened.apply(end(12, .muted, of: bo, isRepeated: true))
        let counts = try #require(try opened.job(1)).counts
        #expect(counts.ends == ["accepted": 1, "muted": 1])
        #expect(counts.repeated == 1)
        // The trace tells the first end, and nothing of jobs.
        #expect(try opened.ended(11) == EndedLeg(leg: leg(11, ada), end: .accepted(apnsID: "a"), at: 7))
    }

    @Test func `are not those of another app's job`() throws {
        var opened = try self.sent()
        let elsewhere = UserKey(app: "club", user: "ada")
        _ = try opened.apply(end(11, of: elsewhere))
        #expect(try #require(try opened.job(1)).counts.ends == [:])
    }

    @Test func `have who has no device at once`() throws {
        var opened = Opened()
        try opened.signIn("ada")
        try opened.create(job(1, .users(["ada", "stranger"])))
        let step = try #require(try opened.step(1, 11...19))
        #expect(step.deliveries == [at(1, "ada"), at(1, "stranger")])
        #expect(step.job.counts.ends == ["no_device": 1])
        let trace = opened.store.dump().messages.first { $0.id == MessageID(rawValue: 12) }
        let stranger = UserKey(app: "shop", user: "stranger")
        #expect(trace?.ended == [EndedLeg(leg: leg(12, stranger, nil), end: .noDevice, at: 100)])
    }

    @Test func `have the legs that a sign-out ends, open or not`() throws {
        var opened = try self.sent()
        let open = OpenLeg(leg: leg(11, ada), position: 1, wait: .throttled, pushJob: MessageID(rawValue: 1))
        _ = try opened.apply(.keepLeg(open))
        #expect(try opened.user(ada)?.openLegs == [open])
        _ = try opened.apply(.advance(DeviceKey(user: ada, device: "phone"), settled: nil, decided: 1))
        for user in [ada, bo] { _ = try opened.apply(.signOut(DeviceKey(user: user, device: "phone"), at: 9)) }
        #expect(try #require(try opened.job(1)).counts.ends == ["signed_out": 2])
    }

    @Test func `have what phones have shown and opened, once for each leg`() throws {
        var opened = try self.sent()
        for receipt in [LegReceipt.shown, .shown, .opened] {
            _ = try opened.apply(.receipt(leg(11, ada), receipt, at: 5))
        }
        _ = try opened.apply(.receipt(leg(12, bo), .shown, at: 5))
        // It is not hers.
        _ = try opened.apply(.receipt(leg(12, ada), .opened, at: 5))
        let counts = try #require(try opened.job(1)).counts
        #expect(counts.shown == 2 && counts.opened == 1)
    }
}

@Suite struct `A push job that is recalled` {
    @Test func `takes back message after message, and says nothing in the end`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo", "cy")
        try opened.create(job(1, .everybody, body: .message(template(flags: .normal))))
        _ = try opened.step(1, 11...12)
        _ = try opened.step(1, 13...14)
        _ = try opened.apply(end(11))
        #expect(try opened.step(1, 15...15) == nil)
        guard case .pushJob(let recalling?) = try opened.told(1, .recall) else { Issue.record(); return }
        #expect(recalling.state == .recalling)
        // A start goes on with it.
        #expect(opened.open().pushJobs == [recalling])

        let first = try #require(try opened.step(1, 21...21, at: 300))
        #expect(first.recalls.map(\.recall.message) == ids(11...11))
        #expect(first.recalls.map(\.recall.id) == ids(21...21))
        #expect(first.recalls.map(\.recall.sender) == ["push"])
        #expect(first.recalls.map(\.delivery) == [at(2, "ada", wasUnread: true)])
        #expect(first.recalls.map(\.shown) == [[leg(11, ada)]])
        #expect(first.recalls.map(\.message.content) == [""])
        #expect(!first.isDone)
        // Two left in this step, of which one is there; then the next step.
        #expect(try opened.step(1, 22...29)?.recalls.map(\.recall.message) == ids(12...12))
        let last = try #require(try opened.step(1, 31...39, at: 400))
        #expect(last.recalls.map(\.recall.message) == ids(13...13))
        #expect(last.isDone && last.job.state == .recalled && last.job.changedAt == 400)
        #expect(last.job.counts.recalled == 3)
        #expect(opened.counts(ada) == [0, 0, 0])
        guard case .message(let said) = last.job.body else { Issue.record(); return }
        #expect(said.content == "" && said.pushText == nil)
        #expect(try opened.told(1, .recall) == .pushJob(last.job))
    }

    @Test func `leaves out what was recalled alone, which it has counted`() throws {
        var opened = Opened()
        try opened.signIn("ada", "bo")
        try opened.create(job(1, .everybody))
        _ = try opened.step(1, 11...12)
        _ = try opened.recall(11, as: 20, by: nil)
        #expect(try #require(try opened.job(1)).counts.recalled == 1)
        _ = try opened.told(1, .recall)
        let step = try #require(try opened.step(1, 21...29))
        #expect(step.recalls.map(\.recall.message) == ids(12...12))
        #expect(step.recalls.map(\.recall.id) == ids(21...21))
        #expect(step.isDone && step.job.counts.recalled == 2)
    }

    @Test func `before it has sent anything is cancelled`() throws {
        var opened = Opened()
        for (id, sendAt) in [(1, nil), (2, 500)] as [(UInt64, Int64?)] {
            try opened.create(job(id, .everybody, sendAt: sendAt))
            guard case .pushJob(let job?) = try opened.told(id, .recall) else { Issue.record(); return }
            #expect(job.state == .cancelled)
        }
    }
}
