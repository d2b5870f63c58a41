import ClientCore
import Synchronization
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

@testable import TidingsKit

/// A kit whose app can take its time with a presentation.
@MainActor final class HesitantKit: NotificationIntegration {
    /// Whether the app thinks until `decide` from now on.
    var hesitates = false
    private(set) var undecided: [CheckedContinuation<Void, Never>] = []

    override func presentationOptions(for notification: ReceivedNotification) async -> PresentationOptions {
        guard self.hesitates else { return await super.presentationOptions(for: notification) }
        await withCheckedContinuation { self.undecided.append($0) }
        return [.banner, .list, .sound, .badge]
    }

    func decide() {
        self.hesitates = false
        let undecided = self.undecided
        self.undecided = []
        for continuation in undecided { continuation.resume() }
    }
}

/// The completion handlers handed out, how often each was called, and with what.
final class ForwardingHandlers: Sendable {
    struct Handler: Sendable {
        var name: String
        var calls = 0
        /// For `userNotificationCenter(_:willPresent:withCompletionHandler:)`: the message, and whether its notification
        /// came with a sound.
        var message: String?
        var options: UNNotificationPresentationOptions?
        var result: UIBackgroundFetchResult?
        /// For `willPresent`: the app took longer than it may.
        var isLate = false
    }

    private struct State {
        var handlers: [Handler] = []
        /// Those that were never called, and how many of them are presentations.
        var open = 0
        var openPresentations = 0
    }

    private let state = Mutex(State())

    /// A new handler's number.
    func make(_ name: String, message: String? = nil, isLate: Bool = false) -> Int {
        self.state.withLock { state in
            state.handlers.append(Handler(name: name, message: message, isLate: isLate))
            state.open += 1
            if message != nil { state.openPresentations += 1 }
            return state.handlers.count - 1
        }
    }

    func called(
        _ number: Int, options: UNNotificationPresentationOptions? = nil, result: UIBackgroundFetchResult? = nil
    ) {
        self.state.withLock { state in
            if state.handlers[number].calls == 0 {
                state.open -= 1
                if state.handlers[number].message != nil { state.openPresentations -= 1 }
            }
            state.handlers[number].calls += 1
            state.handlers[number].options = options
            state.handlers[number].result = result
        }
    }

    var all: [Handler] { self.state.withLock { $0.handlers } }
    var isDone: Bool { self.state.withLock { $0.open == 0 } }
    /// Whether every presentation is answered.
    var arePresentationsDone: Bool { self.state.withLock { $0.openPresentations == 0 } }

    /// Handlers that were not called exactly once.
    var wrong: [String] {
        self.all.enumerated().filter { $0.element.calls != 1 }.map {
            "handler \($0.offset) of \($0.element.name) was called \($0.element.calls) times"
        }
    }

    /// How often each message rang in the foreground. A banner is a ring, with or without a sound.
    var rings: [String: Int] {
        var rings: [String: Int] = [:]
        for handler in self.all where handler.options.map(Self.isRing) ?? false {
            if let message = handler.message { rings[message, default: 0] += 1 }
        }
        return rings
    }

    /// Calls of `willPresent` that the app answered too late and the kit with something.
    var lateRings: Int { self.all.count { $0.isLate && !($0.options ?? []).isEmpty } }

    private static func isRing(_ options: UNNotificationPresentationOptions) -> Bool {
        // Sound, the alert of iOS 10–13, and the banner that took its place.
        options.rawValue & (1 << 1 | 1 << 2 | 1 << 4) != 0
    }
}

/// Which tellings of a tap are taken, and which open a screen: the rule of "a tap opens the right screen once", written a
/// second time from its words.
struct ForwardingTaps {
    /// By which kind of callback path a tap is told.
    enum CallbackPath: Hashable {
        /// Delegate or scene of iOS 10 and later: it tells which delivery is meant.
        case dated
        /// The callbacks before iOS 10: another call is another tap.
        case undated
        /// The launch options: once in a process, and before all others.
        case launch
        /// The app's own banner: every touch counts.
        case banner
    }

