import ClientCore
import Foundation
import Synchronization
public import TidingsAppGroup
public import TidingsModel
public import UserNotifications

/// What a notification service extension does with each push (S2.18–S2.22; DESIGN P3, §5, §7). The app's extension forwards
/// both calls:
///
/// ```swift
/// final class NotificationService: UNNotificationServiceExtension {
///     let handler = NotificationServiceHandler(appGroupIdentifier: "group.com.example.chat")
///     override func didReceive(
///         _ request: UNNotificationRequest,
///         withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
///     ) { self.handler.didReceive(request, contentHandler: contentHandler) }
///     override func serviceExtensionTimeWillExpire() { self.handler.serviceExtensionTimeWillExpire() }
/// }
/// ```
///
/// One push per handler. The content handler is called exactly once, whichever of the two calls comes first.
public final class NotificationServiceHandler: Sendable {
    private struct Open {
        var contentHandler: ContentHandler?
        var bestAttempt: UNNotificationContent?
    }

    /// The system's content handler, which may be called on any thread.
    private struct ContentHandler: @unchecked Sendable {
        // Guarded by the lock around `Open`: whoever takes it out there is the only one who calls it.
        let call: (UNNotificationContent) -> Void
    }

    private let group: AppGroup?
    private let isFilteringEntitled: Bool
    private let isRecall: @Sendable (JSONValue) -> Bool
    private let open = Mutex(Open())

    /// A handler over a badge store in the app group.
    ///
    /// - Parameters:
    ///   - badgeStore: nil if the app group cannot be used; contents then stay as they came (S2.20).
    ///   - isFilteringEntitled: whether the extension has `com.apple.developer.usernotifications.filtering`; what would be
    ///     shown silently is then not shown at all.
    ///   - isRecall: whether another sender's push withdraws a message; S2.22 by default.
    public init(
        badgeStore: BadgeStore?, isFilteringEntitled: Bool = false,
        isRecall: @escaping @Sendable (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:)
    ) {
        self.group = badgeStore?.group
        self.isFilteringEntitled = isFilteringEntitled
        self.isRecall = isRecall
    }

    /// A handler over an app group's container. Before the first unlock the container cannot be used; contents then stay as
    /// they came (S2.20).
    public convenience init(
        appGroupIdentifier: String, isFilteringEntitled: Bool = false,
        isRecall: @escaping @Sendable (JSONValue) -> Bool = CornerMarkDecrease.isSet(in:)
    ) {
        self.init(
            badgeStore: BadgeStore(appGroupIdentifier: appGroupIdentifier), isFilteringEntitled: isFilteringEntitled,
            isRecall: isRecall)
    }

    /// Decides what the push shows and calls the content handler, at the latest from `serviceExtensionTimeWillExpire`.
    public func didReceive(
        _ request: UNNotificationRequest, contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let handler = ContentHandler(call: contentHandler)
        self.open.withLock { open in
            open.contentHandler = handler
            open.bestAttempt = request.content
        }
        let userInfo = JSONValue(userInfo: request.content.userInfo)
        if let changes = self.changes(userInfo, isDelivered: nil) {
            return self.finish(request.content, changes)
        }
        // A claim whose owner is gone: the delivered list tells whether it was shown.
        let identifier = PushInfo(userInfo: userInfo)?.message.description ?? request.identifier
        UNUserNotificationCenter.current().getDeliveredNotifications { delivered in
            let isDelivered = delivered.contains { $0.request.identifier == identifier }
            self.finish(request.content, self.changes(userInfo, isDelivered: isDelivered))
        }
    }

    /// The time is up: the best content so far is shown (S2.21).
    public func serviceExtensionTimeWillExpire() {
        let content = self.open.withLock { $0.bestAttempt }
        if let content { self.complete(with: content) }
    }

    /// Nil if the delivered list has to be looked at first. Without a readable app group nothing is changed.
    private func changes(_ userInfo: JSONValue, isDelivered: Bool?) -> ExtensionDecision.Changes? {
        let wall = Int64(Date().timeIntervalSince1970 * 1_000)
        let untouched = ExtensionDecision.Changes(reason: .rings)
        guard let group = self.group else { return untouched }
        do {
            return try group.update { contents -> ExtensionDecision.Changes? in
                ExtensionDecision.changes(
                    userInfo: userInfo,
                    signIn: contents.recipient.map { .signedIn(recipientTag: $0.tag) } ?? .signedOut,
                    ledger: &contents.ledger, badge: &contents.badge, isDelivered: isDelivered,
                    isFilteringEntitled: self.isFilteringEntitled, isRecall: self.isRecall, wall: wall)
            }
        } catch {
            return untouched
        }
    }

    private func finish(_ original: UNNotificationContent, _ changes: ExtensionDecision.Changes?) {
        guard let changes, let content = original.mutableCopy() as? UNMutableNotificationContent else {
            return self.complete(with: original)
        }
        if changes.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
            content.userInfo = [:]
        }
        if let badge = changes.badge { content.badge = NSNumber(value: badge) }
        if let body = changes.body { content.body = body }
        if changes.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        let removed = changes.removed.map(\.description)
        if !removed.isEmpty {
            UNUserNotificationCenter.current().removeDeliveredNotifications(withIdentifiers: removed)
        }
        guard changes.isDiscarded else { return self.complete(with: content) }
        // A badge on otherwise empty content is still applied (ios-delivery.md §10).
        let nothing = UNMutableNotificationContent()
        nothing.badge = content.badge
        self.complete(with: nothing)
    }

    private func complete(with content: UNNotificationContent) {
        let handler = self.open.withLock { open in
            defer {
                open.contentHandler = nil
                open.bestAttempt = nil
            }
            return open.contentHandler
        }
        handler?.call(content)
    }
}

extension BadgeStore {
    /// A store in an app group's container; nil if this process does not belong to the group or cannot use it now.
    ///
    /// - Parameter key: names the number; the same in app and extension (S2.14).
    public init?(appGroupIdentifier: String, key: String = "badge") {
        guard
            let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroupIdentifier)
        else { return nil }
        try? self.init(appGroupFolder: folder, key: key)
    }
}
