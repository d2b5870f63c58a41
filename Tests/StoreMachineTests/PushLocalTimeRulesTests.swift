import StoreModel
import Testing
import TidingsModel

/// Nine o'clock in Asia first, then in Europe, then in America.
private let nine = PushLocalTime(
    text: "2026-12-01T09:00", timeZone: "Europe/Berlin",
    passes: [
        .init(at: 1_000, timeZones: ["Asia/Shanghai", "Asia/Singapore"]),
        .init(at: 2_000, timeZones: ["Europe/Berlin"]), .init(at: 3_000, timeZones: ["America/New_York"]),
    ])

private func local(_ id: UInt64, _ audience: PushAudience, _ time: PushLocalTime = nine) -> PushJob {
    var job = job(id, audience)
    job.localTime = time
    return job
}

extension Opened {
    fileprivate mutating func report(_ user: UserID, _ zone: String, device: DeviceID = "phone", at: Int64 = 5) throws {
        let key = DeviceKey(user: UserKey(app: "shop", user: user), device: device)
        _ = try self.apply(.signIn(key, platform: "iOS", at: 1))
        let status = DeviceStatus(
            authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available, timeZone: zone)
        _ = try self.apply(.setDeviceStatus(key, ReportedStatus(status, at: at)))
    }

    /// Starts the job's next pass and takes it in one step.
    fileprivate mutating func pass(_ id: UInt64, _ messages: ClosedRange<UInt64>) throws -> [UserID] {
        _ = try self.told(id, .start)
        return try self.step(id, messages)?.deliveries.map(\.user) ?? []
    }
}

@Suite struct `A push at a time on people's own clocks` {
    @Test func `passes over the moments that were late, and reaches their people with the last`() throws {
        var opened = Opened()
        try opened.report("ny", "America/New_York")
        try opened.report("sh", "Asia/Shanghai")
        var late = local(1, .everybody)
        late.lateMilliseconds = 500
        try opened.create(late)
        // Shanghai's came while nobody could begin it, and so did Berlin's.
        for at in [1_501, 2_501] as [Int64] {
            let job = try #require(try opened.toldJob(1, .start, at: at))
            #expect(job.state == .scheduled && job.changedAt == 10)
        }
        #expect(try opened.job(1)?.sendAt == 3_000)
        let job = try #require(try opened.toldJob(1, .start, at: 3_500))
        #expect(job.state == .running)
        #expect(try opened.step(1, 10...19)?.deliveries.map(\.user) == ["ny", "sh"])
        late.id = MessageID(rawValue: 2)
        try opened.create(late)
        for _ in 0..<3 { _ = try opened.told(2, .start, at: 9_000) }
        #expect(try opened.job(2)?.state == .missed && opened.job(2)?.changedAt == 9_000)
    }

    @Test func `reaches people pass by pass, where their phones say they are`() throws {
        var opened = Opened()
        try opened.report("ny", "America/New_York")
        try opened.report("sh", "Asia/Shanghai")
        try opened.report("be", "Europe/Berlin")
        let made = try #require(try opened.create(local(1, .everybody)))
        #expect(made.state == .scheduled && made.sendAt == 1_000 && made.pass == 0)
        #expect(try opened.pass(1, 11...19) == ["sh"])
        let waiting = try #require(try opened.job(1))
        #expect(waiting.state == .scheduled && waiting.sendAt == 2_000 && waiting.pass == 1 && waiting.cursor == 0)
        #expect(try opened.pass(1, 21...29) == ["be"])
        #expect(try opened.pass(1, 31...39) == ["ny"])
        #expect(try opened.job(1)?.state == .done)
        #expect(try opened.job(1)?.counts.recipients == 3)
    }

    @Test func `goes by the clock it names for people of whom no zone is known`() throws {
        var opened = Opened()
        try opened.signIn("silent")
        try opened.report("odd", "Moon/Base")
        try opened.create(local(1, .users(["silent", "odd", "unknown"])))
        #expect(try opened.pass(1, 11...19) == [])
        #expect(try opened.pass(1, 21...29) == ["odd", "silent", "unknown"])
        #expect(try opened.pass(1, 31...39) == [])
    }

    @Test func `reaches somebody who travels once, and leaves nobody out`() throws {
        var opened = Opened()
        try opened.report("east", "America/New_York")
        try opened.report("west", "Asia/Shanghai")
        try opened.create(local(1, .everybody))
        #expect(try opened.pass(1, 11...19) == ["west"])
        // One flies on and has it already; the other has missed the hour in Asia, and gets it with the last.
        try opened.report("west", "Europe/Berlin", at: 6)
        try opened.report("east", "Asia/Shanghai", at: 6)
        #expect(try opened.pass(1, 21...29) == [])
        #expect(try opened.pass(1, 31...39) == ["east"])
    }

    @Test func `goes by the phone that has reported last`() throws {
        var opened = Opened()
        try opened.report("ada", "America/New_York", device: "pad", at: 9)
        try opened.report("ada", "Asia/Shanghai", at: 8)
        try opened.create(local(1, .everybody))
        #expect(try opened.pass(1, 11...19) == [])
        _ = try opened.apply(
            .signOut(DeviceKey(user: UserKey(app: "shop", user: "ada"), device: "pad"), at: 10))
        try opened.create(local(2, .everybody))
        #expect(try opened.pass(2, 21...29) == ["ada"])
    }

