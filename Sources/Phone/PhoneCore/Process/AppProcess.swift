import DequeModule
import TidingsModel

/// The process of an app: its state, what waits for it, the calls it has not answered, and what it keeps running for. How it comes to the
/// front and leaves is in Lifecycle.swift. Moments are monotonic milliseconds.
struct AppProcess: Equatable, Sendable {
    let id: ProcessID
    let hasScenes: Bool
    private(set) var state = AppState.suspended
    private(set) var phase = Phase.starting
    private var options: LaunchOptions
    /// Counts while the phase is not `ready`.
    private var launchDeadline: Int64
    /// Wait until the launch is over and the process runs.
    var steps: Deque<AppStep> = []
    /// Oldest first.
    private(set) var openCalls: [OpenCall] = []
    private(set) var delegateSet = false
    /// A delegate may be gone again, since the centre holds it weakly.
    private(set) var delegateWasSet = false
    private(set) var sceneConnected = false
    private(set) var sceneConfigured = false
    /// Not launched before something asks for it (ios-delivery.md §2.2).
    var isPrewarmed = false
    var awaitsToken = false
    /// Waits for the person's permission (iOS 8–10).
    var withheldRegistration: Callback?
    private var tasks: [BackgroundTaskNumber] = []
    private var expiringActivities: [BackgroundTaskNumber] = []
    private var graceUntil: Int64 = 0
    private var tasksUntil: Int64 = 0
    /// nil before the tasks have expired.
    private(set) var killAt: Int64?
    private var refreshHandlers: [String] = []
    private var refreshTasks: [RunningRefreshTask] = []
    /// Taken on files or SQLite in the app group (Q13).
    private(set) var locks: [String] = []
    private var answeredFetches: [CallbackNumber] = []
    /// The fetch handler was called twice (iOS 10): the crash comes with the next resume.
    private(set) var crashesOnResume = false
    /// A call reported to CallKit keeps the process running.
    private(set) var calls: [RunningCall] = []

    private static let answeredFetchesMax = 8

    enum Phase: Equatable, Sendable {
        case starting
        /// It reported, but was suspended before it could be called.
        case loaded
        case launching
        case ready
    }

    struct RunningCall: Equatable, Sendable {
        var call: IncomingCall
        var isAnswered = false
    }

    struct RunningRefreshTask: Equatable, Sendable, Due {
        let identifier: String
        var isExpired = false
        var deadline: Int64
    }

    init(of app: InstalledApp, inForeground: Bool, options: LaunchOptions, _ turn: inout Turn) {
        self.id = turn.startProcess(of: app.bundleID, .app)
        self.hasScenes = app.hasScenes(on: turn.version)
        self.options = options
        self.launchDeadline = turn.now.monotonic + turn.settings.launchLimit
        self.enter(inForeground ? .foregroundInactive : .backgroundRunning, &turn)
    }

    var hasTasks: Bool { !self.tasks.isEmpty || !self.expiringActivities.isEmpty }

    var isIdle: Bool {
        self.phase == .ready && self.steps.isEmpty && self.openCalls.isEmpty && !self.hasTasks && self.calls.isEmpty
            && self.refreshTasks.isEmpty
    }

    // MARK: Life-cycle

    /// The time in the background begins here (ios-delivery.md §8).
    mutating func enter(_ state: AppState, _ turn: inout Turn) {
        let wasInForeground = self.state.isInForeground
        guard self.state != state else { return }
        self.state = state
        turn.record(.state(state))
        self.killAt = nil
        guard state == .backgroundRunning else { return }
        let now = turn.now.monotonic
        let total = turn.settings.backgroundTaskTime ?? turn.version.backgroundTaskTime
        self.graceUntil = wasInForeground ? now + turn.settings.backgroundGrace : now
        self.tasksUntil = now + (wasInForeground ? total : turn.settings.wakeTaskTime)
    }

