import PhoneCore
import Testing
import TidingsModel

@Suite struct `An app's life` {
    static let plain = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application)

    @Test func `is told without scenes in the order of the table`() {
        var rig = PhoneRig(12, Self.plain)
        rig.person(.appOpened(PhoneRig.chat))
        rig.person(.wentHome)
        rig.pass(seconds: 5)
        #expect(rig.state == .suspended)
        rig.person(.appOpened(PhoneRig.chat))
        rig.person(.overlayAppeared)
        rig.person(.overlayDisappeared)
        #expect(rig.calls == ["WF", "DF", "DBA", "WRA", "DEB", "WEF", "DBA", "WRA", "DBA"])
        #expect(rig.faults == [])
    }

    @Test func `is told with scenes in the order of the table`() {
        var rig = PhoneRig(17)
        rig.person(.appOpened(PhoneRig.chat))
        rig.person(.wentHome)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(
            rig.calls == [
                "WF", "DF", "configuration", "SC", "sceneWEF", "sceneDBA", "sceneWRA", "sceneDEB", "sceneWEF",
                "sceneDBA",
            ])
    }

    @Test func `falls back to the app delegate before iOS 13`() {
        var rig = PhoneRig(12)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["WF", "DF", "DBA"])
    }

    @Test func `connects its scene late after a launch in the background`() {
        var rig = PhoneRig(17)
        rig.push(Payload.content)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(
            rig.calls == [
                "WF", "DF(remoteNotification)", "RF(background)", "configuration", "SC", "sceneWEF", "sceneDBA",
            ])
    }

    @Test func `runs five seconds in the background without a task`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.pass(milliseconds: 4_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.state == .suspended)
        #expect(rig.calls == [])
        #expect(rig.core.nextDeadline == nil)
    }

    @Test func `is suspended when its last background task ends`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(taskInBackground: 12_000), in: .backgroundRunning)
        rig.pass(seconds: 11)
        #expect(rig.state == .backgroundRunning)
        rig.pass(seconds: 1)
        #expect(rig.state == .suspended)
    }

    @Test func `ends by force if a task outlives its expiration`() {
        var rig = PhoneRig(
            17, behaviour: AppBehaviour(taskInBackground: .some(nil), endsExpiredTask: false), in: .backgroundRunning)
        rig.pass(seconds: 30)
        #expect(rig.calls == ["expired(1)"])
        rig.pass(seconds: 5)
        #expect(rig.ends == [.backgroundTaskNotEnded])
        #expect(rig.state == .notRunning)
    }

    @Test func `ends with a word when the person quits it while it runs`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.person(.appForceQuit(PhoneRig.chat))
        #expect(rig.calls == ["sceneWRA", "sceneDEB", "sceneDisconnect", "WT"])
        #expect(rig.ends == [.forceQuit])
        #expect(rig.state == .forceQuit)
        #expect(rig.core.screen.foregroundApp == nil)
    }

    @Test func `ends without a word while suspended, and when the system kills it`() {
        var rig = PhoneRig(17, in: .suspended)
        rig.person(.appForceQuit(PhoneRig.chat))
        #expect(rig.calls == [])
        #expect(rig.state == .forceQuit)
        rig.enter(.foregroundActive)
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(rig.calls == [])
        #expect(rig.state == .notRunning)
    }

    @Test func `may write the badge in its last moments`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        _ = core.handle(.person(.settingChanged(PhoneRig.chat, .notifications, isOn: true)), at: now)
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        _ = core.handle(.process(process, .started), at: now)
        _ = core.handle(.process(process, .callbackCompleted(2, .returned)), at: now)
        let pendingSignOut = core.handle(.person(.appForceQuit(PhoneRig.chat)), at: now)
        let last = pendingSignOut.compactMap { effect -> CallbackNumber? in
            guard case .call(_, let number, .applicationWillTerminate, _) = effect else { return nil }
            return number
        }
        #expect(core.state(of: PhoneRig.chat) == .forceQuit)
        _ = core.handle(.process(process, .iconBadgeNumberSet(4)), at: now)
        #expect(core.screen.badge(of: PhoneRig.chat) == 4)
        let end = core.handle(.process(process, .callbackCompleted(last.first ?? 0, .returned)), at: now)
        #expect(end.first == .killProcess(process))
        _ = core.handle(.process(process, .iconBadgeNumberSet(9)), at: now)
        #expect(core.screen.badge(of: PhoneRig.chat) == 4)
    }

    @Test func `is over if the launch takes too long`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: Now(monotonic: 0, wall: 0))
        #expect(core.nextDeadline == 20_000)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        let effects = core.handle(.timerReached, at: Now(monotonic: 20_000, wall: 20_000))
        #expect(effects.first == .killProcess(process))
        #expect(core.state(of: PhoneRig.chat) == .notRunning)
    }

    @Test func `leaves the screen to another app and to the lock`() {
        var rig = PhoneRig(17)
        rig.send(.system(.appInstalled(InstalledApp(bundleID: "mail.example"))))
        rig.enter(.foregroundActive)
        rig.person(.appOpened("mail.example"))
        #expect(rig.state == .backgroundRunning)
        #expect(rig.core.screen.foregroundApp == "mail.example")
        rig.person(.appOpened(PhoneRig.chat))
        rig.pass(seconds: 6)
        rig.clear()
        rig.person(.locked)
        #expect(rig.calls == ["sceneWRA", "sceneDEB", "protectedData(unavailable)"])
        #expect(rig.core.screen.foregroundApp == nil)
        rig.clear()
        rig.person(.unlocked)
        #expect(rig.calls == ["protectedData(available)", "sceneWEF", "sceneDBA"])
    }

    @Test func `ends for memory while suspended, and is warned while it runs`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.send(.system(.memoryRanLow))
        #expect(rig.calls == ["memory"])
        rig.enter(.suspended)
        rig.send(.system(.memoryRanLow))
        #expect(rig.ends == [.evicted])
    }

    @Test func `keeps its launch calls for later if it is frozen before it reported`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        _ = core.handle(.system(.appFrozen(PhoneRig.chat)), at: now)
        #expect(core.handle(.process(process, .started), at: now) == [])
        #expect(core.nextDeadline == nil)
        let calls = core.handle(.person(.appOpened(PhoneRig.chat)), at: now).filter { effect in
            guard case .record = effect else { return true }
            return false
        }
        let options = LaunchOptions()
        #expect(
            calls == [
                .resumeProcess(process), .call(process, 1, .willFinishLaunching(options), .background),
                .call(process, 2, .didFinishLaunching(options), .background),
            ])
    }
}

