import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

private let silent = APNsDispatcher.ConnectFault.unreachable("silent")

@Suite struct `Addresses` {
    @Test func `are tried one after the other without a pause, and the pause comes after the last`() {
        var sender = Sender()
        #expect(sender.send(1) == [.resolve(Sender.first)])
        #expect(
            sender.handle(.resolved(Sender.first, ["a", "b", "a"])) == [.connect(Sender.first, address: "a")])
        let fault = APNsDispatcher.Event.connectFailed(Sender.first, silent, jitter: 999)
        #expect(sender.handle(fault) == [.connect(Sender.first, address: "b")])
        #expect(sender.handle(fault) == [.warn("cannot connect: silent")])
        #expect(sender.handle(fault) == [])
        #expect(sender.pass(to: 999) == [])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
        #expect(sender.handle(.resolved(Sender.second, ["a"])) == [.connect(Sender.second, address: "a")])
        #expect(
            sender.handle(.connectFailed(Sender.second, silent, jitter: 999)) == [.warn("cannot connect: silent")])
        #expect(sender.pass(to: 2_999) == [])
        #expect(sender.pass(to: 3_000) == [.resolve(Sender.third)])
    }

    @Test func `of the resolver that are none or unknown cost a pause`() {
        var sender = Sender.sending()
        #expect(
            sender.handle(.resolveFailed(Sender.first, "no such host", jitter: 999))
                == [.warn("cannot resolve: no such host")])
        #expect(sender.pass(to: 1_000) == [.resolve(Sender.second)])
        #expect(
            sender.handle(.resolved(Sender.second, [])) == [.warn("cannot resolve: the name has no address")])
        #expect(sender.pass(to: 2_999) == [])
        #expect(sender.pass(to: 3_000) == [.resolve(Sender.third)])
        #expect(sender.pass(to: 30_000) == [.finish(1, .notSent("the deadline passed: the name has no address"))])
    }

    @Test func `are spread over the pool`() {
        var sender = Sender.opened {
            $0.connectionsMax = 3
            $0.streamsMax = 1
        }
        for number: UInt64 in 1...3 { _ = sender.send(number) }
        #expect(
            sender.handle(.resolved(Sender.second, ["a", "b"])) == [.connect(Sender.second, address: "b")])
        _ = sender.handle(.connected(Sender.second))
        _ = sender.handle(.streamLimitAnnounced(Sender.second, 1))
        #expect(
            sender.answer(1, on: Sender.second) == [
                .finish(2, Sender.accepted), .open(3, on: Sender.second, 3),
            ])
        #expect(sender.send(4) == [.resolve(Sender.third)])
        // Both are taken as often: the resolver's order decides.
        #expect(sender.handle(.resolved(Sender.third, ["b", "a"])) == [.connect(Sender.third, address: "b")])
    }

    @Test func `of a server that sent us away come last`() {
        var sender = Sender.opened(sending: 1)
        _ = sender.send(2)
        _ = sender.handle(.goAwayReceived(Sender.first, lastStream: 3, debugData: [], jitter: 0))
        #expect(
            sender.handle(.resolved(Sender.second, ["a", "b"])) == [.connect(Sender.second, address: "b")])
    }

    /// TLS 1.3: the alert about our certificate comes after our side of the handshake is done.
    @Test func `stay untried when TLS refuses us, and what was sent was not processed`() {
        var sender = Sender.sending()
        _ = sender.handle(.resolved(Sender.first, ["a", "b"]))
        _ = sender.handle(.connected(Sender.first))
        #expect(sender.handle(.tokenMinted) == [.open(1, 1)])
        #expect(
            sender.handle(.connectFailed(Sender.first, .refused("certificate expired"), jitter: 999)) == [
                .warn("nothing is sent with this credential: certificate expired"),
                .finish(1, .stopped("certificate expired")),
            ])
    }
}

@Suite struct `The pool` {
    @Test func `grows when the window is used up, and not beyond it`() {
        var sender = Sender.opened { $0.connectionsMax = 2 }
        for number: UInt64 in 1...16 {
            #expect(sender.send(number, bytes: 4_000) == [.open(1 + 2 * Int64(number), number)])
        }
        // 64,000 of 65,535 bytes are gone.
        #expect(sender.send(17, bytes: 4_000) == [.resolve(Sender.second)])
        #expect(sender.send(18, bytes: 4_000) == [])
        // Streams end, the window does not open with them.
        #expect(sender.answer(3) == [.finish(1, Sender.accepted)])
        #expect(sender.handle(.windowOpened(Sender.first, by: 2_464)) == [])
        #expect(sender.handle(.windowOpened(Sender.first, by: 1)) == [.open(35, 17)])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 18)])
    }

