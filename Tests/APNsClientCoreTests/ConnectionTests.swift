import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `A connection that ends` {
    @Test func `by GOAWAY sends what APNs has not seen elsewhere, in order, and waits for the rest`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...4 { _ = sender.send(number) }
        let away = sender.handle(
            .goAwayReceived(Sender.first, lastStream: 5, debugData: Array("Bye.".utf8), jitter: 0))
        #expect(away == [.warn("APNs closes a connection: Bye."), .resolve(Sender.second)])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 3)])
        #expect(sender.answer(5) == [.finish(2, Sender.accepted), .close(Sender.first, .goAway)])
        #expect(
            sender.answer(1, on: Sender.second) == [.finish(3, Sender.accepted), .open(3, on: Sender.second, 4)])
    }

    @Test func `by two GOAWAYs in a row sends elsewhere what the second one lowers, once each`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...4 { _ = sender.send(number) }
        let warning = APNsDispatcher.Effect.warn("APNs closes a connection: no reason given")
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 7, debugData: [], jitter: 0))
                == [warning, .resolve(Sender.second)])
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 3, debugData: [], jitter: 0)) == [warning])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted), .close(Sender.first, .goAway)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
        #expect(
            sender.answer(1, on: Sender.second) == [
                .finish(2, Sender.accepted), .open(3, on: Sender.second, 3), .open(5, on: Sender.second, 4),
            ])
    }

    @Test func `by GOAWAY is not waited for without end`() {
        var sender = Sender.opened()
        _ = sender.send(1, within: 90_000)
        _ = sender.handle(.goAwayReceived(Sender.first, lastStream: 3, debugData: [], jitter: 0))
        #expect(sender.pass(to: 29_999) == [])
        // A second one does not make the wait longer.
        _ = sender.handle(.goAwayReceived(Sender.first, lastStream: 3, debugData: [], jitter: 0))
        #expect(
            sender.pass(to: 30_000) == [
                .close(Sender.first, .goAway), .finish(1, .unknownOutcome("no answer after GOAWAY")),
            ])
    }

    /// Reasons that concern the connection alone (APNs reference, section 3.3).
    @Test(arguments: ["", "Maximum active streams violated", #"{"reason":"Shutdown"}"#, #"{"reason":"IdleTimeout"}"#])
    func `by GOAWAY with words that blame nobody is replaced at once`(text: String) {
        var sender = Sender.opened()
        _ = sender.handle(.goAwayReceived(Sender.first, lastStream: 1, debugData: Array(text.utf8), jitter: 999))
        #expect(sender.send(1) == [.resolve(Sender.second)])
    }

    @Test func `by GOAWAY before any answer is not replaced at once`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        _ = sender.handle(.tokenMinted)
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 0, debugData: [], jitter: 999)) == [
                .warn("APNs closes a connection: no reason given"), .close(Sender.first, .goAway),
            ])
        #expect(sender.pass(to: 999) == [])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
    }

    @Test func `by a refusal at its first word is not replaced at once`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        _ = sender.handle(.tokenMinted)
        #expect(sender.answer(1, Sender.refusal(.unrelatedKeyIDInToken)) == [.close(Sender.first, .refused)])
        #expect(sender.pass(to: 999) == [])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        #expect(
            sender.answer(1, on: Sender.second, Sender.refusal(.unrelatedKeyIDInToken)) == [
                .close(Sender.second, .refused)
            ])
        #expect(sender.pass(to: 2_999) == [])
        #expect(sender.pass(to: 3_000) == [.resolve(Sender.third)])
    }

    @Test func `half dead leaves unknown what was sent, and sends again what was not`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        #expect(sender.handle(.streamNotSent(Sender.first, stream: 5)) == [.open(7, 2)])
        #expect(sender.handle(.streamNotSent(Sender.first, stream: 7)) == [.open(9, 2)])
        _ = sender.handle(.streamLimitAnnounced(Sender.first, 0))
        #expect(sender.handle(.streamNotSent(Sender.first, stream: 9)) == [])
        #expect(
            sender.handle(.connectionClosed(Sender.first, cause: "timed out", jitter: 0)) == [
                .finish(1, .unknownOutcome("connection lost: timed out")), .resolve(Sender.second),
            ])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
    }

    /// What has been read tells of the end only after answers that make room for more.
    @Test func `that is not known yet costs no request a try`() {
        var sender = Sender.opened { $0.retriesMax = 0 }
        #expect(sender.send(1) == [.open(3, 1)])
        #expect(sender.handle(.streamNotTaken(Sender.first, stream: 3)) == [])
        #expect(sender.send(2) == [])
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 1, debugData: [], jitter: 0)) == [
                .warn("APNs closes a connection: no reason given"), .close(Sender.first, .goAway),
                .resolve(Sender.second),
            ])
        #expect(
            sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        #expect(
            sender.answer(1, on: Sender.second) == [.finish(1, Sender.accepted), .open(3, on: Sender.second, 2)])
    }

    @Test func `that turns out to be another limit is none`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        #expect(sender.handle(.streamNotTaken(Sender.first, stream: 5)) == [])
        #expect(sender.handle(.streamLimitAnnounced(Sender.first, 1)) == [])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted), .open(7, 2)])
    }

    @Test func `by GOAWAY for a bad certificate opens the breaker`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        _ = sender.handle(.tokenMinted)
        let debugData = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 0, debugData: debugData, jitter: 999))
                == [
                    .warn("APNs closes a connection: BadCertificateEnvironment"),
                    .warn(
                        "nothing is sent with this credential: BadCertificateEnvironment: wrong certificate environment: "
                            + "sandbox and production need each their own"),
                    .finish(1, .stopped("BadCertificateEnvironment")), .close(Sender.first, .goAway),
                ])
    }

    @Test func `without a word leaves the outcome of what was sent unknown, once each`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.send(2)
        #expect(
            sender.handle(.connectionClosed(Sender.first, cause: "reset by peer", jitter: 0))
                == [
                    .finish(1, .unknownOutcome("connection lost: reset by peer")),
                    .finish(2, .unknownOutcome("connection lost: reset by peer")),
                ])
        #expect(sender.handle(.connectionClosed(Sender.first, cause: "again", jitter: 0)) == [])
        #expect(sender.send(3) == [.resolve(Sender.second)])
    }

    @Test func `before any answer is not tried again at once`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        #expect(
            sender.handle(.connectionClosed(Sender.first, cause: "cut", jitter: 999))
                == [
                    .finish(1, .unknownOutcome("connection lost: cut")),
                    .warn("connection lost before any answer: cut"),
                ])
        #expect(sender.send(2) == [])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
    }
}

