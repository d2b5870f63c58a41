import ClientCore
import Foundation
import Synchronization
import TidingsAppGroup
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

/// Does for the client what needs the app's providers, the notification centre or the system.
final class KitHostAdapter: KitHost {
    struct Providers {
        var user: (any UserInfoProvider)?
        var group: (any GroupInfoProvider)?
        var member: (any GroupMemberInfoProvider)?
        weak var delegate: (any LocalNotificationDelegate)?
    }

    let providers = Mutex(Providers())
    private let client: WeakClient
    private let center: UNUserNotificationCenter
    private let application: UIApplication
    private let background: BackgroundTask

    @MainActor init(client: ChatClient, application: UIApplication, center: UNUserNotificationCenter) {
        self.client = WeakClient(client)
        self.application = application
        self.center = center
        self.background = BackgroundTask(client: client, application: application)
    }

    func names(_ question: NameQuestion) async -> ResolvedNames {
        let (users, groups, members) = self.providers.withLock { ($0.user, $0.group, $0.member) }
        var names = ResolvedNames()
        names.user = await users?.userInfo(for: question.sender)?.name
        if let group = question.group {
            names.group = await groups?.groupInfo(for: group)?.name
            names.member = await members?.memberName(of: question.sender, in: group)
        }
        return names
    }

    func handles(_ message: Message, senderName: String) async -> Bool {
        guard let delegate = self.providers.withLock({ $0.delegate }), let client = self.client.value else {
            return false
        }
        return await delegate.client(client, shouldHandleNotificationFor: message, senderName: senderName)
    }

    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult {
        let settings = await self.center.notificationSettings()
        guard settings.authorizationStatus != .denied, settings.authorizationStatus != .notDetermined else {
            return .notAuthorized
        }
        let content = UNMutableNotificationContent()
        content.title = notification.title
        content.body = notification.body
        content.sound = .default
        content.threadIdentifier = notification.conversation.description
        content.userInfo = notification.payload.userInfo.userInfo
        if let badge { content.badge = NSNumber(value: badge) }
        let request = UNNotificationRequest(
            identifier: notification.message.description, content: content, trigger: nil)
        do {
            try await self.center.add(request)
            return .shown
        } catch let error as UNError where error.code == .notificationsNotAllowed {
            return .notAuthorized
        } catch {
            return .failed
        }
    }

    func deliveredIdentifiers() async -> Set<String> {
        Set(await self.center.deliveredNotifications().map(\.request.identifier))
    }

    func clearNotifications(_ conversation: ConversationID) {
        let center = self.center
        let thread = conversation.description
        Task {
            let identifiers = await center.deliveredNotifications().filter {
                let payload = try? NotificationPayload(userInfo: JSONValue(userInfo: $0.request.content.userInfo))
                return payload.map { $0.conversation == conversation }
                    ?? ($0.request.content.threadIdentifier == thread)
            }.map(\.request.identifier)
            if !identifiers.isEmpty { center.removeDeliveredNotifications(withIdentifiers: identifiers) }
        }
    }

    func showBadge(_ number: Int) {
        let center = self.center
        Task { try? await center.setBadgeCount(number) }
    }

    func beginBackgroundTask() { Task { @MainActor in self.background.begin() } }
    func endBackgroundTask() { Task { @MainActor in self.background.end() } }

    /// Begins the task on the spot, as a delegate callback must.
    @MainActor func beginBackgroundTaskNow() { self.background.begin() }
    /// Ends the task on the spot.
    @MainActor func endBackgroundTaskNow() { self.background.end() }
}

/// The client owns its host; the host must not own the client.
struct WeakClient: Sendable {
    private final class Box: Sendable {
        weak let value: ChatClient?
        init(_ value: ChatClient) { self.value = value }
    }

    private let box: Box
    init(_ value: ChatClient) { self.box = Box(value) }
    var value: ChatClient? { self.box.value }
}

/// The one background task of a stay in the background (ios-delivery.md §8).
@MainActor final class BackgroundTask {
    private weak var client: ChatClient?
    private let application: UIApplication
    private var identifier = UIBackgroundTaskIdentifier.invalid

    init(client: ChatClient, application: UIApplication) {
        self.client = client
        self.application = application
    }

    func begin() {
        guard self.identifier == .invalid else { return }
        self.identifier = self.application.beginBackgroundTask(withName: "Tidings") { [weak self] in
            // The client hangs up and ends the task; without one there is nothing to wait for.
            guard let client = self?.client, client.userID != nil else { return self?.end() ?? () }
            client.backgroundTimeWillExpire()
        }
    }

    func end() {
        guard self.identifier != .invalid else { return }
        let identifier = self.identifier
        self.identifier = .invalid
        self.application.endBackgroundTask(identifier)
    }
}
