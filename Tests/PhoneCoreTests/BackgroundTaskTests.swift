import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §8: how long an app may run when it is not in the foreground.
@Suite struct `An app in the background` {
    static let plain = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application)

    @Test(
        .requirement("S0.6"),
        arguments: [
            (OSVersion(4), 600), (OSVersion(6, 1), 600), (OSVersion(7), 180), (OSVersion(12, 4), 180),
            (OSVersion(13), 30), (OSVersion(17), 30), (OSVersion(26), 30),
        ] as [(OSVersion, Int64)])
    func `runs as long as its system allows, then is told, then is suspended`(version: OSVersion, seconds: Int64) {
        var rig = PhoneRig(
            version, Self.plain, behaviour: AppBehaviour(taskInBackground: .some(nil)), in: .foregroundActive)
        #expect(rig.ask(.backgroundTimeRemaining) == .backgroundTime(nil))
        rig.person(.wentHome)
        rig.clear()
        #expect(rig.ask(.backgroundTimeRemaining) == .backgroundTime(seconds * 1_000))
        rig.pass(milliseconds: seconds * 1_000 - 1)
        #expect(rig.ask(.backgroundTimeRemaining) == .backgroundTime(1))
        #expect(rig.calls == [])
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["expired(1)"])
        #expect(rig.state == .suspended)
    }

    @Test func `runs five seconds without a task on every system`() {
        for version in [OSVersion(4), 9, 12, 17, 26] {
            var rig = PhoneRig(version, Self.plain, in: .backgroundRunning)
            rig.pass(milliseconds: 4_999)
            #expect(rig.state == .backgroundRunning)
            rig.pass(milliseconds: 1)
            #expect(rig.state == .suspended)
        }
    }

    @Test func `has thirty seconds in all when it was started there`() {
        for version in [OSVersion(9), 12, 17] {
            var rig = PhoneRig(version, Self.plain, behaviour: AppBehaviour(fetch: nil), in: .suspended)
            rig.push(Payload.content)
            rig.app(.backgroundTaskBegan(1))
            #expect(rig.ask(.backgroundTimeRemaining) == .backgroundTime(30_000))
            let call = rig.open("RF")[0]
            rig.process(call.process, .callbackCompleted(call.number, .fetch(.newData)))
            rig.pass(seconds: 30)
            #expect(rig.calls == ["RF(background)", "expired(1)"])
        }
    }

    @Test func `that does not end its task is killed after the warning`() {
        var rig = PhoneRig(
            17, behaviour: AppBehaviour(taskInBackground: .some(nil), endsExpiredTask: false), in: .backgroundRunning)
        rig.pass(milliseconds: 34_999)
        #expect(rig.ends == [])
        rig.pass(milliseconds: 1)
        #expect(rig.ends == [.backgroundTaskNotEnded])
    }

    @Test func `needs all of its tasks to end, and may begin one only once`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.backgroundTaskBegan(1))
        rig.app(.backgroundTaskBegan(2))
        rig.app(.backgroundTaskBegan(2))
        #expect(rig.faults == ["background task 2 must begin once"])
        rig.pass(seconds: 10)
        rig.app(.backgroundTaskEnded(1))
        #expect(rig.state == .backgroundRunning)
        rig.app(.backgroundTaskEnded(2))
        #expect(rig.state == .suspended)
    }

    @Test func `that comes back in time keeps its task and gets its time anew`() {
        var rig = PhoneRig(17, behaviour: AppBehaviour(taskInBackground: .some(nil)), in: .backgroundRunning)
        rig.pass(seconds: 29)
        rig.person(.appOpened(PhoneRig.chat))
        rig.app(.backgroundTaskEnded(1))
        rig.pass(seconds: 60)
        #expect(rig.calls == ["sceneWEF", "sceneDBA"])
        rig.person(.wentHome)
        #expect(rig.ask(.backgroundTimeRemaining) == .backgroundTime(30_000))
    }

    @Test func `may run for an activity as for a task`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.expiringActivityBegan(3))
        rig.pass(milliseconds: 29_999)
        #expect(rig.state == .backgroundRunning)
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["activityExpired(3)"])
        rig.app(.expiringActivityEnded(3))
        #expect(rig.state == .suspended)
        #expect(rig.ends == [])
    }

    @Test(.requirement("S2.17")) func `is told that it ends only while it runs`() {
        for (state, calls) in [
            (AppState.foregroundActive, ["WRA", "DEB", "WT"]), (.foregroundInactive, ["DEB", "WT"]),
            (.backgroundRunning, ["WT"]), (.suspended, []), (.notRunning, []),
        ] {
            for event in [PhoneEvent.system(.appEvicted(PhoneRig.chat)), .person(.appForceQuit(PhoneRig.chat))] {
                var rig = PhoneRig(12, Self.plain)
                rig.enter(state)
                rig.send(event)
                #expect(rig.calls == calls, "\(state), \(event)")
                #expect(rig.process == nil)
            }
        }
    }

    @Test func `is not told when the system kills it, updates it or restarts`() {
        for event in [
            SystemEvent.appKilled(PhoneRig.chat), .appUpdated(Self.plain), .restarted, .restoredFromBackup,
        ] {
            var rig = PhoneRig(12, Self.plain, in: .backgroundRunning)
            rig.send(.system(event))
            #expect(rig.calls == [], "\(event)")
            #expect(rig.state == .notRunning)
        }
    }
}

