import DequeModule

struct AppRecord: Equatable, Sendable {
    var installed: InstalledApp
    var state: AppState = .notRunning
    /// The person quit it and has not opened it since: without a process it is NQ (ios-delivery.md §2.1).
    var isQuit = false
    var run: AppRun?
    var ending: EndingRun?
    var settings = NotificationSettings()
    var categories: [NotificationCategory] = []
    /// Sorted by the moment they fire.
    var pending: [ScheduledRequest] = []
    var badge = 0
    var isRegistered = false
    var budget = WakeBudget()
    /// At most one silent push waits (ios-delivery.md §7.3).
    var heldWake: Arrival?
    @inline(__always) var holdsWake: Bool { if case .some = self.heldWake { true } else { false } }
    var screen: String?
    /// In monotonic milliseconds.
    var ephemeralUntil: Int64?
    var background = BackgroundRecord()
    /// Oldest first.
    var donations: [DonatedMessage] = []

    /// The next step of an app that is ready and not frozen.
    mutating func takeStep() -> AppStep? {
        guard self.state != .suspended, self.run?.phase == .ready else { return nil }
        return self.run?.steps.popFirst()
    }

    /// Mutating, though it changes nothing, so that the record is asked where it lies: it is large, and would be copied.
    mutating func openCall(_ number: CallbackNumber) -> (position: Int, kind: OpenCall.Kind)? {
        guard let run = self.run, let position = run.openCalls.firstIndex(where: { $0.number == number }) else {
            return nil
        }
        return (position, run.openCalls[position].kind)
    }

    func category(of content: NotificationContent) -> NotificationCategory? {
        self.categories.first { $0.identifier == content.categoryIdentifier }
    }
}

struct ScheduledRequest: Equatable, Sendable {
    var request: NotificationRequest
    /// Monotonic milliseconds.
    var fireAt: Int64

    var followsCalendar: Bool {
        switch self.request.trigger {
        case .calendar, .fireDate: true
        case nil, .push, .timeInterval, .location: false
        }
    }
}

struct AppRun: Equatable, Sendable {
    var process: ProcessID
    var phase: Phase
    var options: LaunchOptions
    /// Monotonic; counts while the phase is not `ready`.
    var launchDeadline: Int64
    /// Wait until the launch is over and the process runs.
    var steps: Deque<AppStep> = []
    /// Oldest first.
    var openCalls: [OpenCall] = []
    var delegateSet = false
    /// A delegate may be gone again, since the centre holds it weakly.
    var delegateWasSet = false
    var sceneConnected = false
    var sceneConfigured = false
    /// Not launched before something asks for it (ios-delivery.md §2.2).
    var isPrewarmed = false
    var awaitsToken = false
    var tasks: [BackgroundTaskNumber] = []
    var graceUntil: Int64 = 0
    var tasksUntil: Int64 = 0
    /// nil before the tasks have expired.
    var killAt: Int64?
    var background = BackgroundRun()

    enum Phase: Equatable, Sendable {
        case starting
        /// It reported, but was suspended before it could be called.
        case loaded
        case launching
        case ready
    }

    var hasTasks: Bool { !self.tasks.isEmpty || !self.background.activities.isEmpty }

    var isIdle: Bool {
        self.phase == .ready && self.steps.isEmpty && self.openCalls.isEmpty && self.tasks.isEmpty
            && !self.background.isBusy
    }
}

struct EndingRun: Equatable, Sendable {
    var process: ProcessID
    /// The call of `applicationWillTerminate(_:)`; its answer ends the process.
    var lastCall: CallbackNumber
    var openCalls: [CallbackNumber]
    var deadline: Int64
    var reason: EndReason
}

enum AppStep: Equatable, Sendable {
    case call(Callback)
    case moveToFront
    case moveToBackground
    case moveToInactive
    /// It arrived in the foreground.
    indirect case deliver(Arrival)
    indirect case respond(UserResponse, foreground: Bool, launched: Bool)
    case refreshTask(String)
    indirect case openSettings(DeliveredNotification?)
}

struct OpenCall: Equatable, Sendable {
    var number: CallbackNumber
    var kind: Kind
    /// Monotonic; moved back while the app is suspended.
    var deadline: Int64

    enum Kind: Equatable, Sendable {
        case launch(isLast: Bool)
        case method
        case enterBackground
        case fetch
        case performFetch
        /// iOS 13.
        case voip(mustReport: Bool)
        indirect case present(DeliveredNotification, wasRemote: Bool)
        case response
        case expiration
    }
}
