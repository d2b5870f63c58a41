import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `Limits that are set of an app` {
    private static let toBob = ConversationID.direct("bob")

    /// Everybody's limits are these.
    private static func bench(_ limits: [(RateScope, RateKind, Int, Int)]) -> ServerBench {
        ServerBench(settings: `Somebody who sends too much`.settings(limits))
    }

    private static func settings(_ scope: RateScope, _ kind: RateKind, _ rate: String) -> AppSettings {
        var settings = AppSettings()
        settings.limits[scope, kind] = AppLimits.Rate(rate)
        return settings
    }

    private static func sendFromElsewhere(_ bench: inout ServerBench) -> String? {
        let draft = bench.draft("hi", Self.toBob)
        return bench.run(.api(APIRequestID(1), .send(UserKey(app: "club", user: "eve"), draft))).first
    }

    @Test func `take the place of the server's for it alone`() {
        var bench = Self.bench([(.app, .messages, 1, 2)])
        bench.makeApp(Self.settings(.app, .messages, "1/1"))
        bench.say(to: Self.toBob)
        #expect(bench.say(to: Self.toBob) == ["refuse messages of app", "reply refused rate_limited send"])
        #expect(Self.sendFromElsewhere(&bench) == "store accept m2")
        #expect(Self.sendFromElsewhere(&bench) == "store accept m3")
        #expect(Self.sendFromElsewhere(&bench) == "refuse messages of app")
        bench.pass(1_000)
        #expect(bench.say(to: Self.toBob).first == "store accept m4")
    }

    @Test func `are counted for each of its people, on all their connections`() {
        var bench = Self.bench([])
        bench.makeApp(Self.settings(.person, .messages, "1/1"))
        let phone = bench.connect("alice", "phone").session
        let tablet = bench.connect("alice", "tablet").session
        let bob = bench.connect("bob").session
        #expect(bench.run(.frame(phone, .send(bench.draft("hi", Self.toBob)))).first == "store accept m1")
        #expect(bench.run(.frame(tablet, .send(bench.draft("hi", Self.toBob)))).first == "refuse messages of person")
        #expect(bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice"))))).first == "store accept m2")
    }

    @Test func `hold as soon as they are changed, and nothing is owed from before`() {
        var bench = Self.bench([(.app, .messages, 1, 60), (.person, .messages, 1, 60)])
        bench.makeApp()
        let alice = bench.connect("alice").session
        for _ in 0..<60 { bench.run(.frame(alice, .send(bench.draft("hi", Self.toBob)))) }
        var draft = bench.draft("hi", Self.toBob)
        #expect(bench.run(.frame(alice, .send(draft))).first == "refuse messages of person")

        var settings = Self.settings(.person, .messages, "10/1")
        settings.limits[.app, .messages] = .unlimited
        bench.change(.setAppSettings(ServerBench.app, settings, revision: nil))
        #expect(bench.run(.frame(alice, .send(draft))).first == "store accept m61")
        draft = bench.draft("hi", Self.toBob)
        #expect(bench.run(.frame(alice, .send(draft))).first == "refuse messages of person")

        bench.change(.setAppSettings(ServerBench.app, AppSettings(), revision: nil))
        #expect(bench.run(.frame(alice, .send(draft))).first == "store accept m62")
    }

    @Test func `stay as they are counted when something else of the app is changed`() {
        var bench = Self.bench([])
        var settings = Self.settings(.app, .messages, "1/1")
        bench.makeApp(settings)
        bench.say(to: Self.toBob)
        settings.name = "Shop"
        bench.change(.setAppSettings(ServerBench.app, settings, revision: nil))
        #expect(bench.say(to: Self.toBob) == ["refuse messages of app", "reply refused rate_limited send"])
    }

    @Test func `hold for connections and deliveries, too`() {
        var bench = Self.bench([])
        var settings = Self.settings(.person, .connects, "1/1")
        settings.limits[.app, .deliveries] = AppLimits.Rate("1/1")
        bench.makeApp(settings)
        bench.connect("bob")
        #expect(bench.connect("bob", "tablet").lines.first == "refuse connects of person")
        #expect(bench.say(to: Self.toBob).first == "store accept m1")
        #expect(bench.say(to: Self.toBob).first == "refuse deliveries of app")
    }

    @Test func `are what the app is told that it has left`() {
        var bench = Self.bench([(.app, .messages, 5, 50)])
        bench.makeApp(Self.settings(.app, .messages, "1/10"))
        bench.say(to: Self.toBob)
        let quotas = bench.core.handle(.api(APIRequestID(2), .quotas(.messages(ServerBench.app))), at: bench.now)
        let left = RateQuota(
            scope: .app, kind: .messages, limit: RateLimit(perSecond: 1, burst: 10), remaining: 9, fullIn: 1_000)
        #expect(quotas == [.reply(APIRequestID(2), .quotas([left]))])
    }

    @Test func `hold nobody back where the server holds nobody back`() {
        var settings = ServerBench.plain
        (settings.limits, settings.isRateFree) = (.none, true)
        settings.apply(Self.settings(.app, .messages, "1/1"), to: ServerBench.app)
        #expect(settings.limits(of: ServerBench.app) == .none)
    }

    @Test func `hold for how many devices a person may have`() {
        var bench = Self.bench([])
        var settings = AppSettings()
        settings.devicesMax = 1
        bench.makeApp(settings)
        bench.connect("bob", "phone")
        #expect(bench.connect("bob", "tablet").lines.contains("store sign out bob/phone"))
    }
}