@Suite struct `A stream` {
    @Test func `that APNs refused is sent again before later ones`() {
        var sender = Sender.opened { $0.streamsMax = 2 }
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        #expect(sender.handle(.streamRefused(Sender.first, stream: 5)) == [.open(7, 2)])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted), .open(9, 3)])
    }

    @Test func `that is refused again and again ends as not sent`() {
        var sender = Sender.opened { $0.retriesMax = 1 }
        _ = sender.send(1)
        #expect(sender.handle(.streamRefused(Sender.first, stream: 3)) == [.open(5, 1)])
        #expect(
            sender.handle(.streamRefused(Sender.first, stream: 5))
                == [.finish(1, .notSent("APNs refused the stream, 2 times"))])
    }

    @Test func `that is reset for another reason leaves the outcome unknown`() {
        var sender = Sender.opened(sending: 1)
        #expect(
            sender.handle(.streamReset(Sender.first, stream: 3, code: "INTERNAL_ERROR"))
                == [.finish(1, .unknownOutcome("APNs reset the stream: INTERNAL_ERROR"))])
    }

    @Test func `is cancelled with the request`() {
        var sender = Sender.opened(sending: 1)
        #expect(
            sender.handle(.cancelled(RequestID(1)))
                == [.resetStream(Sender.first, stream: 3), .finish(1, .unknownOutcome("cancelled"))])
        #expect(sender.handle(.cancelled(RequestID(1))) == [])
    }
}

@Suite struct `A quiet connection` {
    @Test func `is pinged, and lives if it answers`() {
        var sender = Sender.opened()
        #expect(sender.pass(to: 45_000) == [.ping(Sender.first)])
        #expect(sender.handle(.pingAnswered(Sender.first)) == [])
        #expect(sender.pass(to: 89_999) == [])
        #expect(sender.pass(to: 90_000) == [.ping(Sender.first)])
    }

    @Test func `is given up if it does not answer`() {
        var sender = Sender.opened()
        #expect(sender.pass(to: 45_000) == [.ping(Sender.first)])
        _ = sender.send(1)
        #expect(
            sender.pass(to: 55_000)
                == [
                    .close(Sender.first, .silence), .finish(1, .unknownOutcome("the connection does not answer")),
                    .warn("a connection did not answer PING"),
                ])
        #expect(sender.send(2) == [.resolve(Sender.second)])
    }

    @Test func `is replaced when it is old`() {
        var sender = Sender.opened {
            $0.connectionAgeMax = 60_000
            $0.pingAfter = 60_000
        }
        #expect(sender.pass(to: 60_000) == [.close(Sender.first, .age)])
        #expect(sender.send(1) == [.resolve(Sender.second)])
    }
}
