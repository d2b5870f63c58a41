import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `The first request on a connection` {
    @Test func `goes alone until it is answered, then the stream limit holds`() {
        var sender = Sender()
        #expect(sender.send(1) == [.connect(Sender.first)])
        #expect(sender.send(2) == [])
        #expect(sender.send(3) == [])
        #expect(sender.handle(.connected(Sender.first)) == [.mintToken])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1)) == [])
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        // APNs raises the limit before it answers: still one at a time.
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 2)) == [])
        #expect(sender.send(4) == [])
        #expect(sender.answer(1) == [.finish(1, Sender.accepted), .open(3, 2), .open(5, 3)])
        #expect(sender.answer(5) == [.finish(3, Sender.accepted), .open(7, 4)])
    }

    @Test func `does not go at all while APNs allows no stream`() {
        var sender = Sender()
        _ = sender.send(1)
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
        #expect(sender.send(2) == [.connect(Sender.second)])
        #expect(sender.send(3) == [])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
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
            1, .refused(reason, status: status, timestamp: status == 410 ? 7 : nil))
        switch reason.reaction(status: status) {
        case .drop, .quarantine, .bug:
            #expect(effects == [refused])
            #expect(sender.send(2) == [.open(5, 2)])
        case .config, .auth:
            // The token is new, so a renewal cannot help: the breaker opens. A topic's fault stops that topic alone.
            #expect(effects.contains(refused))
            #expect(sender.send(2) == [.finish(2, .notSent("breaker open: \(reason.name)"))])
        case .connection:
            #expect(effects == [.close(Sender.first), .connect(Sender.second)])
            #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        case .backoff:
            #expect(effects == [])
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
            sender.answer(7, refusal) == [.finish(1, .refused(.internalServerError, status: 500, timestamp: nil))])
    }

    @Test func `does not wait for a retry beyond the deadline`() {
        var sender = Sender.opened()
        _ = sender.send(1, within: 900)
        #expect(
            sender.answer(3, Sender.refusal(.serviceUnavailable))
                == [.finish(1, .refused(.serviceUnavailable, status: 503, timestamp: nil))])
    }

    @Test func `obeys retry-after`() {
        var sender = Sender.opened()
        _ = sender.send(1)
        var refusal = Sender.refusal(.tooManyRequests)
        refusal.retryAfter = 7
        #expect(sender.answer(3, refusal) == [])
        #expect(sender.pass(to: 6_999) == [])
        #expect(sender.pass(to: 7_000) == [.open(5, 1)])
    }
}

@Suite struct `A deadline` {
    @Test func `ends a waiting request as not sent, with the cause`() {
        var sender = Sender()
        #expect(sender.send(1, within: 1_500) == [.connect(Sender.first)])
        #expect(
            sender.handle(.connectFailed(Sender.first, .unreachable("connection refused"), jitter: 999))
                == [.warn("cannot connect: connection refused")])
        #expect(sender.pass(to: 1_000) == [.connect(Sender.second)])
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
            sender.answer(3) == [.finish(1, Sender.accepted), .close(Sender.first), .finishShutdown])
    }

    @Test func `does not wait for ever`() {
        var sender = Sender.opened()
        _ = sender.send(1)
        _ = sender.handle(.shutdownRequested)
        #expect(
            sender.pass(to: 5_000)
                == [
                    .resetStream(Sender.first, stream: 3),
                    .finish(1, .unknownOutcome("shut down before the answer")), .close(Sender.first), .finishShutdown,
                ])
    }

    @Test func `of an idle sender is immediate`() {
        var sender = Sender()
        #expect(sender.handle(.shutdownRequested) == [.finishShutdown])
    }
}
