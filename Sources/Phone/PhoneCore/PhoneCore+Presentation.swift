import TidingsModel

/// What the person sees and hears of a notification (ios-delivery.md §5.0), and the badge.
extension PhoneCore {
    /// Presented by the system, as the settings allow.
    mutating func show(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        let settings = self.apps[index].settings
        let content = arrival.request.content
        let isProvisional = settings.authorizationStatus == .provisional
        let isPassive = self.version.hasInterruptionLevels && content.interruptionLevel == .passive
        let isQuiet = isProvisional || isPassive
        let allowsBanner = settings.alert && (self.lock == .unlocked || settings.lockScreen)
        var options: PresentationOptions = []
        if allowsBanner, !isQuiet { options.insert(.banner) }
        if settings.notificationCenter || (settings.lockScreen && self.lock != .unlocked) { options.insert(.list) }
        if settings.sound, !isQuiet { options.insert(.sound) }
        if settings.badge, !isProvisional { options.insert(.badge) }
        self.present(
            DeliveredNotification(request: arrival.request, date: turn.now.wall), index, options: options,
            reason: isProvisional ? .provisional : isPassive ? .passive : .system, &turn)
    }

    /// Presented by what WP answered; kinds that are turned off stay off (ios-delivery.md §4 gate 4).
    mutating func present(
        _ notification: DeliveredNotification, _ index: Int, answered: PresentationOptions, _ turn: inout Turn
    ) {
        let settings = self.apps[index].settings
        let isProvisional = settings.authorizationStatus == .provisional
        var options = answered
        if answered.contains(.alert) { options.formUnion([.banner, .list]) }
        if !settings.alert || isProvisional { options.remove(.banner) }
        if !settings.notificationCenter { options.remove(.list) }
        if !settings.sound || isProvisional { options.remove(.sound) }
        if !settings.badge || isProvisional { options.remove(.badge) }
        self.present(notification, index, options: options, reason: .willPresent, &turn)
    }

    private mutating func present(
        _ notification: DeliveredNotification, _ index: Int, options: PresentationOptions,
        reason: PresentationReason, _ turn: inout Turn
    ) {
        let content = notification.request.content
        let entry = ListEntry(app: self.apps[index].installed.bundleID, notification: notification)
        var record = PresentationRecord(
            identifier: notification.request.identifier, isRemote: notification.request.isRemote, reason: reason)
        record.banner = content.hasText && options.contains(.banner)
        record.list = content.hasText && options.contains(.list)
        record.sound = content.sound != nil && options.contains(.sound)
        record.badge = options.contains(.badge) ? content.badge : nil
        if record.list { record.replaced = self.list.insert(entry, limit: self.settings.listLimit) }
        if record.banner {
            self.list.showBanner(entry, until: turn.now.monotonic + self.settings.bannerTime)
        }
        turn.record(entry.app, .presentation(record))
        if let badge = record.badge { self.setBadge(badge, index, &turn) }
    }

    /// Nothing is presented; the trace says why.
    func presentNothing(
        _ identifier: String, _ index: Int, isRemote: Bool, reason: PresentationReason, _ turn: inout Turn
    ) {
        turn.record(
            self.apps[index].installed.bundleID,
            .presentation(PresentationRecord(identifier: identifier, isRemote: isRemote, reason: reason)))
    }

    /// The extension discarded it; a badge it set still counts (ios-delivery.md §10).
    mutating func presentFiltered(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        let settings = self.apps[index].settings
        let allowed = settings.badge && settings.authorizationStatus == .authorized
        let badge = allowed ? arrival.request.content.badge : nil
        turn.record(
            self.apps[index].installed.bundleID,
            .presentation(
                PresentationRecord(
                    identifier: arrival.request.identifier, isRemote: true, badge: badge, reason: .filtered)))
        if let badge { self.setBadge(badge, index, &turn) }
    }

    /// Sets the number on an icon; 0 removes it.
    mutating func setBadge(_ count: Int, _ index: Int, _ turn: inout Turn) {
        let count = max(0, count)
        guard self.apps[index].badge != count else { return }
        self.apps[index].badge = count
        turn.record(self.apps[index].installed.bundleID, .badge(count))
    }
}
