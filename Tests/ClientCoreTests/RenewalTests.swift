import ClientCore
import Testing
import TidingsModel

@Suite struct `A token that expires while the client is online` {
    static let expiring = ServerFrame.tokenExpiring(at: 1_800_000_300_000)
    static let refusal = ServerFrame.Problem(code: .invalidField, field: "token", rule: "must expire later")

    /// What the client does until a second, each time with that second.
    static func pass(_ core: inout ClientCore, until end: Double) -> [[ClientEffect]] {
        var steps: [[ClientEffect]] = []
        while let next = core.nextDeadline, next <= Int64(end * 1_000) {
            let effects = core.handle(.deadlineReached, at: at(Double(next) / 1_000))
            if !effects.isEmpty { steps.append(effects) }
        }
        return steps
    }

    @Test func `is renewed without hanging up`() {
        var core = ClientCore.online(heartbeat: 600_000)
        #expect(core.handle(.frameReceived(1, Self.expiring), at: at(1)) == [.askToken(alice)])
        #expect(
            core.handle(.tokenProvided("new"), at: at(2)) == [.sendFrame(1, .request(1, .renewToken("new")))])
        #expect(core.handle(.frameReceived(1, .answer(1, .done(0))), at: at(3)) == [])
        #expect(Self.pass(&core, until: 500) == [])
        // The next connection begins with it.
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(501))
        #expect(core.handle(.connectRequested, at: at(502)) == [.publishStatus(.connecting), .open(2)])
        #expect(core.handle(.connectionOpened(2), at: at(503)) == [.sendFrame(2, hello(token: "new"))])
    }

    @Test func `is asked for once, however often the server says it`() {
        var core = ClientCore.online()
        #expect(core.handle(.frameReceived(1, Self.expiring), at: at(1)) == [.askToken(alice)])
        #expect(core.handle(.frameReceived(1, Self.expiring), at: at(1)) == [])
        _ = core.handle(.tokenProvided("new"), at: at(2))
        #expect(core.handle(.frameReceived(1, Self.expiring), at: at(2)) == [])
    }

    @Test func `is asked for again, later each time, while the app has none or the server refuses it`() {
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.frameReceived(1, Self.expiring), at: at(1))
        #expect(core.handle(.tokenFailed(reason: "offline"), at: at(1)) == [])
        var waits: [Int64] = []
        var now: Int64 = 1_000
        for number in 1...RequestNumber(6) {
            guard let next = core.nextDeadline else {
                Issue.record("nothing follows")
                return
            }
            waits.append(next - now)
            now = next
            let moment = at(Double(now) / 1_000)
            #expect(core.handle(.deadlineReached, at: moment) == [.askToken(alice)])
            #expect(
                core.handle(.tokenProvided("old"), at: moment)
                    == [.sendFrame(1, .request(number, .renewToken("old")))])
            #expect(core.handle(.frameReceived(1, .answer(number, .refused(Self.refusal))), at: moment) == [])
        }
        for (failure, wait) in waits.enumerated() {
            let longest = Int64(500) << failure
            #expect(wait >= longest / 2 && wait <= longest)
        }
        #expect(core.isOnline)
    }

    @Test func `is told again if the server does not answer`() {
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.frameReceived(1, Self.expiring), at: at(1))
        _ = core.handle(.tokenProvided("new"), at: at(1))
        #expect(Self.pass(&core, until: 33) == [[.askToken(alice)]])
        #expect(
            core.handle(.tokenProvided("newer"), at: at(33)) == [.sendFrame(1, .request(2, .renewToken("newer")))])
    }

    @Test func `is forgotten with the connection: the next one begins with the token there is`() {
        var core = ClientCore.online()
        _ = core.handle(.frameReceived(1, Self.expiring), at: at(1))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        #expect(core.handle(.connectRequested, at: at(3)) == [.publishStatus(.connecting), .open(2)])
        // The answer to the question of before is for whatever connection there is.
        #expect(core.handle(.tokenProvided("new"), at: at(3)) == [])
        #expect(core.handle(.connectionOpened(2), at: at(4)) == [.sendFrame(2, hello(token: "new"))])
    }

    @Test func `that an old server says nothing of ends with the connection, which is opened again with another one`() {
        var core = ClientCore.online()
        let expired = ServerFrame.Problem(code: .expiredToken, field: "token", rule: "has expired")
        #expect(
            core.handle(.frameReceived(1, .problem(expired, isFatal: true)), at: at(9))
                == [.close(1), .publishStatus(.connecting), .askToken(alice)])
        #expect(core.handle(.tokenProvided("new"), at: at(9)) == [.open(2)])
        #expect(core.handle(.connectionOpened(2), at: at(9)) == [.sendFrame(2, hello(token: "new"))])
    }

    @Test func `is not renewed for somebody who signs out`() {
        var core = ClientCore.online()
        _ = core.handle(.signOutRequested, at: at(1))
        #expect(core.handle(.frameReceived(1, Self.expiring), at: at(1)) == [])
    }
}

@Suite struct `A token that was revoked` {
    static let revoked = ServerFrame.Problem(
        code: .tokenRevoked, field: "token", rule: "was revoked; ask for a new one")

    @Test func `is replaced by another one of the app's, three times and later each time`() {
        var core = ClientCore.online(heartbeat: 600_000)
        for attempt in UInt64(1)...2 {
            let effects = core.handle(.frameReceived(attempt, .problem(Self.revoked, isFatal: true)), at: at(1))
            #expect(effects.first == .close(attempt))
            guard case .publishStatus(.waiting)? = effects.last else {
                Issue.record("\(effects)")
                return
            }
            let next = Double(core.nextDeadline ?? 0) / 1_000
            #expect(
                core.handle(.deadlineReached, at: at(next)) == [.publishStatus(.connecting), .askToken(alice)])
            #expect(core.handle(.tokenProvided("same"), at: at(next)) == [.open(attempt + 1)])
            _ = core.handle(.connectionOpened(attempt + 1), at: at(next))
        }
        #expect(
            core.handle(.frameReceived(3, .problem(Self.revoked, isFatal: true)), at: at(9)) == [
                .close(3), .publishStatus(.refused(Self.revoked)), .finishConnect(.refused(Self.revoked)),
            ])
    }
}

@Suite struct `A person whom the app has banned` {
    @Test func `is not connected again until the app asks for it`() {
        var core = ClientCore.online()
        let banned = ServerFrame.Problem(
            code: .disabled, field: "token", rule: "names a person whom the app has banned")
        #expect(
            core.handle(.frameReceived(1, .problem(banned, isFatal: true)), at: at(1))
                == [.close(1), .publishStatus(.refused(banned)), .finishConnect(.refused(banned))])
        #expect(core.nextDeadline == nil)
        #expect(core.handle(.connectRequested, at: at(2)) == [.publishStatus(.connecting), .askToken(alice)])
    }
}
