import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

/// A request in each of the states it can be in, and how it ends there.
struct Situation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> Sender
    /// Its stream, if it is on one.
    var stream: Int64?
    var refusal: APNsOutcome?

    static let all = [
        Self(testDescription: "while the name is resolved") {
            var sender = Sender.sending()
            return sender
        },
        Self(testDescription: "while a connection is opened") {
            var sender = Sender.sending()
            _ = sender.handle(.resolved(Sender.first, ["a"]))
            return sender
        },
        Self(testDescription: "while a provider token is signed") {
            var sender = Sender.sending()
            _ = sender.reconnect(Sender.first)
            return sender
        },
        Self(testDescription: "while streams are used up") {
            var sender = Sender.opened { $0.streamsMax = 1 }
            _ = sender.send(2, within: 90_000)
            _ = sender.send(1)
            return sender
        },
        Self(
            testDescription: "before it is sent again",
            make: {
                var sender = Sender.opened(sending: 1)
                _ = sender.answer(3, Sender.refusal(.internalServerError, retryAfter: 29))
                return sender
            }, refusal: Sender.refused(.internalServerError, retryAfter: 29)),
        Self(
            testDescription: "behind its device token",
            make: {
                var sender = Sender.opened()
                _ = sender.send(1, to: "aa")
                _ = sender.answer(3, Sender.refusal(.tooManyRequests, retryAfter: 29))
                return sender
            }, refusal: Sender.refused(.tooManyRequests, retryAfter: 29)),
        Self(
            testDescription: "in a pause of the credential",
            make: {
                var sender = Sender.opened(sending: 1)
                _ = sender.answer(3, Sender.refusal(.tooManyProviderTokenUpdates, retryAfter: 29))
                return sender
            }, refusal: Sender.refused(.tooManyProviderTokenUpdates, retryAfter: 29)),
        Self(
            testDescription: "on a stream",
            make: {
                var sender = Sender.opened(sending: 1)
                return sender
            }, stream: 3),
        Self(
            testDescription: "on a stream of a connection that drains",
            make: {
                var sender = Sender.opened(sending: 1)
                _ = sender.handle(.credentialReplaced)
                return sender
            }, stream: 3),
    ]
}

@Suite struct `A request` {
    @Test(arguments: Situation.all) func `can be cancelled at any time`(_ situation: Situation) {
        var sender = situation.make()
        let effects = sender.handle(.cancelled(RequestID(1)))
        if let stream = situation.stream {
            #expect(
                effects.prefix(2) == [
                    .resetStream(Sender.first, stream: stream), .finish(1, .unknownOutcome("cancelled")),
                ])
        } else {
            #expect(effects == [.finish(1, .notSent("cancelled"))])
        }
        #expect(sender.handle(.cancelled(RequestID(1))) == [])
    }

    @Test(arguments: Situation.all) func `ends at its deadline at the latest`(_ situation: Situation) {
        var sender = situation.make()
        // The refusals are from before the first second is over; their pauses end before the deadline.
        let ended = sender.pass(to: 30_000).compactMap { effect -> APNsOutcome? in
            guard case .finish(RequestID(1), let outcome) = effect else { return nil }
            return outcome
        }
        if situation.stream != nil {
            #expect(ended == [.unknownOutcome("no answer before the deadline")])
        } else if situation.refusal != nil {
            // It was sent again at 29 seconds.
            #expect(ended == [.unknownOutcome("no answer before the deadline")])
        } else {
            #expect(ended == [.notSent("the deadline passed")])
        }
    }

    @Test(arguments: Situation.all) func `ends with a shutdown`(_ situation: Situation) {
        var sender = situation.make()
        let effects = sender.handle(.shutdownRequested) + sender.pass(to: 5_000)
        let outcome: APNsOutcome =
            situation.stream == nil
            ? .notSent("the client is shut down") : .unknownOutcome("shut down before the answer")
        #expect(effects.filter { $0 == .finish(1, outcome) }.count == 1)
        #expect(effects.last == .finishShutdown)
        #expect(sender.core.openCount == 0)
    }

    @Test(arguments: Situation.all.filter { $0.refusal != nil })
    func `that was refused keeps the refusal as its end when the time for another try is short`(
        _ situation: Situation
    ) {
        var sender = situation.make()
        // Nothing goes out any more, so that the try at 29 seconds does not happen.
        _ = sender.handle(.streamLimitAnnounced(Sender.first, 0))
        let effects = sender.pass(to: 30_000)
        #expect(situation.refusal.map { effects.contains(.finish(1, $0)) } == true)
    }
}

@Suite struct `What requests leave behind` {
    @Test func `does not grow behind one that stays`() {
        var sender = Sender.opened()
        _ = sender.send(1, within: 10_000_000)
        for number: UInt64 in 2...20_000 {
            // Deadlines in falling order are kept apart from those in rising order.
            _ = sender.send(number, within: 9_000_000 - Int64(number % 100) * 10_000)
            _ = sender.answer(Int64(2 * number + 1))
            if number % 500 == 0 { _ = sender.handle(.windowOpened(Sender.first, by: 60_000)) }
        }
        #expect(sender.core.openCount == 1)
        #expect(sender.core.listedCount < 3_500)
    }

    @Test func `does not grow while nothing can be sent`() {
        var sender = Sender()
        _ = sender.send(1, within: 10_000_000)
        for number: UInt64 in 2...20_000 {
            _ = sender.send(number, to: "aa")
            _ = sender.handle(.cancelled(RequestID(number)))
        }
        #expect(sender.core.openCount == 1)
        #expect(sender.core.listedCount < 3_500)
    }
}
