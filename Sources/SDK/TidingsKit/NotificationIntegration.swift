public import ClientCore
import Foundation
import TidingsAppGroup
public import TidingsClient
public import TidingsModel
import UIKit
public import UserNotifications

/// The app library (IMKit): run states, local notifications, badge, taps. One per app, made in
/// `application(_:didFinishLaunchingWithOptions:)` before anything else; the app forwards its delegate calls.
///
/// ```swift
/// let kit = NotificationIntegration(
///     configuration: .init(appKey: "demo", appGroupIdentifier: "group.com.example.chat", serverURL: serverURL),
///     pushEnvironment: .production)
///
/// kit.responseHandler = { response in screens.open(response.route) }
/// await kit.registerForNotifications()
/// try await kit.client.connect(userID: "bob") { try await backend.userToken() }
/// ```
///
/// Nothing is swizzled. Each forwarded call answers whether it was ours; then the kit calls the completion handler, exactly
/// once, otherwise the app does.
@MainActor open class NotificationIntegration {
    /// The client the kit serves.
    public let client: ChatClient
    /// Which of Apple's sides the app's device tokens belong to.
    public let pushEnvironment: PushEnvironment
    let application: UIApplication
    let center: UNUserNotificationCenter
    let host: KitHostAdapter
    let lifecycle: LifecycleObserver
    let system: SystemVersion
    var machine: KitMachine
    var calls = OpenCalls()
    let banners = ValueBroadcast<InAppBanner>()

    /// A kit around a new client.
    ///
    /// - Parameters:
    ///   - configuration: the app group's container, the start in the foreground or background and, on a virtual phone, folder and
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
        self.system = .current
        self.machine = KitMachine(KitMachine.Settings(major: SystemVersion.current.major))
        self.host = KitHostAdapter(
            client: client, application: .shared, center: .current(), system: .current)
        self.lifecycle = LifecycleObserver(client: client, application: .shared, host: self.host)
        client.attach(host: self.host, settings: client.kitSettings(hasDelegate: false))
        self.host.messageArrived.withLock {
            $0 = { [weak self] message in Task { @MainActor in self?.handle(.messageArrived(message)) } }
        }
        self.lifecycle.becameActive = { [weak self] in self?.handle(.becameActive) }
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

    /// The app's own say before a local notification (S3.4). Weak. Setting it replaces all that were added.
    public var localNotificationDelegate: (any LocalNotificationDelegate)? {
        get { self.host.providers.withLock { $0.delegates.first?.object } }
        set {
            self.host.providers.withLock { $0.delegates = newValue.map { [WeakDelegate(object: $0)] } ?? [] }
            self.delegatesChanged()
        }
    }

    /// One more say; they are asked in the order in which they were added, and the first that says true wins. Weak.
    public func addLocalNotificationDelegate(_ delegate: any LocalNotificationDelegate) {
        self.host.providers.withLock { $0.delegates.append(WeakDelegate(object: delegate)) }
        self.delegatesChanged()
    }

    private func delegatesChanged() {
        let has = self.host.providers.withLock { !$0.delegates.isEmpty }
        self.client.attach(host: self.host, settings: self.client.kitSettings(hasDelegate: has))
    }

    /// The app's table of screens (S1.16–S1.18), set before the launch is forwarded. The app's own pushes whose `type` has a row
    /// are ours: their taps come to `responseHandler` with the route `.detail(screen:)`. Pushes of other types are left to the app.
    public var router: NotificationRouter {
        get { self.machine.settings.router }
        set { self.machine.settings.router = newValue }
    }

    /// The response to a tap that waits for `responseHandler`; nil for none.
    public internal(set) var pendingResponse: NotificationResponse?

    /// Opens the screen of a tap. A tap that came before it was set, as in a cold start, is handed over now.
    public var responseHandler: ((NotificationResponse) -> Void)? {
        didSet {
            guard let handler = self.responseHandler, let pending = self.pendingResponse else { return }
            self.pendingResponse = nil
            handler(pending)
        }
    }

    // MARK: In the foreground (S4.2, S4.6, S4.7)

    /// The app's own choice of how a notification is presented in the foreground; nil takes the kit's: nothing for a message the
    /// device has already or has rung for, otherwise banner, list, sound and badge (S2.9).
    public var presentation: ((ReceivedNotification) -> PresentationOptions)?

