import PhoneCore
import Requirements
import Testing
import TidingsModel

/// The rows of ios-delivery.md §7.1 and what §7.2 does about a missing or doubled answer.
@Suite struct `A deadline` {
    static let old = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, methods: .modern, backgroundModes: [.remoteNotification])

    @Test func `of RF kills an app in the background and takes a wake away`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(fetch: nil), in: .suspended)
        rig.push(Payload.content)
        rig.pass(milliseconds: 29_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.ends == [.fetchHandlerNotCalled])
        #expect(rig.state == .notRunning)
        rig.push(Payload.content)
        rig.push(Payload.content)
        #expect(rig.wakes == [.delivered, .delivered, .heldForBudget])
    }

    @Test func `of RF is only noted in the foreground`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(fetch: nil), in: .foregroundActive)
        rig.push(Payload.content)
        rig.pass(seconds: 30)
        #expect(rig.state == .foregroundActive)
        #expect(rig.ends == [])
        #expect(rig.faults == ["the fetch handler of callback \(rig.open("RF")[0].number) was not called in time"])
    }

    @Test(arguments: [OSVersion(7), OSVersion(9, 3), OSVersion(10), OSVersion(17)])
    func `does not matter for a second answer to RF before iOS 10, later the app ends when it resumes`(
        version: OSVersion
    ) {
        var rig = PhoneRig(version, Self.old, in: .suspended)
        rig.push(Payload.content, type: "background")
        let call = rig.open("RF")[0]
        // It slipped out just before the suspension.
        rig.process(call.process, .callbackCompleted(call.number, .fetch(.newData)))
        #expect(rig.faults == ["callback \(call.number) must be open and answered once"])
        #expect(rig.state == .suspended)
        rig.clear()
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.ends == (version < 10 ? [] : [.completionHandlerCalledTwice]))
        #expect(rig.calls == (version < 10 ? ["WEF", "DBA"] : []))
        #expect(rig.state == (version < 10 ? .foregroundActive : .notRunning))
    }

    @Test func `of WP presents nothing, and only the first answer counts`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(presentation: nil), in: .foregroundActive)
        rig.push(Payload.alert, collapse: "late")
        rig.pass(milliseconds: 4_999)
        #expect(rig.presentations == [])
        rig.pass(milliseconds: 1)
        #expect(rig.presentations.map(\.reason) == [.willPresentLate])
        let late = rig.open("WP")[0]
        rig.process(late.process, .callbackCompleted(late.number, .presentation([.banner, .list])))
        #expect(rig.list == [])
        rig.push(Payload.alert, collapse: "twice")
        let call = rig.open("WP")[1]
        rig.process(call.process, .callbackCompleted(call.number, .presentation(.list)))
        rig.process(call.process, .callbackCompleted(call.number, .presentation([.banner, .sound])))
        #expect(rig.list == ["twice"])
        #expect(rig.rings == 0)
        #expect(
            rig.faults == [late, call].map { "callback \($0.number) must be open and answered once" })
    }

    @Test func `of DR ends the wake`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(answersResponse: false), in: .foregroundActive)
        rig.app(.categoriesSet([NotificationCategory(identifier: "message", reportsDismissal: true)]))
        rig.person(.wentHome)
        rig.pass(seconds: 6)
        rig.push(["aps": ["alert": "hello", "category": "message"]], collapse: "m")
        rig.person(.notificationDismissed(NotificationKey(app: PhoneRig.chat, identifier: "m")))
        rig.pass(milliseconds: 29_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.state == .suspended)
        #expect(rig.ends == [])
        #expect(rig.faults.count == 1)
    }

    @Test func `of a doubled DR changes nothing and is noted`() {
        var rig = PhoneRig(17, in: .suspended)
        rig.push(Payload.alert, collapse: "m")
        rig.tap("m")
        let call = rig.open("DR")[0]
        let before = rig.core
        rig.process(call.process, .callbackCompleted(call.number, .returned))
        #expect(rig.faults == ["callback \(call.number) must be open and answered once"])
        #expect(rig.core == before)
    }

    @Test func `of DEB is five seconds, then the app ends`() {
        var core = PhoneCore(version: 17, apps: [Self.old])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        _ = core.handle(.process(process, .started), at: now)
        for number in 1...3 {
            _ = core.handle(.process(process, .callbackCompleted(CallbackNumber(number), .returned)), at: now)
        }
        _ = core.handle(.person(.wentHome), at: now)
        _ = core.handle(.process(process, .callbackCompleted(4, .returned)), at: now)
        #expect(core.nextDeadline == 5_000)
        let effects = core.handle(.timerReached, at: Now(monotonic: 5_000, wall: 5_000))
        #expect(effects.first == .killProcess(process))
        #expect(core.state(of: PhoneRig.chat) == .notRunning)
    }

    @Test(.requirement("S4.13")) func `of PF kills the app and makes chances rarer`() {
        let app = InstalledApp(
            bundleID: PhoneRig.chat, lifecycle: .application, methods: .performFetch, backgroundModes: .fetch)
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(
            12, app, behaviour: AppBehaviour(performFetch: nil), settings: settings, in: .foregroundActive)
        rig.app(.minimumFetchIntervalSet(0))
        rig.person(.wentHome)
        rig.pass(seconds: 6)
        rig.clear()
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == ["PF"])
        rig.pass(milliseconds: 29_999)
        #expect(rig.ends == [])
        rig.pass(milliseconds: 1)
        #expect(rig.ends == [.performFetchHandlerNotCalled])
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.delivered, .heldForBudget])
        rig.pass(seconds: 3_600)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches.last == .delivered)
    }

    @Test func `missed by a suspended app starts anew when it runs again`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(fetch: nil), in: .backgroundRunning)
        rig.push(Payload.content)
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        rig.pass(seconds: 300)
        #expect(rig.ends == [])
        rig.push(Payload.content)
        rig.pass(milliseconds: 29_999)
        #expect(rig.ends == [])
        rig.pass(milliseconds: 1)
        #expect(rig.ends == [.fetchHandlerNotCalled])
    }
}

@Suite struct `An app that holds a lock in the app group` {
    @Test func `is killed when it is suspended`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.appGroupLockTaken("badge.db"))
        rig.pass(seconds: 5)
        #expect(rig.ends == [.heldLockWhileSuspended])
        #expect(rig.state == .notRunning)
        #expect(rig.calls == [])
    }

    @Test func `is killed when it is frozen, and its pushes are shown`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.appGroupLockTaken("badge.db"))
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        #expect(rig.ends == [.heldLockWhileSuspended])
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.list == ["m"])
        #expect(rig.faults == [])
    }

    @Test func `lives if it lets go first, or holds it in a background task, or the quirk is off`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.backgroundTaskBegan(1))
        rig.app(.appGroupLockTaken("badge.db"))
        rig.pass(seconds: 10)
        #expect(rig.state == .backgroundRunning)
        rig.app(.appGroupLockReleased("badge.db"))
        rig.app(.backgroundTaskEnded(1))
        #expect(rig.state == .suspended)
        var settings = PhoneSettings()
        settings.quirks.lockHeldWhileSuspendedKills = false
        var other = PhoneRig(17, settings: settings)
        other.enter(.backgroundRunning)
        other.app(.appGroupLockTaken("badge.db"))
        other.pass(seconds: 5)
        #expect(other.state == .suspended)
        #expect(other.ends == [])
    }

    @Test func `takes each lock once`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.appGroupLockTaken("badge.db"))
        rig.app(.appGroupLockTaken("badge.db"))
        #expect(rig.faults == ["lock badge.db must be taken once"])
    }
}