    struct Taken: Hashable {
        var content: String
        var action: String
    }

    private struct Notification {
        /// The launch options have told of it, and nothing else since.
        var isOnlyLaunched = false
        /// The launch is over: from now on an undated call is another tap.
        var isLaunchOver = false
        /// The actions a dated callback path, or the launch options, have told.
        var told: Set<String> = []
    }

    private var notifications: [String: Notification] = [:]
    /// Everything the app's streams must tell, in order.
    private(set) var taken: [Taken] = []
    /// Everything that must open, in order.
    private(set) var opened: [String] = []
    /// What waits for a handler.
    private(set) var waiting: String?
    var hasHandler = false {
        didSet {
            guard self.hasHandler, let waiting else { return }
            self.opened.append(waiting)
            self.waiting = nil
        }
    }
    /// Echoes that must open nothing.
    private(set) var echoes = 0

    /// The app became active: launch options have had their say.
    mutating func becameActive() {
        for content in self.notifications.keys where self.notifications[content]?.isOnlyLaunched == true {
            self.notifications[content]?.isLaunchOver = true
        }
    }

    /// A tap or action on one of ours that is for the person.
    mutating func tell(_ content: String, action: String, by path: CallbackPath) {
        var notification = self.notifications[content] ?? Notification()
        defer { self.notifications[content] = notification }
        let isTap = action == MessageCategory.defaultAction
        // The launch has opened the screen already, whatever the person did.
        let isOpen = !isTap && notification.isOnlyLaunched && (path == .dated || path == .undated)
        if isOpen { notification.isOnlyLaunched = false }
        switch path {
        case .banner: break
        case .launch:
            notification.isOnlyLaunched = true
            notification.told.insert(action)
        case .dated:
            if !notification.told.insert(action).inserted {
                if isTap { notification.isOnlyLaunched = false }
                return self.echoes += 1
            }
        case .undated:
            if isTap, notification.isOnlyLaunched, !notification.isLaunchOver {
                notification.isOnlyLaunched = false
                return self.echoes += 1
            }
        }
        self.taken.append(Taken(content: content, action: action))
        let notOpening = [
            MessageCategory.dismissAction, MessageCategory.replyAction, MessageCategory.markReadAction,
        ]
        guard !isOpen, !notOpening.contains(action) else { return }
        if self.hasHandler { self.opened.append(content) } else { self.waiting = content }
    }
}

/// How often each situation was reached.
struct ForwardingCoverage {
    private(set) var counts: [String: Int] = [:]

    /// What a long run must have reached.
    static let named: Set<String> = [
        "call while active", "call while inactive", "call while background",
        "never signed in", "signed out", "first sign-in not answered", "disconnected by the app",
        "server mute", "server refusing", "kit let go with handlers open", "client deallocated",
        "scene connection", "tap told twice by the same callback path", "echo by another callback path",
        "launch options",
        "tap on an old callback", "action on an old callback", "in-app banner tapped", "tap for another person",
        "push of others", "handler set late", "tap while no handler", "presentation answered late",
        "ring in the foreground", "silenced in the foreground", "ring in the foreground refused the second time",
        "ring in the background",
        "local notification", "badge as of resigning", "badge with a message", "badge with another sender's push",
        "badge lowered", "badge after several at once", "badge at the end of the process",
        "push about the number", "fetch newData", "fetch noData", "fetch failed", "reply", "mark as read",
    ]

    mutating func note(_ name: String, _ times: Int = 1) { if times > 0 { self.counts[name, default: 0] += times } }

    mutating func add(_ other: ForwardingCoverage) { for (name, count) in other.counts { self.note(name, count) } }

    var missing: [String] { Self.named.filter { self.counts[$0] == nil }.sorted() }

    var line: String { self.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") }
}