    @Test func `is cancelled between two passes, and what it has sent is taken back`() throws {
        for (change, state) in [(PushJobChange.cancel, PushJob.State.cancelled), (.recall, .recalling)] {
            var opened = Opened()
            try opened.report("sh", "Asia/Shanghai")
            try opened.report("be", "Europe/Berlin")
            try opened.create(local(1, .everybody))
            #expect(try opened.pass(1, 11...19) == ["sh"])
            _ = try opened.told(1, change)
            #expect(try opened.job(1)?.state == state)
            guard state == .recalling else { continue }
            #expect(try opened.step(1, 21...29)?.recalls.map(\.message.id) == ids(11...11))
            #expect(try opened.job(1)?.state == .recalled)
        }
        var opened = Opened()
        try opened.create(local(1, .everybody))
        _ = try opened.told(1, .recall)
        #expect(try opened.job(1)?.state == .cancelled)
    }

    @Test func `cannot be taken back between two passes where it shows nothing`() throws {
        var opened = Opened()
        try opened.report("sh", "Asia/Shanghai")
        var custom = local(1, .everybody)
        custom.body = .custom(CustomMessage(id: MessageID(rawValue: 0), content: "{}", sentAt: 0))
        try opened.create(custom)
        #expect(try opened.pass(1, 11...19) == ["sh"])
        #expect(refused(try opened.told(1, .recall)) == "not_allowed push")
        _ = try opened.told(1, .cancel)
        #expect(try opened.job(1)?.state == .cancelled)
    }

    @Test func `ends with its account, which is taken back between two passes`() throws {
        var opened = Opened()
        try opened.report("sh", "Asia/Shanghai")
        try opened.report("be", "Europe/Berlin")
        let news = ConversationID(type: .publicService, target: "news")
        #expect(try opened.apply(.putAccount("shop", ServiceAccount(news))) == .done)
        var ofNews = local(1, .everybody)
        ofNews.account = news
        try opened.create(ofNews)
        #expect(try opened.pass(1, 11...19) == ["sh"])
        #expect(try opened.apply(.setAccount("shop", news, isDeclared: false)) == .done)
        #expect(try opened.job(1)?.state == .scheduled)
        #expect(try opened.pass(1, 21...29) == [])
        let stopped = try #require(try opened.job(1))
        #expect(stopped.state == .cancelled && stopped.pass == 1 && stopped.counts.recipients == 1)
    }

    @Test func `skips once whoever has blocked the account, also if they do so no longer with the last pass`() throws {
        var opened = Opened()
        try opened.report("sh", "Asia/Shanghai")
        try opened.report("si", "Asia/Singapore")
        for user in ["sh", "si"] {
            _ = try opened.apply(.setBlocked(UserKey(app: "shop", user: UserID(user)), "push", true, at: 2))
        }
        try opened.create(local(1, .everybody))
        #expect(try opened.pass(1, 11...19) == [])
        #expect(try opened.job(1)?.counts.skipped == 0)
        #expect(try opened.pass(1, 21...29) == [])
        _ = try opened.apply(.setBlocked(UserKey(app: "shop", user: "si"), "push", false, at: 3))
        #expect(try opened.pass(1, 31...39) == ["si"])
        #expect(try opened.job(1)?.counts.skipped == 1)
    }

    @Test func `goes through many people in many steps of a pass, and begins again with the next`() throws {
        var opened = Opened()
        let users = (0..<6).map { UserID("u\($0)") }
        for (number, user) in users.enumerated() {
            try opened.report(user, number.isMultiple(of: 2) ? "Asia/Shanghai" : "Europe/Berlin")
        }
        try opened.create(local(1, .everybody))
        _ = try opened.told(1, .start)
        #expect(try opened.step(1, 11...12)?.deliveries.map(\.user) == ["u0", "u2"])
        #expect(try opened.job(1)?.state == .running)
        #expect(try opened.step(1, 13...14)?.deliveries.map(\.user) == ["u4"])
        #expect(try opened.pass(1, 21...29) == ["u1", "u3", "u5"])
        let step = try opened.step(1, 31...39)
        #expect(step == nil, "it waits for its last pass")
        #expect(try opened.pass(1, 41...49) == [])
        let done = try #require(try opened.job(1))
        #expect(done.state == .done && done.counts.recipients == 6 && done.steps == 3)
    }

    @Test func `has passes that ascend, and a clock among them`() throws {
        var opened = Opened()
        var unknown = nine
        unknown.timeZone = "Moon/Base"
        #expect(refused(try opened.apply(.createPush(local(1, .everybody, unknown)))) == "invalid_field time_zone")
        var back = nine
        back.passes.swapAt(0, 1)
        #expect(refused(try opened.apply(.createPush(local(1, .everybody, back)))) == "invalid_field send_at_local")
        var none = nine
        none.passes = []
        #expect(refused(try opened.apply(.createPush(local(1, .everybody, none)))) == "invalid_field send_at_local")
    }
}
