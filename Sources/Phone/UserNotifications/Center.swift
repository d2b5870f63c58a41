import PhoneCore
import Synchronization
package import VirtualPhone

/// Handles an app's notifications: both forms of each method, completion handler and async, may be implemented (ios-delivery.md §0.3).
///
/// The phone calls the completion-handler form; its default calls the async form. A class bound to the main actor conforms
/// with `@preconcurrency` for the completion-handler forms.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    /// How to present a notification while the app is in the foreground.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)
    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)`, async form.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions
    /// Handles the person's response.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)
    /// `userNotificationCenter(_:didReceive:withCompletionHandler:)`, async form.
    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async
    /// Show the app's own notification settings.
    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
    /// Calls the async form.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let call = DelegateCall(delegate: self)
        Task { completionHandler(await call.delegate.userNotificationCenter(center, willPresent: notification)) }
    }
    /// Reports that the delegate lacks it.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        PhoneProcess.reportMissing("userNotificationCenter(_:willPresent:withCompletionHandler:)")
        return []
    }
    /// Calls the async form.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        let call = DelegateCall(delegate: self)
        Task {
            await call.delegate.userNotificationCenter(center, didReceive: response)
            completionHandler()
        }
    }
    /// Reports that the delegate lacks it.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        PhoneProcess.reportMissing("userNotificationCenter(_:didReceive:withCompletionHandler:)")
    }
    /// Reports that the delegate lacks it.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) { PhoneProcess.reportMissing("userNotificationCenter(_:openSettingsFor:)") }
}

/// Hands a delegate to the task of its async form. `@unchecked Sendable`: Apple's delegate is bound to no actor either, and
/// is called here from the main thread only.
private struct DelegateCall: @unchecked Sendable {
    let delegate: any UNUserNotificationCenterDelegate
}

/// An app's access to the phone's notifications.
public final class UNUserNotificationCenter: Sendable {
    /// `@unchecked Sendable`: guarded by the lock it is kept under.
    private struct WeakDelegate: @unchecked Sendable {
        weak var object: (any UNUserNotificationCenterDelegate)?
        var isSet = false
    }

    package let process: PhoneProcess
    private let weakDelegate = Mutex(WeakDelegate())

    init(process: PhoneProcess) { self.process = process }

    /// The centre of the app this code belongs to.
    public static func current() -> UNUserNotificationCenter { self.of(PhoneProcess.current) }

    package static func of(_ process: PhoneProcess) -> UNUserNotificationCenter {
        process.facade(UNUserNotificationCenter.self) { UNUserNotificationCenter(process: process) }
    }

    /// Who is asked and told. Weak; to be set before `application(_:didFinishLaunchingWithOptions:)` returns
    /// (ios-delivery.md §6.1 rule 4). Not for extensions.
    public var delegate: (any UNUserNotificationCenterDelegate)? {
        get { self.weakDelegate.withLock { $0.object } }
        set {
            guard self.process.facts.role == .app else {
                return self.process.send(.fault("an extension must not set the delegate of UNUserNotificationCenter"))
            }
            self.weakDelegate.withLock { $0 = WeakDelegate(object: newValue, isSet: newValue != nil) }
            if let newValue { self.process.check(newValue, has: DelegateMethod.ofNotificationCenter) }
            self.process.report(.delegateChanged(isSet: newValue != nil))
        }
    }

    /// Nobody but the centre notices that its delegate is gone.
    package func reportLostDelegate() {
        let isLost = self.weakDelegate.withLock { delegate in
            guard delegate.isSet, delegate.object == nil else { return false }
            delegate.isSet = false
            return true
        }
        guard isLost else { return }
        self.process.send(
            .fault("the delegate of UNUserNotificationCenter is gone: the centre holds it weakly, so keep it elsewhere")
        )
        self.process.report(.delegateChanged(isSet: false))
    }

    /// True if content extensions are supported; they draw nothing, but are called (UserNotificationsUI).
    public var supportsContentExtensions: Bool { true }

    // Authorization.

    /// Asks the person, the first time.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        let answer = await self.process.query(.requestAuthorization(AuthorizationOptions(rawValue: options.rawValue)))
        if let error = Self.refusal(answer) { throw error }
        return answer == .granted(true)
    }

    /// Asks the person, the first time.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        self.process.query(.requestAuthorization(AuthorizationOptions(rawValue: options.rawValue))) { answer in
            completionHandler(answer == .granted(true), Self.refusal(answer))
        }
    }

    /// Returns the person's permissions.
    public func notificationSettings() async -> UNNotificationSettings {
        self.settings(await self.process.query(.settings))
    }

    /// Returns the person's permissions.
    public func getNotificationSettings(
        completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void
    ) { self.process.query(.settings) { completionHandler(self.settings($0)) } }

    private func settings(_ answer: QueryAnswer?) -> UNNotificationSettings {
        guard case .settings(let settings) = answer else { return UNNotificationSettings(.notAsked) }
        return UNNotificationSettings(settings, entitlements: self.process.facts.entitlements)
    }

    // Requests.

    /// Adds a request; one with the same identifier is replaced.
    ///
    /// - Throws: `UNError` if notifications are not allowed or the request says nothing.
    public func add(_ request: UNNotificationRequest) async throws {
        if let error = Self.refusal(await self.process.query(.add(request.value))) { throw error }
    }

    /// Adds a request; one with the same identifier is replaced.
    public func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) { self.process.query(.add(request.value)) { completionHandler?(Self.refusal($0)) } }

    /// Requests whose moment has not come.
    public func pendingNotificationRequests() async -> [UNNotificationRequest] {
        Self.requests(await self.process.query(.pendingRequests))
    }

    /// Requests whose moment has not come.
    public func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) { self.process.query(.pendingRequests) { completionHandler(Self.requests($0)) } }

    private static func requests(_ answer: QueryAnswer?) -> [UNNotificationRequest] {
        guard case .pending(let requests) = answer else { return [] }
        return requests.map { UNNotificationRequest($0) }
    }

    /// Takes requests back.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        self.process.report(.pendingRemoved(identifiers: identifiers))
    }

    /// Takes all requests back.
    public func removeAllPendingNotificationRequests() { self.process.report(.pendingRemoved(identifiers: nil)) }

    /// Returns the notifications in Notification Center.
    public func deliveredNotifications() async -> [UNNotification] {
        Self.notifications(await self.process.query(.deliveredNotifications))
    }

    /// Returns the notifications in Notification Center.
    public func getDeliveredNotifications(
        completionHandler: @escaping @Sendable ([UNNotification]) -> Void
    ) { self.process.query(.deliveredNotifications) { completionHandler(Self.notifications($0)) } }

    private static func notifications(_ answer: QueryAnswer?) -> [UNNotification] {
        guard case .delivered(let notifications) = answer else { return [] }
        return notifications.map { UNNotification($0) }
    }

    /// Takes notifications out of Notification Center.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        self.process.report(.deliveredRemoved(identifiers: identifiers))
    }

    /// Takes all of the app's notifications out of Notification Center.
    public func removeAllDeliveredNotifications() { self.process.report(.deliveredRemoved(identifiers: nil)) }

    // Categories and badge.

    /// Registers the whole set of categories.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        let values = categories.sorted { $0.identifier < $1.identifier }.map(\.value)
        self.process.report(.categoriesSet(values))
    }

    /// The set the app registered, at this or an earlier start.
    public func notificationCategories() async -> Set<UNNotificationCategory> {
        Self.categories(await self.process.query(.categories))
    }

    /// The set the app registered, at this or an earlier start.
    public func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) { self.process.query(.categories) { completionHandler(Self.categories($0)) } }

    private static func categories(_ answer: QueryAnswer?) -> Set<UNNotificationCategory> {
        guard case .categories(let categories) = answer else { return [] }
        return Set(categories.map { UNNotificationCategory($0) })
    }

    /// Sets the number on the icon (iOS 16).
    public func setBadgeCount(_ newBadgeCount: Int) async throws {
        if let error = Self.refusal(await self.process.query(.setBadgeCount(newBadgeCount))) { throw error }
    }

    /// Sets the number on the icon (iOS 16).
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) { self.process.query(.setBadgeCount(newBadgeCount)) { completionHandler?(Self.refusal($0)) } }

    private static func refusal(_ answer: QueryAnswer?) -> UNError? {
        guard case .refused(let error) = answer else { return nil }
        return UNError(error)
    }
}
