import PhoneCore
import Testing
import TidingsModel

/// Processes started in advance, and scenes that go away (ios-delivery.md §2.2, §6.1).
@Suite struct `A prewarmed app` {
    static func rig() -> PhoneRig {
        var rig = PhoneRig(17)
        rig.send(.system(.prewarmed(PhoneRig.chat)))
        return rig
    }

    @Test func `has a process in which nothing of the app has run`() {
        let rig = Self.rig()
        #expect(rig.calls == [])
        #expect(rig.started.count == 1)
        #expect(rig.state == .suspended)
    }

    @Test func `is launched in that process when its icon is used`() {
        var rig = Self.rig()
        rig.clear()
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["WF", "DF", "configuration", "SC", "sceneWEF", "sceneDBA"])
        #expect(rig.started == [])
        #expect(rig.faults == [])
        let states = rig.effects.compactMap { effect -> ApplicationState? in
            if case .call(_, _, .didFinishLaunching, let state) = effect { state } else { nil }
        }
        #expect(states == [.inactive], "the person opened it")
    }

    @Test func `is launched in the background by a silent push, with the payload`() {
        var rig = Self.rig()
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "RF(background)"])
    }

    @Test func `waits for its process if it is opened before that has started`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let now = Now(monotonic: 1, wall: 1)
        guard case .startProcess(let process)? = core.handle(.system(.prewarmed(PhoneRig.chat)), at: now).first else {
            Issue.record("a process must be started")
            return
        }
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        let calls = core.handle(.process(process, .started), at: now).compactMap { effect -> Callback? in
            if case .call(_, _, let callback, _) = effect { callback } else { nil }
        }
        #expect(calls == [.willFinishLaunching(LaunchOptions()), .didFinishLaunching(LaunchOptions())])
    }

    @Test(arguments: [OSVersion(14), OSVersion(15)])
    func `exists from iOS 15, and not if the person quit it`(version: OSVersion) {
        var rig = PhoneRig(version)
        rig.send(.system(.prewarmed(PhoneRig.chat)))
        #expect(rig.started.count == (version < 15 ? 0 : 1))
        var quit = PhoneRig(version)
        quit.enter(.forceQuit)
        quit.send(.system(.prewarmed(PhoneRig.chat)))
        #expect(quit.started == [])
        #expect(quit.state == .forceQuit)
    }

    @Test func `ends without a word`() {
        var rig = Self.rig()
        rig.clear()
        rig.person(.appForceQuit(PhoneRig.chat))
        #expect(rig.calls == [])
        #expect(rig.state == .forceQuit)
    }
}

@Suite struct `A scene that was disconnected` {
    @Test func `is connected again without asking for its configuration`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.send(.system(.sceneDisconnected(PhoneRig.chat)))
        #expect(rig.calls == ["sceneDisconnect"])
        rig.clear()
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["SC", "sceneWEF", "sceneDBA"])
    }

    @Test func `was not in the foreground, and is not disconnected twice`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.send(.system(.sceneDisconnected(PhoneRig.chat)))
        #expect(rig.calls == [])
        rig.person(.wentHome)
        rig.send(.system(.sceneDisconnected(PhoneRig.chat)))
        rig.clear()
        rig.send(.system(.sceneDisconnected(PhoneRig.chat)))
        #expect(rig.calls == [])
    }
}
