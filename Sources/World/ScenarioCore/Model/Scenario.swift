package import PhoneCore

package struct Scenario: Equatable, Sendable {
    package var title: String
    package var source: String?
    package var requirements: [String]
    package var cases: [ScenarioCase]
}

package struct ScenarioCase: Equatable, Sendable {
    package var name: String
    package var position: ScenarioPosition
    package var requirements: [String]
    package var phone: PhoneSetup
    package var app: AppSetup
    /// The steps with the app in the foreground before `start`, outside the trace.
    package var before: [Step]
    package var start: StartState
    package var steps: [Step]
    /// Runs the app's own code, in processes and in real time; nil runs the simulated app that `app` describes.
    package var code: OwnCode?
}

/// The states of ios-delivery.md §2.1 in which a case can begin.
package enum StartState: String, Equatable, Sendable, CaseIterable {
    case foregroundActive = "foreground active"
    case foregroundInactive = "foreground inactive"
    case background
    case suspended
    case notRunning = "not running"
    case forceQuit = "force-quit"
    case beforeFirstUnlock = "before first unlock"

    var hasProcess: Bool { ![.notRunning, .forceQuit, .beforeFirstUnlock].contains(self) }

    package var code: String {
        switch self {
        case .foregroundActive: "FA"
        case .foregroundInactive: "FI"
        case .background: "BR"
        case .suspended: "SU"
        case .notRunning: "NK"
        case .forceQuit: "NQ"
        case .beforeFirstUnlock: "BFU"
        }
    }
}

package struct PhoneSetup: Equatable, Sendable {
    package var version: OSVersion = 17
    package var authorization: AuthorizationStatus = .authorized
    package var switches: [SwitchChange] = []
    package var backgroundRefresh: BackgroundRefreshStatus = .available
    package var settings = PhoneSettings()
    /// The time of the phone's clock when the trace begins, in minutes after midnight; nil: whatever it is then.
    package var clock: Int?
    package var conditions: [PhoneEvent] = []
}

package struct SwitchChange: Equatable, Sendable {
    package var which: SettingSwitch
    package var isOn: Bool
}

package struct AppSetup: Equatable, Sendable {
    package var installed: InstalledApp
    package var delegateMoment: DelegateMoment = .didFinishLaunching
    package var registers: RegistrationMoment = .firstLaunch
    package var categories: [NotificationCategory] = []
    package var backgroundTask: BackgroundTaskHabit?
    /// The answers to calls; a call that is not here returns at once.
    package var answers: [AnsweredCall: AnswerHabit] = [:]
    /// By the notification's name in the file; what is not here is answered as `answers` says.
    package var answersOf: [AnsweredCall: [String: AnswerHabit]] = [:]
    /// How much memory its extension uses for a push, in bytes; nil: little.
    package var extensionMemory: Int?
    package var extensionChange = ContentChange()
    /// The content that its extension delivers when its time expires; nil for none.
    package var bestAttempt: BestAttempt?
    /// The notifications that its extension removes from the list when a push comes, by the push's name in the file.
    package var extensionRemoves: [String: [String]] = [:]
    package var sdk: SDKSetup?
}

package enum DelegateMoment: String, Equatable, Sendable, CaseIterable {
    case didFinishLaunching
    /// Too late for the tap that launched it (ios-delivery.md §6.1).
    case didBecomeActive
    case never
}

/// When an app calls `registerForRemoteNotifications` (ios-delivery.md §13).
package enum RegistrationMoment: String, Equatable, Sendable, CaseIterable {
    case never = "no"
    case firstLaunch = "yes"
    case everyLaunch
}

package enum BestAttempt: Equatable, Sendable {
    case changed
    case own(ContentChange)
}

package struct BackgroundTaskHabit: Equatable, Sendable {
    /// Ends its task so many milliseconds after `didEnterBackground`; nil: not by itself.
    package var endsAfter: Int64?
    package var endsOnExpiration: Bool
}

package enum AnsweredCall: String, Hashable, Sendable, CaseIterable {
    case willPresent
    case didReceive
    case didReceiveRemoteNotificationFetch
    case serviceExtension
    case performFetch
    case didReceiveIncomingPush
    case didFinishLaunching
    case didEnterBackground

    var isAboutNotification: Bool { ![.performFetch, .didFinishLaunching, .didEnterBackground].contains(self) }
}

package struct AnswerHabit: Equatable, Sendable {
    /// Nil: it never answers.
    package var result: CallbackResult?
    /// Milliseconds.
    package var after: Int64 = 0
    package var reportsCall = true
    package var isTwice = false
    /// How the process ends instead of answering (service extension); nil: it does not.
    package var death: Death?

    package enum Death: String, Equatable, Sendable, CaseIterable {
        case crashes
        case exits
    }
}

/// An extension's changes; nil leaves the part as it came.
package struct ContentChange: Equatable, Sendable {
    package var title: String?
    package var subtitle: String?
    package var body: String?
    package var badge: Int?
    package var isSilent = false
    package var level: InterruptionLevel?
    package var isEmpty = false
}

package struct Step: Equatable, Sendable {
    package var position: ScenarioPosition
    package var action: StepAction
    package var words: String
}

package enum StepAction: Equatable, Sendable {
    case phone(PhoneEvent)
    case phones([PhoneEvent])
    /// A push comes to the phone; the label names it in the trace. The lifetime is how long APNs may store it, in milliseconds:
    /// 0 is not at all, nil as long as it can.
    case push(Push, label: String, lifetime: Int64?)
    case act(on: String, PersonAct)
    case reinstall(keepsData: Bool)
    case switches([SwitchChange])
    /// Needs an app that has a process.
    case app(AppCall)
    case local(NotificationRequest, LocalMoment)
    case activity(ActivityStep)
    case activityPush(ActivityPush)
    /// Milliseconds.
    case refreshTask(after: Int64)
    /// Milliseconds.
    case wait(Int64)
    case clear
    case expect(Expectation)
    case sdk(SDKStep)
    /// Needs an app's own code.
    case screen(ScreenStep)
}

package enum LocalMoment: Equatable, Sendable {
    case atOnce
    /// Milliseconds.
    case after(Int64, repeats: Bool)
    case region(NotificationRegion, repeats: Bool)
}

package enum PersonAct: Equatable, Sendable {
    case tap
    case dismiss
    case swipeBanner
    case openSettings
    case provisional(keep: Bool)
    case action(String, text: String?)
}

package enum AppCall: Equatable, Sendable {
    case event(ProcessEvent)
    case query(Query)
}
