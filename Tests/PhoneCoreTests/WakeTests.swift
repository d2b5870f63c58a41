import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §7.3: silent pushes are few, may wait, and never reach an app the person quit.
@Suite struct `The budget of silent pushes` {
    static func numbered(_ number: Int) -> JSONValue { ["aps": ["content-available": 1], "n": .int(number)] }

    static func numbers(_ rig: PhoneRig) -> [Int64?] {
        rig.effects.compactMap { effect in
            guard case .call(_, _, .receiveRemoteFetch(let payload), _) = effect else { return nil }
            return payload["n"]?.intValue
        }
    }

    @Test func `is three in any hour`() {
        var rig = PhoneRig(17, in: .suspended)
        for number in 1...3 {
            rig.push(Self.numbered(number))
            rig.pass(seconds: 1_000)
        }
        rig.push(Self.numbered(4))
        #expect(rig.wakes == [.delivered, .delivered, .delivered, .heldForBudget])
        rig.pass(milliseconds: 599_999)
        #expect(Self.numbers(rig) == [1, 2, 3])
        rig.pass(milliseconds: 1)
        #expect(Self.numbers(rig) == [1, 2, 3, 4])
    }

    @Test func `is forty a day`() {
        var rig = PhoneRig(17, in: .suspended)
        for number in 1...41 {
            rig.push(Self.numbered(number))
            rig.pass(seconds: 1_300)
        }
        #expect(rig.wakes.count { $0 == .delivered } == 40)
        #expect(rig.wakes.last == .heldForBudget)
        rig.pass(seconds: 86_400 - 41 * 1_300 - 1)
        #expect(Self.numbers(rig).last == 40)
        rig.pass(seconds: 1)
        #expect(Self.numbers(rig).last == 41)
    }

    @Test func `has no end when the app runs from Xcode`() {
        var settings = PhoneSettings()
        settings.unlimitedWakes = true
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        for number in 1...50 { rig.push(Self.numbered(number)) }
        #expect(rig.wakes == Array(repeating: .delivered, count: 50))
    }

    @Test func `holds one push, which a kill discards`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        for number in 1...3 { rig.push(Self.numbered(number)) }
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(
            rig.wakes == [.delivered, .heldForBudget, .replaced, .heldForBudget, .discardedByKill])
        rig.pass(seconds: 7_200)
        #expect(Self.numbers(rig) == [1])
    }

    @Test func `shows the visible part of a push that wakes nothing`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 0
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        rig.push(Payload.alertAndContent, collapse: "m")
        #expect(rig.list == ["m"])
        #expect(rig.rings == 1)
        #expect(rig.calls == [])
        #expect(rig.wakes == [.heldForBudget])
    }

    @Test(.requirement("S4.9", "S1.9")) func `does not reach a force-quit app until the person opens it`() {
        var rig = PhoneRig(17, in: .forceQuit)
        rig.push(Payload.content)
        rig.pass(seconds: 7_200)
        #expect(rig.wakes == [.discardedForceQuit])
        #expect(rig.calls == [])
        rig.enter(.suspended)
        rig.push(Payload.content)
        #expect(rig.calls == ["RF(background)"])
    }

    @Test(.requirement("S4.9")) func `launches an app the system killed`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "RF(background)"])
    }

    @Test func `starts again with a new device`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        settings.wakeHoldAfterRestart = 0
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        rig.push(Payload.content)
        rig.send(.system(.restoredFromBackup))
        rig.person(.unlocked)
        rig.enter(.foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "d1")))
        rig.person(.wentHome)
        rig.pass(seconds: 6)
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.wakes == [.delivered])
    }
}

