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

/// The result of a background fetch. Raw values as Apple's.
public enum UIBackgroundFetchResult: UInt, Hashable, Sendable {
    case newData, noData, failed
}

/// The state of Background App Refresh. Raw values as Apple's.
public enum UIBackgroundRefreshStatus: Int, Hashable, Sendable {
    case restricted, denied, available
}

/// The app itself.
@MainActor public final class UIApplication: UIResponder {
    /// Where the app is. Raw values as Apple's (ios-delivery.md §2.1).
    public enum State: Int, Hashable, Sendable {
        case active, inactive, background
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
    public var delegate: (any UIApplicationDelegate)? {
        didSet { if let delegate = self.delegate { self.process.check(delegate, has: DelegateMethod.ofApplication) } }
    }
    private(set) var connectedScene: UIWindowScene?
    private weak var key: UIWindow?
    var registeredSettings: UIUserNotificationSettings?

    init(process: PhoneProcess) { self.process = process }

    /// The app's delegate, if it is a responder.
    public override var next: UIResponder? { self.delegate as? UIResponder }

    /// The app this code belongs to.
    public static var shared: UIApplication { self.of(PhoneProcess.current) }

    static func of(_ process: PhoneProcess) -> UIApplication {
        process.facade(UIApplication.self) { UIApplication(process: process) }
    }

    /// Where the app is.
    public var applicationState: State { State(rawValue: self.process.applicationState.rawValue) ?? .background }

    /// The scenes that are connected: none before `scene(_:willConnectTo:options:)`, and none without scenes.
    public var connectedScenes: Set<UIScene> { self.connectedScene.map { [$0] } ?? [] }

    /// The window of an app without scenes, or of its scene.
    public var keyWindow: UIWindow? { self.connectedScene?.keyWindow ?? self.key ?? self.delegate?.window }

    /// The sessions the system keeps: one with scenes, none without.
    public var openSessions: Set<UISceneSession> { self.connectedScene.map { [$0.session] } ?? [] }
    /// True if the app may have several windows: not on a phone.
    public var supportsMultipleScenes: Bool { false }

    /// All windows.
    public var windows: [UIWindow] { self.connectedScene?.windows ?? self.delegate?.window.map { [$0] } ?? [] }

    func connect(_ scene: UIWindowScene?) { self.connectedScene = scene }

    func makeKey(_ window: UIWindow) {
        if self.key !== window { self.key?.isKeyWindow = false }
        self.key = window
    }

    // Remote notifications.

    /// True if the app has asked for remote notifications and not ended them since; the phone remembers it over the end of the process.
    public var isRegisteredForRemoteNotifications: Bool {
        self.process.queryNow(.remoteRegistration) == .registered(true)
    }

    /// Asks for a device token, which arrives at the delegate; to be called at every launch (ios-delivery.md §13).
    public func registerForRemoteNotifications() { self.process.report(.remoteRegistrationRequested) }

    /// Ends remote notifications.
    public func unregisterForRemoteNotifications() { self.process.report(.remoteRegistrationEnded) }

    /// Asks the person and for a device token (iOS 3–7).
    public func registerForRemoteNotifications(matching types: UIRemoteNotificationType) {
        let kinds = types.intersection([.badge, .sound, .alert])
        self.process.report(.remoteTypesRequested(AuthorizationOptions(rawValue: kinds.rawValue)))
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
        self.process.report(.backgroundTaskBegan(number))
        return UIBackgroundTaskIdentifier(rawValue: Int(number))
    }

    /// The work is done.
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        guard identifier != .invalid, identifier.rawValue > 0 else { return }
        let number = UInt64(identifier.rawValue)
        self.expirationHandlers[number] = nil
        self.process.report(.backgroundTaskEnded(number))
    }

    func expire(_ task: UInt64) { self.expirationHandlers[task]?() }

    /// Seconds until background tasks expire; the largest double in the foreground.
    public var backgroundTimeRemaining: TimeInterval {
        guard case .backgroundTime(let milliseconds?) = self.process.queryNow(.backgroundTimeRemaining) else {
            return Self.backgroundTimeUnlimited
        }
        return Double(milliseconds) / 1_000
    }

    /// The state of Background App Refresh for the app.
    public var backgroundRefreshStatus: UIBackgroundRefreshStatus {
        guard case .backgroundRefreshStatus(let status) = self.process.queryNow(.backgroundRefreshStatus) else {
            return .denied
        }
        return UIBackgroundRefreshStatus(rawValue: status.rawValue) ?? .denied
    }

    /// True if files with complete protection can be read, which is while the phone is unlocked.
    public var isProtectedDataAvailable: Bool {
        guard case .protectedData(let isAvailable) = self.process.queryNow(.protectedDataAvailable) else {
            return false
        }
        return isAvailable
    }

    /// How often Background Fetch should come, in seconds; never until it is set (iOS 7–12; ios-delivery.md §8).
    public func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval) {
        let isNever = minimumBackgroundFetchInterval >= Double(Int64.max) / 1_000
        self.process.report(
            .minimumFetchIntervalSet(isNever ? nil : wholeMilliseconds(max(0, minimumBackgroundFetchInterval))))
    }

    // Other apps.

    /// Returns true if some app opens such an address: only Settings, on a virtual phone.
    public func canOpenURL(_ url: URL) -> Bool { url.scheme == "app-settings" }

    /// Opens an address in another app; noted in the log, nothing is opened.
    public func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        self.process.send(.log(level: "info", text: "open \(url.absoluteString)"))
        let isKnown = self.canOpenURL(url)
        withPhoneProcess(self.process) { _ = Task { @MainActor in completion?(isKnown) } }
    }

    /// How an address is opened.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's value.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    // Notifications within the process.

    /// `application(_:didFinishLaunchingWithOptions:)` has returned.
    public nonisolated static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification")
    /// The app, or its scene, is about to come to the foreground.
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
    /// `applicationWillTerminate(_:)` has returned.
    public nonisolated static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")
    /// Memory is low.
    public nonisolated static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
    /// Background App Refresh was turned on or off for the app (ios-delivery.md §7.3).
    public nonisolated static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
        "UIApplicationBackgroundRefreshStatusDidChangeNotification")
    /// Files with protection can be read again.
    public nonisolated static let protectedDataDidBecomeAvailableNotification = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")
    /// Files with protection are about to be out of reach.
    public nonisolated static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")
    /// Opens the app's page in Settings.
    public nonisolated static let openSettingsURLString = "app-settings:"
    /// Opens the app's notifications in Settings (iOS 16).
    public nonisolated static let openNotificationSettingsURLString = "app-settings:notifications"
}
