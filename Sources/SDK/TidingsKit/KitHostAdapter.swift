import ClientCore
import Foundation
import TidingsAppGroup
import TidingsClient
import TidingsModel
import TidingsNotificationContent
import UIKit
import UserNotifications

final class KitHostAdapter: KitHost {
    struct Providers {
        var user: (any UserInfoProvider)?
        var group: (any GroupInfoProvider)?
        var member: (any GroupMemberInfoProvider)?
        var delegates: [WeakDelegate] = []
        var hasCategory = false
        var portraits = Portraits()
    }

    let providers = Locked(Providers())
    let messageArrived = Locked<(@Sendable (LocalNotification) -> Void)?>(nil)
    private let client: WeakClient
    private let center: UNUserNotificationCenter
    private let application: UIApplication
    private let background: BackgroundTask
    private let system: SystemVersion

    @MainActor init(
        client: ChatClient, application: UIApplication, center: UNUserNotificationCenter, system: SystemVersion
    ) {
        self.system = system
        self.client = WeakClient(client)
        self.application = application
        self.center = center
        self.background = BackgroundTask(client: client, application: application)
    }

    func names(_ question: NameQuestion) async -> ResolvedNames {
        let (users, groups, members) = self.providers.withLock { ($0.user, $0.group, $0.member) }
        var names = ResolvedNames()
        let user = await users?.userInfo(for: question.sender)
        names.user = user?.name
        self.providers.withLock { $0.portraits.store(user?.portrait, of: .user(question.sender)) }
        if let group = question.group {
            let info = await groups?.groupInfo(for: group)
            names.group = info?.name
            self.providers.withLock { $0.portraits.store(info?.portrait, of: .group(group)) }
            names.member = await members?.memberName(of: question.sender, in: group)
        }
        return await self.client.value?.filled(names, for: question) ?? names
    }

    func handles(_ message: Message, senderName: String) async -> Bool {
        guard let client = self.client.value else { return false }
        for delegate in self.providers.withLock({ $0.delegates.compactMap(\.object) })
        where await delegate.client(client, shouldHandleNotificationFor: message, senderName: senderName) {
            return true
        }
        return false
    }

    func ringInForeground(_ notification: LocalNotification) {
        self.messageArrived.withLock { $0 }?(notification.lookedUp(AppStrings.text))
    }

    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult {
        #if TIDINGS_UIKIT
            if self.system.major < 10 { return await self.postTheOldWay(notification, badge: badge) }
        #endif
        let settings = await self.center.notificationSettings()
        guard settings.authorizationStatus != .denied, settings.authorizationStatus != .notDetermined else {
            return .notAuthorized
        }
        var content = UNMutableNotificationContent()
        content.title = notification.title.notificationText
        if let subtitle = notification.subtitle { content.subtitle = subtitle.notificationText }
        content.body = notification.body.notificationText
        let category = self.providers.withLock { $0.hasCategory } ? MessageCategory.identifier : ""
        content.apply(notification.manner(category: category))
        content.userInfo = notification.userInfo.userInfo
        if let badge { content.badge = NSNumber(value: badge) }
        let made = notification.communication.flatMap {
            CommunicationNotification.content(from: content, $0, self.portraits(of: $0))
        }
        let request = UNNotificationRequest(
            identifier: notification.message.description, content: made ?? content, trigger: nil)
        do {
            try await self.center.add(request)
            return .shown
        } catch let error as UNError where error.code == .notificationsNotAllowed {
            return .notAuthorized
        } catch {
            return .failed
        }
    }

    private func portraits(of form: CommunicationForm) -> CommunicationNotification.Portraits {
        self.providers.withLock { providers in
            CommunicationNotification.Portraits(
                sender: form.sender.flatMap { providers.portraits[.user($0.id)] },
                group: form.groupName.flatMap { _ in providers.portraits[.group(form.conversation)] })
        }
    }

    func donate(_ form: CommunicationForm) { CommunicationNotification.donate(form, self.portraits(of: form)) }

