import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `An expired provider token` {
    @Test func `is replaced once for all who met it, on a new connection`() {
        var sender = Sender.opened()
        sender.idle(to: 1_300_000)
        #expect(sender.send(1) == [.open(3, 1)])
        #expect(sender.send(2) == [.open(5, 2)])
        let expired = Sender.refusal(.expiredProviderToken)
        #expect(sender.answer(3, expired) == [.mintToken, .resolve(Sender.second)])
        #expect(sender.answer(5, expired) == [.close(Sender.first, .refused)])
        #expect(sender.handle(.tokenMinted) == [])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 1)])
        #expect(
            sender.answer(1, on: Sender.second)
                == [.finish(1, Sender.accepted), .open(3, on: Sender.second, 2)])
        // It repeats for the second one: a matter of configuration (the clock).
        #expect(
            sender.answer(3, on: Sender.second, expired)
                == [
                    .warn(
                        "nothing is sent with this credential: ExpiredProviderToken: check the clock of this machine"),
                    .finish(2, Sender.refused(.expiredProviderToken)),
                    .close(Sender.second, .refused),
                ])
    }
}

@Suite struct `A breaker` {
    private let fault = Sender.refusal(.invalidProviderToken)
    private let refused = Sender.refused(.invalidProviderToken)

    @Test func `opens on a configuration fault, ends what waits and lets one request find out`() {
        var sender = Sender.opened { $0.streamsMax = 2 }
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        #expect(
            sender.answer(3, self.fault)
                == [
                    .warn(
                        "nothing is sent with this credential: InvalidProviderToken: check that key, key id and team id "
                            + "belong together, and that the key is not revoked"),
                    .finish(3, .stopped("InvalidProviderToken")), .finish(1, self.refused),
                ])
        // The other one in flight ends by itself and changes nothing.
        #expect(sender.answer(5) == [.finish(2, Sender.accepted)])
        _ = sender.pass(to: 14_999)
        #expect(sender.send(4) == [.finish(4, .stopped("InvalidProviderToken"))])
        _ = sender.pass(to: 15_000)
        #expect(sender.send(5) == [.open(7, 5)])
        #expect(sender.send(6) == [.finish(6, .stopped("InvalidProviderToken"))])
        #expect(sender.answer(7) == [.finish(5, Sender.accepted)])
        #expect(sender.send(7) == [.open(9, 7)])
    }

    @Test func `stays open longer after each probe that fails`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.answer(3, self.fault)
        _ = sender.pass(to: 15_000)
        #expect(sender.send(2) == [.open(5, 2)])
        #expect(sender.answer(5, self.fault).last == .finish(2, self.refused))
        sender.idle(to: 44_999)
        #expect(sender.send(3) == [.finish(3, .stopped("InvalidProviderToken"))])
        sender.idle(to: 45_000)
        #expect(sender.send(4) == [.open(7, 4)])
    }

    @Test func `whose probe gets no answer lets the next one try`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.answer(3, self.fault)
        _ = sender.pass(to: 15_000)
        _ = sender.send(2)
        _ = sender.handle(.streamReset(Sender.first, stream: 5, code: "CANCEL"))
        #expect(sender.send(3) == [.open(7, 3)])
    }

    @Test func `is not opened again by answers to what was sent before its probe`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...2 { _ = sender.send(number, within: 60_000) }
        _ = sender.answer(3, self.fault)
        sender.idle(to: 15_000)
        #expect(sender.send(3) == [.open(7, 3)])
        #expect(sender.answer(5, self.fault) == [.finish(2, self.refused)])
        #expect(sender.answer(7) == [.finish(3, Sender.accepted)])
        #expect(sender.send(4) == [.open(9, 4)])
    }

    @Test func `stops what comes back from its stream while it is open`() {
        var sender = Sender.opened()
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        _ = sender.answer(3, self.fault)
        #expect(
            sender.handle(.streamRefused(Sender.first, stream: 5)) == [
                .finish(2, .stopped("InvalidProviderToken"))
            ])
        _ = sender.answer(7, Sender.refusal(.internalServerError))
        #expect(sender.pass(to: 1_000) == [.finish(3, Sender.refused(.internalServerError))])
    }

    @Test func `for a topic stays when its probe finds the credential at fault`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.answer(3, Sender.refusal(.topicDisallowed))
        _ = sender.pass(to: 15_000)
        #expect(sender.send(2) == [.open(5, 2)])
        _ = sender.answer(5, self.fault)
        #expect(sender.core.breakers.count == 2)
    }

    @Test func `for a topic leaves other topics alone`() {
        var sender = Sender.opened()
        _ = sender.send(1, topic: "bad")
        _ = sender.answer(3, Sender.refusal(.topicDisallowed))
        #expect(sender.send(2, topic: "bad") == [.finish(2, .stopped("TopicDisallowed"))])
        #expect(sender.send(3, topic: "good") == [.open(5, 3)])
    }

    @Test func `opens for a server that is not trusted, with its name for the fault`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        #expect(
            sender.handle(.connectFailed(Sender.first, .refused("unknown authority"), jitter: 999))
                == [
                    .warn("nothing is sent with this credential: unknown authority"),
                    .finish(1, .stopped("unknown authority")),
                ])
    }

    @Test func `opens when no token can be signed`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a"]))
        _ = sender.handle(.connected(Sender.first))
        #expect(
            sender.handle(.tokenFailed("no key", jitter: 0))
                == [
                    .warn("nothing is sent with this credential: no key"),
                    .finish(1, .stopped("no key")),
                ])
    }
}
