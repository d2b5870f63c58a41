import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

/// What a person has set, and what becomes of the pushes to their phone.
@Suite struct `A person's settings` {
    static let team = ConversationID.group("team")

    /// Bob's phone is gone; he is in a group with alice.
    static func bench(_ settings: AllSettings, _ core: ServerSettings = ServerBench.plain) -> ServerBench {
        var bench = ServerBench(settings: core)
        bench.settings["bob"] = settings
        bench.run(
            .api(
                APIRequestID(0),
                .putConversation(
                    .init(app: ServerBench.app, conversation: Self.team, name: "Team", members: ["alice", "bob"]))))
        bench.goneDevice("bob")
        return bench
    }

    static func quiet(_ manner: QuietHours.Manner, start: Int = 0, end: Int = 0) -> AllSettings {
        AllSettings(
            person: PersonSettings(
                quietHours: QuietHours(start: start, end: end, timeZone: "UTC", manner: manner)))
    }

    static let utc = TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)

    @Test func `mute a conversation, and another one still rings`() {
        var bench = Self.bench(AllSettings(conversations: [Self.team: .init(level: .blocked)]))
        #expect(
            bench.say(to: Self.team).filter { $0.contains("bob") } == [
                "store end m1 bob/phone muted", "store cursor bob/phone decided 1",
            ])
        #expect(bench.say(to: .direct("bob")).outside.last?.hasPrefix("push m2 to bob/phone") == true)
    }

    @Test func `let a mention ring where nothing else may`() {
        var bench = Self.bench(AllSettings(person: PersonSettings(levels: [.group: .mentions])))
        #expect(bench.say(to: Self.team).ends == ["store end m1 bob/phone muted"])
        let lines = bench.say(to: Self.team, mentions: .users(["bob"]))
        #expect(lines.outside.last?.hasPrefix("push m2 to bob/phone") == true)
    }

    @Test func `mute until a time, which is ended in the store when it comes`() {
        let until = ServerBench.started + 60_000
        var bench = Self.bench(AllSettings(conversations: [Self.team: .init(level: .blocked, levelUntil: until)]))
        #expect(bench.say(to: Self.team).ends.last == "store end m1 bob/phone muted")
        bench.script = [
            .noted(
                .conversationSettings(Self.team, ConversationSettings()),
                deliveries: [.init(user: "bob", position: 2, unread: 1)])
        ]
        #expect(bench.pass(until - bench.now.wall - 1) == [])
        #expect(bench.pass(1) == ["store end level bob GRP:team", "store cursor bob/phone decided 2"])
        #expect(bench.pass(600_000) == [])
    }

    /// Found by the World: the timer was set while the clock was half an hour behind, and the level held that much longer.
    @Test func `end a level at most ten minutes late when the clock is set right`() {
        let until = ServerBench.started + 60_000
        var bench = Self.bench(AllSettings(conversations: [Self.team: .init(level: .blocked, levelUntil: until)]))
        let phone = bench.connect("bob").session
        bench.now.wall -= 1_800_000
        var lines: [String] = []
        for count in 1...3 as ClosedRange<UInt64> {
            lines += bench.pass(30_000) + bench.run(.frame(phone, .ping(count)))
        }
        #expect(lines.filter { $0.contains("end level") } == [])
        bench.now.wall += 1_800_000
        bench.script = [.noted(nil, deliveries: [])]
        for count in 4...23 as ClosedRange<UInt64> {
            lines += bench.pass(30_000) + bench.run(.frame(phone, .ping(count)))
        }
        #expect(lines.filter { $0.contains("end level") } == ["store end level bob GRP:team"])
    }

    @Test func `end a level that was over before the person was loaded`() {
        var bench = Self.bench(
            AllSettings(conversations: [Self.team: .init(level: .blocked, levelUntil: ServerBench.started)]))
        bench.script = [.noted(nil, deliveries: [])]
        #expect(bench.pass(1).contains("store end level bob GRP:team"))
    }

    @Test func `take effect on what waits already`() {
        var bench = Self.bench(Self.quiet(.defer))
        bench.run(.timeZoneRead("UTC", Self.utc))
        #expect(bench.say(to: Self.team).contains("store keep m1 bob/phone quiet_hours after 0"))
        bench.script = [
            .noted(
                .conversationSettings(Self.team, .init(level: .blocked)),
                deliveries: [.init(user: "bob", position: 2, unread: 0)])
        ]
        let request = ClientRequest.setConversationSettings(Self.team, .init(level: .blocked))
        #expect(
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "bob", request))) == [
                "store set bob GRP:team blocked", "reply answer done(2)", "store end m1 bob/phone muted",
                "store cursor bob/phone decided 2",
            ])
    }

    @Test func `hold pushes back in quiet hours until they are over`() {
        let night = ServerBench.started / 60_000 % 1_440
        var bench = Self.bench(Self.quiet(.defer, start: Int(night), end: Int(night) + 10))
        bench.run(.timeZoneRead("UTC", Self.utc))
        #expect(
            bench.say(to: .direct("bob")).suffix(2) == [
                "store keep m1 bob/phone quiet_hours after 0", "store cursor bob/phone decided 1",
            ])
        let end = (ServerBench.started / 60_000 + 10) * 60_000
        #expect(bench.pass(end - bench.now.wall - 1).outside == [])
        #expect(bench.pass(1).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `keep quiet hours over a crash`() {
        let night = ServerBench.started / 60_000 % 1_440
        var bench = Self.bench(Self.quiet(.defer, start: Int(night), end: Int(night) + 10))
        bench.run(.timeZoneRead("UTC", Self.utc))
        bench.say(to: .direct("bob"))
        #expect(bench.crash().contains("zone? UTC"))
        #expect(bench.run(.timeZoneRead("UTC", Self.utc)).outside == [])
        #expect(bench.pass(600_000).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `drop pushes in quiet hours if the person wants that`() {
        var bench = Self.bench(Self.quiet(.drop))
        bench.run(.timeZoneRead("UTC", Self.utc))
        #expect(bench.say(to: .direct("bob")).ends.last == "store end m1 bob/phone quiet_hours")
    }

    /// Which messages of bob's log his phone's extension may tell of as missed, oldest first.
    private func isTold(_ bench: inout ServerBench) throws -> [Bool] {
        bench.run(
            .api(
                APIRequestID(2),
                .fromExtension(
                    ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, .missed(after: 0, limit: 20))))
        guard case .missed(let page, _, _)? = bench.replies.last else {
            Issue.record("no page")
            return []
        }
        return page.entries.compactMap { entry in
            guard case .message(let message) = entry.body else { return nil }
            return message.flags.contains(.notified)
        }
    }

    @Test func `hold for what a phone has missed, too: what must not ring is not told of later`() throws {
        var bench = Self.bench(AllSettings(person: PersonSettings(levels: [.group: .mentions])))
        bench.say(to: Self.team)
        bench.say(to: Self.team, mentions: .users(["bob"]))
        bench.say(to: .direct("bob"), lifetime: 1_000)
        bench.say(to: .direct("bob"), lifetime: 1_001)
        bench.pass(1_000)
        #expect(try self.isTold(&bench) == [false, true, false, true])
    }

    @Test func `let a phone ring no more for what it has missed of a group its person is out of since`() {
        var bench = Self.bench(AllSettings())
        bench.say(to: Self.team)
        bench.say(to: .direct("bob"))
        func rings() -> [JSONValue?] {
            bench.run(
                .api(
                    APIRequestID(2),
                    .fromExtension(
                        ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, .missed(after: 0, limit: 20))))
            guard case .missed(let page, let words, let hidesContent)? = bench.replies.last else { return [] }
            let answer = page.missedAnswer(for: "bob", in: words, hidesContent: hidesContent)
            return (answer["entries"]?.arrayValue ?? []).filter { $0["message_id"] != nil }.map { $0["rings"] }
        }
        #expect(rings() == [true, true])
        let remove = ClientRequest.change(Self.team, .remove(["bob"]))
        bench.run(.api(APIRequestID(0), .request(ServerBench.app, actor: nil, remove)))
        #expect(rings() == [false, true])
    }

    @Test(arguments: [(QuietHours.Manner.drop, [false, true]), (.defer, [true, true])])
    func `drop for good what came in quiet hours, or only put it off`(_ manner: QuietHours.Manner, _ told: [Bool])
        throws
    {
        let night = ServerBench.started / 60_000 % 1_440
        var bench = Self.bench(Self.quiet(manner, start: Int(night), end: Int(night) + 10))
        bench.run(.timeZoneRead("UTC", Self.utc))
        bench.say(to: .direct("bob"))
        #expect(try self.isTold(&bench) == [false])
        bench.pass(600_000)
        bench.say(to: .direct("bob"))
        #expect(try self.isTold(&bench) == told)
    }

    @Test func `hold pushes back as long as it is not known what time it is there`() {
        var bench = ServerBench()
        bench.settings["bob"] = Self.quiet(.drop, start: 1, end: 0)
        bench.goneDevice("bob")
        #expect(bench.say(to: .direct("bob")).contains("store keep m1 bob/phone quiet_hours after 0"))
        #expect(bench.run(.timeZoneRead("UTC", Self.utc)).ends == ["store end m1 bob/phone quiet_hours"])
    }

    @Test func `do not hold anything back for a zone that is none any more`() {
        var bench = ServerBench()
        bench.settings["bob"] = Self.quiet(.drop)
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.run(.timeZoneRead("UTC", nil)).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `are refused with a zone that does not exist, and are stored with one that does`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        func settings(_ zone: String) -> PersonSettings {
            PersonSettings(quietHours: QuietHours(start: 1, end: 2, timeZone: zone))
        }
        #expect(bench.ask(bob, 1, .setPersonSettings(settings("Mars/Base"))) == ["zone? Mars/Base"])
        let rule = "must be a zone of the time-zone database such as Europe/Berlin, got \"Mars/Base\""
        #expect(
            bench.run(.timeZoneRead("Mars/Base", nil)) == [
                "s1 ← answer 1 refused(invalid_field: quiet_hours.time_zone \(rule))"
            ])
        #expect(bench.ask(bob, 2, .setPersonSettings(settings("UTC"))) == ["zone? UTC"])
        // Asked once, however many wait for it.
        #expect(bench.ask(bob, 3, .setPersonSettings(settings("UTC"))) == [])
        bench.script = [.noted(nil, deliveries: []), .noted(nil, deliveries: [])]
        #expect(
            bench.run(.timeZoneRead("UTC", Self.utc)).outside == [
                "s1 ← answer 2 done(0)", "s1 ← answer 3 done(0)",
            ])
        bench.script = [.noted(nil, deliveries: [])]
        #expect(bench.ask(bob, 4, .setPersonSettings(settings("UTC"))).outside == ["s1 ← answer 4 done(0)"])
        #expect(bench.run(.timeZoneRead("UTC", Self.utc)).first?.hasPrefix("BUG") == true)
    }
}

