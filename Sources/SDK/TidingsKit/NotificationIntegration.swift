import ClientCore
import Foundation
import Synchronization
public import TidingsClient
public import TidingsModel
import UIKit
public import UserNotifications

/// The app library (IMKit): run states, local notifications, badge, taps. One per app, made in
/// `application(_:didFinishLaunchingWithOptions:)` before anything else; the app forwards its delegate calls.
///
/// Nothing is swizzled. Each forwarded call answers whether it was ours; then the kit calls the completion handler, exactly
/// once, otherwise the app does.
@MainActor public final class NotificationIntegration {
    /// The client the kit serves.
    public let client: ChatClient
    /// Which of Apple's sides the app's device tokens belong to.
    public let pushEnvironment: PushEnvironment
    let application: UIApplication
    let center: UNUserNotificationCenter
    let host: KitHostAdapter
    let lifecycle: LifecycleObserver
    var taps = TapLog()
    let responses = ValueBroadcast<NotificationResponse>()
    let foreground = ValueBroadcast<ReceivedNotification>()
    let background = ValueBroadcast<ReceivedNotification>()

    /// A kit around a new client.
    ///
    /// - Parameters:
    ///   - configuration: the app group's container, the start in front or background and, on a virtual phone, folder and
    ///     bundle identifier are filled in where they are not set.
    ///   - pushEnvironment: which of Apple's sides device tokens belong to.
    public convenience init(configuration: ChatClient.Configuration, pushEnvironment: PushEnvironment) {
        let filled = KitSurroundings.fill(configuration, application: .shared)
        self.init(client: ChatClient(configuration: filled), pushEnvironment: pushEnvironment)
    }

    /// A kit around a client.
    public init(client: ChatClient, pushEnvironment: PushEnvironment) {
        self.client = client
        self.pushEnvironment = pushEnvironment
        self.application = .shared
        self.center = .current()
        self.host = KitHostAdapter(client: client, application: .shared, center: .current())
        self.lifecycle = LifecycleObserver(client: client, application: .shared, host: self.host)
        client.attach(host: self.host, settings: client.kitSettings(hasDelegate: false))
    }

    // MARK: What the app tells the kit (S0.4, S3.3–S3.8)

    /// Gives persons' names. Without it no local notification is shown.
    public var userInfoProvider: (any UserInfoProvider)? {
        get { self.host.providers.withLock { $0.user } }
        set { self.host.providers.withLock { $0.user = newValue } }
    }

    /// Gives groups' names. Without it no local notification is shown for groups.
    public var groupInfoProvider: (any GroupInfoProvider)? {
        get { self.host.providers.withLock { $0.group } }
        set { self.host.providers.withLock { $0.group = newValue } }
    }

    /// Gives names within groups.
    public var groupMemberInfoProvider: (any GroupMemberInfoProvider)? {
        get { self.host.providers.withLock { $0.member } }
        set { self.host.providers.withLock { $0.member = newValue } }
    }

    /// The app's own say before a local notification (S3.4). Weak.
    public var localNotificationDelegate: (any LocalNotificationDelegate)? {
        get { self.host.providers.withLock { $0.delegate } }
        set {
            self.host.providers.withLock { $0.delegate = newValue }
            self.client.attach(host: self.host, settings: self.client.kitSettings(hasDelegate: newValue != nil))
        }
    }

    /// Whether a tap's response waits for `responseHandler`.
    public internal(set) var pendingResponse: NotificationResponse?

    /// Opens the screen of a tap. A tap that came before it was set, as in a cold start, is handed over now.
    public var responseHandler: ((NotificationResponse) -> Void)? {
        didSet {
            guard let handler = self.responseHandler, let pending = self.pendingResponse else { return }
            self.pendingResponse = nil
            handler(pending)
        }
    }

    /// The app's own choice of how a notification is presented in front; nil takes the kit's (S4.2): nothing for a message
    /// the device has already, otherwise banner, list, sound and badge.
    public var presentation: ((NotificationPayload) -> PresentationOptions)?

    // MARK: Events

    /// Taps and actions from now on, each once.
    public var notificationResponses: AsyncStream<NotificationResponse> { self.responses.stream() }
    /// Our notifications that arrive while the app is in front.
    public var foregroundNotifications: AsyncStream<ReceivedNotification> { self.foreground.stream() }
    /// Our notifications that wake the app in the background.
    public var backgroundNotifications: AsyncStream<ReceivedNotification> { self.background.stream() }

    // MARK: Authorization (S2.6, with the right rule)

    /// To be called at every launch: asks the person if they were never asked, and registers for remote notifications.
    ///
    /// - Returns: whether notifications are allowed.
    @discardableResult
    public func registerForNotifications(
        options: UNAuthorizationOptions = [.alert, .badge, .sound]
    ) async -> Bool {
        self.application.registerForRemoteNotifications()
        let settings = await self.center.notificationSettings()
        switch settings.authorizationStatus {
        case .notDetermined: return (try? await self.center.requestAuthorization(options: options)) ?? false
        case .denied: return false
        case .authorized, .provisional, .ephemeral: return true
        }
    }

    /// How one of our notifications is presented while the app is in front.
    public func presentationOptions(for payload: NotificationPayload) -> PresentationOptions {
        if let presentation = self.presentation { return presentation(payload) }
        let isHere = payload.messageUID.flatMap { MessageID($0) }.map { self.client.hasMessage($0) } ?? false
        return isHere ? [] : [.banner, .list, .sound, .badge]
    }
}
