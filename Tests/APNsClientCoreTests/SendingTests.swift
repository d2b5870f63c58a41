import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `The first request on a connection` {
    @Test func `goes alone until it is answered, then the stream limit holds`() {
        var sender = Sender()
        #expect(sender.send(1) == [.resolve(Sender.first)])
        #expect(sender.send(2) == [])
        #expect(sender.send(3) == [])
        #expect(sender.handle(.resolved(Sender.first, ["a"])) == [.connect(Sender.first, address: "a")])
        #expect(sender.handle(.connected(Sender.first)) == [.mintToken])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1)) == [])
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        // APNs raises the limit before it answers: still one at a time.
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 2)) == [])
        #expect(sender.send(4) == [])
        #expect(sender.answer(1) == [.finish(1, Sender.accepted), .open(3, 2), .open(5, 3)])
        #expect(sender.answer(5) == [.finish(3, Sender.accepted), .open(7, 4)])
    }

    /// The answer alone does not open the pipeline: without SETTINGS nobody knows how many streams there are.
    @Test func `keeps the next one waiting while the stream limit is not known`() {
        var sender = Sender()
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        #expect(sender.answer(1) == [.finish(1, Sender.accepted), .open(3, 2)])
        #expect(sender.send(4) == [])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, .max)) == [.open(5, 3), .open(7, 4)])
    }

    @Test func `does not go at all while APNs allows no stream`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.streamLimitAnnounced(Sender.first, 0))
        #expect(sender.handle(.connected(Sender.first)) == [])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1)) == [.mintToken])
    }
}

@Suite struct `A sender with an open connection` {
    @Test func `respects its own limit and a limit that falls`() {
        var sender = Sender.opened { $0.streamsMax = 2 }
        #expect(sender.send(1) == [.open(3, 1)])
        #expect(sender.send(2) == [.open(5, 2)])
        #expect(sender.send(3) == [])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1)) == [])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted)])
        #expect(sender.answer(5) == [.finish(2, Sender.accepted), .open(7, 3)])
    }

    @Test func `opens another connection when streams are used up, if it may`() {
        var sender = Sender.opened {
            $0.streamsMax = 1
            $0.connectionsMax = 2
        }
        #expect(sender.send(1) == [.open(3, 1)])
        #expect(sender.send(2) == [.resolve(Sender.second)])
        #expect(sender.send(3) == [])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
    }

    @Test func `leaves alone what is in flight above a limit that falls to zero, and goes on when it rises`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 0)) == [])
        _ = sender.send(4)
        #expect(sender.answer(5) == [.finish(2, Sender.accepted)])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 2)) == [])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted), .open(9, 4)])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, -1)) == [])
        #expect(sender.answer(7) == [.finish(3, Sender.accepted)])
        #expect(sender.answer(9) == [.finish(4, Sender.accepted)])
        #expect(sender.send(5) == [])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1_000)) == [.open(11, 5)])
    }

    @Test(arguments: [-1, 65_536]) func `refuses a payload that no window takes`(bytes: Int) {
        var sender = Sender.opened()
        #expect(
            sender.send(1, bytes: bytes) == [
                .finish(1, .notSent("a payload of \(bytes) bytes does not fit a connection's window: 0 to 65535"))
            ])
    }

    @Test func `refuses a number it has already`() {
        var sender = Sender.sending()
        #expect(sender.send(1) == [.warn("request 1 was sent twice")])
        #expect(sender.core.openCount == 1)
    }

    @Test func `counts what waits to be sent again against its queue`() {
        var sender = Sender.opened { $0.queueMax = 1 }
        _ = sender.send(1)
        #expect(sender.answer(3, Sender.refusal(.internalServerError)) == [])
        #expect(sender.send(2) == [.finish(2, .notSent("the queue is full: 1 requests wait"))])
    }

    @Test func `bounds its queue`() {
        var sender = Sender { $0.queueMax = 2 }
        _ = sender.send(1)
        _ = sender.send(2)
        #expect(sender.send(3) == [.finish(3, .notSent("the queue is full: 2 requests wait"))])
        // One that is cancelled makes room.
        #expect(sender.handle(.cancelled(RequestID(1))) == [.finish(1, .notSent("cancelled"))])
        #expect(sender.send(4) == [])
    }

    /// Every documented reason against a fresh request.
    @Test(arguments: APNsReason.documented) func `treats each reason by its reaction`(reason: APNsReason) throws {
        var sender = Sender.opened()
        #expect(sender.send(1) == [.open(3, 1)])
        let effects = sender.answer(3, Sender.refusal(reason, timestamp: reason.status == 410 ? 7 : nil))
        let status = try #require(reason.status)
        let refused = APNsDispatcher.Effect.finish(
            1,
            .refused(
                APNsRefusal(
                    reason, status: status, apnsID: "a",
                    invalidSince: status == 410 ? .init(milliseconds: 7) : nil)))
        switch reason.reaction(status: status) {
        case .drop, .quarantine, .bug:
            #expect(effects == [refused])
            #expect(sender.send(2) == [.open(5, 2)])
        case .config, .auth:
            // The token is new, so a renewal cannot help: the breaker opens. A topic's fault stops that topic alone.
            #expect(effects.contains(refused))
            #expect(sender.send(2) == [.finish(2, .stopped("\(reason.name)"))])
        case .connection:
            #expect(effects == [.close(Sender.first, .refused), .resolve(Sender.second)])
            #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        case .backoff where status == 503:
            #expect(effects == [.close(Sender.first, .refused)])
            #expect(sender.pass(to: 999) == [])
            #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
            #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        case .backoff:
            let pause = APNsDispatcher.Effect.warn("APNs wants fewer provider tokens: nothing is sent for a while")
            #expect(effects == (reason == .tooManyProviderTokenUpdates ? [pause] : []))
            #expect(sender.pass(to: 999) == [])
            #expect(sender.pass(to: 1_000) == [.open(5, 1)])
        }
    }

    @Test func `gives up a refusal that repeats`() {
        var sender = Sender.opened { $0.retriesMax = 2 }
        let refusal = Sender.refusal(.internalServerError)
        _ = sender.send(1)
        #expect(sender.answer(3, refusal) == [])
        #expect(sender.pass(to: 1_000) == [.open(5, 1)])
        #expect(sender.answer(5, refusal) == [])
        #expect(sender.pass(to: 3_000) == [.open(7, 1)])
        #expect(
            sender.answer(7, refusal) == [
                .finish(1, .refused(APNsRefusal(.internalServerError, status: 500, apnsID: "a")))
            ])
    }

    @Test func `leaves a connection whose server is overloaded, and tries another one after a pause`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.send(2)
        #expect(sender.answer(3, Sender.refusal(.serviceUnavailable)) == [])
        // What was on its way is still answered.
        #expect(sender.answer(5) == [.finish(2, Sender.accepted), .close(Sender.first, .refused)])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        #expect(sender.answer(1, on: Sender.second) == [.finish(1, Sender.accepted)])
    }

    @Test func `waits longer each time that servers are overloaded at the first word`() {
        var sender = Sender.opened { $0.retriesMax = 9 }
        _ = sender.send(1, within: 600_000)
        _ = sender.answer(3, Sender.refusal(.serviceUnavailable, retryAfter: 0))
        for (number, pause) in [(2, 1_000), (3, 2_000), (4, 4_000)] as [(UInt64, Int64)] {
            let id = ConnectionID(number)
            let start = sender.monotonic
            #expect(sender.reconnect(id) == [.open(1, on: id, 1)])
            #expect(
                sender.answer(1, on: id, Sender.refusal(.serviceUnavailable, retryAfter: 0)) == [.close(id, .refused)])
            #expect(sender.pass(to: start + pause - 1) == [])
            #expect(sender.pass(to: start + pause) == [.resolve(ConnectionID(number + 1))])
        }
    }

    @Test func `does not wait for a retry beyond the deadline`() {
        var sender = Sender.opened()
        _ = sender.send(1, within: 900)
        #expect(
            sender.answer(3, Sender.refusal(.serviceUnavailable))
                == [
                    .finish(1, .refused(APNsRefusal(.serviceUnavailable, status: 503, apnsID: "a"))),
                    .close(Sender.first, .refused),
                ])
    }

    @Test func `obeys retry-after`() {
        var sender = Sender.opened(sending: 1)
        #expect(sender.answer(3, Sender.refusal(.tooManyRequests, retryAfter: 7)) == [])
        #expect(sender.pass(to: 6_999) == [])
        #expect(sender.pass(to: 7_000) == [.open(5, 1)])
    }
}

