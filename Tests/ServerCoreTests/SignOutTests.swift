import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A device that signs out` {
    @Test func `gets no more legs, and the store ends what was under way`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(.frame(bob, .signOut)) == [
                "store sign out bob/phone", "close s1", "count signed_out",
            ])
        #expect(bench.say(to: .direct("bob")) == ["store accept m2", "reply accepted m2", "count no_device"])
    }

    /// The store takes one thing after the other: what it accepts before the sign-out it ends with it.
    @Test func `is told of no end while the store is signing it out`() {
        var bench = ServerBench()
        let bob = bench.connectWithToken("bob")
        bench.isStoreHeld = true
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice")))))
        #expect(bench.run(.frame(bob, .signOut)) == ["store sign out bob/phone"])
        bench.run(.frame(bob, .ack(.init(stored: 0, settled: []))))
        #expect(
            bench.releaseStore() == [
                "reply accepted m1", "store load alice", "s1 ← entry 1 m1", "s1 ← accepted c2 m2 at 2", "close s1",
                "count own_device", "count signed_out", "count no_device",
            ])
        #expect(bench.store.dump().messages.map { $0.ended.map(\.end) } == [[.signedOut], [.noDevice, .ownDevice]])
    }

    @Test func `by the API closes its session; an unknown one is refused`() {
        var bench = ServerBench()
        bench.connect("bob")
        let out = ServerEvent.api(APIRequestID(5), .signOut(ServerBench.device("bob")))
        #expect(bench.run(out) == ["store sign out bob/phone", "s1 ← fatal invalid_token", "close s1", "reply done"])
        #expect(bench.run(out) == ["reply refused invalid_field device"])
        #expect(
            bench.run(.api(APIRequestID(6), .signOut(ServerBench.device("nobody")))) == [
                "store load nobody", "reply refused invalid_field device",
            ])
    }

    @Test func `stays signed in where the store cannot sign it out, and may try again`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.connect("bob", "pad")
        bench.isSignOutUnreadable = true
        #expect(bench.run(.frame(bob, .signOut)).last == "s1 ← problem unavailable")
        #expect(bench.say(to: .direct("bob")).contains { $0.hasPrefix("s1 ← ") })
        let out = ServerEvent.api(APIRequestID(5), .signOut(ServerBench.device("bob", "pad")))
        #expect(bench.run(out).contains("reply refused unavailable "))
        bench.isSignOutUnreadable = false
        let again = bench.connect("bob", "pad").session
        #expect(bench.say(to: .direct("bob")).contains { $0.hasPrefix("s\(again.rawValue) ← ") })
        #expect(bench.run(out).last == "reply done")
    }

    @Test func `because a newer one takes its place stays where the store cannot sign it out`() {
        var settings = ServerBench.plain
        settings.devicePolicy = .newestOnly
        var bench = ServerBench(settings: settings)
        bench.connect("bob")
        bench.isSignOutUnreadable = true
        bench.connect("bob", "pad")
        let again = bench.connect("bob").session
        #expect(bench.say(to: .direct("bob")).contains { $0.hasPrefix("s\(again.rawValue) ← ") })
    }

    @Test func `rings once for what was on its way to APNs where the store cannot sign it out`() {
        var bench = ServerBench.gone()
        bench.goneDevice("bob", "pad")
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.count == 2)
        bench.isSignOutUnreadable = true
        let out = ServerEvent.api(APIRequestID(5), .signOut(ServerBench.device("bob")))
        #expect(bench.run(out) == ["store sign out bob/phone", "reply refused unavailable "])
        #expect(bench.acceptPush().ends == ["store end m1 bob/pad accepted"])
        #expect(bench.acceptPush().ends == ["store end m1 bob/phone accepted"])
        #expect(bench.pass(60_000).filter { $0.hasPrefix("push ") } == [])
        bench.say("again", to: .direct("bob"))
        #expect(bench.pushes.count == 2)
    }

    @Test(arguments: [true, false])
    func `is told what APNs has said meanwhile where the store cannot sign it out, and only there`(isUnreadable: Bool) {
        var bench = ServerBench.pushing()
        bench.isStoreHeld = true
        bench.run(.api(APIRequestID(5), .signOut(ServerBench.device("bob"))))
        #expect(bench.acceptPush().ends == [])
        // Accepted before the store comes to the sign-out, and waiting for its answer.
        bench.say("again", to: .direct("bob"))
        bench.isSignOutUnreadable = isUnreadable
        let lines = bench.releaseStore()
        if isUnreadable {
            #expect(lines.ends == ["store end m1 bob/phone accepted"])
            #expect(bench.acceptPush().ends == ["store end m2 bob/phone accepted"])
        } else {
            #expect(lines.filter { $0.hasPrefix("count ") } == ["count signed_out", "count no_device"])
            #expect(bench.pushes.isEmpty)
        }
    }

    @Test func `goes on with what is under way where the store cannot sign it out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.isSignOutUnreadable = true
        #expect(bench.run(.frame(bob, .signOut)) == ["store sign out bob/phone", "s1 ← problem unavailable"])
        let acked = bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(acked == ["store end m1 bob/phone settled shown", "store cursor bob/phone settled 1"])
    }

    @Test func `has its settlements told where the store cannot sign it out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.isStoreHeld = true
        bench.isSignOutUnreadable = true
        bench.run(.api(APIRequestID(5), .signOut(ServerBench.device("bob"))))
        #expect(bench.run(.frame(bob, .ack(.init(stored: 1, settled: [])))) == [])
        #expect(
            bench.releaseStore() == [
                "reply refused unavailable ", "store end m1 bob/phone settled shown",
                "store cursor bob/phone settled 1",
            ])
    }

    @Test func `because a newer one takes its place has an end for each message where the store cannot sign it out`() {
        var settings = ServerBench.plain
        settings.devicePolicy = .newestOnly
        var bench = ServerBench(settings: settings)
        _ = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.isSignOutUnreadable = true
        let kicked = bench.connect("bob", "pad", after: 1).lines
        #expect(
            kicked.filter { $0.contains("s1") || $0.hasPrefix("count ") || $0.contains("sign out") } == [
                "s1 ← fatal kicked", "close s1", "store sign out bob/phone",
            ])
        bench.isSignOutUnreadable = false
        #expect(bench.pass(settings.graceTime).filter { $0.hasPrefix("push ") }.count == 1)
        #expect(bench.acceptPush().ends == ["store end m1 bob/phone accepted"])
    }
}
