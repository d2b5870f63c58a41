package import TidingsModel

// What the kit does to the number that app and extension share (S2.11–S2.20; design.md P4).
extension ExtensionGroup {
    /// Returns the number the notification brings; nil leaves the icon alone.
    package mutating func countPosted(_ notification: LocalNotification) -> Int? {
        guard notification.setsBadge else { return nil }
        return self.countUnread(notification.unread, at: notification.position)
    }

    /// For the app in the background. Without a stored number nothing is changed (S2.20); nil leaves the icon alone.
    package mutating func countUnread(_ unread: Int, at position: LogPosition) -> Int? {
        self.badge?.posted(unread: unread, position: position)
        return self.badge?.shown
    }

    /// For an app that stops being active (S2.17).
    package mutating func countResigned(unread: Int, at position: LogPosition) -> Int {
        var badge = self.badge ?? Badge()
        badge.resigned(unread: unread, position: position)
        self.badge = badge
        return badge.shown
    }
}
