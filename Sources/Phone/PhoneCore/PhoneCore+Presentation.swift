import TidingsModel

/// Presents notifications to the person (ios-delivery.md §5.0), and sets the badge.
extension PhoneCore {
    mutating func presentBySystem(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        let facts = self.presentationFacts(index, isLocal: arrival.isLocal)
        self.applyVerdict(
            DeliveredNotification(request: arrival.request, date: turn.now.wall), index,
            PresentationGate.verdict(arrival.request.content, facts), &turn)
    }

    /// Kinds that are turned off stay off (ios-delivery.md §4 gate 4). Before iOS 14 only `.alert` shows text; from
    /// iOS 14 it means banner and list (§5.5).
    mutating func presentAsAnswered(
        _ notification: DeliveredNotification, _ index: Int, answered: WillPresentOptions, _ turn: inout Turn
    ) {
        let settings = self.apps[index].settings
        let isProvisional = settings.authorizationStatus == .provisional
        var options = answered
        if self.version < 14 { options.subtract([.banner, .list]) }
        if answered.contains(.alert) { options.formUnion([.banner, .list]) }
        let hasBanners = settings.alert && settings.alertStyle != .none
        if !hasBanners || isProvisional { options.remove(.banner) }
        if !settings.notificationCenter { options.remove(.list) }
        let facts = self.presentationFacts(index, isLocal: false)
        let isCritical = PresentationGate.level(of: notification.request.content, facts) == .critical
        if !(settings.sound || isCritical) || isProvisional { options.remove(.sound) }
        if !settings.badge || isProvisional { options.remove(.badge) }
        if self.notices.isMuted, !isCritical { options.remove(.sound) }
        self.applyVerdict(
            notification, index,
            PresentationVerdict(
                options: options, persists: settings.alertStyle == .alert, reason: .willPresent), &turn)
    }

    func presentationFacts(_ index: Int, isLocal: Bool) -> PresentationFacts {
        let app = self.bundleID(index)
        var settings = self.apps[index].settings
        // Before iOS 8 an app asked for pushes only.
        if isLocal, self.version < 8, settings.authorizationStatus == .notDetermined {
            settings.decide([.alert, .sound, .badge], status: .authorized)
        }
        let hasFocus = self.version >= 15 && self.notices.focus?.allowedApps.contains(app) == false
        return PresentationFacts(
            version: self.version, settings: settings, entitlements: self.apps[index].installed.entitlements,
            isLocked: self.lock != .unlocked, isMuted: self.notices.isMuted,
            focus: hasFocus ? self.notices.focus : nil,
            isSummarized: self.version >= 15 && settings.scheduledDelivery && !self.notices.summaryTimes.isEmpty)
    }

    private mutating func applyVerdict(
        _ notification: DeliveredNotification, _ index: Int, _ verdict: PresentationVerdict, _ turn: inout Turn
    ) {
        let content = notification.request.content
        let options = verdict.options
        let entry = ListEntry(app: self.bundleID(index), notification: notification)
        var record = PresentationRecord(
            identifier: notification.request.identifier, isRemote: notification.request.isRemote,
            reason: verdict.reason)
        record.banner = content.hasText && options.contains(.banner)
        record.list = content.hasText && options.contains(.list)
        record.sound = content.sound != nil && options.contains(.sound)
        record.badge = options.contains(.badge) ? content.badge : nil
        record.panel = content.hasText && verdict.panel
        record.lit = verdict.lights && (record.banner || record.panel)
        if record.lit { self.notices.litUntil = turn.now.monotonic + self.settings.bannerTime }
        let isHeld = verdict.reason == .heldForSummary && content.hasText
        if record.list || record.banner || record.panel || isHeld {
            record.replaced = self.replace(entry.key, entryLeaves: isHeld)
        }
        if record.list {
            record.replaced = self.list.insert(entry, limit: self.settings.listLimit) || record.replaced
        }
        if record.banner {
            let stays = verdict.persists && self.lock == .unlocked
            self.list.showBanner(
                entry, until: stays ? .max : turn.now.monotonic + self.settings.bannerTime,
                limit: self.settings.listLimit)
        }
        if record.panel { self.list.showPanel(entry, limit: self.settings.listLimit) }
        if isHeld { self.holdForSummary(entry, &turn) }
        turn.record(entry.app, .presentation(record))
        if let badge = record.badge { self.setBadge(badge, index, &turn) }
    }

    /// A notification replaces the last one of its name wherever that still shows or waits (ios-delivery.md §9).
    /// Returns whether an entry was removed.
    private mutating func replace(_ key: NotificationKey, entryLeaves: Bool) -> Bool {
        let wasHeld = self.notices.remove(key)
        self.list.removeShown(key)
        guard entryLeaves else { return wasHeld }
        return self.list.removeEntry(key) || wasHeld
    }

    func presentNothing(
        _ identifier: String, _ index: Int, isRemote: Bool, reason: PresentationReason, _ turn: inout Turn
    ) {
        turn.record(
            self.bundleID(index),
            .presentation(PresentationRecord(identifier: identifier, isRemote: isRemote, reason: reason)))
    }

    /// The extension discarded it; a badge it set still counts (ios-delivery.md §10).
    mutating func presentFiltered(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        let badge = self.allowsBadge(index) ? arrival.request.content.badge : nil
        turn.record(
            self.bundleID(index),
            .presentation(
                PresentationRecord(
                    identifier: arrival.request.identifier, isRemote: true, badge: badge, reason: .filtered)))
        if let badge { self.setBadge(badge, index, &turn) }
    }

    mutating func setBadge(_ count: Int, _ index: Int, _ turn: inout Turn) {
        let count = max(0, count)
        guard self.apps[index].badge != count else { return }
        self.apps[index].badge = count
        turn.record(self.bundleID(index), .badge(count))
    }
}
