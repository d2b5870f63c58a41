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
        #expect(away == [.warn("APNs closes a connection: Bye."), .connect(Sender.second)])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 3)])
        #expect(sender.answer(5) == [.finish(2, Sender.accepted), .close(Sender.first)])
        #expect(
            sender.answer(1, on: Sender.second) == [.finish(3, Sender.accepted), .open(3, on: Sender.second, 4)])
    }

    @Test func `by GOAWAY for a bad certificate opens the breaker`() {
        var sender = Sender()
        _ = sender.send(1)
        _ = sender.handle(.connected(Sender.first))
        _ = sender.handle(.tokenMinted)
        let debugData = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        #expect(
            sender.handle(.goAwayReceived(Sender.first, lastStream: 0, debugData: debugData, jitter: 999))
                == [
                    .warn("APNs closes a connection: BadCertificateEnvironment"),
                    .warn("nothing is sent with this credential: BadCertificateEnvironment"),
                    .finish(1, .notSent("breaker open: BadCertificateEnvironment")), .close(Sender.first),
                ])
    }

    @Test func `without a word leaves the outcome of what was sent unknown, once each`() {
        var sender = Sender.opened()
        _ = sender.send(1)
        _ = sender.send(2)
        #expect(
            sender.handle(.connectionClosed(Sender.first, cause: "reset by peer", jitter: 0))
                == [
                    .finish(1, .unknownOutcome("connection lost: reset by peer")),
                    .finish(2, .unknownOutcome("connection lost: reset by peer")),
                ])
        #expect(sender.handle(.connectionClosed(Sender.first, cause: "again", jitter: 0)) == [])
        #expect(sender.send(3) == [.connect(Sender.second)])
    }

    @Test func `before any answer is not tried again at once`() {
        var sender = Sender()
        _ = sender.send(1)
        _ = sender.handle(.connected(Sender.first))
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        #expect(
            sender.handle(.connectionClosed(Sender.first, cause: "cut", jitter: 999))
                == [
                    .finish(1, .unknownOutcome("connection lost: cut")),
                    .warn("connection lost before any answer: cut"),
                ])
        #expect(sender.send(2) == [])
        #expect(sender.pass(to: 1_000) == [.connect(Sender.second)])
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
        var sender = Sender.opened()
        _ = sender.send(1)
        #expect(
            sender.handle(.streamReset(Sender.first, stream: 3, code: "INTERNAL_ERROR"))
                == [.finish(1, .unknownOutcome("APNs reset the stream: INTERNAL_ERROR"))])
    }

    @Test func `is cancelled with the request`() {
        var sender = Sender.opened()
        _ = sender.send(1)
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
                    .close(Sender.first), .finish(1, .unknownOutcome("the connection does not answer")),
                    .warn("a connection did not answer PING"),
                ])
        #expect(sender.send(2) == [.connect(Sender.second)])
    }

    @Test func `is replaced when it is old`() {
        var sender = Sender.opened {
            $0.connectionAgeMax = 60_000
            $0.pingAfter = 60_000
        }
        #expect(sender.pass(to: 60_000) == [.close(Sender.first)])
        #expect(sender.send(1) == [.connect(Sender.second)])
    }
}

@Suite struct `An expired provider token` {
    @Test func `is replaced once for all who met it, on a new connection`() {
        var sender = Sender.opened()
        sender.idle(to: 1_300_000)
        #expect(sender.send(1) == [.open(3, 1)])
        #expect(sender.send(2) == [.open(5, 2)])
        let expired = Sender.refusal(.expiredProviderToken)
        #expect(sender.answer(3, expired) == [.mintToken, .connect(Sender.second)])
        #expect(sender.answer(5, expired) == [.close(Sender.first)])
        #expect(sender.handle(.tokenMinted) == [])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
        #expect(
            sender.answer(1, on: Sender.second)
                == [.finish(2, Sender.accepted), .open(3, on: Sender.second, 1)])
        // It repeats for the first one: a matter of configuration (the clock).
        #expect(
            sender.answer(3, on: Sender.second, expired)
                == [
                    .warn("nothing is sent with this credential: ExpiredProviderToken"),
                    .finish(1, .refused(.expiredProviderToken, status: 403, timestamp: nil)), .close(Sender.second),
                ])
    }
}

