import PhoneCore
import Synchronization
package import VirtualPhone

/// What an app does with notifications: both forms of each method, completion handler and async, may be implemented
/// (ios-delivery.md §0.3).
///
/// The phone calls the completion-handler form; its default calls the async form. A class bound to the main actor conforms
/// with `@preconcurrency` for the completion-handler forms.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    /// WP: how to present a notification while the app is in front.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)
    /// WP, async form.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions
    /// DR: what the person did.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)
    /// DR, async form.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async
    /// OPS: show the app's own notification settings.
    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        let call = DelegateCall(delegate: self)
        Task { completionHandler(await call.delegate.userNotificationCenter(center, willPresent: notification)) }
    }
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        PhoneProcess.reportMissing("userNotificationCenter(_:willPresent:withCompletionHandler:)")
        return []
    }
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
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        PhoneProcess.reportMissing("userNotificationCenter(_:didReceive:withCompletionHandler:)")
    }
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
    }

    /// The process the centre belongs to.
    package let process: PhoneProcess
    private let weakDelegate = Mutex(WeakDelegate())

    init(process: PhoneProcess) { self.process = process }

    /// The centre of the app this code belongs to.
    public static func current() -> UNUserNotificationCenter { self.of(PhoneProcess.current) }

    /// The centre of a process.
    package static func of(_ process: PhoneProcess) -> UNUserNotificationCenter {
        process.facade(UNUserNotificationCenter.self) { UNUserNotificationCenter(process: process) }
    }

    /// Who is asked and told. Weak; to be set before DF returns (ios-delivery.md §6.1 rule 4). Not for extensions.
    public var delegate: (any UNUserNotificationCenterDelegate)? {
        get { self.weakDelegate.withLock { $0.object } }
        set {
            guard self.process.facts.role == .app else {
                return self.process.send(.fault("an extension must not set the delegate of UNUserNotificationCenter"))
            }
            self.weakDelegate.withLock { $0.object = newValue }
            if let newValue { self.process.check(newValue, has: DelegateMethod.ofNotificationCenter) }
            self.process.tell(.delegateChanged(isSet: newValue != nil))
        }
    }

    /// Whether content extensions are supported; they draw nothing, but are called (UserNotificationsUI).
    public var supportsContentExtensions: Bool { true }

    // Authorization.

    /// Asks the person, the first time.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        switch await self.process.ask(.requestAuthorization(AuthorizationOptions(rawValue: options.rawValue))) {
        case .granted(let isGranted): return isGranted
        case .refused(let error): throw UNError(error)
        default: return false
        }
    }

    /// Asks the person, the first time.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        self.run {
            do {
                completionHandler(try await self.requestAuthorization(options: options), nil)
            } catch {
                completionHandler(false, error)
            }
        }
    }

    /// What the person allows.
    public func notificationSettings() async -> UNNotificationSettings {
        guard case .settings(let settings) = await self.process.ask(.settings) else {
            return UNNotificationSettings(NotificationSettings())
        }
        return UNNotificationSettings(settings, entitlements: self.process.facts.entitlements)
    }

    /// What the person allows.
    public func getNotificationSettings(
        completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void
    ) { self.run { completionHandler(await self.notificationSettings()) } }

    // Requests.

    /// Adds a request; one with the same identifier is replaced.
    ///
    /// - Throws: `UNError` if notifications are not allowed or the request says nothing.
    public func add(_ request: UNNotificationRequest) async throws {
        if case .refused(let error) = await self.process.ask(.add(request.value)) { throw UNError(error) }
    }

    /// Adds a request; one with the same identifier is replaced.
    public func add(
        _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        self.run {
            do {
                try await self.add(request)
                completionHandler?(nil)
            } catch {
                completionHandler?(error)
            }
        }
    }

    /// Requests whose moment has not come.
    public func pendingNotificationRequests() async -> [UNNotificationRequest] {
        guard case .pending(let requests) = await self.process.ask(.pendingRequests) else { return [] }
        return requests.map { UNNotificationRequest($0) }
    }

    /// Requests whose moment has not come.
    public func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) { self.run { completionHandler(await self.pendingNotificationRequests()) } }

    /// Takes requests back.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        self.process.tell(.pendingRemoved(identifiers: identifiers))
    }

    /// Takes all requests back.
    public func removeAllPendingNotificationRequests() { self.process.tell(.pendingRemoved(identifiers: nil)) }

    /// What is in Notification Center now.
    public func deliveredNotifications() async -> [UNNotification] {
        guard case .delivered(let notifications) = await self.process.ask(.deliveredNotifications) else { return [] }
        return notifications.map { UNNotification($0) }
    }

    /// What is in Notification Center now.
    public func getDeliveredNotifications(
        completionHandler: @escaping @Sendable ([UNNotification]) -> Void
    ) { self.run { completionHandler(await self.deliveredNotifications()) } }

    /// Takes notifications out of Notification Center.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        self.process.tell(.deliveredRemoved(identifiers: identifiers))
    }

    /// Takes all of the app's notifications out of Notification Center.
    public func removeAllDeliveredNotifications() { self.process.tell(.deliveredRemoved(identifiers: nil)) }

    // Categories and badge.

    /// Registers the whole set of categories.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        let values = categories.sorted { $0.identifier < $1.identifier }.map(\.value)
        self.process.tell(.categoriesSet(values))
    }

    /// The set the app registered, at this or an earlier start.
    public func notificationCategories() async -> Set<UNNotificationCategory> {
        guard case .categories(let categories) = await self.process.ask(.categories) else { return [] }
        return Set(categories.map { UNNotificationCategory($0) })
    }

    /// The set the app registered, at this or an earlier start.
    public func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) { self.run { completionHandler(await self.notificationCategories()) } }

    /// Sets the number on the icon (iOS 16).
    public func setBadgeCount(_ newBadgeCount: Int) async throws {
        if case .refused(let error) = await self.process.ask(.setBadgeCount(newBadgeCount)) { throw UNError(error) }
    }

    /// Sets the number on the icon (iOS 16).
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        self.run {
            do {
                try await self.setBadgeCount(newBadgeCount)
                completionHandler?(nil)
            } catch {
                completionHandler?(error)
            }
        }
    }

    /// Work of a completion-handler form, bound to the process.
    private func run(_ work: @escaping @Sendable () async -> Void) {
        withPhoneProcess(self.process) { _ = Task { await work() } }
    }
}