    func deleteDonations(_ scope: DonationScope) { CommunicationNotification.deleteDonations(scope) }

    var major: Int { self.system.major }

    func deliveredNotifications() async -> [NotificationCenterQueue.Entry] {
        guard self.system.major >= 10 else { return [] }
        return await self.center.deliveredNotifications().map { notification in
            let content = notification.request.content
            return NotificationCenterQueue.Entry(
                identifier: notification.request.identifier, userInfo: JSONValue(userInfo: content.userInfo),
                thread: content.threadIdentifier)
        }
    }

    func removeDeliveredNotifications(_ identifiers: [String]) {
        self.center.removeDeliveredNotifications(withIdentifiers: identifiers)
    }

    func removeScheduledNotifications() async {
        #if TIDINGS_UIKIT
            if self.system.major < 10 { return await self.removeScheduledTheOldWay() }
        #endif
        let pending = await self.center.pendingNotificationRequests()
            .filter { NotificationClearing.isOurs(JSONValue(userInfo: $0.content.userInfo)) }.map(\.identifier)
        if !pending.isEmpty { self.center.removePendingNotificationRequests(withIdentifiers: pending) }
    }

    #if TIDINGS_UIKIT
        /// iOS 4–9 (S3.9). There is no identifier, so nothing is replaced.
        @MainActor private func postTheOldWay(_ notification: LocalNotification, badge: Int?) -> PostResult {
            guard !notification.isSilent else { return .shown }
            let local = UILocalNotification()
            let shown = notification.lookedUp(AppStrings.text)
            local.alertBody = shown.body.plain
            if self.system.major >= 8 { local.alertTitle = shown.title.plain }
            switch notification.manner(category: "").sound {
            case .standard, .critical(nil): local.soundName = UILocalNotificationDefaultSoundName
            case .named(let name), .critical(let name?): local.soundName = name
            case nil: local.soundName = nil
            }
            local.userInfo = notification.userInfo.userInfo
            if let badge { local.applicationIconBadgeNumber = badge }
            self.application.presentLocalNotificationNow(local)
            return .shown
        }
    #endif

    #if TIDINGS_UIKIT
        /// iOS 4–9: what was shown cannot be listed, so all of it is taken back; the app's own scheduled
        /// notifications stay.
        @MainActor private func removeScheduledTheOldWay() {
            let scheduled = self.application.scheduledLocalNotifications ?? []
            self.application.scheduledLocalNotifications = scheduled.filter {
                !NotificationClearing.isOurs(JSONValue(userInfo: $0.userInfo ?? [:]))
            }
        }
    #endif

    func deviceStatus() async -> DeviceStatus? {
        guard self.system.major >= 10 else { return nil }
        let settings = await self.center.notificationSettings()
        let authorization: DeviceStatus.Authorization
        switch settings.authorizationStatus {
        case .notDetermined: authorization = .notDetermined
        case .denied: authorization = .denied
        case .authorized: authorization = .authorized
        case .provisional: authorization = .provisional
        case .ephemeral: authorization = .ephemeral
        @unknown default: return nil
        }
        let refresh: DeviceStatus.BackgroundRefresh
        switch await self.refreshStatus() {
        case .available: refresh = .available
        case .denied: refresh = .denied
        case .restricted: refresh = .restricted
        @unknown default: return nil
        }
        let model = await KitSurroundings.model
        return DeviceStatus(
            authorization: authorization, alert: settings.alertSetting == .enabled,
            sound: settings.soundSetting == .enabled, badge: settings.badgeSetting == .enabled,
            lockScreen: settings.lockScreenSetting == .enabled,
            notificationCenter: settings.notificationCenterSetting == .enabled, backgroundRefresh: refresh,
            isLowPowerModeOn: ProcessInfo.processInfo.isLowPowerModeEnabled,
            timeZone: Self.fitting(TimeZone.current.identifier) ?? "",
            languages: Locale.preferredLanguages.prefix(DeviceStatus.languagesMax).compactMap(Self.fitting),
            appVersion: Self.fitting(
                Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String) ?? "",
            systemVersion: Self.fitting(await self.systemVersion()) ?? "",
            model: model.utf8.count <= DeviceStatus.modelBytesMax ? model : "")
    }