@Suite struct `Background App Refresh` {
    static let fetching = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, methods: [.performFetch, .receiveRemoteFetch],
        backgroundModes: [.fetch, .remoteNotification])

    @Test func `has a switch for the phone, one for each app, and may be forbidden`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        #expect(rig.ask(.backgroundRefreshStatus) == .backgroundRefreshStatus(.available))
        rig.person(.backgroundRefreshChanged(isOn: false))
        #expect(rig.ask(.backgroundRefreshStatus) == .backgroundRefreshStatus(.denied))
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: false))
        rig.person(.backgroundRefreshChanged(isOn: true))
        #expect(rig.ask(.backgroundRefreshStatus) == .backgroundRefreshStatus(.denied))
        rig.send(.system(.backgroundRefreshRestricted(true)))
        #expect(rig.ask(.backgroundRefreshStatus) == .backgroundRefreshStatus(.restricted))
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: true))
        rig.send(.system(.backgroundRefreshRestricted(false)))
        #expect(rig.ask(.backgroundRefreshStatus) == .backgroundRefreshStatus(.available))
        #expect(
            rig.calls == ["refresh(denied)", "refresh(restricted)", "refresh(available)"],
            "a change is told once, and only if the status is another")
    }

    @Test func `is told to a suspended app when it runs again, with the last value only`() {
        var rig = PhoneRig(17, in: .suspended)
        rig.person(.backgroundRefreshChanged(isOn: false))
        rig.send(.system(.backgroundRefreshRestricted(true)))
        #expect(rig.calls == [])
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["refresh(restricted)", "sceneWEF", "sceneDBA"])
    }

    @Test(arguments: [false, true]) func `off or forbidden wakes nothing, but an app in the foreground gets its pushes`(
        isRestricted: Bool
    ) {
        var rig = PhoneRig(17, in: .suspended)
        if isRestricted {
            rig.send(.system(.backgroundRefreshRestricted(true)))
        } else {
            rig.person(.backgroundRefreshChanged(isOn: false))
        }
        rig.push(Payload.content)
        rig.push(Payload.alertAndContent, collapse: "m")
        #expect(rig.wakes == [.refreshOff, .refreshOff])
        #expect(rig.calls == [])
        #expect(rig.list == ["m"])
        rig.person(.appOpened(PhoneRig.chat))
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.calls == ["RF(active)"])
    }

    @Test func `fetches no sooner than the app asked for`() {
        var rig = PhoneRig(12, Self.fetching, in: .suspended)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.notDue], "the default interval is never")
        rig.enter(.foregroundActive)
        rig.app(.minimumFetchIntervalSet(3_600_000))
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.notDue], "not in the foreground")
        rig.enter(.suspended)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.pass(seconds: 3_599)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.pass(seconds: 1)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.delivered, .notDue, .delivered])
        #expect(rig.calls == ["PF", "PF"])
        #expect(rig.state == .suspended)
    }

    @Test(.requirement("S4.13")) func `launches an app the system killed for a fetch, but not one the person quit`() {
        var rig = PhoneRig(12, Self.fetching, in: .foregroundActive)
        rig.app(.minimumFetchIntervalSet(0))
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == ["WF", "DF", "PF"])
        #expect(rig.state == .suspended)
        rig.enter(.forceQuit)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.discardedForceQuit])
        #expect(rig.calls == [])
    }

    @Test func `fetches nothing without mode, method, switch or unlock, nor before iOS 7`() {
        func outcome(
            _ version: OSVersion, _ app: InstalledApp, prepare: (inout PhoneRig) -> Void = { _ in }
        ) -> [BackgroundFetchOutcome] {
            var rig = PhoneRig(version, app, in: .foregroundActive)
            rig.app(.minimumFetchIntervalSet(0))
            rig.enter(.suspended)
            prepare(&rig)
            rig.send(.system(.backgroundChance(PhoneRig.chat)))
            return rig.fetches
        }
        var app = Self.fetching
        #expect(outcome(6, app) == [.notImplemented])
        #expect(outcome(12, app) { $0.person(.lowPowerModeChanged(isOn: true)) } == [.refreshOff])
        #expect(outcome(12, app) { $0.person(.backgroundRefreshChanged(isOn: false)) } == [.refreshOff])
        #expect(outcome(12, app) { $0.send(.system(.restarted)) } == [.heldBeforeFirstUnlock])
        app.permittedTasks = ["refresh"]
        #expect(outcome(12, app) == [.delivered])
        #expect(outcome(13, app) == [.disabledByTasks])
        app.backgroundModes = .remoteNotification
        #expect(outcome(12, app) == [.modeMissing])
        app.methods = .modern
        #expect(outcome(12, app) == [.notImplemented])
    }
}
