import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

/// 429 `TooManyRequests` concerns one device (APNs reference, section 12).
@Suite struct `A device token that had too many requests` {
    private let tooMany = Sender.refusal(.tooManyRequests)

    @Test func `waits with all that follows for it, and others go on`() {
        var sender = Sender.opened()
        _ = sender.send(1, to: "aa")
        #expect(sender.answer(3, self.tooMany) == [])
        #expect(sender.send(2, to: "aa") == [])
        #expect(sender.send(3, to: "bb") == [.open(5, 3)])
        #expect(sender.send(4, to: "aa") == [])
        #expect(sender.pass(to: 999) == [])
        // One finds out; when it is taken, the rest goes in order.
        #expect(sender.pass(to: 1_000) == [.open(7, 1)])
        #expect(sender.send(5, to: "aa") == [])
        #expect(
            sender.answer(7) == [.finish(1, Sender.accepted), .open(9, 2), .open(11, 4), .open(13, 5)])
        #expect(sender.core.holds.isEmpty)
    }

    @Test func `waits longer after each probe that is refused`() {
        var sender = Sender.opened()
        _ = sender.send(1, to: "aa")
        _ = sender.answer(3, self.tooMany)
        _ = sender.send(2, to: "aa")
        #expect(sender.pass(to: 1_000) == [.open(5, 1)])
        #expect(sender.answer(5, self.tooMany) == [])
        #expect(sender.pass(to: 2_999) == [])
        #expect(sender.pass(to: 3_000) == [.open(7, 1)])
        #expect(sender.answer(7) == [.finish(1, Sender.accepted), .open(9, 2)])
    }

    @Test func `counts several refusals of one moment as one, and keeps their order`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...3 { _ = sender.send(number, to: "aa") }
        #expect(sender.answer(7, self.tooMany) == [])
        #expect(sender.answer(3, self.tooMany) == [])
        #expect(sender.answer(5, self.tooMany) == [])
        #expect(sender.pass(to: 1_000) == [.open(9, 1)])
        #expect(sender.answer(9) == [.finish(1, Sender.accepted), .open(11, 2), .open(13, 3)])
    }

    @Test func `is asked for as late as APNs wishes`() {
        var sender = Sender.opened()
        _ = sender.send(1, to: "aa")
        #expect(sender.answer(3, Sender.refusal(.tooManyRequests, retryAfter: 7)) == [])
        #expect(sender.pass(to: 6_999) == [])
        #expect(sender.pass(to: 7_000) == [.open(5, 1)])
    }

    @Test func `waits as long as the longest that APNs asks for`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number, to: "aa") }
        #expect(sender.answer(3, self.tooMany) == [])
        #expect(sender.answer(5, Sender.refusal(.tooManyRequests, retryAfter: 7)) == [])
        #expect(sender.pass(to: 6_999) == [])
        #expect(sender.pass(to: 7_000) == [.open(7, 1)])
    }

    @Test func `ends a request with its refusal when its tries are used up, and asks with the next one`() {
        var sender = Sender.opened { $0.retriesMax = 0 }
        _ = sender.send(1, to: "aa")
        _ = sender.send(2, to: "bb")
        #expect(sender.answer(3, self.tooMany) == [.finish(1, Sender.refused(.tooManyRequests))])
        #expect(sender.send(3, to: "aa") == [])
        #expect(sender.pass(to: 1_000) == [.open(7, 3)])
    }

    @Test func `whose probe ends without an answer is asked for by the next in line`() {
        var sender = Sender.opened()
        _ = sender.send(1, to: "aa")
        _ = sender.answer(3, self.tooMany)
        for number: UInt64 in 2...4 { _ = sender.send(number, to: "aa") }
        #expect(sender.handle(.cancelled(RequestID(2))) == [.finish(2, .notSent("cancelled"))])
        #expect(sender.pass(to: 1_000) == [.open(5, 1)])
        #expect(
            sender.handle(.cancelled(RequestID(1))) == [
                .resetStream(Sender.first, stream: 5), .finish(1, .unknownOutcome("cancelled")), .open(7, 3),
            ])
        #expect(
            sender.answer(7, Sender.refusal(.unregistered)) == [
                .finish(3, Sender.refused(.unregistered)), .open(9, 4),
            ])
    }

    @Test func `lets a deadline pass with the reason`() {
        var sender = Sender.opened()
        _ = sender.send(1, to: "aa")
        _ = sender.answer(3, Sender.refusal(.tooManyRequests, retryAfter: 20))
        _ = sender.send(2, to: "aa", within: 5_000)
        #expect(
            sender.pass(to: 5_000) == [
                .finish(2, .notSent("the deadline passed: APNs had too many requests for the device token"))
            ])
    }

    @Test func `is one of a bounded table, from which the one held longest ago goes first`() {
        var sender = Sender.opened { $0.heldTokensMax = 2 }
        for (number, token) in [(1, "aa"), (2, "bb"), (3, "cc")] as [(UInt64, PushToken)] {
            _ = sender.send(number, to: token)
        }
        #expect(sender.answer(3, self.tooMany) == [])
        #expect(sender.answer(5, self.tooMany) == [])
        _ = sender.send(4, to: "aa")
        #expect(sender.answer(7, self.tooMany) == [.open(9, 1), .open(11, 4)])
        #expect(sender.core.holds.count == 2)
        #expect(sender.send(5, to: "bb") == [])
    }
}