    /// Returns the text; nil if it is longer than a report may have it.
    private static func fitting(_ text: String?) -> String? {
        text.flatMap { $0.utf8.count <= DeviceStatus.textBytesMax ? $0 : nil }
    }

    @MainActor private func systemVersion() -> String { UIDevice.current.systemVersion }

    @MainActor private func refreshStatus() -> UIBackgroundRefreshStatus { self.application.backgroundRefreshStatus }

    func showBadge(_ number: Int) async {
        if self.system.major >= 16, #available(iOS 16.0, *) {
            // Not before the system has it: of two numbers the later one is to stay.
            try? await self.center.setBadgeCount(number)
        } else {
            await self.setBadge(number)
        }
    }

    func showBadgeNow(_ number: Int) {
        if Thread.isMainThread {
            MainActor.assumeIsolated { self.setBadge(number) }
        } else {
            Task { @MainActor in self.setBadge(number) }
        }
    }

    @MainActor private func setBadge(_ number: Int) {
        if self.system.major >= 16, #available(iOS 16.0, *) {
            self.center.setBadgeCount(number) { _ in }
        } else if number != 0 || self.application.applicationIconBadgeNumber != 0 {
            // 0 over 0 would change no icon, but clear the list, and with it a push that has just come (ios-delivery.md §14, Q8).
            self.application.applicationIconBadgeNumber = number
        }
    }

    func beginBackgroundTask(for engine: ObjectIdentifier) {
        Task { @MainActor in self.background.begin(for: engine) }
    }

    func endBackgroundTask(for engine: ObjectIdentifier) {
        Task { @MainActor in self.background.end(for: engine) }
    }

    /// Runs `body` under the background task, begun before this returns, as a delegate callback must. The client's engines hold it from
    /// then on, and let it go themselves.
    @MainActor func underBackgroundTask(_ body: () -> Void) {
        let own = ObjectIdentifier(self)
        for holder in [own] + (self.client.value?.taskHolders ?? []) { self.background.begin(for: holder) }
        body()
        self.background.end(for: own)
    }
}

struct WeakDelegate: Sendable {
    weak var object: (any LocalNotificationDelegate)?
}

/// The client owns its host; the host must not own the client.
struct WeakClient: Sendable {
    private struct Reference {
        weak var value: ChatClient?
    }

    private let reference: Locked<Reference>
    init(_ value: ChatClient) { self.reference = Locked(Reference(value: value)) }
    var value: ChatClient? { self.reference.withLock { $0.value } }
}

/// The one background task of a stay in the background (ios-delivery.md §8), held by engines.
@MainActor final class BackgroundTask {
    private weak var client: ChatClient?
    private let application: UIApplication
    private var identifier = UIBackgroundTaskIdentifier.invalid
    private var holders: Set<ObjectIdentifier> = []

    init(client: ChatClient, application: UIApplication) {
        self.client = client
        self.application = application
    }

    func begin(for holder: ObjectIdentifier) {
        self.holders.insert(holder)
        guard self.identifier == .invalid else { return }
        self.identifier = self.application.beginBackgroundTask(withName: "Tidings") { [weak self] in self?.expire() }
    }

    /// The client's engines hang up and let go; who is none of them any more never will.
    private func expire() {
        self.holders.formIntersection(self.client?.taskHolders ?? [])
        self.endUnheld()
        self.client?.backgroundTimeWillExpire()
    }

    func end(for holder: ObjectIdentifier) {
        self.holders.remove(holder)
        self.endUnheld()
    }

    private func endUnheld() {
        guard self.holders.isEmpty, self.identifier != .invalid else { return }
        let identifier = self.identifier
        self.identifier = .invalid
        self.application.endBackgroundTask(identifier)
    }
}
