import DequeModule
import TidingsModel

extension PhoneCore {
    /// The caller appends the steps that follow `application(_:didFinishLaunchingWithOptions:)`.
    mutating func launch(_ index: Int, inForeground: Bool, options: LaunchOptions, _ turn: inout Turn) {
        self.finishEnding(index, &turn)
        guard !self.refusesLaunch(index, &turn) else { return }
        self.processCount += 1
        let app = self.bundleID(index)
        let process = ProcessID(app: app, role: .app, number: self.processCount)
        self.apps[index].run = AppRun(
            process: process, phase: .starting, options: options,
            launchDeadline: turn.now.monotonic + self.settings.launchLimit)
        self.apps[index].screen = nil
        turn.add(.startProcess(process))
        turn.record(app, .processStarted(process))
        self.enter(index, inForeground ? .foregroundInactive : .backgroundRunning, &turn)
    }

    /// From iOS 27 an app built with that SDK must have scenes (ios-delivery.md §5.4).
    mutating func refusesLaunch(_ index: Int, _ turn: inout Turn) -> Bool {
        let app = self.apps[index].installed
        guard self.version >= 27, app.sdkVersion.map({ $0 >= 27 }) == true, app.lifecycle == .application
        else { return false }
        turn.recordFault(app.bundleID, "app \(app.bundleID) was built with the iOS 27 SDK and must use scenes")
        return true
    }

    /// The time in the background begins here (ios-delivery.md §8).
    mutating func enter(_ index: Int, _ state: AppState, _ turn: inout Turn) {
        let old = self.apps[index].state
        if state == .forceQuit { self.apps[index].isQuit = true }
        let state: AppState = state == .notRunning && self.apps[index].isQuit ? .forceQuit : state
        guard old != state else { return }
        self.apps[index].state = state
        turn.record(self.bundleID(index), .state(state))
        let now = turn.now.monotonic
        switch state {
        case .backgroundRunning:
            let total = self.settings.backgroundTaskTime ?? self.version.backgroundTaskTime
            self.apps[index].run?.graceUntil = old.isInForeground ? now + self.settings.backgroundGrace : now
            self.apps[index].run?.tasksUntil = now + (old.isInForeground ? total : self.settings.wakeTaskTime)
            self.apps[index].run?.killAt = nil
        case .foregroundActive, .foregroundInactive, .suspended: self.apps[index].run?.killAt = nil
        case .notRunning, .forceQuit: break
        }
    }

    /// `seen` is what `applicationState` reads during the call; nil means the state itself.
    mutating func call(
        _ index: Int, _ callback: Callback, _ turn: inout Turn, seen: ApplicationState? = nil
    ) {
        guard let process = self.apps[index].run?.process else { return }
        var kind = Self.kind(of: callback)
        if case .voip = kind { kind = .voip(mustReport: self.mustReportCall(index)) }
        let number = self.nextCallback()
        let deadline = self.deadline(of: kind, run: self.apps[index].run, at: turn.now.monotonic)
        self.apps[index].run?.openCalls.append(OpenCall(number: number, kind: kind, deadline: deadline))
        if case .sceneWillConnect = callback { self.apps[index].run?.sceneConnected = true }
        if case .sceneConfiguration = callback { self.apps[index].run?.sceneConfigured = true }
        self.emit(
            callback, number: number, to: process, state: seen ?? self.apps[index].state.applicationState, &turn)
    }

    mutating func nextCallback() -> CallbackNumber {
        self.callbackCount += 1
        return self.callbackCount
    }

    func emit(
        _ callback: Callback, number: CallbackNumber, to process: ProcessID, state: ApplicationState,
        _ turn: inout Turn
    ) {
        turn.add(.call(process, number, callback, state))
        turn.record(
            process.app,
            .callback(CallbackRecord(number: number, process: process, callback: callback, applicationState: state)))
    }

    private static func kind(of callback: Callback) -> OpenCall.Kind {
        switch callback {
        case .willFinishLaunching: .launch(isLast: false)
        case .didFinishLaunching: .launch(isLast: true)
        case .applicationDidEnterBackground, .sceneDidEnterBackground: .enterBackground
        case .receiveRemoteFetch: .fetch
        case .performFetch: .performFetch
        case .voipPushReceived: .voip(mustReport: true)
        case .receiveResponse, .handleActionRemote, .handleActionLocal: .response
        case .backgroundTaskExpired, .expiringActivityExpired: .expiration
        case .willPresent(let notification): .present(notification, wasRemote: notification.request.isRemote)
        case .applicationWillEnterForeground, .applicationDidBecomeActive, .applicationWillResignActive,
            .applicationWillTerminate, .applicationDidReceiveMemoryWarning, .sceneConfiguration, .sceneWillConnect,
            .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive, .sceneDidDisconnect,
            .receiveRemote, .receiveLocal, .registeredForRemoteNotifications,
            .failedToRegisterForRemoteNotifications, .serviceExtensionReceive, .serviceExtensionTimeWillExpire,
            .openSettings, .registeredUserNotificationSettings, .refreshTaskLaunched, .refreshTaskExpired,
            .backgroundRefreshStatusChanged, .protectedDataDidBecomeAvailable,
            .protectedDataWillBecomeUnavailable, .voipTokenUpdated, .voipTokenInvalidated, .callAnswered, .callDeclined,
            .activityTokenUpdated, .pushToStartTokenUpdated, .activityUpdated:
            .method
        }
    }

