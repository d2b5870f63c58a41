public import TidingsModel

/// One line of a phone's trace.
public struct PhoneRecord: Hashable, Sendable {
    /// When.
    public var at: Now
    /// Which app it is about; nil for the phone itself.
    public var app: BundleID?
    /// What happened.
    public var entry: Entry

    /// What is recorded.
    public enum Entry: Hashable, Sendable {
        case callback(CallbackRecord)
        /// The answer to a callback with a completion handler.
        case completion(number: CallbackNumber, CallbackResult)
        case presentation(PresentationRecord)
        /// The app's state changed.
        case state(AppState)
        case processStarted(ProcessID)
        case processEnded(ProcessID, EndReason)
        /// A push came to the phone.
        case arrival(ArrivalRecord)
        /// What became of a wake a silent push asked for.
        case wake(identifier: String, WakeOutcome)
        case badge(Int)
        /// Something answered or asked against the rules; nothing was changed.
        case fault(String)
    }

    /// A line.
    public init(at: Now, app: BundleID?, entry: Entry) {
        self.at = at
        self.app = app
        self.entry = entry
    }
}

/// A call into an app, with the arguments that matter.
public struct CallbackRecord: Hashable, Sendable {
    /// The call's number.
    public var number: CallbackNumber
    /// The process called.
    public var process: ProcessID
    /// The call with its arguments.
    public var callback: Callback
    /// What `applicationState` reads during the call.
    public var applicationState: ApplicationState

    /// A call.
    public init(number: CallbackNumber, process: ProcessID, callback: Callback, applicationState: ApplicationState) {
        self.number = number
        self.process = process
        self.callback = callback
        self.applicationState = applicationState
    }

    /// The keys of the launch options, for launch callbacks.
    public var launchOptionKeys: [String]? {
        switch self.callback {
        case .willFinishLaunching(let options), .didFinishLaunching(let options): options.keys
        default: nil
        }
    }
}

/// A push as it came to the phone, with the class of ios-delivery.md §3.1.
public struct ArrivalRecord: Hashable, Sendable {
    /// The request identifier.
    public var identifier: String
    /// The courier's number of the delivery.
    public var delivery: UInt64
    /// The class of the payload.
    public var pushClass: PushClass
    /// The app's state at that moment.
    public var state: AppState

    /// An arrival.
    public init(identifier: String, delivery: UInt64, pushClass: PushClass, state: AppState) {
        self.identifier = identifier
        self.delivery = delivery
        self.pushClass = pushClass
        self.state = state
    }
}

/// What the person got of one notification, and why.
public struct PresentationRecord: Hashable, Sendable {
    /// The request identifier.
    public var identifier: String
    /// Whether it came from APNs.
    public var isRemote: Bool
    /// Whether a banner appeared.
    public var banner: Bool
    /// Whether it entered the list.
    public var list: Bool
    /// Whether a sound was played.
    public var sound: Bool
    /// The number set on the icon; nil if it was left alone.
    public var badge: Int?
    /// Whether it took the place of an entry with the same identifier.
    public var replaced: Bool
    /// Why it was presented so.
    public var reason: PresentationReason

    /// A ring is a banner or a sound (DESIGN P3).
    public var isRing: Bool { self.banner || self.sound }

    /// What was presented.
    public init(
        identifier: String, isRemote: Bool, banner: Bool = false, list: Bool = false, sound: Bool = false,
        badge: Int? = nil, replaced: Bool = false, reason: PresentationReason
    ) {
        self.identifier = identifier
        self.isRemote = isRemote
        self.banner = banner
        self.list = list
        self.sound = sound
        self.badge = badge
        self.replaced = replaced
        self.reason = reason
    }
}

/// Why a notification was presented as it was.
public enum PresentationReason: String, Hashable, Sendable, CaseIterable {
    /// By the system, the app not being in front.
    case system
    /// By the system, quietly, for provisional authorization.
    case provisional
    /// By the system, quietly, for the passive level.
    case passive
    /// By the options the app returned from WP.
    case willPresent
    /// WP is not implemented.
    case willPresentMissing
    /// WP did not answer in time.
    case willPresentLate
    /// In front without a UN delegate: the old callbacks instead.
    case inFrontWithoutDelegate
    /// In front before iOS 10: never shown.
    case inFrontBeforeIOS10
    /// Authorization is denied or was never asked for.
    case notAuthorized
    /// The extension emptied it with the filtering entitlement.
    case filtered
    /// The app did not live to answer WP.
    case appGone
}

/// What became of a wake.
public enum WakeOutcome: String, Hashable, Sendable, CaseIterable {
    case delivered
    case heldForBudget
    case heldAfterRestart
    case heldBeforeFirstUnlock
    /// A newer one took the slot.
    case replaced
    case discardedForceQuit
    case discardedByKill
    case refreshOff
    case notImplemented
    case modeMissing
}

/// Why a process ended.
public enum EndReason: String, Hashable, Sendable, CaseIterable {
    case forceQuit
    case killedBySystem
    case evicted
    case restarted
    case removed
    /// It exited by itself.
    case exited
    case crashed
    /// RF's handler was not called in 30 s (ios-delivery.md §7.1).
    case fetchHandlerNotCalled
    /// A life-cycle method did not return in time (ios-delivery.md §7.1).
    case methodDidNotReturn
    /// Launch took too long.
    case launchTooSlow
    /// Background tasks were still open after their expiration (ios-delivery.md §8).
    case backgroundTaskNotEnded
    /// The extension is done.
    case extensionDone
    /// The extension let its time pass.
    case extensionLate
    /// The extension took too long to start.
    case extensionStartTooSlow
}

/// The state of an app (ios-delivery.md §2.1). Before the first unlock is the phone's, not the app's.
public enum AppState: String, Hashable, Sendable, CaseIterable {
    /// FA.
    case foregroundActive
    /// FI.
    case foregroundInactive
    /// BR.
    case backgroundRunning
    /// SU: no code runs.
    case suspended
    /// NK: never started since boot, or ended by the system, a crash or an update.
    case notRunning
    /// NQ: ended by the person in the app switcher.
    case forceQuit

    /// Whether a process exists.
    public var hasProcess: Bool {
        switch self {
        case .foregroundActive, .foregroundInactive, .backgroundRunning, .suspended: true
        case .notRunning, .forceQuit: false
        }
    }

    /// Whether the app is in front.
    public var isInFront: Bool {
        switch self {
        case .foregroundActive, .foregroundInactive: true
        case .backgroundRunning, .suspended, .notRunning, .forceQuit: false
        }
    }

    /// What `applicationState` reads in this state.
    public var applicationState: ApplicationState {
        switch self {
        case .foregroundActive: .active
        case .foregroundInactive: .inactive
        case .backgroundRunning, .suspended, .notRunning, .forceQuit: .background
        }
    }
}

/// The class of what arrives (ios-delivery.md §3.1).
public enum PushClass: String, Hashable, Sendable, CaseIterable {
    /// A: visible.
    case alert
    /// AC: visible, and wakes.
    case alertAndContent
    /// C: silent, wakes.
    case content
    /// L: local.
    case local
    /// None of the classes: nothing is shown, nothing called.
    case nothing

    /// Whether it has a visible part.
    public var isVisible: Bool { self == .alert || self == .alertAndContent || self == .local }
    /// Whether it asks to wake the app.
    public var wakes: Bool { self == .alertAndContent || self == .content }
}
