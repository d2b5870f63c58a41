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
        indirect case presentation(PresentationRecord)
        /// The app's state changed.
        case state(AppState)
        case processStarted(ProcessID)
        case processEnded(ProcessID, EndReason)
        /// A push came to the phone.
        indirect case arrival(ArrivalRecord)
        /// What became of a wake a silent push asked for.
        case wake(identifier: String, WakeOutcome)
        case badge(Int)
        /// A push never reached the phone.
        case refused(delivery: UInt64, RefusalReason)
        /// What became of a chance for Background Fetch.
        case backgroundFetch(BackgroundFetchOutcome)
        /// What became of a refresh task.
        case refreshTask(identifier: String, RefreshTaskOutcome)
        /// A Live Activity changed.
        indirect case activity(ActivityUpdate)
        /// A process played a system sound (S4.2, S4.6).
        case systemSound(SystemSound)
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

/// A system sound as `AudioServicesPlaySystemSound` and `AudioServicesPlayAlertSound` play it (S4.2, S4.6).
public struct SystemSound: Hashable, Sendable, Codable {
    /// `SystemSoundID`, for example 1007 or 1312; 4095 is the vibration alone.
    public var number: UInt32
    /// Whether it was played as an alert, which vibrates too.
    public var isAlert: Bool

    private enum CodingKeys: String, CodingKey {
        case number = "sound"
        case isAlert = "alert"
    }

    /// A sound.
    public init(number: UInt32, isAlert: Bool = false) {
        self.number = number
        self.isAlert = isAlert
    }

    /// `kSystemSoundID_Vibrate`.
    public static let vibration: UInt32 = 4095
    /// Whether the phone vibrates.
    public var vibrates: Bool { self.isAlert || self.number == Self.vibration }
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
    /// Whether a modal alert panel appeared or waits to appear (iOS 3–9).
    public var panel: Bool
    /// Whether the screen of a locked phone lit up.
    public var lit: Bool

    /// A ring is a banner, a panel or a sound (DESIGN P3).
    public var isRing: Bool { self.banner || self.panel || self.sound }

    /// What was presented.
    public init(
        identifier: String, isRemote: Bool, banner: Bool = false, list: Bool = false, sound: Bool = false,
        badge: Int? = nil, replaced: Bool = false, reason: PresentationReason, panel: Bool = false, lit: Bool = false
    ) {
        self.identifier = identifier
        self.isRemote = isRemote
        self.banner = banner
        self.list = list
        self.sound = sound
        self.badge = badge
        self.replaced = replaced
        self.reason = reason
        self.panel = panel
        self.lit = lit
    }
}

/// Why a notification was presented as it was.
public enum PresentationReason: String, Hashable, Sendable, CaseIterable {
    /// By the system, the app not being in the foreground.
    case system
    /// By the system, quietly, for provisional authorization.
    case provisional
    /// By the system, quietly, for the passive level.
    case passive
    /// By the options the app returned from `userNotificationCenter(_:willPresent:withCompletionHandler:)`.
    case willPresent
    /// `willPresent` is not implemented.
    case willPresentMissing
    /// `willPresent` did not answer in time.
    case willPresentLate
    /// In the foreground without a UN delegate: the old callbacks instead.
    case inForegroundWithoutDelegate
    /// In the foreground before iOS 10: never shown.
    case inForegroundBeforeIOS10
    /// Authorization is denied or was never asked for.
    case notAuthorized
    /// The extension emptied it with the filtering entitlement.
    case filtered
    /// The app did not live to answer `willPresent`.
    case appGone
    /// iOS 8–9: no user-notification settings were registered, so every push is silent (ios-delivery.md §4 gate 3).
    case notRegistered
    /// By the system, quietly, because of a Focus.
    case focus
    /// Waits for the scheduled summary.
    case heldForSummary
    /// By the system, in the scheduled summary.
    case summary
    /// By the system, through mute and Focus.
    case critical
    /// By the system, for a push that changed a Live Activity and brought an alert (ios-delivery.md §12).
    case liveActivity
}

/// Why a push never reached the phone.
public enum RefusalReason: String, Hashable, Sendable, CaseIterable {
    /// Larger than its era and kind allow (ios-delivery.md §3.1).
    case payloadTooLarge
    /// Too many VoIP pushes brought no call (ios-delivery.md §12).
    case voipBlocked
}

/// What became of a chance for Background Fetch (ios-delivery.md §8).
public enum BackgroundFetchOutcome: String, Hashable, Sendable, CaseIterable {
    case delivered
    /// The app never set an interval, or too little time has passed.
    case notDue
    case notImplemented
    case modeMissing
    case refreshOff
    /// Refresh tasks are declared, so it is disabled (iOS 13).
    case disabledByTasks
    case discardedForceQuit
    case heldBeforeFirstUnlock
    /// Missed handlers have used up the chance.
    case heldForBudget
}

/// What became of a refresh task (ios-delivery.md §8).
public enum RefreshTaskOutcome: String, Hashable, Sendable, CaseIterable {
    case submitted
    /// A request with the same identifier was there.
    case replaced
    case cancelled
    case launched
    case expired
    case completed
    case failed
    /// No launch handler was registered before `application(_:didFinishLaunchingWithOptions:)` returned.
    case notRegistered
    case refreshOff
    case discardedForceQuit
    case heldBeforeFirstUnlock
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
    /// The handler of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` was not called in 30 s
    /// (ios-delivery.md §7.1).
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
    /// The extension used too much memory.
    case extensionMemory
    /// The handler of `application(_:performFetchWithCompletionHandler:)` was not called in 30 s.
    case performFetchHandlerNotCalled
    /// A refresh task was not completed after its expiration.
    case refreshTaskNotCompleted
    /// A VoIP push brought no call (ios-delivery.md §12).
    case noCallReported
    /// The handler of `didReceiveRemoteNotification:fetchCompletionHandler:` was called twice (iOS 10;
    /// ios-delivery.md §7.1).
    case completionHandlerCalledTwice
    /// It was suspended while it held a lock in the app group (Q13).
    case heldLockWhileSuspended
    /// A new version was installed.
    case updated
    /// The phone was replaced by a new one.
    case restored
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

    /// Whether the app is in the foreground.
    public var isInForeground: Bool {
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
    /// V: PushKit.
    case voip
    /// LA: ActivityKit.
    case liveActivity
    /// None of the classes: nothing is shown, nothing called.
    case nothing

    /// Whether it has a visible part.
    public var isVisible: Bool { self == .alert || self == .alertAndContent || self == .local }
    /// Whether it asks to wake the app.
    public var wakes: Bool { self == .alertAndContent || self == .content }
}
