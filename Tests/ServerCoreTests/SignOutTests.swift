import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A device that signs out` {
    @Test func `gets no more legs, and the store ends what was under way`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(.frame(bob, .signOut)) == [
                "count signed_out", "store sign out bob/phone", "close s1",
            ])
        #expect(bench.say(to: .direct("bob")) == ["store accept m2", "reply accepted m2", "count no_device"])
    }

    /// The store takes one thing after the other: what it accepts before the sign-out it ends with it.
    @Test func `is told of no end while the store is signing it out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        bench.isStoreHeld = true
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice")))))
        #expect(bench.run(.frame(bob, .signOut)) == ["store sign out bob/phone"])
        bench.run(.frame(bob, .ack(.init(stored: 0, settled: []))))
        #expect(
            bench.releaseStore() == [
                "reply accepted m1", "store load alice", "count signed_out", "s1 ← accepted c2 m2 at 2",
                "count own_device", "close s1", "count no_device",
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
}