@Suite struct `A refresh task` {
    static let app = InstalledApp(
        bundleID: PhoneRig.chat, lifecycle: .application, backgroundModes: [.fetch],
        permittedTasks: ["refresh", "more"])
    static let request = RefreshTaskRequest(identifier: "refresh")

    static func rig(
        _ request: RefreshTaskRequest = request, completes: Bool? = true, registers: String? = "refresh"
    ) -> PhoneRig {
        var rig = PhoneRig(
            17, Self.app, behaviour: AppBehaviour(registersTask: registers, completesTask: completes),
            in: .backgroundRunning)
        rig.ask(.submitRefreshTask(request))
        rig.pass(seconds: 6)
        return rig
    }

    @Test func `is launched at a good moment, in the background, once`() {
        var rig = Self.rig()
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == ["task(refresh)"])
        #expect(rig.tasks == [.submitted, .launched, .completed])
        #expect(rig.state == .suspended)
        #expect(rig.faults == [])
    }

    @Test func `launches an app the system killed, but not one the person quit`() {
        var rig = Self.rig()
        var quit = rig
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == ["WF", "DF", "task(refresh)"])
        #expect(rig.state == .suspended)
        quit.person(.appForceQuit(PhoneRig.chat))
        quit.clear()
        quit.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(quit.calls == [])
        #expect(quit.tasks == [.discardedForceQuit])
        #expect(quit.core.state(of: PhoneRig.chat) == .forceQuit)
    }

    @Test func `does not come before its time`() {
        var rig = Self.rig(RefreshTaskRequest(identifier: "refresh", earliestBegin: 1_700_000_060_000))
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == [])
        rig.pass(seconds: 60)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == ["task(refresh)"])
    }

    @Test func `needs its handler before the launch is over`() {
        var rig = Self.rig(registers: nil)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.calls == [])
        #expect(rig.tasks == [.submitted, .launched, .notRegistered])
        rig.enter(.foregroundActive)
        rig.app(.refreshTaskRegistered(identifier: "refresh"))
        #expect(rig.faults == ["the handler of task refresh must be registered before didFinishLaunching returns"])
    }

    @Test func `is told when its time is over, and its app is killed if it goes on`() {
        var rig = Self.rig(completes: nil)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.pass(milliseconds: 29_999)
        #expect(rig.calls == ["task(refresh)"])
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["task(refresh)", "taskExpired(refresh)"])
        var late = rig
        rig.app(.refreshTaskCompleted(identifier: "refresh", success: false))
        #expect(rig.tasks == [.submitted, .launched, .expired, .failed])
        #expect(rig.state == .suspended)
        late.pass(seconds: 5)
        #expect(late.ends == [.refreshTaskNotCompleted])
        #expect(late.state == .notRunning)
    }

    @Test func `is not killed for once the person has brought the app to the foreground`() {
        var rig = Self.rig(completes: nil)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.person(.appOpened(PhoneRig.chat))
        rig.pass(seconds: 60)
        #expect(rig.state == .foregroundActive)
        #expect(rig.faults == ["task refresh was not completed in time"])
    }

    @Test func `replaces the one with its identifier, and there may be one`() {
        var rig = Self.rig()
        rig.enter(.foregroundActive)
        let later = RefreshTaskRequest(identifier: "refresh", earliestBegin: 1_800_000_000_000)
        #expect(rig.ask(.submitRefreshTask(later)) == .done)
        #expect(rig.ask(.pendingRefreshTasks) == .refreshTasks([later]))
        #expect(
            rig.ask(.submitRefreshTask(RefreshTaskRequest(identifier: "more")))
                == .taskRefused(.tooManyPendingTaskRequests))
        rig.app(.refreshTaskCancelled(identifier: nil))
        #expect(rig.ask(.pendingRefreshTasks) == .refreshTasks([]))
        #expect(rig.tasks == [.replaced, .cancelled])
    }

    @Test func `is refused if it is not permitted or cannot come`() {
        var rig = PhoneRig(17, Self.app, in: .foregroundActive)
        #expect(
            rig.ask(.submitRefreshTask(RefreshTaskRequest(identifier: "other"))) == .taskRefused(.notPermitted))
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: false))
        #expect(rig.ask(.submitRefreshTask(Self.request)) == .taskRefused(.unavailable))
        var old = PhoneRig(12, Self.app)
        old.enter(.foregroundActive)
        #expect(old.ask(.submitRefreshTask(Self.request)) == .taskRefused(.unavailable))
    }

    @Test func `waits while Background App Refresh is off, in Low Power Mode and before the first unlock`() {
        var rig = Self.rig()
        rig.person(.lowPowerModeChanged(isOn: true))
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.person(.lowPowerModeChanged(isOn: false))
        rig.send(.system(.restarted))
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        rig.person(.unlocked)
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.tasks == [.submitted, .refreshOff, .heldBeforeFirstUnlock, .launched, .completed])
    }
}