@Suite struct `A phone that freezes an app without a word` {
    @Test func `says nothing to the app, keeps nothing for it and shows its pushes`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(taskInBackground: .some(nil)), in: .backgroundRunning)
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        #expect(rig.state == .suspended)
        #expect(rig.calls == [])
        rig.pass(seconds: 600)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.calls == [])
        #expect(rig.list == ["m"])
        #expect(rig.rings == 1)
        rig.tap("m")
        #expect(rig.calls == ["sceneWEF", "DR", "sceneDBA"])
        #expect(rig.faults == [])
    }

    @Test func `takes a frozen app off the screen`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        #expect(rig.core.screen.foregroundApp == nil)
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.calls == [])
        #expect(rig.list == ["m"])
    }
}

@Suite struct `A phone that restarts` {
    @Test func `clears a force-quit, keeps the list and holds wakes for five minutes after the first unlock`() {
        var rig = PhoneRig(17)
        rig.push(Payload.alert, collapse: "m")
        rig.enter(.forceQuit)
        rig.send(.system(.restarted))
        #expect(rig.state == .notRunning)
        #expect(rig.core.screen.lock == .beforeFirstUnlock)
        #expect(rig.list == ["m"])
        rig.push(Payload.content)
        #expect(rig.wakes == [.heldBeforeFirstUnlock])
        rig.pass(seconds: 60)
        rig.person(.unlocked)
        #expect(rig.calls == [])
        rig.pass(seconds: 239)
        #expect(rig.calls == [])
        rig.pass(seconds: 1)
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "RF(background)"])
    }

    @Test func `runs the extension before the first unlock unless the quirk is off`() {
        var rig = PhoneRig(17)
        rig.send(.system(.restarted))
        rig.push(Payload.mutable, collapse: "m")
        #expect(rig.calls == ["NSE"])
        var settings = PhoneSettings()
        settings.quirks.extensionRunsBeforeFirstUnlock = false
        var other = PhoneRig(17, settings: settings)
        other.send(.system(.restarted))
        other.push(Payload.mutable, collapse: "m")
        #expect(other.calls == [])
        #expect(other.list == ["m"])
    }

    @Test func `brings back nothing that was in the foreground`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.send(.system(.restarted))
        rig.person(.unlocked)
        #expect(rig.core.screen.foregroundApp == nil)
        #expect(rig.process == nil)
    }
}

@Suite struct `A silent push` {
    @Test(arguments: [
        (InstalledApp(bundleID: PhoneRig.chat, methods: [.willPresent]), WakeOutcome.notImplemented),
        (InstalledApp(bundleID: PhoneRig.chat, backgroundModes: []), .modeMissing),
    ]) func `wakes nothing that cannot take it`(app: InstalledApp, outcome: WakeOutcome) {
        var rig = PhoneRig(17, app, in: .suspended)
        rig.push(Payload.content)
        #expect(rig.wakes == [outcome])
        #expect(rig.calls == [])
    }

    @Test func `is dropped in Low Power Mode and with Background App Refresh off, but not in the foreground`() {
        var rig = PhoneRig(17)
        rig.person(.lowPowerModeChanged(isOn: true))
        rig.push(Payload.content)
        rig.person(.lowPowerModeChanged(isOn: false))
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: false))
        rig.push(Payload.content)
        #expect(rig.wakes == [.refreshOff, .refreshOff])
        rig.enter(.foregroundActive)
        rig.push(Payload.content)
        #expect(rig.calls == ["RF(active)"])
    }

    @Test func `that was held comes when the budget frees`() {
        var rig = PhoneRig(17, in: .suspended)
        for _ in 1...4 { rig.push(Payload.content) }
        #expect(rig.calls.count == 3)
        rig.pass(seconds: 3_599)
        #expect(rig.calls.count == 3)
        rig.pass(seconds: 1)
        #expect(rig.calls.count == 4)
        #expect(rig.state == .suspended)
    }
}