    /// Returns whether it rests now: a process started in advance does until it is asked for.
    mutating func handleStart(_ turn: inout Turn) -> Bool {
        guard self.phase == .starting else {
            turn.recordFault("process \(self.id) must report its start once")
            return false
        }
        self.phase = .loaded
        if !self.isPrewarmed, self.state != .suspended { self.callLaunch(&turn) }
        return self.isPrewarmed
    }

    /// Calls the launch methods. Other waiting steps follow when `didFinishLaunching` has returned.
    private mutating func callLaunch(_ turn: inout Turn) {
        self.phase = .launching
        self.call(.willFinishLaunching(self.options), &turn)
        self.call(.didFinishLaunching(self.options), &turn)
    }

    /// A process started in advance is launched after all.
    mutating func endPrewarming(inForeground: Bool, options: LaunchOptions, _ turn: inout Turn) {
        self.isPrewarmed = false
        self.options = options
        self.launchDeadline = turn.now.monotonic + turn.settings.launchLimit
        if self.state == .suspended { turn.add(.resumeProcess(self.id)) }
        self.enter(inForeground ? .foregroundInactive : .backgroundRunning, &turn)
        if self.phase == .loaded { self.callLaunch(&turn) }
    }

    mutating func suspend(_ turn: inout Turn) {
        turn.add(.suspendProcess(self.id))
        self.enter(.suspended, &turn)
    }

    /// The open calls get their full time again.
    mutating func resume(_ turn: inout Turn) {
        let now = turn.now.monotonic
        self.launchDeadline = now + turn.settings.launchLimit
        for position in self.openCalls.indices {
            self.openCalls[position].deadline =
                self.openCalls[position].kind.limit(turn.settings).map { now + $0 } ?? self.launchDeadline
        }
        for position in self.refreshTasks.indices {
            let isExpired = self.refreshTasks[position].isExpired
            self.refreshTasks[position].deadline =
                now + (isExpired ? turn.settings.refreshTaskExpiryGrace : turn.settings.refreshTaskLimit)
        }
        turn.add(.resumeProcess(self.id))
        self.enter(.backgroundRunning, &turn)
        if self.phase == .loaded { self.callLaunch(&turn) }
    }

    mutating func disconnectScene() -> Bool {
        guard self.sceneConnected, !self.state.isInForeground else { return false }
        self.sceneConnected = false
        return true
    }

    // MARK: Calls

    /// Returns the call's number. `seen` is what `applicationState` reads during the call; nil means the state itself.
    @discardableResult
    mutating func call(_ callback: Callback, seen: ApplicationState? = nil, _ turn: inout Turn) -> CallbackNumber {
        var kind = OpenCall.Kind(callback)
        if case .voip = kind {
            // From iOS 13 each VoIP push must report a call, unless the app is in the foreground or has one already.
            kind = .voip(mustReport: turn.version >= 13 && !self.state.isInForeground && self.calls.isEmpty)
        }
        let number = turn.call(self.id, callback, in: seen ?? self.state.applicationState)
        let deadline = kind.limit(turn.settings).map { turn.now.monotonic + $0 } ?? self.launchDeadline
        self.openCalls.append(OpenCall(number: number, kind: kind, deadline: deadline))
        if case .sceneWillConnect = callback { self.sceneConnected = true }
        if case .sceneConfiguration = callback { self.sceneConfigured = true }
        return number
    }

    /// Records a fault if no call is open that the result can answer.
    mutating func close(_ number: CallbackNumber, with result: CallbackResult, _ turn: inout Turn) -> OpenCall.Kind? {
        guard let position = self.openCalls.firstIndex(where: { $0.number == number }) else {
            // The fetch handler was called twice: harmless before iOS 10 (ios-delivery.md §7.1).
            if turn.version >= 10, self.answeredFetches.contains(number) { self.crashesOnResume = true }
            turn.recordFault("callback \(number) must be open and answered once")
            return nil
        }
        let kind = self.openCalls[position].kind
        guard kind.fits(result) else {
            turn.recordFault("callback \(number) must be answered by its own kind of result")
            return nil
        }
        self.openCalls.remove(at: position)
        if case .launch(isLast: true) = kind { self.phase = .ready }
        guard case .fetch = kind else { return kind }
        self.answeredFetches.append(number)
        if self.answeredFetches.count > Self.answeredFetchesMax { self.answeredFetches.removeFirst() }
        return kind
    }

