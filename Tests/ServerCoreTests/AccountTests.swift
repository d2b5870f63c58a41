import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A person whom the backend bans` {
    private static func change(_ change: AccountChange, _ user: UserID = "bob") -> ServerEvent {
        .api(APIRequestID(9), .changeAccount(ServerBench.key(user), change))
    }

    @Test func `is out at once on all devices, and what was under way ends disabled`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.goneDevice("bob", "tablet")
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(Self.change(.ban())) == [
                "store ban bob", "count disabled", "s1 ← fatal disabled", "close s1", "count disabled", "reply done",
            ])
        guard case .trace(let trace?)? = bench.read(.trace(ServerBench.app, bench.messages[0])) else {
            Issue.record("there is no trace")
            return
        }
        #expect(trace.ended.filter { $0.leg.user.user == "bob" }.map(\.end) == [.disabled, .disabled])
        // What is sent from now on is kept, and is for no device.
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "count no_device"])
    }

    @Test func `stays in on all devices, with what is under way, where the store cannot ban`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.goneDevice("bob", "tablet")
        bench.say(to: .direct("bob"))
        bench.isSignOutUnreadable = true
        #expect(bench.run(Self.change(.ban())) == ["store ban bob", "reply refused unavailable "])
        #expect(bench.acceptPush().ends == ["store end m1 bob/tablet accepted"])
        let acked = bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(acked.ends == ["store end m1 bob/phone settled shown"])
        bench.say("again", to: .direct("bob"))
        #expect(bench.pushes.count == 1)
        bench.isSignOutUnreadable = false
        #expect(bench.run(Self.change(.ban())).last == "reply done")
    }

    @Test func `cannot sign in until the ban is lifted, and then has everything`() {
        var bench = ServerBench()
        bench.run(Self.change(.ban()))
        #expect(
            bench.connect("bob").lines == ["store sign in bob/phone", "s1 ← fatal disabled", "close s1"])
        bench.say(to: .direct("bob"))
        #expect(bench.run(Self.change(.unban)) == ["store unban bob", "reply done"])
        #expect(bench.connect("bob").lines.outside == ["s2 ← welcome head 1 unread 1"])
    }

    @Test func `is banned though the sign-in was under way`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.isStoreHeld = true
        bench.connect("bob", "tablet")
        bench.run(Self.change(.ban()))
        bench.connect("bob", "desk")
        #expect(
            bench.releaseStore() == [
                "s2 ← welcome head 0 unread 0", "s1 ← fatal disabled", "close s1", "s2 ← fatal disabled", "close s2",
                "reply done", "s3 ← fatal disabled", "close s3",
            ])
    }

    @Test func `is banned though nobody had them in memory`() {
        var bench = ServerBench.gone()
        bench.crash()
        #expect(bench.run(Self.change(.ban())) == ["store load bob", "store ban bob", "reply done"])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "count no_device"])
    }

    @Test func `may sign in again when the time of the ban is over`() {
        var bench = ServerBench()
        let ban = AccountBan(reason: "spam", until: bench.now.wall + 10_000)
        bench.run(Self.change(.ban(ban)))
        #expect(bench.connect("bob").lines.outside == ["s1 ← fatal disabled", "close s1"])
        bench.pass(10_000)
        #expect(bench.connect("bob").lines.outside == ["s2 ← welcome head 0 unread 0"])
        #expect(
            bench.run(Self.change(.ban(AccountBan(until: bench.now.wall)))) == ["reply refused invalid_field until"])
    }

    @Test func `is told by the account`() {
        var bench = ServerBench()
        bench.run(Self.change(.ban()))
        #expect(bench.read(.readAccount(ServerBench.key("bob")))?.userAccount == AccountState(ban: AccountBan()))
        #expect(bench.read(.readAccount(ServerBench.key("carol")))?.userAccount == AccountState())
    }
}

@Suite struct `Tokens that the backend revokes` {
    private static func revoke(_ before: Int64, signsOut: Bool = false) -> ServerEvent {
        let change = AccountChange.revokeTokens(before: ServerBench.started + before, signsOut: signsOut)
        return .api(APIRequestID(9), .changeAccount(ServerBench.key("bob"), change))
    }

    @Test func `end the sessions that live on them, those that do not say when they were issued included`() {
        var bench = ServerBench()
        bench.connect("bob", "old", issuedAt: 5_000)
        bench.connect("bob", "new", issuedAt: 15_000)
        bench.connect("bob", "undated")
        #expect(
            bench.run(Self.revoke(10_000)).outside == [
                "s1 ← fatal token_revoked", "close s1", "s3 ← fatal token_revoked", "close s3", "reply done",
            ])
        #expect(bench.connect("bob", "old", issuedAt: 9_999).lines.outside == ["s4 ← fatal token_revoked", "close s4"])
        #expect(bench.connect("bob", "undated").lines.outside == ["s5 ← fatal token_revoked", "close s5"])
        #expect(bench.connect("bob", "old", issuedAt: 10_000).lines.outside == ["s6 ← welcome head 0 unread 0"])
    }

    @Test func `are no good for a renewal`() {
        var bench = ServerBench(settings: `The token of a session`.settings)
        let session = bench.connect("bob", tokenUntil: 100_000, issuedAt: 15_000).session
        bench.run(Self.revoke(10_000))
        bench.ask(session, 1, .renewToken("t"))
        bench.run(.tokenChecked(session, 1, `The token of a session`.token(until: 900_000, issuedAt: 9_000)))
        guard case .answer(1, .refused(let problem))? = bench.frames.last else {
            Issue.record("it was not refused")
            return
        }
        #expect(problem.code == .tokenRevoked)
    }

    @Test func `take what an extension was given for them with them`() {
        var bench = ServerBench()
        bench.connect("bob", issuedAt: 15_000)
        let device = ServerBench.device("bob")
        func ask(_ userTokenIssuedAt: Int64?) -> [String] {
            bench.run(
                .api(
                    APIRequestID(1),
                    .fromExtension(
                        device, tokenIssuedAt: bench.now.wall,
                        userTokenIssuedAt: userTokenIssuedAt.map { ServerBench.started + $0 },
                        .missed(after: 0, limit: 1))
                ))
        }
        #expect(ask(nil) == ["store log bob after 0, 1", "reply page of 0"])
        bench.run(Self.revoke(10_000))
        #expect(ask(nil) == ["reply refused invalid_token token"])
        #expect(ask(9_000) == ["reply refused invalid_token token"])
        #expect(ask(15_000) == ["store log bob after 0, 1", "reply page of 0"])
    }

    @Test func `leave devices signed in, unless these are signed out, too`() {
        var bench = ServerBench.gone()
        bench.connect("bob", "tablet", issuedAt: 15_000)
        bench.run(Self.revoke(10_000))
        #expect(bench.say(to: .direct("bob")).contains { $0.hasPrefix("push m1 to bob/phone") })
        #expect(
            bench.run(Self.revoke(10_000, signsOut: true)).filter { !$0.hasPrefix("count") }.outside
                == ["s2 ← fatal invalid_token", "close s2", "reply done"])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "count no_device"])
    }

    @Test func `are not those of a time to come`() {
        var bench = ServerBench()
        #expect(bench.run(Self.revoke(20_001)) == ["reply refused invalid_field before"])
    }
}
