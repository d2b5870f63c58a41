public import Foundation
import PhoneCore
import UserNotifications
import VirtualPhone

/// Names a background task.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: Int
    /// Wraps Apple's value.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// No task.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// What a background fetch brought. Raw values as Apple's.
public enum UIBackgroundFetchResult: UInt, Hashable, Sendable {
    case newData = 0
    case noData = 1
    case failed = 2
}

/// Whether Background App Refresh is on. Raw values as Apple's.
public enum UIBackgroundRefreshStatus: Int, Hashable, Sendable {
    case restricted = 0
    case denied = 1
    case available = 2
}

/// The app itself.
@MainActor public final class UIApplication: UIResponder {
    /// Where the app is. Raw values as Apple's (ios-delivery.md §2.1).
    public enum State: Int, Hashable, Sendable {
        case active = 0
        case inactive = 1
        case background = 2
    }

    /// Why an app was launched.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The payload of the push that was tapped, or that woke the app.
        public static let remoteNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        /// The `UILocalNotification` that was tapped.
        public static let localNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsLocalNotificationKey")
    }

    /// The longest background time, in the foreground (ios-delivery.md §8).
    public static let backgroundTimeUnlimited = Double.greatestFiniteMagnitude
    /// Never fetch in the background.
    public static let backgroundFetchIntervalNever = Double.greatestFiniteMagnitude
    /// Fetch as often as the system likes.
    public static let backgroundFetchIntervalMinimum = 0.0

    let process: PhoneProcess
    private var expirationHandlers: [UInt64: @MainActor @Sendable () -> Void] = [:]
    /// Who is told about the app. Strong here: the app's main holds it on Apple's systems.
    public var delegate: (any UIApplicationDelegate)?
    /// Whether the app has asked for remote notifications in this process.
    public private(set) var isRegisteredForRemoteNotifications = false
    /// Whether the system keeps the display on; kept, without effect.
    public var isIdleTimerDisabled = false
    private(set) var connectedScene: UIWindowScene?

    init(process: PhoneProcess) { self.process = process }

    /// The app this code belongs to.
    public static var shared: UIApplication { self.of(PhoneProcess.current) }

    /// The app of a process.
    static func of(_ process: PhoneProcess) -> UIApplication {
        process.facade(UIApplication.self) { UIApplication(process: process) }
    }

    /// Where the app is.
    public var applicationState: State { State(rawValue: self.process.applicationState.rawValue) ?? .background }

    /// The scenes that are connected: none before SC, and none without scenes.
    public var connectedScenes: Set<UIScene> { self.connectedScene.map { [$0] } ?? [] }

    /// The window of an app without scenes, or of its scene.
    public var keyWindow: UIWindow? {
        self.connectedScene?.keyWindow ?? self.delegate?.window
    }

    /// All windows.
    public var windows: [UIWindow] {
        self.connectedScene?.windows ?? self.delegate?.window.map { [$0] } ?? []
    }

    func connect(_ scene: UIWindowScene?) { self.connectedScene = scene }

    // Remote notifications.

    /// Asks for a device token, which arrives at the delegate; to be called at every launch (ios-delivery.md §13).
    public func registerForRemoteNotifications() {
        self.isRegisteredForRemoteNotifications = true
        self.process.tell(.remoteRegistrationRequested)
    }

    /// Ends remote notifications.
    public func unregisterForRemoteNotifications() {
        self.isRegisteredForRemoteNotifications = false
        self.process.tell(.remoteRegistrationEnded)
    }

    /// Asks the person on iOS 8–9.
    public func registerUserNotificationSettings(_ settings: UIUserNotificationSettings) {
        let process = self.process
        let options = AuthorizationOptions(rawValue: settings.types.rawValue)
        withPhoneProcess(process) {
            _ = Task { @MainActor in
                guard await process.ask(.requestAuthorization(options)) != nil else { return }
                self.delegate?.application(self, didRegister: settings)
            }
        }
    }

    /// Shows a local notification now.
    public func presentLocalNotificationNow(_ notification: UILocalNotification) {
        notification.fireDate = nil
        self.scheduleLocalNotification(notification)
    }

    /// Shows a local notification at its date.
    public func scheduleLocalNotification(_ notification: UILocalNotification) {
        let request = notification.request(identifier: "local-\(self.process.nextNumber())", now: Date())
        let process = self.process
        withPhoneProcess(process) {
            _ = Task { _ = await process.ask(.add(request)) }
        }
    }

    /// Takes a local notification back.
    public func cancelLocalNotification(_ notification: UILocalNotification) {
        self.process.tell(.pendingRemoved(identifiers: [notification.identifier]))
        self.process.tell(.deliveredRemoved(identifiers: [notification.identifier]))
    }

    /// Takes all local notifications back.
    public func cancelAllLocalNotifications() {
        self.process.tell(.pendingRemoved(identifiers: nil))
        self.process.tell(.deliveredRemoved(identifiers: nil))
    }

    /// The number on the icon; deprecated by Apple from iOS 17. Setting 0 clears the app's notifications (quirk Q8).
    public var applicationIconBadgeNumber: Int {
        get {
            guard case .badge(let count) = self.process.askNow(.badgeCount) else { return 0 }
            return count
        }
        set { self.process.tell(.iconBadgeNumberSet(newValue)) }
    }

    // Background.

    /// Asks the system not to suspend the app yet.
    public func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { self.beginBackgroundTask(withName: nil, expirationHandler: handler) }

    /// Asks the system not to suspend the app yet.
    public func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let number = self.process.nextNumber()
        self.expirationHandlers[number] = handler
        self.process.tell(.backgroundTaskBegan(number))
        return UIBackgroundTaskIdentifier(rawValue: Int(number))
    }

    /// The work is done.
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        guard identifier != .invalid, identifier.rawValue > 0 else { return }
        let number = UInt64(identifier.rawValue)
        self.expirationHandlers[number] = nil
        self.process.tell(.backgroundTaskEnded(number))
    }

    func expire(_ task: UInt64) { self.expirationHandlers[task]?() }

    /// Seconds until background tasks expire; the largest double in the foreground.
    public var backgroundTimeRemaining: TimeInterval {
        guard case .backgroundTime(let milliseconds?) = self.process.askNow(.backgroundTimeRemaining) else {
            return Self.backgroundTimeUnlimited
        }
        return Double(milliseconds) / 1_000
    }

    /// Whether Background App Refresh is on for the app.
    public var backgroundRefreshStatus: UIBackgroundRefreshStatus {
        guard case .settings(let settings) = self.process.askNow(.settings) else { return .denied }
        return settings.backgroundRefresh ? .available : .denied
    }

    /// Whether files with complete protection can be read: always on a virtual phone's Linux file system.
    public var isProtectedDataAvailable: Bool { true }

    // Notifications within the process.

    /// DF has returned.
    public nonisolated static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification")
    /// The app, or its scene, is about to come to the front.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification")
    /// The app, or its scene, is active.
    public nonisolated static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification")
    /// The app, or its scene, is about to be inactive.
    public nonisolated static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification")
    /// The app, or its scene, has left the screen.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification")
    /// WT has returned.
    public nonisolated static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")
    /// Memory is low.
    public nonisolated static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
    /// Background App Refresh was turned on or off; a virtual phone does not post it.
    public nonisolated static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
        "UIApplicationBackgroundRefreshStatusDidChangeNotification")
}
