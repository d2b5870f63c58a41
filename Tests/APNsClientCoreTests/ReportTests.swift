import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `What the dispatcher reports of its lanes` {
    private let fault = Sender.refusal(.internalServerError)

    /// A sender whose requests are not sent again, after so many failures of APNs's.
    private func failing(_ failures: Int, _ change: (inout APNsDispatcher.Configuration) -> Void = { _ in }) -> Sender {
        var sender = Sender.opened {
            $0.retriesMax = 0
            $0.providerFailuresMax = 3
            change(&$0)
        }
        for number in 1...UInt64(max(failures, 1)) where failures > 0 {
            _ = sender.send(number)
            _ = sender.answer(Int64(2 * number + 1), self.fault)
        }
        return sender
    }

    @Test func `comes before all that follows from the same cause`() {
        var sender = Sender.opened(sending: 1)
        let now = Now(monotonic: 0, wall: 1_700_000_000_000)
        let effects = sender.core.handle(
            .responded(Sender.first, stream: 3, Sender.refusal(.topicDisallowed), jitter: 999), at: now)
        let outage = LaneOutage(.credential, reason: "TopicDisallowed")
        #expect(effects.first == .reportLane(topic: "t", .paused(outage)))
        #expect(effects.contains(.finish(1, Sender.refused(.topicDisallowed))))
    }

    @Test func `is said once for each change of a credential's outage`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number) }
        _ = sender.answer(3, Sender.refusal(.invalidProviderToken))
        _ = sender.answer(5, Sender.refusal(.invalidProviderToken))
        #expect(sender.reports == ["all paused, credential: InvalidProviderToken"])
        _ = sender.pass(to: 15_000)
        #expect(sender.reports.last == "all probe due, credential: InvalidProviderToken")
        // The probe is under way: nobody else is to try.
        _ = sender.send(3)
        #expect(sender.reports.count == 3)
        #expect(sender.reports.last == "all paused, credential: InvalidProviderToken")
        _ = sender.answer(7)
        #expect(sender.reports.last == "all usable")
        #expect(sender.reports.count == 4)
    }

    @Test func `stops the sending after failures of APNs's in a row, whoever they are answers to`() {
        var sender = self.failing(2)
        _ = sender.send(3)
        _ = sender.answer(7)
        // One that was accepted begins the count anew.
        for number: UInt64 in 4...5 {
            _ = sender.send(number)
            _ = sender.answer(Int64(2 * number + 1), self.fault)
        }
        #expect(sender.reports == [])
        _ = sender.send(6)
        #expect(
            sender.answer(13, self.fault) == [
                .warn("nothing is sent for a while, APNs fails: InternalServerError"),
                .finish(6, Sender.refused(.internalServerError)),
            ])
        #expect(sender.reports == ["all paused, provider: InternalServerError"])
    }

    @Test func `keeps what comes in an outage of APNs's, and lets one find out`() {
        var sender = self.failing(3)
        for number: UInt64 in 4...6 { #expect(sender.send(number, within: 60_000) == []) }
        #expect(sender.pass(to: 14_999) == [])
        #expect(sender.pass(to: 15_000) == [.open(9, 4)])
        #expect(sender.answer(9, self.fault).last == .finish(4, Sender.refused(.internalServerError)))
        #expect(sender.pass(to: 44_999) == [])
        #expect(sender.pass(to: 45_000) == [.open(11, 5)])
        #expect(sender.answer(11) == [.finish(5, Sender.accepted), .open(13, 6)])
        #expect(sender.reports.last == "all usable")
    }

    @Test func `lets the next one try when the probe ends without a word`() {
        var sender = self.failing(3)
        _ = sender.pass(to: 15_000)
        #expect(sender.send(4) == [.open(9, 4)])
        _ = sender.handle(.cancelled(RequestID(4)))
        #expect(sender.reports.last == "all probe due, provider: InternalServerError")
        #expect(sender.send(5) == [.open(11, 5)])
    }

    @Test func `counts streams that are reset, answers that do not come, and each lost connection once`() {
        var sender = self.failing(0)
        _ = sender.send(1)
        _ = sender.handle(.streamReset(Sender.first, stream: 3, code: "INTERNAL_ERROR"))
        _ = sender.send(2, within: 1_000)
        _ = sender.pass(to: 1_000)
        for number: UInt64 in 3...9 { _ = sender.send(number) }
        #expect(sender.core.providerFailures == 2)
        _ = sender.handle(.connectionClosed(Sender.first, cause: "reset by peer", jitter: 0))
        #expect(sender.reports == ["all paused, provider: connection lost: reset by peer"])
    }

    @Test func `takes one failed attempt to connect for no outage, and two in a row for one`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolveFailed(Sender.first, "no such host", jitter: 999))
        #expect(sender.reports == [])
        _ = sender.pass(to: 1_000)
        _ = sender.handle(.resolveFailed(Sender.second, "no such host", jitter: 999))
        #expect(sender.reports == ["all paused, connection: no such host"])
        #expect(sender.pass(to: 3_000) == [.resolve(Sender.third)])
        #expect(sender.reports.last == "all probe due, connection: no such host")
        _ = sender.reconnect(Sender.third)
        _ = sender.handle(.tokenMinted)
        _ = sender.answer(1, on: Sender.third)
        #expect(sender.reports.last == "all usable")
    }

    @Test func `says that nothing is sent after too many provider tokens, and that all is after one that was accepted`()
    {
        var sender = Sender.opened(sending: 1)
        _ = sender.answer(3, Sender.refusal(.tooManyProviderTokenUpdates))
        #expect(sender.reports == ["all paused, provider: TooManyProviderTokenUpdates"])
        #expect(sender.pass(to: 1_000) == [.open(5, 1)])
        #expect(sender.reports.last == "all probe due, provider: TooManyProviderTokenUpdates")
        _ = sender.answer(5)
        #expect(sender.reports.last == "all usable")
    }

    /// The stated limit of docs/inside/simulation-checks.md, "When Apple has an outage": 195 s after an outage of 90 s.
    @Test(arguments: [5_000, 20_000, 45_000, 90_000, 200_000] as [Int64], [0, 500, 999] as [Int64])
    func `sends again twice the outage and 15 seconds after it at the latest`(length: Int64, jitter: Int64) {
        var sender = Sender.opened {
            $0.retriesMax = 0
            $0.providerFailuresMax = 1
        }
        var (number, stream): (UInt64, Int64) = (0, 3)
        while true {
            number += 1
            let effects = sender.send(number, within: 1)
            if effects == [.open(stream, number)] {
                if sender.monotonic >= length { break }
                _ = sender.handle(.responded(Sender.first, stream: stream, self.fault, jitter: jitter))
                stream += 2
            }
            sender.idle(to: sender.monotonic + 1_000)
        }
        #expect(sender.monotonic <= length + min(2 * length + 15_000, 600_000) + 1_000)
    }
}
