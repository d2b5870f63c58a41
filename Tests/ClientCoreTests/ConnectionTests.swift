import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A client that wants to be connected` {
    @Test func `asks for a token, opens, greets, and tells what it has`() {
        var core = ClientCore.fresh(.init(stored: 5, settled: 5))
        #expect(core.handle(.connectRequested, at: at(0)) == [.publishStatus(.connecting), .askToken(alice)])
        #expect(core.handle(.tokenProvided("token"), at: at(0)) == [.open(1)])
        #expect(core.handle(.connectionOpened(1), at: at(0)) == [.sendFrame(1, hello(after: 5))])
        #expect(
            core.handle(.frameReceived(1, welcome(head: 5)), at: at(1)) == [
                .publishStatus(.connected), .finishConnect(nil), recipient(5), .sendFrame(1, ack(5)),
            ])
    }

    @Test(.requirement("S2.7", "S0.8")) func `registers for push after each welcome`() {
        var core = ClientCore.fresh()
        let registration = PushRegistration(token: "ab01", environment: .production, topic: "com.example.chat")
        #expect(core.handle(.pushRegistrationSet(registration), at: at(0)) == [])
        core.goOnline(1, head: 0, at: at(0))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(5))
        _ = core.handle(.deadlineReached, at: at(10))
        _ = core.handle(.connectionOpened(2), at: at(10))
        let effects = core.handle(.frameReceived(2, welcome()), at: at(10))
        #expect(effects.unnumbered.contains(.sendFrame(2, .registerPush(registration))))
    }

    @Test func `backs off longer after each failure, never at the same moment as other clients`() throws {
        var waits: [[Int64]] = []
        for seed in UInt64(1)...2 {
            var machine = ConnectionMachine(seed: seed)
            var now: Int64 = 0
            var row: [Int64] = []
            _ = machine.handle(.requested(alice), at: Now(monotonic: now, wall: 0))
            _ = machine.handle(.tokenProvided("token"), at: Now(monotonic: now, wall: 0))
            for attempt in UInt64(1)...9 {
                let effects = machine.handle(.closed(attempt, reason: "refused"), at: Now(monotonic: now, wall: 0))
                #expect(effects.contains(.sessionEnded))
                let until = try #require(machine.nextDeadline)
                row.append(until - now)
                now = until
                #expect(
                    machine.handle(.deadline, at: Now(monotonic: now, wall: 0))
                        == [.publish(.connecting), .open(attempt + 1)])
            }
            waits.append(row)
        }
        for row in waits {
            for (attempt, wait) in row.enumerated() {
                let longest = min(60_000, Int64(500) << attempt)
                #expect(wait <= longest && wait >= longest / 2)
            }
        }
        #expect(waits[0] != waits[1])
    }

    /// A server in a crash loop, or on a full disk, welcomes everybody before it falls.
    @Test func `backs off longer from a server that falls after each welcome, and anew from one that has stood`() throws
    {
        var machine = ConnectionMachine(seed: 3)
        var now: Int64 = 0
        func moment() -> Now { Now(monotonic: now, wall: 0) }
        _ = machine.handle(.requested(alice), at: moment())
        _ = machine.handle(.tokenProvided("token"), at: moment())
        var waits: [Int64] = []
        for number in ConnectionNumber(1)...11 {
            #expect(machine.handle(.opened(number), at: moment()) == [.greet(number, token: "token")])
            #expect(
                machine.handle(.welcomed(number, heartbeatMilliseconds: 600_000), at: moment())
                    == [.publish(.connected), .finishConnect(nil)])
            // The tenth stands a moment less than a minute, the eleventh a minute.
            now += number == 11 ? 60_000 : number == 10 ? 59_999 : 5
            let effects = machine.handle(.closed(number, reason: "gone"), at: moment())
            let until = try #require(machine.nextDeadline)
            waits.append(until - now)
            #expect(
                effects == [.sessionEnded, .publish(.waiting(milliseconds: until - now, reason: "gone"))])
            now = until
            #expect(machine.handle(.deadline, at: moment()) == [.publish(.connecting), .open(number + 1)])
        }
        for (number, wait) in waits.enumerated() {
            let longest = number == 10 ? 500 : min(60_000, Int64(500) << number)
            #expect(wait <= longest && wait >= longest / 2)
        }
    }

    @Test func `begins its back-off anew when a server that has stood asks it to come back later`() throws {
        for (stood, longest) in [(60_000, 500), (59_999, 1_000)] as [(Int64, Int64)] {
            var machine = ConnectionMachine(seed: 3)
            func at(_ now: Int64) -> Now { Now(monotonic: now, wall: 0) }
            _ = machine.handle(.requested(alice), at: at(0))
            _ = machine.handle(.tokenProvided("token"), at: at(0))
            _ = machine.handle(.closed(1, reason: "gone"), at: at(0))
            _ = machine.handle(.deadline, at: at(1_000))
            _ = machine.handle(.opened(2), at: at(1_000))
            _ = machine.handle(.welcomed(2, heartbeatMilliseconds: 600_000), at: at(1_000))
            let now = 1_000 + stood
            #expect(
                machine.handle(.reconnectAsked(2, afterMilliseconds: 100), at: at(now)) == [
                    .close(2), .sessionEnded, .publish(.waiting(milliseconds: 100, reason: "the server is restarting")),
                ])
            _ = machine.handle(.deadline, at: at(now + 100))
            _ = machine.handle(.closed(3, reason: "gone"), at: at(now + 100))
            let wait = try #require(machine.nextDeadline) - now - 100
            #expect(wait <= longest && wait >= longest / 2)
        }
    }

    @Test func `asks for a new token when the old one has expired, and gives up at the third`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        let expired = ServerFrame.Problem(code: .expiredToken, field: "token", rule: "has expired")
        for attempt in UInt64(1)...2 {
            _ = core.handle(.tokenProvided("old"), at: at(0))
            _ = core.handle(.connectionOpened(attempt), at: at(0))
            #expect(
                core.handle(.frameReceived(attempt, .problem(expired, isFatal: true)), at: at(0))
                    == [.close(attempt), .publishStatus(.connecting), .askToken(alice)])
        }
        _ = core.handle(.tokenProvided("old"), at: at(0))
        _ = core.handle(.connectionOpened(3), at: at(0))
        #expect(
            core.handle(.frameReceived(3, .problem(expired, isFatal: true)), at: at(0))
                == [.close(3), .publishStatus(.refused(expired)), .finishConnect(.refused(expired))])
        #expect(core.nextDeadline == nil)
    }

    @Test func `stops at a refusal that waiting cannot mend`() {
        for code in [ServerFrame.Problem.Code.invalidToken, .wrongApp, .unsupportedVersion, .kicked] {
            var core = ClientCore.fresh()
            core.goOnline(1, head: 0, at: at(0))
            let problem = ServerFrame.Problem(code: code, rule: "no")
            _ = core.handle(.frameReceived(1, .problem(problem, isFatal: true)), at: at(1))
            #expect(core.nextDeadline == nil, "\(code)")
        }
    }

    private let superseded = ServerFrame.Problem(code: .superseded, rule: "the same device has connected again")

    /// Found by the World: a connection that was given up here arrived after the next one, took its place, and nobody came back.
    @Test func `comes back when a connection of its own has taken its place, and waits longer each time`() throws {
        var core = ClientCore.online()
        var now: Int64 = 1_000
        var waits: [Int64] = []
        for number in ConnectionNumber(1)...5 {
            // The last one has stood for a minute.
            if number == 5 { now += 60_000 }
            let told = core.handle(
                .frameReceived(number, .problem(self.superseded, isFatal: true)), at: Now(monotonic: now, wall: 0))
            let until = try #require(core.nextDeadline)
            let reason = self.superseded.description
            #expect(told == [.close(number), .publishStatus(.waiting(milliseconds: until - now, reason: reason))])
            waits.append(until - now)
            now = until
            let moment = Now(monotonic: now, wall: 0)
            #expect(core.handle(.deadlineReached, at: moment) == [.publishStatus(.connecting), .open(number + 1)])
            _ = core.handle(.connectionOpened(number + 1), at: moment)
            _ = core.handle(.frameReceived(number + 1, welcome()), at: moment)
            #expect(core.isOnline)
        }
        for (wait, longest) in zip(waits, [500, 1_000, 2_000, 4_000, 500] as [Int64]) {
            #expect(wait >= longest / 2 && wait <= longest)
        }
    }

    @Test func `comes back at once when the app is opened, after its place was taken`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.frameReceived(1, .problem(self.superseded, isFatal: true)), at: at(11))
        #expect(core.handle(.appWillEnterForeground, at: at(11.1)).contains(.open(2)))
    }

    /// Found by the World: an app that was suspended meanwhile took the time in it for that of now, and handed over a message that
    /// had expired.
    @Test func `takes no welcome that is read too late`() {
        for (seconds, isInTime) in [(9.999, true), (10, false)] {
            var core = ClientCore.fresh()
            core.openConnection()
            let effects = core.handle(.frameReceived(1, welcome()), at: at(seconds))
            #expect(core.isOnline == isInTime)
            #expect((effects.first == .close(1)) == !isInTime)
            #expect(effects.contains(.finishConnect(nil)) == isInTime)
            #expect(core.nextDeadline != nil)
        }
    }

    @Test func `does not speak a version it did not offer`() {
        var core = ClientCore.fresh()
        core.openConnection()
        let effects = core.handle(.frameReceived(1, welcome(version: 9)), at: at(0))
        #expect(effects.first == .close(1))
        #expect(!core.isOnline)
    }

    @Test func `gives up a transport that does not open or a server that does not greet`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        #expect(core.nextDeadline == 15_000)
        #expect(core.handle(.deadlineReached, at: at(15)).first == .close(1))
        _ = core.handle(.deadlineReached, at: at(16))
        _ = core.handle(.connectionOpened(2), at: at(17))
        #expect(core.nextDeadline == 27_000)
        #expect(core.handle(.deadlineReached, at: at(27)).first == .close(2))
    }

    @Test func `pings each heartbeat and takes two silent ones for death`() {
        var core = ClientCore.online()
        #expect(core.nextDeadline == 30_000)
        #expect(core.handle(.deadlineReached, at: at(30)) == [.sendFrame(1, .ping(1))])
        _ = core.handle(.frameReceived(1, .pong(1)), at: at(31))
        #expect(core.handle(.deadlineReached, at: at(60)) == [.sendFrame(1, .ping(2))])
        #expect(core.nextDeadline == 90_000)
        _ = core.handle(.deadlineReached, at: at(90))
        let effects = core.handle(.deadlineReached, at: at(91))
        #expect(effects.first == .close(1))
        #expect(!core.isOnline)
    }

    @Test func `comes back when the server asks it to, after the time the server names`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.frameReceived(1, .reconnect(afterMilliseconds: 700)), at: at(1)) == [
                .close(1), .publishStatus(.waiting(milliseconds: 700, reason: "the server is restarting")),
            ])
        #expect(core.nextDeadline == 1_700)
        #expect(core.handle(.deadlineReached, at: at(1.7)) == [.publishStatus(.connecting), .open(2)])
    }

    @Test func `does not believe a transport it has given up`() {
        var core = ClientCore.online()
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(1))
        #expect(core.handle(.frameReceived(1, .entry(entry(1))), at: at(1)) == [])
        #expect(core.handle(.connectionClosed(1, reason: "again"), at: at(1)) == [])
    }

    @Test func `hangs up when nobody wants it any more`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.disconnectRequested, at: at(1))
                == [.close(1), .finishConnect(.cancelled), .publishStatus(.disconnected)])
        #expect(core.nextDeadline == nil)
    }

    @Test func `tries at once when the app comes to the foreground during a back-off`() {
        var core = ClientCore.online()
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(1))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        let effects = core.handle(.appWillEnterForeground, at: at(2.1))
        #expect(effects.contains(.open(2)))
    }
}

@Suite struct `A person who signs out` {
    @Test func `tells the server, then forgets everything`() {
        var core = ClientCore.online(.init(stored: 3, settled: 3, outbox: [draft("c1")], unread: 2))
        let effects = core.handle(.signOutRequested, at: at(1))
        #expect(
            effects == [
                .keepPendingSignOut, .finishConnect(.cancelled), .sendFrame(1, .signOut),
                .sendFrame(1, .ping(ClientCore.signOutPing)), .finishSend("c1", .abandoned(reason: "signed out")),
                .forgetPerson,
            ])
        #expect(core.storedPosition == 0)
        #expect(core.unreadCount == 0)
    }
}
