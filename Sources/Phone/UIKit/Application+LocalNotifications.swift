import Foundation
import PhoneCore
import UserNotifications
import VirtualPhone

// Notifications before UserNotifications (iOS 3–9).
extension UIApplication {
    /// Returns the kinds of iOS 3–7 that the person allows.
    public func enabledRemoteNotificationTypes() -> UIRemoteNotificationType {
        UIRemoteNotificationType(rawValue: self.allowedTypes.rawValue)
    }

    /// Asks the person, the first time, and registers the categories (iOS 8–9); the answer comes to the delegate's
    /// `application(_:didRegister:)`.
    public func registerUserNotificationSettings(_ notificationSettings: UIUserNotificationSettings) {
        self.registeredSettings = notificationSettings
        self.process.report(
            .userNotificationSettingsRegistered(
                AuthorizationOptions(rawValue: notificationSettings.types.rawValue),
                (notificationSettings.categories ?? []).sorted { ($0.identifier ?? "") < ($1.identifier ?? "") }
                    .map(\.value)))
    }

    /// The types that the person allows now, with the categories this process registered; nil before it registered any (iOS 8–9).
    public var currentUserNotificationSettings: UIUserNotificationSettings? {
        UIUserNotificationSettings(types: self.allowedTypes, categories: self.registeredSettings?.categories)
    }

    private var allowedTypes: UIUserNotificationType {
        guard case .settings(let settings) = self.process.queryNow(.settings), settings.allowsPresentation else {
            return []
        }
        var types: UIUserNotificationType = []
        if settings.badge { types.insert(.badge) }
        if settings.sound { types.insert(.sound) }
        if settings.alert { types.insert(.alert) }
        return types
    }

    /// Shows a local notification now, whatever its date.
    public func presentLocalNotificationNow(_ notification: UILocalNotification) {
        self.post(notification.request(identifier: self.newIdentifier, isNow: true))
    }

    /// Shows a local notification at its date; now if it has none. The system keeps a copy, the 64 soonest of an app.
    public func scheduleLocalNotification(_ notification: UILocalNotification) {
        self.post(notification.request(identifier: self.newIdentifier, isNow: false))
    }

    private func post(_ request: NotificationRequest) { self.process.report(.localNotificationScheduled(request)) }

    private var newIdentifier: String { "local-\(UUID().uuidString.lowercased())" }

    /// Takes a local notification back; one that was shown leaves the list.
    public func cancelLocalNotification(_ notification: UILocalNotification) {
        guard !notification.identifier.isEmpty else { return }
        self.process.report(.localNotificationCancelled(identifier: notification.identifier))
    }

    /// Takes all local notifications back.
    public func cancelAllLocalNotifications() { self.process.report(.localNotificationCancelled(identifier: nil)) }

    /// The local notifications whose moment has not come. Setting replaces them all.
    public var scheduledLocalNotifications: [UILocalNotification]? {
        get {
            guard case .pending(let requests) = self.process.queryNow(.pendingRequests) else { return [] }
            return requests.compactMap { request in
                guard case .fireDate = request.trigger else { return nil }
                return UILocalNotification(request)
            }
        }
        set {
            self.cancelAllLocalNotifications()
            for notification in newValue ?? [] { self.scheduleLocalNotification(notification) }
        }
    }

    /// The number on the icon; deprecated by Apple from iOS 17. Setting 0 clears the app's notifications (quirk Q8).
    public var applicationIconBadgeNumber: Int {
        get {
            guard case .badge(let count) = self.process.queryNow(.badgeCount) else { return 0 }
            return count
        }
        set { self.process.report(.iconBadgeNumberSet(newValue)) }
    }
}