@Suite struct `A deadline` {
    @Test func `ends a waiting request as not sent, with the cause`() {
        var sender = Sender()
        #expect(sender.send(1, within: 1_500) == [.resolve(Sender.first)])
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        #expect(
            sender.handle(.connectFailed(Sender.first, .unreachable("connection refused"), jitter: 999))
                == [.warn("cannot connect: connection refused")])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
        #expect(sender.pass(to: 1_500) == [.finish(1, .notSent("the deadline passed: connection refused"))])
        #expect(sender.core.openCount == 0)
    }

    @Test func `ends a sent request as unknown, resets its stream and asks whether the connection lives`() {
        var sender = Sender.opened()
        #expect(sender.pass(to: 10_000) == [])
        _ = sender.send(1, within: 10_000)
        #expect(
            sender.pass(to: 20_000)
                == [
                    .resetStream(Sender.first, stream: 3),
                    .finish(1, .unknownOutcome("no answer before the deadline")), .ping(Sender.first),
                ])
        // The answer comes after all: it is late.
        #expect(sender.answer(3) == [])
    }

    @Test func `holds for each request by itself, whatever order they came in`() {
        var sender = Sender()
        _ = sender.send(1, within: 3_000)
        _ = sender.send(2, within: 1_000)
        _ = sender.send(3, within: 2_000)
        let passed = APNsOutcome.notSent("the deadline passed")
        #expect(sender.pass(to: 1_000) == [.finish(2, passed)])
        #expect(sender.pass(to: 2_000) == [.finish(3, passed)])
        #expect(sender.pass(to: 3_000) == [.finish(1, passed)])
    }

    @Test func `of a past time refuses the request`() {
        var sender = Sender()
        #expect(sender.send(1, within: 0) == [.finish(1, .notSent("the deadline has passed"))])
    }
}

@Suite struct `A shutdown` {
    @Test func `ends what waits, gives what was sent a moment, and closes`() {
        var sender = Sender.opened { $0.streamsMax = 1 }
        _ = sender.send(1)
        _ = sender.send(2)
        #expect(sender.handle(.shutdownRequested) == [.finish(2, .notSent("the client is shut down"))])
        #expect(sender.send(3) == [.finish(3, .notSent("the client is shut down"))])
        #expect(
            sender.answer(3) == [.finish(1, Sender.accepted), .close(Sender.first, .shutdown), .finishShutdown])
    }

    @Test func `does not wait for ever`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.handle(.shutdownRequested)
        #expect(
            sender.pass(to: 5_000)
                == [
                    .resetStream(Sender.first, stream: 3),
                    .finish(1, .unknownOutcome("shut down before the answer")), .close(Sender.first, .shutdown),
                    .finishShutdown,
                ])
    }

    @Test func `of an idle sender is immediate`() {
        var sender = Sender()
        #expect(sender.handle(.shutdownRequested) == [.finishShutdown])
    }
}