    /// The sounds and banners in the foreground where the system does nothing.
    public var foregroundPresentation: ForegroundPresentation {
        get { self.machine.settings.foregroundPresentation }
        set { self.machine.settings.foregroundPresentation = newValue }
    }

    /// How a notification of ours is presented while the app is in the foreground. An answer that takes longer than three seconds is
    /// taken for "nothing" by the kit, before iOS does so (ios-delivery.md §7.1).
    open func presentationOptions(for notification: ReceivedNotification) async -> PresentationOptions {
        if let presentation = self.presentation { return presentation(notification) }
        return self.machine.standardPresentation(of: notification, facts: self.client.kitFacts)
    }

    /// Banners the app is to draw itself: of pushes on iOS below 10, and of messages for another screen (`ChatClient.ringsInForeground`).
    /// Tell the kit of a tap by `didTap(_:)`.
    public var inAppBanners: AsyncStream<InAppBanner> { self.banners.stream() }

    /// Posted when an in-app banner was tapped; the object is the push dictionary (S4.7).
    public nonisolated static let inAppBannerTappedNotification = Notification.Name("TidingsInAppBannerTapped")

    // MARK: Events

    /// Taps and actions from now on, each once.
    public var notificationResponses: AsyncStream<NotificationResponse> { self.client.notificationResponses }
    /// Our notifications that arrive while the app is in the foreground.
    public var foregroundNotifications: AsyncStream<ReceivedNotification> { self.client.foregroundNotifications }
    /// Our notifications that wake the app in the background.
    public var backgroundNotifications: AsyncStream<ReceivedNotification> { self.client.backgroundNotifications }

    /// The person has opened a conversation: its notifications leave the notification centre.
    public func didOpen(_ conversation: ConversationID) {
        let client = self.client
        Task { _ = await client.carryOut(KitMachine.Effect.clearNotifications(conversation)) }
    }

    // MARK: Names

    /// To be called when the app learns that a person is called otherwise: pushes are titled so from now on (S0.4). The kit asks
    /// `userInfoProvider` by itself for each notification, and once for each person who writes while the app is in the foreground.
    public func refreshUserInfo(_ info: UserInfo, for user: UserID) {
        self.client.remember(ResolvedNames(user: info.name), for: NameQuestion(sender: user, group: nil))
    }

    /// The same for a group or discussion, which `groupInfoProvider` names.
    public func refreshGroupInfo(_ info: GroupInfo, for group: ConversationID) {
        // Nobody is asked about.
        self.client.remember(ResolvedNames(group: info.name), for: NameQuestion(sender: "", group: group))
    }

    // MARK: Authorization (S2.6, with the right rule)

    /// To be called at every launch: registers for remote notifications, and asks the person if they were never asked.
    ///
    /// - Returns: whether notifications are allowed.
    @discardableResult
    public func registerForNotifications(
        options: UNAuthorizationOptions = [.alert, .badge, .sound]
    ) async -> Bool {
        guard self.system.major >= 10 else { return self.registerTheOldWay() }
        self.application.registerForRemoteNotifications()
        let settings = await self.center.notificationSettings()
        switch settings.authorizationStatus {
        case .notDetermined: return (try? await self.center.requestAuthorization(options: options)) ?? false
        case .denied: return false
        case .authorized, .provisional, .ephemeral: return true
        @unknown default: return false
        }
    }

    /// Adds the kit's actions to the app's categories: reply, and mark as read (ios-delivery.md §6.4). Local notifications of
    /// the kit then carry them.
    ///
    /// - Parameters:
    ///   - replyTitle: what the button for an answer says.
    ///   - markReadTitle: what the other button says.
    ///   - sendTitle: what the button beside the answer's text says.
    ///   - others: the app's own categories; the whole set is replaced.
    public func registerCategories(
        replyTitle: String = "Reply", markReadTitle: String = "Mark as Read", sendTitle: String = "Send",
        others: Set<UNNotificationCategory> = []
    ) {
        let reply = UNTextInputNotificationAction(
            identifier: MessageCategory.replyAction, title: replyTitle, options: [], textInputButtonTitle: sendTitle,
            textInputPlaceholder: "")
        let read = UNNotificationAction(identifier: MessageCategory.markReadAction, title: markReadTitle, options: [])
        let category = UNNotificationCategory(
            identifier: MessageCategory.identifier, actions: [reply, read], intentIdentifiers: [], options: [])
        self.center.setNotificationCategories(others.union([category]))
        self.host.providers.withLock { $0.hasCategory = true }
    }
}
