public import TidingsModel

/// One line of a phone's trace.
public struct PhoneRecord: Hashable, Sendable {
    /// When.
    public var at: Now
    /// Which app it is about; nil for the phone itself.
    public var app: BundleID?
    /// The event.
    public var entry: Entry

    /// An event that is recorded.
    public enum Entry: Hashable, Sendable {
        case callback(CallbackRecord)
        case completion(number: CallbackNumber, CallbackResult)
        indirect case presentation(PresentationRecord)
        case state(AppState)
        case processStarted(ProcessID)
        case processEnded(ProcessID, EndReason)
        indirect case arrival(ArrivalRecord)
        case wake(identifier: String, WakeOutcome)
        case badge(Int)
        case refused(delivery: UInt64, RefusalReason)
        case backgroundFetch(BackgroundFetchOutcome)
        case refreshTask(identifier: String, RefreshTaskOutcome)
        indirect case activity(ActivityUpdate)
        case systemSound(SystemSound)
        /// An app has reported it to CallKit.
        case incomingCall(IncomingCall)
        /// Against the rules; nothing was changed.
        case fault(String)
    }
}

/// A system sound as `AudioServicesPlaySystemSound` and `AudioServicesPlayAlertSound` play it (S4.2, S4.6).
public struct SystemSound: Hashable, Sendable, Codable {
    /// `SystemSoundID`, for example 1007 or 1312; 4095 is the vibration alone.
    public var number: UInt32
    /// True if it was played as an alert, which vibrates too.
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
    /// True if the phone vibrates.
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
    /// The value of `applicationState` during the call.
    public var applicationState: ApplicationState
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
}

/// The presentation of one notification to the person, and its reason.
public struct PresentationRecord: Hashable, Sendable {
    /// The request identifier.
    public var identifier: String
    /// True if it came from APNs.
    public var isRemote: Bool
    /// True if a banner appeared.
    public var banner: Bool = false
    /// True if it entered the list.
    public var list: Bool = false
    /// True if a sound was played.
    public var sound: Bool = false
    /// The number set on the icon; nil if it was left alone.
    public var badge: Int?
    /// True if it took the place of an entry with the same identifier.
    public var replaced: Bool = false
    /// Why it was presented so.
    public var reason: PresentationReason
    /// True if a modal alert panel appeared or waits to appear (iOS 3–9).
    public var panel: Bool = false
    /// True if the screen of a locked phone lit up.
    public var lit: Bool = false

    /// A ring is a banner, a panel or a sound (design.md P3).
    public var isRing: Bool { self.banner || self.panel || self.sound }
}

/// Why a notification was presented as it was.
public enum PresentationReason: String, Hashable, Sendable, CaseIterable {
    case system, provisional, passive, willPresent, willPresentMissing, willPresentLate
    case inForegroundWithoutDelegate, inForegroundBeforeIOS10, notAuthorized, filtered, appGone
    /// iOS 8–9: without registered settings every push is silent (ios-delivery.md §4 gate 3).
    case notRegistered
    case focus, heldForSummary, summary, critical, liveActivity
}

/// Why a push never reached the phone (ios-delivery.md §3.1, §12).
public enum RefusalReason: String, Hashable, Sendable, CaseIterable { case payloadTooLarge, voipBlocked }

/// The outcome of a chance for Background Fetch (ios-delivery.md §8).
public enum BackgroundFetchOutcome: String, Hashable, Sendable, CaseIterable {
    case delivered, notDue, notImplemented, modeMissing, refreshOff
    /// The app declares refresh tasks (iOS 13).
    case disabledByTasks
    case discardedForceQuit, heldBeforeFirstUnlock, heldForBudget
}

/// The outcome of a refresh task (ios-delivery.md §8).
public enum RefreshTaskOutcome: String, Hashable, Sendable, CaseIterable {
    case submitted, replaced, cancelled, launched, expired, completed, failed
    /// No launch handler when `application(_:didFinishLaunchingWithOptions:)` returned.
    case notRegistered
    case refreshOff, discardedForceQuit, heldBeforeFirstUnlock
}

/// The outcome of a wake that a silent push asked for (ios-delivery.md §7.3).
public enum WakeOutcome: String, Hashable, Sendable, CaseIterable {
    case delivered, heldForBudget, heldAfterRestart, heldBeforeFirstUnlock, replaced
    case discardedForceQuit, discardedByKill, refreshOff, notImplemented, modeMissing
}

/// Why a process ended (ios-delivery.md §7.1, §8, §12).
public enum EndReason: String, Hashable, Sendable, CaseIterable {
    case forceQuit, killedBySystem, evicted, restarted, removed, exited, crashed
    case fetchHandlerNotCalled, methodDidNotReturn, launchTooSlow, backgroundTaskNotEnded
    case extensionDone, extensionLate, extensionStartTooSlow, extensionMemory
    case performFetchHandlerNotCalled, refreshTaskNotCompleted, noCallReported
    /// The fetch handler (iOS 10).
    case completionHandlerCalledTwice
    /// A lock in the app group (Q13).
    case heldLockWhileSuspended
    case updated, restored
}

/// The state of an app (ios-delivery.md §2.1). Before the first unlock is the phone's, not the app's.
public enum AppState: String, Hashable, Sendable, CaseIterable {
    /// FA.
    case foregroundActive
    /// FI.
    case foregroundInactive
    /// BR.
    case backgroundRunning
    /// SU.
    case suspended
    /// NK.
    case notRunning
    /// NQ.
    case forceQuit

    /// True if a process exists.
    public var hasProcess: Bool { self != .notRunning && self != .forceQuit }

    /// True if the app is in the foreground.
    public var isInForeground: Bool { self == .foregroundActive || self == .foregroundInactive }

    /// The value of `applicationState` in this state.
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
    /// A.
    case alert
    /// AC.
    case alertAndContent
    /// C.
    case content
    /// L.
    case local
    /// V.
    case voip
    /// LA.
    case liveActivity
    case nothing

    /// True if it has a visible part.
    public var isVisible: Bool { self == .alert || self == .alertAndContent || self == .local }
    /// True if it asks to wake the app.
    public var wakes: Bool { self == .alertAndContent || self == .content }
}