    private func deadline(of kind: OpenCall.Kind, run: AppRun?, at now: Int64) -> Int64 {
        switch kind {
        case .launch: run?.launchDeadline ?? now + self.settings.launchLimit
        case .method, .expiration: now + self.settings.methodLimit
        case .enterBackground: now + self.settings.enterBackgroundLimit
        case .fetch: now + self.settings.fetchLimit
        case .performFetch: now + self.settings.performFetchLimit
        case .voip: now + self.settings.voipLimit
        case .present: now + self.settings.presentLimit
        case .response: now + self.settings.responseLimit
        }
    }

    /// Calls the launch methods. Other waiting steps follow when `didFinishLaunching` has returned.
    mutating func callLaunch(_ index: Int, _ turn: inout Turn) {
        guard let options = self.apps[index].run?.options else { return }
        self.apps[index].run?.phase = .launching
        self.call(index, .willFinishLaunching(options), &turn)
        self.call(index, .didFinishLaunching(options), &turn)
    }

    // MARK: Suspending

    mutating func suspend(_ index: Int, _ turn: inout Turn) {
        guard self.apps[index].state != .suspended, let process = self.apps[index].run?.process,
            !self.killForLock(index, &turn)
        else { return }
        turn.add(.suspendProcess(process))
        self.enter(index, .suspended, &turn)
    }

    /// The open calls get their full time again.
    mutating func resume(_ index: Int, _ turn: inout Turn) {
        guard self.apps[index].state == .suspended, !self.crashOnResume(index, &turn), var run = self.apps[index].run
        else { return }
        let now = turn.now.monotonic
        run.launchDeadline = now + self.settings.launchLimit
        for position in run.openCalls.indices {
            run.openCalls[position].deadline = self.deadline(of: run.openCalls[position].kind, run: run, at: now)
        }
        for position in run.background.refreshTasks.indices {
            let isExpired = run.background.refreshTasks[position].isExpired
            run.background.refreshTasks[position].deadline =
                now + (isExpired ? self.settings.refreshTaskExpiryGrace : self.settings.refreshTaskLimit)
        }
        self.apps[index].run = run
        turn.add(.resumeProcess(run.process))
        self.enter(index, .backgroundRunning, &turn)
        if run.phase == .loaded { self.callLaunch(index, &turn) }
    }

    // MARK: Ending

    mutating func kill(_ index: Int, to state: AppState = .notRunning, reason: EndReason, _ turn: inout Turn) {
        self.finishEnding(index, &turn)
        self.discardHeldWake(index, outcome: reason == .forceQuit ? .discardedForceQuit : .discardedByKill, &turn)
        if let run = self.apps[index].run {
            turn.add(.killProcess(run.process))
            self.processIsGone(index, run: run, reason: reason, &turn)
        }
        self.enter(index, state, &turn)
    }

    /// A running app ends when it has answered; a suspended or launching one is killed.
    mutating func terminate(_ index: Int, to state: AppState, reason: EndReason, _ turn: inout Turn) {
        let old = self.apps[index].state
        guard let phase = self.apps[index].run?.phase, phase == .ready, old != .suspended else {
            return self.kill(index, to: state, reason: reason, &turn)
        }
        self.finishEnding(index, &turn)
        self.discardHeldWake(index, outcome: reason == .forceQuit ? .discardedForceQuit : .discardedByKill, &turn)
        let steps = Lifecycle.toEnd(
            from: old, scenes: self.facts(of: index).scenes,
            sceneConnected: self.apps[index].run?.sceneConnected ?? false)
        self.performLifecycle(steps, index, &turn)
        guard let run = self.apps[index].run, let last = run.openCalls.last else { return }
        self.apps[index].ending = EndingRun(
            process: run.process, lastCall: last.number, openCalls: run.openCalls.map(\.number),
            deadline: turn.now.monotonic + self.settings.enterBackgroundLimit, reason: reason)
        self.dropCalls(index, run: run, &turn)
        self.apps[index].run = nil
        self.leaveScreen(index, process: run.process)
        self.enter(index, state, &turn)
    }

    mutating func finishEnding(_ index: Int, kills: Bool = true, _ turn: inout Turn) {
        guard let ending = self.apps[index].ending else { return }
        self.apps[index].ending = nil
        if kills { turn.add(.killProcess(ending.process)) }
        turn.record(ending.process.app, .processEnded(ending.process, ending.reason))
    }

    mutating func processIsGone(_ index: Int, run: AppRun, reason: EndReason, _ turn: inout Turn) {
        turn.record(run.process.app, .processEnded(run.process, reason))
        self.dropCalls(index, run: run, &turn)
        self.apps[index].run = nil
        self.leaveScreen(index, process: run.process)
    }

    /// Drops a process's open calls: notifications that waited for its answer are presented without it.
    private mutating func dropCalls(_ index: Int, run: AppRun, _ turn: inout Turn) {
        for open in run.openCalls {
            guard case .present(let notification, let wasRemote) = open.kind else { continue }
            self.presentNothing(notification.request.identifier, index, isRemote: wasRemote, reason: .appGone, &turn)
        }
        for step in run.steps {
            guard case .deliver(let arrival) = step else { continue }
            self.showElsewhere(arrival, index, &turn)
            if arrival.pushClass.wakes {
                turn.record(run.process.app, .wake(identifier: arrival.request.identifier, .discardedByKill))
            }
        }
    }

    private mutating func leaveScreen(_ index: Int, process: ProcessID) {
        if self.foregroundApp == process.app { self.foregroundApp = nil }
        self.apps[index].screen = nil
        self.prompts.removeAll { $0.process == process }
    }
}
