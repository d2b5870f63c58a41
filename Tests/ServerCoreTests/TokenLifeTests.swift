import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `The token of a session` {
    /// Nothing but the token ends a session.
    static var settings: ServerSettings {
        var settings = ServerBench.plain
        settings.heartbeat = 100_000_000
        settings.graceTime = 0
        return settings
    }

    static let expired: TokenVerdict = .expired

    static func token(_ user: UserID = "bob", until expiresAt: Int64, issuedAt: Int64? = nil) -> TokenVerdict {
        .valid(
            CheckedToken(
                user: ServerBench.key(user), expiresAt: ServerBench.started + expiresAt,
                issuedAt: issuedAt.map { ServerBench.started + $0 }), extensionToken: "")
    }

    /// What was due: how long after the start, and what was done.
    static func pass(_ bench: inout ServerBench, _ milliseconds: Int64) -> [String] {
        var lines: [String] = []
        for _ in 0..<(milliseconds / 1_000) {
            let done = bench.pass(1_000)
            if !done.isEmpty { lines.append("+\((bench.now.wall - ServerBench.started) / 1_000)") }
            lines += done
        }
        return lines
    }

    @Test func `is told to expire five minutes before, and ends the session half a minute after`() {
        var bench = ServerBench(settings: Self.settings)
        bench.connect("bob", tokenUntil: 3_600_000)
        #expect(
            Self.pass(&bench, 4_000_000) == [
                "+3300", "s1 ← token expires at 3600000", "+3630", "s1 ← fatal expired_token", "close s1",
            ])
    }

    @Test func `is told a fifth of its life before if that is less`() {
        var bench = ServerBench(settings: Self.settings)
        // The bench has waited for 20 s.
        bench.connect("bob", tokenUntil: 120_000)
        #expect(
            Self.pass(&bench, 200_000) == [
                "+100", "s1 ← token expires at 120000", "+150", "s1 ← fatal expired_token", "close s1",
            ])
    }

    @Test func `may be renewed without hanging up, and lives as long as the new one`() {
        var bench = ServerBench(settings: Self.settings)
        let session = bench.connect("bob", tokenUntil: 120_000).session
        bench.pass(100_000)
        #expect(bench.ask(session, 1, .renewToken("new")) == ["check new of s1 for 1"])
        #expect(bench.run(.tokenChecked(session, 1, Self.token(until: 600_000))) == ["s1 ← answer 1 done(0)"])
        #expect(
            Self.pass(&bench, 700_000) == [
                "+504", "s1 ← token expires at 600000", "+630", "s1 ← fatal expired_token", "close s1",
            ])
    }

    @Test func `may be renewed in the time of grace, too`() {
        var bench = ServerBench(settings: Self.settings)
        let session = bench.connect("bob", tokenUntil: 120_000).session
        bench.pass(125_000)
        bench.ask(session, 1, .renewToken("new"))
        #expect(bench.run(.tokenChecked(session, 1, Self.token(until: 9_000_000))) == ["s1 ← answer 1 done(0)"])
        #expect(bench.pass(60_000) == [])
    }

    @Test func `is renewed by nothing but a later one of the same person`() {
        var bench = ServerBench(settings: Self.settings)
        let session = bench.connect("bob", tokenUntil: 120_000).session
        let verdicts: [(TokenVerdict, String)] = [
            (.invalid, "invalid_token: token is not a user token of this server"),
            (.expired, "expired_token: token has expired; ask for a new one"),
            (.wrongApp, "wrong_app: token names an app that does not exist here"),
            (
                Self.token("carol", until: 900_000),
                "invalid_token: token must name the app and the person of the session"
            ),
            (Self.token(until: 120_000), "invalid_field: token must expire later than the one in use"),
        ]
        for (number, (verdict, words)) in verdicts.enumerated() {
            let number = RequestNumber(number + 1)
            bench.ask(session, number, .renewToken("t"))
            let lines = bench.run(.tokenChecked(session, number, verdict))
            #expect(lines.count == 1 && bench.frames.count > 0)
            guard case .answer(number, .refused(let problem))? = bench.frames.last else {
                Issue.record("\(lines)")
                continue
            }
            #expect("\(problem.code.rawValue): \(problem.field) \(problem.rule)" == words)
        }
        #expect(
            Self.pass(&bench, 200_000) == [
                "+100", "s1 ← token expires at 120000", "+150", "s1 ← fatal expired_token", "close s1",
            ])
    }

    @Test func `of a session that has ended meanwhile is renewed for nobody`() {
        var bench = ServerBench(settings: Self.settings)
        let session = bench.connect("bob", tokenUntil: 120_000).session
        bench.ask(session, 1, .renewToken("new"))
        bench.run(.disconnected(session))
        #expect(bench.run(.tokenChecked(session, 1, Self.token(until: 600_000))) == [])
    }

    @Test func `ends the session like a lost connection: what is under way waits for the phone to come back`() {
        var settings = Self.settings
        settings.graceTime = 5_000
        settings.foregroundAckDeadline = 600_000
        var bench = ServerBench(settings: settings)
        let session = bench.connect("bob", tokenUntil: 60_000).session
        bench.run(.frame(session, .registerPush(ServerBench.registration("bob"))))
        bench.pass(69_000)
        bench.say(to: .direct("bob"))
        #expect(bench.pass(1_000) == ["s1 ← fatal expired_token", "close s1"])
        #expect(bench.connect("bob", after: 1, tokenUntil: 900_000).lines.outside == ["s2 ← welcome head 1 unread 1"])
        #expect(bench.pushes.isEmpty)
    }

    @Test func `is looked at by the wall clock: a clock that is set ahead ends it within ten minutes`() {
        var bench = ServerBench(settings: Self.settings)
        bench.connect("bob", tokenUntil: 9_000_000)
        bench.now.wall += 20_000_000
        let lines = bench.pass(600_000)
        #expect(lines == ["s1 ← fatal expired_token", "close s1"])
    }

    @Test func `cannot be renewed for somebody else by the HTTP API`() {
        var bench = ServerBench(settings: Self.settings)
        let asked = APICommand.request(ServerBench.app, actor: "bob", .renewToken("t"))
        bench.run(.api(APIRequestID(1), asked))
        guard case .answer(.refused(let problem))? = bench.replies.last else {
            Issue.record("it was answered")
            return
        }
        #expect(problem.code == .notAllowed)
    }
}
