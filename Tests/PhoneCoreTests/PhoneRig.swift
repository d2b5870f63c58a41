import PhoneCore
import TidingsModel

struct AppBehaviour {
    enum DelegateMoment { case never, inDidFinish, inDidBecomeActive }

    var delegate = DelegateMoment.inDidFinish
    /// What `userNotificationCenter(_:willPresent:withCompletionHandler:)` answers; nil never answers.
    var presentation: WillPresentOptions? = [.banner, .list, .sound, .badge]
    /// What `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` answers; nil never answers.
    var fetch: FetchResult? = .newData
    var answersResponse = true
    /// Whether it begins task 1 in `didEnterBackground`; it ends it after so many milliseconds, nil never.
    var taskInBackground: Int64??
    var endsExpiredTask = true
    /// What `application(_:performFetchWithCompletionHandler:)` answers; nil never answers.
    var performFetch: FetchResult? = .newData
    /// The refresh task it registers in `application(_:didFinishLaunchingWithOptions:)`.
    var registersTask: String?
    /// How it completes a refresh task; nil never does.
    var completesTask: Bool? = true
    var reportsCall = true
    /// What its extension delivers; nil never delivers.
    var deliver: (@Sendable (NotificationContent) -> NotificationContent)? = { $0 }
}

/// A phone with one app whose processes answer at once, on a virtual clock. It checks the promises of the core with
/// every effect: nothing suspended or dead is called, no number is used twice, one process of an app at a time.
struct PhoneRig {
    static let chat: BundleID = "chat.example"

    var core: PhoneCore
    var behaviour: AppBehaviour
    private(set) var now = Now(monotonic: 1_000_000, wall: 1_700_000_000_000)
    /// Calls in the words of ios-delivery.md §0.3, since `clear`.
    private(set) var calls: [String] = []
    private(set) var presentations: [PresentationRecord] = []
    private(set) var wakes: [WakeOutcome] = []
    private(set) var ends: [EndReason] = []
    private(set) var faults: [String] = []
    private(set) var effects: [PhoneEffect] = []
    private(set) var answers: [QueryAnswer] = []
    private(set) var acknowledged: [UInt64] = []
    private(set) var fetches: [BackgroundFetchOutcome] = []
    private(set) var tasks: [RefreshTaskOutcome] = []
    private(set) var activities: [ActivityUpdate.Change] = []
    private(set) var refusals: [RefusalReason] = []
    private var ledger = ProcessLedger()
    private var timers: [(at: Int64, process: ProcessID, event: ProcessEvent)] = []
    private var deliveries: UInt64 = 0
    private var queries: QueryNumber = 0

    /// Notifications are allowed and the app is registered unless told otherwise; it was never opened.
    init(
        _ version: OSVersion = 17, _ app: InstalledApp? = nil, behaviour: AppBehaviour = AppBehaviour(),
        allowed: Bool = true, settings: PhoneSettings = PhoneSettings(), in state: AppState? = nil
    ) {
        self.behaviour = behaviour
        self.core = PhoneCore(
            version: version, settings: settings, apps: [app ?? InstalledApp(bundleID: Self.chat)])
        self.person(.appOpened(Self.chat))
        self.app(.remoteRegistrationRequested)
        self.send(.courier(.tokenIssued(Self.chat, "c0ffee")))
        if allowed { self.person(.settingChanged(Self.chat, .notifications, isOn: true)) }
        self.send(.system(.appKilled(Self.chat)))
        self.clear()
        if let state { self.enter(state) }
    }

    var state: AppState? { self.core.state(of: Self.chat) }
    var process: ProcessID? { self.core.process(of: Self.chat) }
    var badge: Int { self.core.screen.badge(of: Self.chat) }
    var list: [String] { self.core.screen.list.map(\.key.identifier) }
    var banners: [String] { self.core.screen.banners.map(\.key.identifier) }
    var rings: Int { self.presentations.count { $0.isRing } }

    // MARK: Driving

    mutating func send(_ event: PhoneEvent) {
        let effects = self.core.handle(event, at: self.now)
        self.effects += effects
        for effect in effects { self.react(effect) }
    }

    mutating func person(_ event: PersonEvent) { self.send(.person(event)) }

    mutating func app(_ event: ProcessEvent) {
        guard let process = self.process else { return self.faults.append("the app has no process") }
        self.send(.process(process, event))
    }

    @discardableResult
    mutating func ask(_ query: Query) -> QueryAnswer? {
        self.queries += 1
        let before = self.answers.count
        self.app(.query(self.queries, query))
        return self.answers.count > before ? self.answers.last : nil
    }