    /// Its handler will not be called any more.
    mutating func giveUp(_ open: OpenCall) { self.openCalls.removeAll { $0.number == open.number } }

    mutating func dropSteps(supersededBy callback: Callback) {
        self.steps.removeAll { step in
            if case .call(let older) = step { callback.supersedes(older) } else { false }
        }
    }

    // MARK: Reports of itself

    mutating func handle(_ event: ProcessEvent, _ turn: inout Turn) {
        switch event {
        case .delegateChanged(let isSet):
            self.delegateSet = isSet
            if isSet { self.delegateWasSet = true }
        case .backgroundTaskBegan(let task):
            guard !self.tasks.contains(task) else { return turn.recordFault("background task \(task) must begin once") }
            self.tasks.append(task)
        case .backgroundTaskEnded(let task):
            self.tasks.removeAll { $0 == task }
            self.clearKillWithoutTasks()
        case .appGroupLockTaken(let lock):
            guard !self.locks.contains(lock) else { return turn.recordFault("lock \(lock) must be taken once") }
            self.locks.append(lock)
        case .appGroupLockReleased(let lock): self.locks.removeAll { $0 == lock }
        case .expiringActivityBegan(let number):
            guard !self.expiringActivities.contains(number) else {
                return turn.recordFault("expiring activity \(number) must begin once")
            }
            self.expiringActivities.append(number)
        case .expiringActivityEnded(let number):
            self.expiringActivities.removeAll { $0 == number }
            self.clearKillWithoutTasks()
        default: break
        }
    }

    /// Without tasks it is no longer killed for them.
    private mutating func clearKillWithoutTasks() { if !self.hasTasks { self.killAt = nil } }

    mutating func report(_ call: IncomingCall, _ turn: inout Turn) {
        if let known = self.calls.firstIndex(where: { $0.call.identifier == call.identifier }) {
            self.calls[known].call = call
        } else {
            self.calls.append(RunningCall(call: call))
            turn.record(.incomingCall(call))
        }
        for position in self.openCalls.indices {
            guard case .voip = self.openCalls[position].kind else { continue }
            self.openCalls[position].kind = .voip(mustReport: false)
        }
    }

    mutating func endCall(_ identifier: String) { self.calls.removeAll { $0.call.identifier == identifier } }

    /// Returns the first call that rings: it does not any more.
    mutating func answerCall() -> IncomingCall? {
        guard let ringing = self.calls.firstIndex(where: { !$0.isAnswered }) else { return nil }
        self.calls[ringing].isAnswered = true
        return self.calls[ringing].call
    }

    /// Ends the first call that rings, or was answered, and returns it.
    mutating func declineCall(isAnswered: Bool) -> IncomingCall? {
        guard let position = self.calls.firstIndex(where: { $0.isAnswered == isAnswered }) else { return nil }
        return self.calls.remove(at: position).call
    }

    /// Returns what the process is told: nothing if it does not wait for it, or `isWithheld`.
    mutating func finishRegistration(_ callback: Callback, isWithheld: Bool) -> Callback? {
        guard self.awaitsToken else { return nil }
        self.awaitsToken = false
        self.withheldRegistration = isWithheld ? callback : nil
        return isWithheld ? nil : callback
    }

    // MARK: Refresh tasks

    mutating func registerRefreshHandler(_ identifier: String, of app: InstalledApp, _ turn: inout Turn) {
        guard turn.version >= 13 else { return }
        guard self.phase != .ready else {
            return turn.recordFault(
                "the handler of task \(identifier) must be registered before didFinishLaunching returns")
        }
        guard app.permittedTasks.contains(identifier), !self.refreshHandlers.contains(identifier) else {
            return turn.recordFault("task \(identifier) must be permitted and registered once")
        }
        self.refreshHandlers.append(identifier)
    }

