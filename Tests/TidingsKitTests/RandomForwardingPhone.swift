import ClientCore
import Foundation
import Synchronization
import TidingsModel
import VirtualPhone

@testable import PhoneCore

/// The phone of one app process, as far as the kit can see it: answers at once, and notes what it is told to show.
final class ForwardingPhone: PhoneLink {
    /// What the app itself has put into the notification centre.
    struct Posted: Hashable {
        var message: String
        var rings: Bool
    }

    private struct State {
        var icon = 0
        /// How often the app has set it itself.
        var written = 0
        var list: [String: DeliveredNotification] = [:]
        var posted: [Posted] = []
        /// Counts the stays of persons on this phone.
        var stay = 0
        var backgroundMilliseconds: Int64?
        /// Questions about the settings that wait, while the system is slow.
        var heldSettings: [QueryNumber]?
    }

    private struct Owner {
        weak var process: PhoneProcess?
    }

    private let state = Mutex(State())
    private let owner = Mutex(Owner())

    func setProcess(_ process: PhoneProcess) { self.owner.withLock { $0.process = process } }

    /// The number on the icon.
    var icon: Int { self.state.withLock { $0.icon } }
    var written: Int { self.state.withLock { $0.written } }
    var posted: [Posted] { self.state.withLock { $0.posted } }

    /// A new person, for whom everything may ring once.
    func beginStay() { self.state.withLock { $0.stay += 1 } }
    /// A message's name within this stay.
    func named(_ message: String) -> String { self.state.withLock { "\(message) in stay \($0.stay)" } }

    /// How much background time the app has; nil in the foreground.
    func setBackgroundTime(_ milliseconds: Int64?) {
        self.state.withLock { $0.backgroundMilliseconds = milliseconds }
    }

    /// The system takes its time to say what the person allows.
    func holdSettings() { self.state.withLock { $0.heldSettings = [] } }
    /// How many wait for it.
    var heldCount: Int { self.state.withLock { $0.heldSettings?.count ?? 0 } }
    /// It says so now.
    func releaseSettings() {
        let held = self.state.withLock { state in
            defer { state.heldSettings = nil }
            return state.heldSettings ?? []
        }
        for number in held { self.owner.withLock { $0.process }?.resolve(self.answer(.settings), for: number) }
    }

    private func holds(_ number: QueryNumber) -> Bool {
        self.state.withLock { state in
            state.heldSettings?.append(number)
            return state.heldSettings != nil
        }
    }

    /// The system itself changes the icon, as for a push with a badge.
    func setIcon(_ number: Int) { self.state.withLock { $0.icon = number } }

    private func write(_ number: Int) {
        self.state.withLock { state in
            state.icon = number
            state.written += 1
        }
    }

    func send(_ message: ProcessMessage) {
        guard case .event(let event) = message else { return }
        switch event {
        case .query(let number, .settings) where self.holds(number): break
        case .query(let number, let query):
            self.owner.withLock { $0.process }?.resolve(self.answer(query), for: number)
        case .iconBadgeNumberSet(let number): self.write(number)
        case .localNotificationScheduled(let request): self.show(request)
        case .deliveredRemoved(let identifiers):
            self.state.withLock { state in
                guard let identifiers else { return state.list = [:] }
                for identifier in identifiers { state.list[identifier] = nil }
            }
        default: break
        }
    }

    func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { self.answer(query) }

    private func answer(_ query: Query) -> QueryAnswer {
        switch query {
        case .requestAuthorization: return .granted(true)
        case .settings:
            return .settings(
                NotificationSettings(
                    authorizationStatus: .authorized, alert: true, sound: true, badge: true, notificationCenter: true,
                    lockScreen: true))
        case .add(let request):
            self.show(request)
            return .added
        case .pendingRequests: return .pending([])
        case .deliveredNotifications: return .delivered(self.state.withLock { Array($0.list.values) })
        case .categories: return .categories([])
        case .setBadgeCount(let number):
            self.write(number)
            return .done
        case .badgeCount: return .badge(self.icon)
        case .backgroundTimeRemaining: return .backgroundTime(self.state.withLock { $0.backgroundMilliseconds })
        case .remoteRegistration: return .registered(true)
        case .backgroundRefreshStatus: return .backgroundRefreshStatus(.available)
        case .submitRefreshTask: return .done
        case .pendingRefreshTasks: return .refreshTasks([])
        case .lowPowerMode: return .lowPowerMode(false)
        case .protectedDataAvailable: return .protectedData(isAvailable: true)
        }
    }

    /// A notification of the app's own comes into the list, and what it says of the icon counts.
    private func show(_ request: NotificationRequest) {
        // The notifications of iOS 9 and before have no identifier of the app's choosing.
        let named = request.content.userInfo["rc"]?["id"]?.stringValue ?? request.identifier
        let message = self.named(named)
        let rings = request.content.sound != nil || request.content.interruptionLevel != .passive
        self.state.withLock { state in
            state.list[request.identifier] = DeliveredNotification(request: request, date: 0)
            state.posted.append(Posted(message: message, rings: rings))
            if let badge = request.content.badge { state.icon = badge }
        }
    }
}