@Suite struct `A breaker` {
    private let fault = Sender.refusal(.invalidProviderToken)
    private let refused = APNsOutcome.refused(.invalidProviderToken, status: 403, timestamp: nil)

    @Test func `opens on a configuration fault, ends what waits and lets one request find out`() {
        var sender = Sender.opened { $0.streamsMax = 2 }
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        #expect(
            sender.answer(3, self.fault)
                == [
                    .warn("nothing is sent with this credential: InvalidProviderToken"),
                    .finish(3, .notSent("breaker open: InvalidProviderToken")), .finish(1, self.refused),
                ])
        // The other one in flight ends by itself and changes nothing.
        #expect(sender.answer(5) == [.finish(2, Sender.accepted)])
        _ = sender.pass(to: 29_999)
        #expect(sender.send(4) == [.finish(4, .notSent("breaker open: InvalidProviderToken"))])
        _ = sender.pass(to: 30_000)
        #expect(sender.send(5) == [.open(7, 5)])
        #expect(sender.send(6) == [.finish(6, .notSent("breaker open: InvalidProviderToken"))])
        #expect(sender.answer(7) == [.finish(5, Sender.accepted)])
        #expect(sender.send(7) == [.open(9, 7)])
    }

    @Test func `stays open longer after each probe that fails`() {
        var sender = Sender.opened()
        _ = sender.send(1)
        _ = sender.answer(3, self.fault)
        _ = sender.pass(to: 30_000)
        #expect(sender.send(2) == [.open(5, 2)])
        #expect(sender.answer(5, self.fault).last == .finish(2, self.refused))
        sender.idle(to: 89_999)
        #expect(sender.send(3) == [.finish(3, .notSent("breaker open: InvalidProviderToken"))])
        sender.idle(to: 90_000)
        #expect(sender.send(4) == [.open(7, 4)])
    }

    @Test func `whose probe gets no answer lets the next one try`() {
        var sender = Sender.opened()
        _ = sender.send(1)
        _ = sender.answer(3, self.fault)
        _ = sender.pass(to: 30_000)
        _ = sender.send(2)
        _ = sender.handle(.streamReset(Sender.first, stream: 5, code: "CANCEL"))
        #expect(sender.send(3) == [.open(7, 3)])
    }

    @Test func `for a topic leaves other topics alone`() {
        var sender = Sender.opened()
        _ = sender.send(1, topic: "bad")
        _ = sender.answer(3, Sender.refusal(.topicDisallowed))
        #expect(sender.send(2, topic: "bad") == [.finish(2, .notSent("breaker open: TopicDisallowed"))])
        #expect(sender.send(3, topic: "good") == [.open(5, 3)])
    }

    @Test func `opens for a server that is not trusted, with its name for the fault`() {
        var sender = Sender()
        _ = sender.send(1)
        #expect(
            sender.handle(.connectFailed(Sender.first, .refused("unknown authority"), jitter: 999))
                == [
                    .warn("nothing is sent with this credential: unknown authority"),
                    .finish(1, .notSent("breaker open: unknown authority")),
                ])
    }

    @Test func `opens when no token can be signed`() {
        var sender = Sender()
        _ = sender.send(1)
        _ = sender.handle(.connected(Sender.first))
        #expect(
            sender.handle(.tokenFailed("no key", jitter: 0))
                == [
                    .warn("nothing is sent with this credential: no key"),
                    .finish(1, .notSent("breaker open: no key")),
                ])
    }
}