    /// The launch is over: only a handler registered by then is called.
    mutating func launchRefreshTask(_ identifier: String, _ turn: inout Turn) {
        guard self.refreshHandlers.contains(identifier) else {
            return turn.record(.refreshTask(identifier: identifier, .notRegistered))
        }
        self.refreshTasks.append(
            RunningRefreshTask(identifier: identifier, deadline: turn.now.monotonic + turn.settings.refreshTaskLimit))
        self.call(.refreshTaskLaunched(identifier: identifier), &turn)
    }

    /// Returns whether it ran.
    mutating func endRefreshTask(_ identifier: String) -> Bool {
        guard let position = self.refreshTasks.firstIndex(where: { $0.identifier == identifier }) else { return false }
        self.refreshTasks.remove(at: position)
        return true
    }

    /// Returns why the app is killed, if a task outlived its handler in the background.
    mutating func expireRefreshTasks(_ turn: inout Turn) -> EndReason? {
        let now = turn.now.monotonic
        for var task in self.refreshTasks where task.deadline <= now {
            if task.isExpired, self.state == .backgroundRunning { return .refreshTaskNotCompleted }
            self.refreshTasks.removeAll { $0.identifier == task.identifier }
            if task.isExpired {
                turn.recordFault("task \(task.identifier) was not completed in time")
                continue
            }
            task.isExpired = true
            task.deadline = now + turn.settings.refreshTaskExpiryGrace
            self.refreshTasks.append(task)
            turn.record(.refreshTask(identifier: task.identifier, .expired))
            self.call(.refreshTaskExpired(identifier: task.identifier), &turn)
        }
        return nil
    }

    // MARK: Time

    func backgroundTimeRemaining(at now: Now) -> Int64? {
        self.state == .backgroundRunning ? max(0, self.tasksUntil - now.monotonic) : nil
    }

    @inline(__always) var nextDeadline: Int64 {
        guard self.state != .suspended else { return .max }
        var next = self.phase == .ready ? .max : self.launchDeadline
        next = min(next, self.openCalls.nextDeadline, self.refreshTasks.nextDeadline)
        guard self.state == .backgroundRunning else { return next }
        if let killAt = self.killAt { return min(next, killAt) }
        if self.hasTasks { return min(next, self.tasksUntil) }
        return self.isIdle ? min(next, self.graceUntil) : next
    }

    /// Like `expireTasks` and `mayRest` it runs after every event; they are `mutating` because a non-mutating call would copy
    /// the whole process.
    mutating func isLate(at now: Int64) -> Bool {
        self.state != .suspended
            && (self.isLaunchLate(at: now) || self.openCalls.nextDeadline <= now
                || self.refreshTasks.nextDeadline <= now || (self.killAt ?? .max) <= now)
    }

    func isLaunchLate(at now: Int64) -> Bool { self.phase != .ready && self.launchDeadline <= now }

    /// Returns what its tasks are told, if they have expired.
    mutating func expireTasks(_ turn: inout Turn) -> [Callback] {
        let now = turn.now.monotonic
        guard self.state == .backgroundRunning, self.hasTasks, self.killAt == nil, self.tasksUntil <= now else {
            return []
        }
        self.killAt = now + turn.settings.expirationGrace
        return self.tasks.map { .backgroundTaskExpired($0) }
            + self.expiringActivities.map { .expiringActivityExpired($0) }
    }

    /// Returns whether nothing is left to do in the background.
    mutating func mayRest(at now: Int64) -> Bool {
        self.state == .backgroundRunning && self.isIdle && self.graceUntil <= now
    }
}

/// A process that has been told to end (ios-delivery.md §2.2).
struct EndingProcess: Equatable, Sendable {
    let id: ProcessID
    /// The call of `applicationWillTerminate(_:)`; its answer ends the process.
    let lastCall: CallbackNumber
    var openCalls: [CallbackNumber]
    let deadline: Int64
    let reason: EndReason
}
