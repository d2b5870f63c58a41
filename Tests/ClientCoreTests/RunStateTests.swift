import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `An app that goes to the background` {
    @Test(.requirement("S0.1", "S0.3")) func `tells the server how long it stays, and keeps the connection`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.appDidEnterBackground(remainingMilliseconds: 30_000), at: at(10)) == [
                .beginBackgroundTask, .sendFrame(1, .runState(.background(remainingMilliseconds: 25_000))),
                .publishRunState(.backgroundActive),
            ])
        #expect(core.runState == .backgroundActive)
        #expect(core.isOnline)
    }

    @Test(
        .requirement("S0.6", "S3.2"),
        arguments: [
            (nil, 120_000), (180_000, 120_000), (125_000, 120_000), (124_999, 119_999), (30_000, 25_000), (5_001, 1),
        ] as [(Int64?, Int64)])
    func `stays two minutes, or five seconds less than the system gives`(remaining: Int64?, stay: Int64) {
        var core = ClientCore.online()
        let effects = core.handle(.appDidEnterBackground(remainingMilliseconds: remaining), at: at(10))
        #expect(effects.contains(.sendFrame(1, .runState(.background(remainingMilliseconds: stay)))))
    }

    @Test func `hangs up at once when the system gives nothing`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.appDidEnterBackground(remainingMilliseconds: 4_000), at: at(10)) == [
                .beginBackgroundTask, .sendFrame(1, .runState(.suspending)), .close(1), .publishStatus(.suspended),
                .publishRunState(.backgroundSuspended),
            ])
    }

    @Test(.requirement("S0.7", "S3.2")) func `says suspending, then hangs up, then lets the system freeze it`() {
        var core = ClientCore.inBackground(remaining: 30_000)
        #expect(core.nextDeadline == 35_000)
        #expect(
            core.handle(.deadlineReached, at: at(35)) == [
                .sendFrame(1, .runState(.suspending)), .close(1), .publishStatus(.suspended),
                .publishRunState(.backgroundSuspended),
            ])
        #expect(core.handle(.connectionClosed(1, reason: "closed"), at: at(35.1)) == [.endBackgroundTask])
        #expect(core.nextDeadline == nil)
        #expect(core.runState == .backgroundSuspended)
    }

    @Test func `ends the task though the transport never closes`() {
        var core = ClientCore.inBackground(remaining: 30_000)
        _ = core.handle(.deadlineReached, at: at(35))
        #expect(core.nextDeadline == 37_000)
        #expect(core.handle(.deadlineReached, at: at(37)) == [.endBackgroundTask])
    }

    @Test func `ends the task at once when there is nothing to close`() {
        var core = ClientCore.fresh()
        let effects = core.handle(.appDidEnterBackground(remainingMilliseconds: 1_000), at: at(10))
        #expect(effects == [.beginBackgroundTask, .publishRunState(.backgroundSuspended), .endBackgroundTask])
    }

    @Test func `hangs up when the system's time is over early`() {
        var core = ClientCore.inBackground()
        let effects = core.handle(.backgroundTimeExpired, at: at(20))
        #expect(effects.prefix(2) == [.sendFrame(1, .runState(.suspending)), .close(1)])
    }

    @Test func `keeps its connection when it comes back in time`() {
        var core = ClientCore.inBackground()
        #expect(
            core.handle(.appWillEnterForeground, at: at(20)) == [
                .endBackgroundTask, .sendFrame(1, .runState(.foreground)), .publishRunState(.foreground),
                .readDeviceStatus,
            ])
        #expect(core.isOnline)
    }

    @Test(.requirement("S0.2")) func `connects again when it comes back later`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.deadlineReached, at: at(130))
        _ = core.handle(.connectionClosed(1, reason: "closed"), at: at(130))
        #expect(
            core.handle(.appWillEnterForeground, at: at(600))
                == [.publishStatus(.connecting), .open(2), .publishRunState(.foreground)])
    }

    @Test func `counts its time from the first word, though two scenes say it`() {
        var core = ClientCore.inBackground()
        #expect(core.handle(.appDidEnterBackground(remainingMilliseconds: nil), at: at(50)) == [])
        #expect(core.nextDeadline == 130_000)
    }

    @Test func `greets as background when its connection comes back there`() {
        var core = ClientCore.inBackground()
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(20))
        _ = core.handle(.deadlineReached, at: at(21))
        #expect(
            core.handle(.connectionOpened(2), at: at(30))
                == [.sendFrame(2, hello(.background(remainingMilliseconds: 100_000)))])
    }

    @Test func `says where it is after the welcome if it moved during the greeting`() {
        var core = ClientCore.fresh()
        core.openConnection()
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: 30_000), at: at(1))
        let effects = core.handle(.frameReceived(1, welcome()), at: at(2))
        #expect(effects.contains(.sendFrame(1, .runState(.background(remainingMilliseconds: 25_000)))))
    }

    @Test func `does not connect when it was started there`() {
        var core = ClientCore.fresh(isForeground: false)
        #expect(core.handle(.connectRequested, at: at(0)) == [])
        #expect(core.handle(.appWillEnterForeground, at: at(1)).contains(.askToken(alice)))
    }

    @Test(.requirement("S2.17")) func `writes the badge when it stops being active`() {
        var core = ClientCore.online(.init(stored: 8, settled: 8, unread: 3))
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        #expect(core.handle(.appWillResignActive, at: at(1)) == [.writeBadge(unread: 3, position: 8)])
    }

    @Test(.requirement("S2.11")) func `leaves the badge to an app without the kit, and to one that wants it`() {
        var core = ClientCore.online(.init(stored: 8, settled: 8, unread: 3))
        #expect(core.handle(.appWillResignActive, at: at(1)) == [])
        _ = core.handle(.kitConfigured(KitSettings(managesBadge: false)), at: at(1))
        #expect(core.handle(.appWillResignActive, at: at(1)) == [])
    }
}