@Suite struct `A message with a lifetime` {
    @Test func `is not pushed once that is over`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"), lifetime: 4_000)
        bench.run(.disconnected(bob))
        #expect(bench.pass(5_000).ends == ["store end m1 bob/phone expired"])
    }

    @Test func `tells APNs not to keep it for longer`() {
        var bench = ServerBench.gone()
        bench.say(to: .direct("bob"), lifetime: 4_000)
        #expect(bench.pushes.last?.request.expiration == (bench.now.wall + 4_000) / 1_000)
    }
}

@Suite struct `A person who is busy on another device` {
    /// Bob's phone is gone, his tablet in the foreground.
    static func bench() -> (bench: ServerBench, tablet: SessionID) {
        var settings = ServerBench.plain
        settings.activeElsewhereTime = 30_000
        var bench = ServerBench.gone(settings)
        let tablet = bench.connect("bob", "tablet").session
        return (bench, tablet)
    }

    @Test func `is not rung for on the phone when they read it there`() {
        var (bench, tablet) = Self.bench()
        #expect(bench.say(to: .direct("bob")).contains("store keep m1 bob/phone active_elsewhere after 0"))
        bench.run(.frame(tablet, .ack(.init(stored: 1, settled: []))))
        #expect(
            bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 1))).ends == [
                "store end m1 bob/phone read_elsewhere"
            ])
        #expect(bench.pass(59_000).outside == [])
    }

    @Test func `is rung for on the phone after half a minute without doing anything there`() {
        var (bench, tablet) = Self.bench()
        bench.pass(20_000)
        bench.run(.frame(tablet, .opened(MessageID(rawValue: 1))))
        bench.say(to: .direct("bob"))
        bench.run(.frame(tablet, .ack(.init(stored: 1, settled: []))))
        bench.pass(20_000)
        // What the app does by itself is not the person.
        bench.run(.frame(tablet, .ping(1)))
        #expect(bench.pass(9_999).outside == [])
        #expect(bench.pass(1).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `is rung for at once when they put the other device away`() {
        var (bench, tablet) = Self.bench()
        bench.say(to: .direct("bob"))
        bench.run(.frame(tablet, .ack(.init(stored: 1, settled: []))))
        #expect(bench.run(.frame(tablet, .runState(.suspending))).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `is rung for at once if the operator wants no wait`() {
        var bench = ServerBench.gone()
        bench.connect("bob", "tablet")
        #expect(bench.say(to: .direct("bob")).contains("push m1 to bob/phone badge 1@1"))
    }
}
