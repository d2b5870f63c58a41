import ClientCore
import Testing
import TidingsModel

@Suite struct `A pendingSignOut` {
    /// Signed out while the client believed to be connected.
    private func said() -> ClientCore {
        var core = ClientCore.online(heartbeat: 600_000)
        _ = core.handle(.signOutRequested, at: at(1))
        return core
    }

    private let pong = ClientEvent.frameReceived(1, .pong(ClientCore.signOutPing))

    @Test func `is kept before it is said, and the server hangs up, not this end`() {
        var core = ClientCore.online(heartbeat: 600_000)
        #expect(
            core.handle(.signOutRequested, at: at(1)) == [
                .keepPendingSignOut, .finishConnect(.cancelled), .sendFrame(1, .signOut),
                .sendFrame(1, .ping(ClientCore.signOutPing)), .forgetPerson,
            ])
        #expect(core.handle(self.pong, at: at(2)) == [])
        let effects = core.handle(.connectionClosed(1, reason: "by the server"), at: at(3))
        #expect(effects.last == .pendingSignOutEnded)
        #expect(core.nextDeadline == nil)
    }

    @Test func `on a dead connection is said again on the next one`() {
        var core = self.said()
        let effects = core.handle(.connectionClosed(1, reason: "reset"), at: at(2))
        #expect(!effects.contains(.pendingSignOutEnded))
        _ = core.handle(.deadlineReached, at: at(4))
        _ = core.handle(.connectionOpened(2), at: at(4))
        let again = core.handle(.frameReceived(2, welcome(head: 9)), at: at(4))
        #expect(again.suffix(2) == [.sendFrame(2, .signOut), .sendFrame(2, .ping(ClientCore.signOutPing))])
    }

    @Test func `that nobody answers in ten seconds gives the connection up, and is said again`() {
        var core = self.said()
        #expect(core.nextDeadline == at(11).monotonic)
        #expect(core.handle(.deadlineReached, at: at(10)) == [])
        let effects = core.handle(.deadlineReached, at: at(11))
        #expect(effects.first == .close(1))
        #expect(!effects.contains(.pendingSignOutEnded))
        _ = core.handle(.deadlineReached, at: at(13))
        _ = core.handle(.connectionOpened(2), at: at(13))
        #expect(core.handle(.frameReceived(2, welcome()), at: at(13)).contains(.sendFrame(2, .signOut)))
    }

    @Test func `that was read but not confirmed in time is said again`() {
        var core = self.said()
        _ = core.handle(self.pong, at: at(2))
        let effects = core.handle(.deadlineReached, at: at(11))
        #expect(effects.first == .close(1))
        #expect(!effects.contains(.pendingSignOutEnded))
        #expect(core.nextDeadline != nil)
    }

    @Test func `is the last word: what still comes is not stored, and nothing else is written`() {
        var core = self.said()
        #expect(core.handle(.frameReceived(1, .entry(entry(1))), at: at(2)) == [])
        #expect(core.handle(self.pong, at: at(2)) == [])
        let page = ServerFrame.Page(after: 0, entries: [entry(1)], head: 1, unread: 1)
        #expect(core.handle(.frameReceived(1, .page(page)), at: at(2)) == [])
        let status = DeviceStatus(
            authorization: .denied, alert: false, sound: false, badge: false, lockScreen: false,
            notificationCenter: false, backgroundRefresh: .denied)
        #expect(core.handle(.deviceStatusRead(status), at: at(2)) == [])
        #expect(core.storedPosition == 0)
    }

    @Test func `has nothing left to say when the server ends the session because the device is signed out`() {
        var core = self.said()
        let problem = ServerFrame.Problem(code: .invalidToken, field: "device", rule: "was signed out")
        #expect(
            core.handle(.frameReceived(1, .problem(problem, isFatal: true)), at: at(2)).contains(.pendingSignOutEnded))
    }

    @Test func `ends a sign-in that still waits`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        #expect(core.handle(.signOutRequested, at: at(1)).contains(.finishConnect(.cancelled)))
    }
}

@Suite struct `A background task` {
    @Test func `taken for an app that sleeps already is ended`() {
        var core = ClientCore.fresh(isForeground: false)
        #expect(
            core.handle(.appDidEnterBackground(remainingMilliseconds: 30_000), at: at(1)) == [.endBackgroundTask])
        #expect(core.runState == .backgroundSuspended)
    }

    @Test(arguments: [true, false])
    func `whose time is over is ended, whatever it was taken for`(isForeground: Bool) {
        var core = ClientCore.fresh(isForeground: isForeground)
        #expect(core.handle(.backgroundTimeExpired, at: at(1)) == [.endBackgroundTask])
        #expect(core.runState == (isForeground ? .foreground : .backgroundSuspended))
    }
}

/// How the last connection of somebody who has signed out ends.
private enum LastConnection: CaseIterable {
    case heard, heardOnTheNext, refusedAtOnce, refusedAfterTheWelcome, refusedThreeTimes

