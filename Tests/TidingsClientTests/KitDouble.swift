import ClientCore
import Synchronization
import TidingsModel

@testable import TidingsClient

/// A kit with a notification centre of its own.
final class KitDouble: KitHost {
    struct State {
        var delivered: [MessageID: LocalNotification] = [:]
        var posted: [LocalNotification] = []
        var badges: [Int?] = []
        var shownBadge: Int?
        /// The numbers the client has written to the icon, in order.
        var written: [Int] = []
        var tasks: [String] = []
        var names: ResolvedNames = ResolvedNames(user: "Bob")
        /// What happens once, after the app has decided on a number and before the icon has it.
        var beforeBadge: (@Sendable () -> Void)?
        var donated: [CommunicationForm] = []
        var deleted: [DonationScope] = []
    }

    let state = Mutex(State())

    /// Waits for what the client has begun, as its own tasks do it; gives up where it never comes, so that what is expected
    /// next tells what is there.
    func until(_ holds: (State) -> Bool) async {
        let end = ContinuousClock.now.advanced(by: .seconds(120))
        while !self.state.withLock({ holds($0) }), ContinuousClock.now < end {
            await Task.yield()
            try? await Task.sleep(for: .microseconds(200))
        }
    }

    func names(_ question: NameQuestion) async -> ResolvedNames { self.state.withLock { $0.names } }
    func handles(_ message: Message, senderName: String) async -> Bool { false }
    func ringInForeground(_ notification: LocalNotification) {}
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult {
        self.state.withLock { state in
            state.posted.append(notification)
            state.badges.append(badge)
            state.delivered[notification.message] = notification
        }
        return .shown
    }
    let major = 17
    func deliveredNotifications() async -> [NotificationCenterQueue.Entry] {
        self.state.withLock { state in
            state.delivered.map { id, notification in
                NotificationCenterQueue.Entry(
                    identifier: id.description, userInfo: notification.userInfo,
                    thread: notification.conversation.description)
            }
        }
    }
    func removeDeliveredNotifications(_ identifiers: [String]) {
        self.state.withLock { state in
            for id in identifiers.compactMap({ MessageID($0) }) { state.delivered[id] = nil }
        }
    }
    func removeScheduledNotifications() async {}
    func deviceStatus() async -> DeviceStatus? {
        DeviceStatus(
            authorization: .provisional, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .denied)
    }
    func showBadgeNow(_ number: Int) { self.state.withLock { $0.shownBadge = number } }
    func showBadge(_ number: Int) async {
        self.state.withLock { $0.beforeBadge.take() }?()
        self.state.withLock { state in
            state.shownBadge = number
            state.written.append(number)
        }
    }
    func donate(_ form: CommunicationForm) { self.state.withLock { $0.donated.append(form) } }
    func deleteDonations(_ scope: DonationScope) { self.state.withLock { $0.deleted.append(scope) } }
    func beginBackgroundTask(for engine: ObjectIdentifier) { self.state.withLock { $0.tasks.append("begin") } }
    func endBackgroundTask(for engine: ObjectIdentifier) { self.state.withLock { $0.tasks.append("end") } }
}