@Suite struct `Whatever happens` {
    /// A seeded storm over every kind of event: each request ends exactly once, and at the end nothing is left.
    @Test(arguments: 1...200) func `each request ends exactly once`(seed: UInt64) {
        // tidy: long because the storm is one loop over every kind of event.
        var random = SplitMix(state: seed)
        var sender = Sender {
            $0.connectionsMax = 2
            $0.streamsMax = 5
            $0.queueMax = 20
        }
        var asked: Set<RequestID> = []
        var ended: [RequestID: Int] = [:]
        var live: [ConnectionID: Set<Int64>] = [:]
        var connecting: [ConnectionID] = []
        var isMinting = false
        func note(_ effects: [APNsDispatcher.Effect]) {
            for effect in effects {
                switch effect {
                case .connect(let id): connecting.append(id)
                case .openStream(let id, let stream, _): live[id, default: []].insert(stream)
                case .close(let id):
                    live[id] = nil
                    connecting.removeAll { $0 == id }
                case .finish(let id, _): ended[id, default: 0] += 1
                case .mintToken: isMinting = true
                case .resetStream(let id, let stream): live[id]?.remove(stream)
                case .ping, .wake, .finishShutdown, .warn: break
                }
            }
        }
        for step in 0..<300 {
            let jitter = Int64(random.next() % 1_000)
            switch random.next() % 12 {
            case 0, 1, 2, 3:
                asked.insert(RequestID(UInt64(step)))
                note(sender.send(UInt64(step), topic: "t\(random.next() % 2)", within: Int64(random.next() % 20_000)))
            case 4:
                if let id = connecting.popLast() {
                    live[id] = []
                    note(sender.handle(.connected(id)))
                    note(sender.handle(.streamLimitAnnounced(id, Int(random.next() % 6))))
                }
            case 5:
                if let id = connecting.popLast() {
                    let fault: APNsDispatcher.ConnectFault = random.next() % 8 == 0 ? .refused("x") : .unreachable("x")
                    note(sender.handle(.connectFailed(id, fault, jitter: jitter)))
                }
            case 6:
                if isMinting {
                    isMinting = false
                    note(sender.handle(random.next() % 8 == 0 ? .tokenFailed("x", jitter: jitter) : .tokenMinted))
                }
            case 7: note(sender.pass(to: sender.monotonic + Int64(random.next() % 5_000)))
            case 8:
                if let id = live.keys.min(), random.next() % 4 == 0 {
                    let last = Int64(random.next() % 20)
                    note(sender.handle(.goAwayReceived(id, lastStream: last, debugData: [], jitter: jitter)))
                    live[id] = live[id]?.filter { $0 <= last }
                } else if let id = live.keys.max(), random.next() % 4 == 0 {
                    live[id] = nil
                    note(sender.handle(.connectionClosed(id, cause: "x", jitter: jitter)))
                }
            case 9:
                if let id = asked.min(by: { $0.rawValue % 7 < $1.rawValue % 7 }) {
                    note(sender.handle(.cancelled(id)))
                }
            default:
                guard let id = live.keys.min(), let stream = live[id]?.min() else { continue }
                live[id]?.remove(stream)
                switch random.next() % 8 {
                case 0: note(sender.handle(.streamRefused(id, stream: stream)))
                case 1: note(sender.handle(.streamReset(id, stream: stream, code: "x")))
                case 2:
                    let all = APNsReason.documented
                    note(sender.answer(stream, on: id, Sender.refusal(all[Int(random.next() % UInt64(all.count))])))
                default: note(sender.answer(stream, on: id))
                }
            }
        }
        note(sender.handle(.shutdownRequested))
        note(sender.pass(to: sender.monotonic + 5_000))
        #expect(Set(ended.keys) == asked)
        #expect(ended.values.allSatisfy { $0 == 1 })
        #expect(sender.core.openCount == 0)
    }
}

private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
