import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `Connections` {
    private static func connect(
        _ bench: inout ServerBench, _ user: UserID, _ device: DeviceID = "phone", verdict: TokenVerdict? = nil,
        from address: String = "203.0.113.7"
    ) -> [String] {
        bench.sessions += 1
        let session = SessionID(bench.sessions)
        let lines = bench.run(.accepted(session, from: address))
        guard lines.isEmpty else { return lines }
        let hello = ClientFrame.Hello(
            versions: 1...1, token: "t", device: device, platform: "ios", runState: .foreground, after: 0)
        let token = CheckedToken(user: ServerBench.key(user), expiresAt: 1 << 53, issuedAt: nil)
        let good = TokenVerdict.valid(token, extensionToken: "x")
        return bench.run(.connected(session, hello, verdict ?? good, from: address))
    }

    @Test func `of one person are bounded, and the next one is told when to come`() {
        var settings = Unlimited.settings
        settings.limits[.person, .connects] = RateLimit(perSecond: 1, burst: 2)
        var bench = ServerBench(settings: settings)
        for _ in 0..<2 { #expect(Self.connect(&bench, "alice").contains { $0.contains("welcome") }) }
        #expect(
            Self.connect(&bench, "alice") == ["refuse connects of person", "s3 ← fatal rate_limited", "close s3"])
        guard case .problem(let problem, _)? = bench.frames.last else {
            Issue.record("no problem")
            return
        }
        #expect(problem.retryAfterMilliseconds == 1_000)
        #expect(Self.connect(&bench, "bob").contains { $0.contains("welcome") })
        bench.pass(1_000)
        #expect(Self.connect(&bench, "alice").contains { $0.contains("welcome") })
    }

    @Test func `of one address are turned away before they are read, and others are not`() {
        var settings = Unlimited.settings
        settings.limits[.address, .connects] = RateLimit(perSecond: 1, burst: 2)
        var bench = ServerBench(settings: settings)
        for user in ["a", "b"] { #expect(Self.connect(&bench, UserID(user)).contains { $0.contains("welcome") }) }
        #expect(Self.connect(&bench, "c") == ["refuse connects of address", "turn away s3 for 1000"])
        #expect(Self.connect(&bench, "d", from: "203.0.113.8").contains { $0.contains("welcome") })
        // Who is behind a proxy that does not say is not known.
        for _ in 0..<9 { #expect(Self.connect(&bench, "e", from: "").contains { $0.contains("welcome") }) }
        bench.pass(1_000)
        #expect(Self.connect(&bench, "c").contains { $0.contains("welcome") })
    }

    @Test func `with tokens that are nobody's are turned away, with one that has expired they are not`() {
        var settings = Unlimited.settings
        settings.limits[.address, .failures] = RateLimit(perSecond: 1, burst: 3)
        var bench = ServerBench(settings: settings)
        for _ in 0..<9 { #expect(Self.connect(&bench, "a", verdict: .expired).last?.hasPrefix("close") == true) }
        for _ in 0..<3 { #expect(Self.connect(&bench, "a", verdict: .invalid).last?.hasPrefix("close") == true) }
        #expect(Self.connect(&bench, "a").first == "refuse failures of address")
        bench.pass(1_000)
        #expect(Self.connect(&bench, "a").contains { $0.contains("welcome") })
        // Its sender has chosen the name of the key.
        bench.pass(3_000)
        for _ in 0..<3 { #expect(Self.connect(&bench, "a", verdict: .keyPending).last?.hasPrefix("close") == true) }
        #expect(Self.connect(&bench, "a").first == "refuse failures of address")
    }

    @Test func `of more addresses than can be kept in mind cost no more memory`() {
        var bench = ServerBench()
        var most = 0
        for number in 0..<250_000 {
            _ = bench.core.handle(.accepted(SessionID(UInt64(number)), from: "\(number)"), at: bench.now)
            if number % 1_000 == 0 { most = max(most, bench.core.load(at: bench.now).addresses) }
        }
        #expect(most <= 100_000)
        // Each has taken one of two thousand, which is back after a moment.
        bench.pass(60_000)
        for number in 0..<200_000 {
            bench.pass(1)
            _ = bench.core.handle(.accepted(SessionID(UInt64(number)), from: "later \(number)"), at: bench.now)
        }
        #expect(bench.core.load(at: bench.now).addresses <= 1_100)
    }
}