    @Test func `counts a window up to the largest there is`() {
        var sender = Sender.opened()
        _ = sender.handle(.windowOpened(Sender.first, by: .max))
        _ = sender.handle(.windowOpened(Sender.first, by: -5))
        #expect(sender.core.connections[0].window == 0x7fff_ffff)
    }

    @Test func `starts one connection at a time, up to its limit`() {
        var sender = Sender.opened {
            $0.connectionsMax = 3
            $0.streamsMax = 1
        }
        _ = sender.send(1)
        #expect(sender.send(2) == [.resolve(Sender.second)])
        #expect(sender.send(3) == [])
        #expect(sender.reconnect(Sender.second) == [.open(1, on: Sender.second, 2)])
        // It proves itself first.
        #expect(sender.send(4) == [])
        #expect(
            sender.answer(1, on: Sender.second) == [
                .finish(2, Sender.accepted), .open(3, on: Sender.second, 3), .resolve(Sender.third),
            ])
        #expect(sender.reconnect(Sender.third) == [.open(1, on: Sender.third, 4)])
        #expect(sender.answer(1, on: Sender.third) == [.finish(4, Sender.accepted)])
        for number: UInt64 in 5...7 { _ = sender.send(number) }
        #expect(sender.core.connections.count == 3)
    }

    @Test func `gives back what is idle for five minutes, and keeps one`() {
        var sender = Sender.opened {
            $0.connectionsMax = 2
            $0.streamsMax = 1
        }
        _ = sender.send(1)
        _ = sender.send(2)
        _ = sender.reconnect(Sender.second)
        _ = sender.answer(3)
        _ = sender.answer(1, on: Sender.second)
        var closed: [APNsDispatcher.Effect] = []
        while let wakeAt = sender.wakeAt, wakeAt <= 1_000_000 {
            for effect in sender.pass(to: wakeAt) {
                if case .ping(let id) = effect { _ = sender.handle(.pingAnswered(id)) } else { closed.append(effect) }
            }
            if sender.monotonic < 300_000 { #expect(closed == []) }
        }
        #expect(closed == [.close(Sender.first, .idle)])
        #expect(sender.send(3) == [.open(3, on: Sender.second, 3)])
    }

    @Test func `moves on when stream ids end`() {
        var sender = Sender.opened()
        sender.core.connections[0].streams = StreamWindow(next: 0x7fff_fffd)
        #expect(sender.send(1) == [.open(0x7fff_fffd, 1)])
        #expect(sender.send(2) == [.open(0x7fff_ffff, 2)])
        #expect(sender.send(3) == [.resolve(Sender.second)])
        #expect(sender.answer(0x7fff_fffd) == [.finish(1, Sender.accepted)])
        #expect(sender.answer(0x7fff_ffff) == [.finish(2, Sender.accepted), .close(Sender.first, .streams)])
    }
}

@Suite struct `An old connection` {
    private func aged() -> Sender {
        var sender = Sender.opened {
            $0.connectionAgeMax = 60_000
            $0.pingAfter = 80_000
        }
        sender.idle(to: 50_000)
        _ = sender.send(1)
        return sender
    }

    @Test func `under load goes when its replacement is open, and serves until then`() {
        var sender = self.aged()
        #expect(sender.pass(to: 60_000) == [.resolve(Sender.second)])
        #expect(sender.send(2) == [.open(5, 2)])
        #expect(sender.handle(.resolved(Sender.second, ["a"])) == [.connect(Sender.second, address: "a")])
        _ = sender.handle(.connected(Sender.second))
        _ = sender.handle(.streamLimitAnnounced(Sender.second, 1_000))
        // The replacement is asked first, and takes one.
        #expect(sender.send(3) == [.open(1, on: Sender.second, 3)])
        #expect(sender.send(4) == [.open(7, 4)])
        #expect(sender.answer(1, on: Sender.second) == [.finish(3, Sender.accepted)])
        #expect(sender.send(5) == [.open(3, on: Sender.second, 5)])
        #expect(sender.answer(3) == [.finish(1, Sender.accepted)])
        #expect(sender.answer(5) == [.finish(2, Sender.accepted)])
        #expect(sender.answer(7) == [.finish(4, Sender.accepted), .close(Sender.first, .age)])
    }

    @Test func `stays while no replacement can be had`() {
        var sender = self.aged()
        #expect(sender.pass(to: 60_000) == [.resolve(Sender.second)])
        _ = sender.handle(.resolved(Sender.second, ["a"]))
        #expect(
            sender.handle(.connectFailed(Sender.second, silent, jitter: 999)) == [.warn("cannot connect: silent")])
        #expect(sender.send(2) == [.open(5, 2)])
        #expect(sender.pass(to: 61_000) == [.resolve(Sender.third)])
    }

    @Test func `with nothing to do goes at once`() {
        var sender = self.aged()
        _ = sender.answer(3)
        #expect(sender.pass(to: 60_000) == [.close(Sender.first, .age)])
    }
}