    mutating func push(
        _ payload: JSONValue, collapse: String? = nil, type: String = "alert"
    ) {
        self.deliveries += 1
        self.send(
            .courier(
                .pushArrived(
                    Push(
                        delivery: self.deliveries, topic: Self.chat.rawValue,
                        payload: payload.objectValue ?? JSONObject(), pushType: type, collapseID: collapse))))
    }

    /// A push of another kind: to the topic with the suffix.
    mutating func push(_ payload: JSONValue, suffix: String, activity: String? = nil) {
        self.deliveries += 1
        self.send(
            .courier(
                .pushArrived(
                    Push(
                        delivery: self.deliveries, topic: Self.chat.rawValue + suffix,
                        payload: payload.objectValue ?? JSONObject(), activity: activity))))
    }

    /// A broadcast on a channel: to the topic with the suffix.
    mutating func broadcast(_ payload: JSONValue, suffix: String, channel: String) {
        self.deliveries += 1
        self.send(
            .courier(
                .pushArrived(
                    Push(
                        delivery: self.deliveries, topic: Self.chat.rawValue + suffix,
                        payload: payload.objectValue ?? JSONObject(), channel: channel))))
    }

    mutating func process(_ process: ProcessID, _ event: ProcessEvent) {
        if case .exited = event { self.ledger.exited(process) }
        self.send(.process(process, event))
    }

    /// The calls of one kind since `clear`, with their processes and numbers.
    func open(_ name: String) -> [(process: ProcessID, number: CallbackNumber)] {
        self.effects.compactMap { effect in
            guard case .call(let process, let number, let callback, let state) = effect,
                callback.short(state).hasPrefix(name)
            else { return nil }
            return (process, number)
        }
    }

    /// The processes started since `clear`.
    var started: [ProcessID] {
        self.effects.compactMap { if case .startProcess(let process) = $0 { process } else { nil } }
    }

    mutating func tap(_ identifier: String) {
        self.person(.notificationTapped(NotificationKey(app: Self.chat, identifier: identifier)))
    }

    mutating func pass(milliseconds: Int64) {
        let end = self.now.monotonic + milliseconds
        while true {
            let timer = self.timers.map(\.at).min() ?? .max
            let next = min(self.core.nextDeadline ?? .max, timer)
            guard next <= end else { break }
            self.advance(to: next)
            let due = self.timers.filter { $0.at <= next }
            self.timers.removeAll { $0.at <= next }
            for timer in due { self.send(.process(timer.process, timer.event)) }
            self.send(.timerReached)
            if let next = self.core.nextDeadline, next <= self.now.monotonic {
                self.faults.append("a deadline at \(next) has passed and stays")
                break
            }
        }
        self.advance(to: end)
    }

    mutating func pass(seconds: Int64) { self.pass(milliseconds: seconds * 1_000) }

    private mutating func advance(to moment: Int64) {
        let step = max(0, moment - self.now.monotonic)
        self.now = Now(monotonic: self.now.monotonic + step, wall: self.now.wall + step)
    }

    mutating func clear() {
        self.calls = []
        self.presentations = []
        self.wakes = []
        self.ends = []
        self.effects = []
        self.answers = []
        self.acknowledged = []
        self.fetches = []
        self.tasks = []
        self.activities = []
        self.refusals = []
    }

    mutating func enter(_ state: AppState) {
        if state != .notRunning { self.person(.appOpened(Self.chat)) }
        switch state {
        case .foregroundActive: break
        case .foregroundInactive: self.person(.overlayAppeared)
        case .backgroundRunning: self.person(.wentHome)
        case .suspended:
            self.person(.wentHome)
            self.pass(seconds: 6)
        case .notRunning: break
        case .forceQuit: self.person(.appForceQuit(Self.chat))
        }
        self.clear()
    }

    // MARK: The processes

    private mutating func react(_ effect: PhoneEffect) {
        if let fault = self.ledger.fault(of: effect) { self.faults.append(fault) }
        switch effect {
        case .startProcess(let process): self.send(.process(process, .started))
        case .call(let process, let number, let callback, let state):
            self.calls.append(callback.short(state))
            self.behave(process, number, callback)
        case .answer(_, _, let answer): self.answers.append(answer)
        case .acknowledge(let delivery): self.acknowledged.append(delivery)
        case .record(let record): self.note(record.entry)
        case .suspendProcess, .resumeProcess, .killProcess, .registerTopic, .unregisterTopic, .connectCourier,
            .disconnectCourier, .requestToken, .dropToken, .subscribe, .unsubscribe, .invalidateTokens:
            break
        }
    }

