import DequeModule
import TidingsModel

/// What a phone keeps about one installed app.
struct AppRecord: Equatable, Sendable {
    var installed: InstalledApp
    private(set) var state: AppState = .notRunning
    /// Whether the person quit it and has not opened it since: without a process it is NQ (ios-delivery.md §2.1).
    var isQuit = false
    /// The process while the state has one.
    var run: AppRun?
    /// A process that was told to end and may finish its last calls.
    var ending: EndingRun?
    var settings = NotificationSettings()
    var categories: [NotificationCategory] = []
    /// Scheduled local notifications, by the time they fire.
    var pending: [ScheduledRequest] = []
    var badge = 0
    var isRegistered = false
    var budget = WakeBudget()
    /// The one silent push that waits (ios-delivery.md §7.3).
    var heldWake: Arrival?
    /// What the app says it shows.
    var screen: String?
    /// When an app clip's permission ends, in monotonic milliseconds.
    var ephemeralUntil: Int64?
    /// Its work in the background.
    var background = BackgroundRecord()

    init(installed: InstalledApp) { self.installed = installed }

    /// The only place that changes the state.
    mutating func enter(_ state: AppState) { self.state = state }

    /// The category of a content, if it is registered.
    func category(of content: NotificationContent) -> NotificationCategory? {
        self.categories.first { $0.identifier == content.categoryIdentifier }
    }
}

/// A scheduled local notification.
struct ScheduledRequest: Equatable, Sendable {
    var request: NotificationRequest
    /// Monotonic milliseconds.
    var fireAt: Int64

    /// Whether the wall clock decides when it fires.
    var followsCalendar: Bool {
        switch self.request.trigger {
        case .calendar, .fireDate: true
        case nil, .push, .timeInterval, .location: false
        }
    }
}

/// What lasts as long as one process of an app.
struct AppRun: Equatable, Sendable {
    var process: ProcessID
    var phase: Phase
    var options: LaunchOptions
    /// Monotonic; while the phase is not `ready`.
    var launchDeadline: Int64
    /// What waits until the launch is over and the process runs.
    var steps: Deque<AppStep> = []
    /// Calls without an answer, oldest first.
    var openCalls: [OpenCall] = []
    var delegateSet = false
    /// Whether a UN delegate was ever set in this process; it may be gone again, since the centre holds it weakly.
    var delegateWasSet = false
    var sceneConnected = false
    /// Whether the app was asked for its scene's configuration.
    var sceneConfigured = false
    /// Started in advance: it is not launched before something asks for it (ios-delivery.md §2.2).
    var isPrewarmed = false
    var awaitsToken = false
    /// Open background tasks in the order they began.
    var tasks: [BackgroundTaskNumber] = []
    /// Until when it runs in the background without a reason.
    var graceUntil: Int64 = 0
    /// When the background tasks expire.
    var tasksUntil: Int64 = 0
    /// When it is killed unless it ends its tasks; nil before they expired.
    var killAt: Int64?
    /// Its work in the background.
    var background = BackgroundRun()

    enum Phase: Equatable, Sendable {
        /// The process has not reported yet.
        case starting
        /// It reported, but was suspended before it could be called.
        case loaded
        /// `application(_:didFinishLaunchingWithOptions:)` has not returned yet.
        case launching
        case ready
    }

    /// Whether it asked for more time in the background.
    var hasTasks: Bool { !self.tasks.isEmpty || !self.background.activities.isEmpty }

    /// Whether nothing but time keeps it running.
    var isIdle: Bool {
        self.phase == .ready && self.steps.isEmpty && self.openCalls.isEmpty && self.tasks.isEmpty
            && !self.background.isBusy
    }
}

/// The last moments of a process.
struct EndingRun: Equatable, Sendable {
    var process: ProcessID
    /// The call of `applicationWillTerminate(_:)`; its answer ends the process.
    var lastCall: CallbackNumber
    /// Calls that may still be answered.
    var openCalls: [CallbackNumber]
    var deadline: Int64
    var reason: EndReason
}

/// What an app is told or led through in order.
enum AppStep: Equatable, Sendable {
    case call(Callback)
    case moveToFront
    case moveToBackground
    case moveToInactive
    /// It arrived while the app was in the foreground.
    indirect case deliver(Arrival)
    indirect case respond(UserResponse, foreground: Bool, launched: Bool)
    /// A granted refresh task, by its identifier.
    case refreshTask(String)
    /// To the front for the app's own notification settings: `userNotificationCenter(_:openSettingsFor:)`.
    indirect case openSettings(DeliveredNotification?)
}

/// A call without an answer.
struct OpenCall: Equatable, Sendable {
    var number: CallbackNumber
    var purpose: Purpose
    /// Monotonic; pushed back while the app is suspended.
    var deadline: Int64

    enum Purpose: Equatable, Sendable {
        /// `application(_:willFinishLaunchingWithOptions:)`, and `didFinishLaunching`, whose answer ends the launch.
        case launch(isLast: Bool)
        case method
        case enterBackground
        case fetch
        case performFetch
        /// Whether a call must be reported before it returns (iOS 13).
        case voip(mustReport: Bool)
        indirect case present(DeliveredNotification, wasRemote: Bool)
        case response
        case expiration
    }
}
