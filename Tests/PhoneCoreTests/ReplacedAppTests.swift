import PhoneCore
import Testing
import TidingsModel

/// Updates, removals and restarts in the middle of something (ios-delivery.md §2.1, §7.3, §10, §13).
@Suite struct `An app that is replaced` {
    static let silent = AppBehaviour(deliver: nil)
    static let mutableWake: JSONValue = [
        "aps": ["alert": "hello", "mutable-content": 1, "content-available": 1]
    ]

    @Test func `in the foreground with a push in its extension shows the push as it came`() {
        var rig = PhoneRig(17, behaviour: Self.silent, in: .foregroundActive)
        rig.push(Payload.mutable, collapse: "m")
        rig.send(.system(.appUpdated(InstalledApp(bundleID: PhoneRig.chat))))
        #expect(rig.story == ["NSE", "ended(updated)", "show(banner,list,sound,badge)"])
        #expect(rig.list == ["m"])
    }

    @Test func `while suspended wakes its new version for the silent part, and kills nothing of that`() {
        var rig = PhoneRig(17, behaviour: Self.silent, in: .suspended)
        rig.push(Self.mutableWake, collapse: "m")
        rig.send(.system(.appUpdated(InstalledApp(bundleID: PhoneRig.chat))))
        #expect(
            rig.story == [
                "NSE", "ended(updated)", "show(banner,list)", "wake(delivered)", "WF", "DF(remoteNotification)",
                "RF(background)",
            ])
    }

    @Test(arguments: [
        SystemEvent.appRemoved(PhoneRig.chat), .appReinstalled(InstalledApp(bundleID: PhoneRig.chat)),
        .restoredFromBackup,
    ]) func `by nothing of its own takes the pushes of its extension along`(event: SystemEvent) {
        var rig = PhoneRig(17, behaviour: Self.silent, in: .suspended)
        rig.push(Self.mutableWake, collapse: "m")
        rig.send(.system(event))
        #expect(rig.list == [])
        #expect(rig.wakes == [])
        #expect(rig.calls == ["NSE"])
        #expect(rig.started.count == 1, "only the extension's")
        #expect(rig.faults == [])
    }

    @Test func `installed over itself is an update`() {
        let tasks = InstalledApp(
            bundleID: PhoneRig.chat, backgroundModes: [.fetch, .voip], permittedTasks: ["refresh"])
        var rig = PhoneRig(17, tasks, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        #expect(rig.ask(.submitRefreshTask(RefreshTaskRequest(identifier: "refresh"))) == .done)
        rig.clear()
        rig.send(.system(.appInstalled(InstalledApp(bundleID: PhoneRig.chat, backgroundModes: .fetch))))
        #expect(rig.ends == [.updated])
        #expect(rig.effects.contains(.dropToken(PhoneRig.chat, .voip)))
        rig.push(["call": "ann"], suffix: ".voip")
        #expect(rig.calls == [], "the new version has no such mode")
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.started == [], "the new version has no such task")
    }

    @Test func `and new on the phone is told only of what changes after it came`() {
        var rig = PhoneRig(17)
        rig.person(.backgroundRefreshChanged(isOn: false))
        rig.send(.system(.appInstalled(InstalledApp(bundleID: "mail.example"))))
        rig.person(.appOpened("mail.example"))
        rig.clear()
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: false))
        #expect(rig.calls == [])
    }
}

extension `A phone that restarts` {
    @Test func `shows what an extension had, and holds its silent part in the place of an older one`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, behaviour: AppBehaviour(deliver: nil), settings: settings, in: .suspended)
        rig.push(["aps": ["content-available": 1]], collapse: "first")
        rig.push(["aps": ["content-available": 1]], collapse: "held")
        rig.push(`An app that is replaced`.mutableWake, collapse: "newer")
        rig.clear()
        rig.send(.system(.restarted))
        #expect(rig.list == ["newer"])
        #expect(rig.banners == [])
        #expect(rig.wakes == [.replaced, .heldBeforeFirstUnlock])
        rig.person(.unlocked)
        rig.pass(seconds: 3_600)
        #expect(rig.wakes == [.replaced, .heldBeforeFirstUnlock, .delivered])
        #expect(rig.faults == [])
    }
}

/// NQ lasts until the person opens the app, or a restart (ios-delivery.md §2.1).
@Suite struct `An app the person quit` {
    static let voip = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, backgroundModes: [.remoteNotification, .voip])

    @Test func `is still quit after a VoIP push launched it and the system ended it`() {
        var rig = PhoneRig(17, Self.voip, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.enter(.forceQuit)
        rig.push(["call": "ann"], suffix: ".voip")
        #expect(rig.state == .backgroundRunning)
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(rig.state == .forceQuit)
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.story == ["wake(discardedForceQuit)"])
    }

    @Test func `is still quit after an update, and no more once it was opened`() {
        var rig = PhoneRig(17, in: .forceQuit)
        rig.send(.system(.appUpdated(InstalledApp(bundleID: PhoneRig.chat))))
        rig.push(Payload.content)
        #expect(rig.wakes == [.discardedForceQuit])
        rig.enter(.foregroundActive)
        rig.send(.system(.appKilled(PhoneRig.chat)))
        #expect(rig.state == .notRunning)
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.wakes == [.delivered])
    }

    @Test(arguments: [SystemEvent.restarted, .restoredFromBackup])
    func `is no more quit after a restart or on a new device, also if it was launched since`(event: SystemEvent) {
        var rig = PhoneRig(17, Self.voip, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.enter(.forceQuit)
        rig.push(["call": "ann"], suffix: ".voip")
        rig.send(.system(event))
        #expect(rig.state == .notRunning)
    }
}