    private mutating func note(_ entry: PhoneRecord.Entry) {
        switch entry {
        case .presentation(let record): self.presentations.append(record)
        case .wake(_, let outcome): self.wakes.append(outcome)
        case .processEnded(_, let reason): self.ends.append(reason)
        case .fault(let text): self.faults.append(text)
        case .backgroundFetch(let outcome): self.fetches.append(outcome)
        case .refreshTask(_, let outcome): self.tasks.append(outcome)
        case .activity(let update): self.activities.append(update.change)
        case .refused(_, let reason): self.refusals.append(reason)
        case .callback, .completion, .state, .processStarted, .arrival, .badge, .systemSound, .incomingCall:
            break
        }
    }

    private mutating func behave(_ process: ProcessID, _ number: CallbackNumber, _ callback: Callback) {
        let result: CallbackResult?
        switch callback {
        case .didFinishLaunching:
            if self.behaviour.delegate == .inDidFinish {
                self.send(.process(process, .delegateChanged(isSet: true)))
            }
            if let task = self.behaviour.registersTask {
                self.send(.process(process, .refreshTaskRegistered(identifier: task)))
            }
            result = .returned
        case .applicationDidBecomeActive, .sceneDidBecomeActive:
            if self.behaviour.delegate == .inDidBecomeActive {
                self.send(.process(process, .delegateChanged(isSet: true)))
            }
            result = .returned
        case .applicationDidEnterBackground, .sceneDidEnterBackground:
            if let task = self.behaviour.taskInBackground {
                self.send(.process(process, .backgroundTaskBegan(1)))
                if let ends = task {
                    self.timers.append((self.now.monotonic + ends, process, .backgroundTaskEnded(1)))
                }
            }
            result = .returned
        case .backgroundTaskExpired(let task):
            if self.behaviour.endsExpiredTask { self.send(.process(process, .backgroundTaskEnded(task))) }
            result = .returned
        case .receiveRemoteFetch: result = self.behaviour.fetch.map(CallbackResult.fetch)
        case .performFetch: result = self.behaviour.performFetch.map(CallbackResult.fetch)
        case .refreshTaskLaunched(let task):
            if let success = self.behaviour.completesTask {
                self.send(.process(process, .refreshTaskCompleted(identifier: task, success: success)))
            }
            result = .returned
        case .voipPushReceived:
            if self.behaviour.reportsCall {
                self.send(.process(process, .incomingCallReported(IncomingCall(identifier: "1", caller: "Ann"))))
            }
            result = .returned
        case .willPresent: result = self.behaviour.presentation.map(CallbackResult.presentation)
        case .receiveResponse: result = self.behaviour.answersResponse ? .returned : nil
        case .serviceExtensionReceive(let request):
            result = self.behaviour.deliver.map { .content($0(request.content)) }
        default: result = .returned
        }
        if let result { self.send(.process(process, .callbackCompleted(number, result))) }
    }
}

struct ProcessLedger {
    private var running: Set<ProcessID> = []
    private var suspended: Set<ProcessID> = []
    private var last: CallbackNumber = 0
    private var lastProcess: UInt64 = 0

    /// Takes an effect in; text if it breaks a promise.
    mutating func fault(of effect: PhoneEffect) -> String? {
        switch effect {
        case .startProcess(let process):
            guard process.number > self.lastProcess else { return "process number \(process) used again" }
            self.lastProcess = process.number
            if process.role == .app, self.running.contains(where: { $0.app == process.app && $0.role == .app }) {
                return "second process of \(process.app)"
            }
            self.running.insert(process)
        case .killProcess(let process):
            guard self.running.remove(process) != nil else { return "killed \(process), which is not running" }
            self.suspended.remove(process)
        case .suspendProcess(let process):
            guard self.running.contains(process), self.suspended.insert(process).inserted else {
                return "suspended \(process), which does not run"
            }
        case .resumeProcess(let process):
            guard self.suspended.remove(process) != nil else { return "resumed \(process), which is not suspended" }
        case .call(let process, let number, _, _):
            guard self.running.contains(process) else { return "called \(process), which is not running" }
            guard !self.suspended.contains(process) else { return "called \(process), which is suspended" }
            guard number > self.last else { return "callback number \(number) used again" }
            self.last = number
        case .answer(let process, _, _):
            guard self.running.contains(process) else { return "answered \(process), which is not running" }
        case .registerTopic, .unregisterTopic, .acknowledge, .connectCourier, .disconnectCourier, .record,
            .requestToken, .dropToken, .subscribe, .unsubscribe, .invalidateTokens:
            break
        }
        return nil
    }

    mutating func exited(_ process: ProcessID) {
        self.running.remove(process)
        self.suspended.remove(process)
    }
}