    /// What comes on the connections from number 3 on, the token's renewals among it.
    var events: [ClientEvent] {
        func refused(_ number: ConnectionNumber, _ code: ServerFrame.Problem.Code) -> ClientEvent {
            .frameReceived(number, .problem(ServerFrame.Problem(code: code, rule: "is refused"), isFatal: true))
        }
        let welcomed: [ClientEvent] = [.connectionOpened(3), .frameReceived(3, welcome())]
        let pong = ServerFrame.pong(ClientCore.signOutPing)
        switch self {
        case .heard: return welcomed + [.frameReceived(3, pong), .connectionClosed(3, reason: "by the server")]
        case .heardOnTheNext:
            return welcomed + [
                .connectionClosed(3, reason: "lost"), .deadlineReached, .connectionOpened(4),
                .frameReceived(4, welcome()), .frameReceived(4, pong), .connectionClosed(4, reason: "by the server"),
            ]
        case .refusedAtOnce: return [.connectionOpened(3), refused(3, .kicked)]
        case .refusedAfterTheWelcome: return welcomed + [refused(3, .invalidToken)]
        case .refusedThreeTimes:
            return [3, 4, 5].flatMap { number -> [ClientEvent] in
                [.connectionOpened(number), refused(number, .expiredToken), .tokenProvided("old")]
            }
        }
    }
}

@Suite struct `A background task held over a sign-out` {
    /// Signed out without a network, in front or behind, which comes back while the app is in the background.
    private func told(_ last: LastConnection, isWoken: Bool) -> (ClientCore, [ClientEffect]) {
        var core = ClientCore.online(heartbeat: 600_000)
        var effects: [ClientEffect] = []
        func tell(_ event: ClientEvent, _ seconds: Double) { core.handle(event, at: at(seconds), into: &effects) }
        tell(.connectionClosed(1, reason: "lost"), 1)
        if isWoken {
            tell(.appDidEnterBackground(remainingMilliseconds: 4_000), 1)
            tell(.wakeBegan(1, remainingMilliseconds: 30_000), 1)
            effects = [.beginBackgroundTask]
            tell(.signOutRequested, 1)
        } else {
            tell(.signOutRequested, 1)
            tell(.appDidEnterBackground(remainingMilliseconds: 30_000), 1)
        }
        tell(.connectionClosed(2, reason: "unreachable"), 2)
        tell(.deadlineReached, 4)
        for (index, event) in last.events.enumerated() { tell(event, 5 + 2.5 * Double(index)) }
        return (core, effects)
    }

    @Test(arguments: LastConnection.allCases, [false, true])
    fileprivate func `is given back once nobody hears of the core any more, however that comes`(
        last: LastConnection, isWoken: Bool
    ) {
        let (core, effects) = self.told(last, isWoken: isWoken)
        let held = effects.filter { [.beginBackgroundTask, .pendingSignOutEnded, .endBackgroundTask].contains($0) }
        #expect(held == [.beginBackgroundTask, .pendingSignOutEnded, .endBackgroundTask])
        #expect(core.runState == .backgroundSuspended)
        #expect(core.nextDeadline == nil)
    }
}

@Suite struct `A trimmed log` {
    @Test func `is skipped in the store before the entries that follow`() {
        var core = ClientCore.online(head: 9)
        let page = ServerFrame.Page(after: 0, entries: [entry(8), entry(9)], head: 9, unread: 2)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1)) == [
                .skipEntries(after: 0, upTo: 7), .sendFrame(1, .request(1, .settings)),
                .storeEntries([entry(8), entry(9)]),
            ])
        _ = core.handle(.entriesStored(upTo: 9, unread: 2), at: at(1))
        #expect(core.storedPosition == 9)
    }

    @Test func `is not made of a gap after another place than the one asked for`() {
        var core = ClientCore.online(head: 9)
        _ = core.handle(.frameReceived(1, .entry(entry(1))), at: at(1))
        let page = ServerFrame.Page(after: 0, entries: [entry(8), entry(9)], head: 9, unread: 2)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1)) == [.sendFrame(1, .sync(after: 1, limit: 200))])
    }
}

@Suite struct `An app that wants no more pushes` {
    private let registration = PushRegistration(token: "ab01", environment: .production, topic: "com.example.chat")

    @Test func `has the server forget its token, once`() {
        var core = ClientCore.online()
        _ = core.handle(.pushRegistrationSet(self.registration), at: at(1))
        #expect(core.handle(.pushRegistrationSet(nil), at: at(2)).unnumbered == [.sendFrame(1, .registerPush(nil))])
        #expect(core.handle(.pushRegistrationSet(nil), at: at(3)) == [])
        #expect(
            core.handle(.pushRegistrationSet(self.registration), at: at(4)).unnumbered
                == [.sendFrame(1, .registerPush(self.registration))])
    }

    @Test func `says so with the next connection, also if it knows no token in this process`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.pushRegistrationSet(nil), at: at(0)) == [])
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(1))
        #expect(
            core.handle(.frameReceived(1, welcome()), at: at(2)).unnumbered.contains(.sendFrame(1, .registerPush(nil))))
    }

    @Test func `is another than one that has not registered yet`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(1))
        #expect(
            !core.handle(.frameReceived(1, welcome()), at: at(2)).unnumbered.contains(.sendFrame(1, .registerPush(nil)))
        )
    }
}