/// 429 `TooManyProviderTokenUpdates` concerns the credential (APNs reference, section 9).
@Suite struct `Too many provider tokens` {
    private let warning = APNsDispatcher.Effect.warn(
        "APNs wants fewer provider tokens: nothing is sent for a while")
    private let updates = Sender.refusal(.tooManyProviderTokenUpdates)

    @Test func `stop the sending for a while and keep the token`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        #expect(sender.answer(5, self.updates) == [self.warning])
        #expect(sender.answer(3, self.updates) == [])
        #expect(sender.send(3) == [])
        #expect(sender.pass(to: 999) == [])
        #expect(sender.pass(to: 1_000) == [.open(7, 1), .open(9, 2), .open(11, 3)])
        // Again, without one accepted in between: longer.
        #expect(sender.answer(7, self.updates) == [self.warning])
        #expect(sender.pass(to: 2_999) == [])
        #expect(sender.pass(to: 3_000) == [.open(13, 1)])
        #expect(sender.answer(13) == [.finish(1, Sender.accepted)])
        #expect(sender.answer(9, self.updates) == [self.warning])
        #expect(sender.pass(to: 4_000) == [.open(15, 2)])
    }

    @Test func `stop it as long as APNs asks`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        #expect(sender.answer(3, self.updates) == [self.warning])
        #expect(sender.answer(5, Sender.refusal(.tooManyProviderTokenUpdates, retryAfter: 4)) == [])
        #expect(sender.pass(to: 3_999) == [])
        #expect(sender.pass(to: 4_000) == [.open(7, 1), .open(9, 2)])
    }

    @Test func `end what cannot wait so long`() {
        var sender = Sender.opened()
        _ = sender.send(1, within: 900)
        #expect(
            sender.answer(3, self.updates) == [
                self.warning, .finish(1, Sender.refused(.tooManyProviderTokenUpdates)),
            ])
    }

    /// Found by the World: APNs counts on each connection, so that one opened when the token was half an hour old got the next one
    /// after a quarter of an hour, and answered this to everything for five minutes.
    @Test func `never go out on one connection within 20 minutes`() {
        let minute: Int64 = 60_000
        var sender = Sender.opened()
        sender.idle(to: 30 * minute)
        #expect(sender.handle(.connectionClosed(Sender.first, cause: "idle", jitter: 0)) == [])
        #expect(sender.send(1) == [.resolve(Sender.second)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        #expect(sender.answer(1, on: Sender.second) == [.finish(1, Sender.accepted)])
        sender.idle(to: 45 * minute)
        #expect(sender.send(2) == [.mintToken, .open(3, on: Sender.second, 2)])
        #expect(sender.handle(.tokenMinted) == [])
        // What is on its way there is still answered.
        #expect(sender.send(3) == [.resolve(Sender.third)])
        #expect(
            sender.answer(3, on: Sender.second) == [.finish(2, Sender.accepted), .close(Sender.second, .token)])
        #expect(sender.reconnect(Sender.third) == [.open(1, on: Sender.third, 3)])
        #expect(sender.answer(1, on: Sender.third) == [.finish(3, Sender.accepted)])
        sender.idle(to: 89 * minute)
        #expect(sender.send(4) == [.open(3, on: Sender.third, 4)])
        #expect(sender.answer(3, on: Sender.third) == [.finish(4, Sender.accepted)])
        // A connection that has used its token long enough goes on with the next one.
        sender.idle(to: 90 * minute)
        #expect(sender.send(5) == [.mintToken, .open(5, on: Sender.third, 5)])
        #expect(sender.handle(.tokenMinted) == [])
        #expect(sender.send(6) == [.open(7, on: Sender.third, 6)])
    }
}
