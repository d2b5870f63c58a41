import TidingsModel

/// Presents notifications to the person (ios-delivery.md §5.0).
extension NotificationCenter {
    /// Presents what arrived while the app was not in the foreground.
    mutating func presentElsewhere(_ arrival: Arrival, of app: InstalledApp, _ turn: inout Turn) {
        if arrival.isVisible {
            self.present(arrival, of: app, &turn)
        } else if arrival.isFiltered {
            self.presentFiltered(arrival, &turn)
        } else if arrival.pushClass.isVisible {
            // ios-delivery.md §4 gate 3.
            let isUnasked = self.permissions.authorizationStatus == .notDetermined
            turn.recordHidden(
                arrival.request.identifier, isRemote: !arrival.isLocal,
                turn.version >= 8 && turn.version < 10 && isUnasked ? .notRegistered : .notAuthorized)
        }
    }

    mutating func present(_ arrival: Arrival, of app: InstalledApp, _ turn: inout Turn) {
        let facts = self.facts(of: app, isLocal: arrival.isLocal, &turn)
        self.apply(
            PresentationGate.verdict(arrival.request.content, facts),
            to: DeliveredNotification(request: arrival.request, date: turn.now.wall), of: app.bundleID, &turn)
    }

    /// Kinds that are turned off stay off (ios-delivery.md §4 gate 4). Before iOS 14 only `.alert` shows text; from
    /// iOS 14 it means banner and list (§5.5).
    mutating func present(
        _ notification: DeliveredNotification, asAnswered answered: WillPresentOptions, of app: InstalledApp,
        _ turn: inout Turn
    ) {
        let allowed = self.permissions
        let isProvisional = allowed.authorizationStatus == .provisional
        var options = answered
        if turn.version < 14 { options.subtract([.banner, .list]) }
        if answered.contains(.alert) { options.formUnion([.banner, .list]) }
        let hasBanners = allowed.alert && allowed.alertStyle != .none
        if !hasBanners || isProvisional { options.remove(.banner) }
        if !allowed.notificationCenter { options.remove(.list) }
        let facts = self.facts(of: app, isLocal: false, &turn)
        let isCritical = PresentationGate.level(of: notification.request.content, facts) == .critical
        if !(allowed.sound || isCritical) || isProvisional { options.remove(.sound) }
        if !allowed.badge || isProvisional { options.remove(.badge) }
        if turn.notices.isMuted, !isCritical { options.remove(.sound) }
        self.apply(
            PresentationVerdict(options: options, persists: allowed.alertStyle == .alert, reason: .willPresent),
            to: notification, of: app.bundleID, &turn)
    }

    private func facts(of app: InstalledApp, isLocal: Bool, _ turn: inout Turn) -> PresentationFacts {
        var allowed = self.permissions
        // Before iOS 8 an app asked for pushes only.
        if isLocal, turn.version < 8, allowed.authorizationStatus == .notDetermined {
            allowed.decide([.alert, .sound, .badge], status: .authorized)
        }
        let hasFocus = turn.version >= 15 && turn.notices.focus?.allowedApps.contains(app.bundleID) == false
        return PresentationFacts(
            version: turn.version, settings: allowed, entitlements: app.entitlements,
            isLocked: turn.system.lock != .unlocked, isMuted: turn.notices.isMuted,
            focus: hasFocus ? turn.notices.focus : nil,
            isSummarized: turn.version >= 15 && allowed.scheduledDelivery && !turn.notices.summaryTimes.isEmpty)
    }

    private mutating func apply(
        _ verdict: PresentationVerdict, to notification: DeliveredNotification, of app: BundleID, _ turn: inout Turn
    ) {
        let content = notification.request.content
        let options = verdict.options
        let entry = ListEntry(app: app, notification: notification)
        let limit = turn.settings.listLimit
        let until = turn.now.monotonic + turn.settings.bannerTime
        var record = PresentationRecord(
            identifier: notification.request.identifier, isRemote: notification.request.isRemote,
            reason: verdict.reason)
        record.banner = content.hasText && options.contains(.banner)
        record.list = content.hasText && options.contains(.list)
        record.sound = content.sound != nil && options.contains(.sound)
        record.badge = options.contains(.badge) ? content.badge : nil
        record.panel = content.hasText && verdict.panel
        record.lit = verdict.lights && (record.banner || record.panel)
        if record.lit { turn.notices.litUntil = until }
        let isHeld = verdict.reason == .heldForSummary && content.hasText
        if record.list || record.banner || record.panel || isHeld {
            record.replaced = turn.notices.replace(entry.key, entryLeaves: isHeld)
        }
        if record.list { record.replaced = turn.notices.list.insert(entry, limit: limit) || record.replaced }
        if record.banner {
            let stays = verdict.persists && turn.system.lock == .unlocked
            turn.notices.list.showBanner(entry, until: stays ? .max : until, limit: limit)
        }
        if record.panel { turn.notices.list.showPanel(entry, limit: limit) }
        if isHeld { turn.notices.hold(entry, turn.now, turn.settings) }
        turn.record(.presentation(record))
        if let badge = record.badge { self.setBadge(badge, &turn) }
    }

    /// The extension discarded it; a badge it set still counts (ios-delivery.md §10).
    mutating func presentFiltered(_ arrival: Arrival, _ turn: inout Turn) {
        let badge = self.allowsBadge(turn.version) ? arrival.request.content.badge : nil
        turn.record(
            .presentation(
                PresentationRecord(
                    identifier: arrival.request.identifier, isRemote: true, badge: badge, reason: .filtered)))
        if let badge { self.setBadge(badge, &turn) }
    }

    /// Presents a notification that the summary held, unless the person has turned notifications off meanwhile
    /// (ios-delivery.md §4 gates 3 and 4).
    mutating func release(_ entry: ListEntry, of app: InstalledApp, _ turn: inout Turn) {
        let request = entry.notification.request
        let facts = self.facts(of: app, isLocal: !request.isRemote, &turn)
        guard facts.settings.allowsPresentation else {
            return turn.recordHidden(request.identifier, isRemote: request.isRemote, .notAuthorized)
        }
        var record = PresentationRecord(
            identifier: request.identifier, isRemote: request.isRemote, list: PresentationGate.lists(facts),
            reason: .summary)
        if record.list { record.replaced = turn.notices.list.insert(entry, limit: turn.settings.listLimit) }
        turn.record(.presentation(record))
    }

    /// A locked phone's screen lights up, an unlocked one shows a banner; the texts are for Apple Watch only
    /// (ActivityKit, `AlertConfiguration`). Nothing while a Focus forbids it: Apple's pages do not say, so this is a choice.
    func presentAlert(_ aps: JSONValue?, ofActivity activity: String, of app: InstalledApp, _ turn: inout Turn) {
        let facts = self.facts(of: app, isLocal: false, &turn)
        var record = PresentationRecord(identifier: activity, isRemote: true, reason: .liveActivity)
        if facts.focus == nil {
            // Apple's samples have the sound inside the alert (APNs reference, section 13).
            let sound = (aps?["alert"]?["sound"] ?? aps?["sound"]).flatMap(NotificationSound.init(payloadValue:))
            record.sound = sound != nil && !facts.isMuted
            record.banner = !facts.isLocked
            record.lit = facts.isLocked
            if record.lit { turn.notices.litUntil = turn.now.monotonic + turn.settings.bannerTime }
        } else {
            record.reason = .focus
        }
        turn.record(.presentation(record))
    }

    /// Text is hidden from iOS 11 by the setting, before the first unlock always (ios-delivery.md §5.0, §5.3 row BFU).
    func withHiddenPreview(_ entry: ListEntry, _ lock: LockState, _ version: OSVersion) -> ListEntry {
        let isHidden =
            switch self.permissions.showPreviews {
            case .always: lock == .beforeFirstUnlock
            case .whenAuthenticated: lock == .beforeFirstUnlock || (lock == .locked && version >= 11)
            case .never: lock == .beforeFirstUnlock || version >= 11
            }
        guard version >= 10, isHidden else { return entry }
        let category = version >= 11 ? self.category(of: entry.notification.request.content) : nil
        let body = category?.hiddenPreviewsBodyPlaceholder ?? ""
        var seen = entry
        seen.hidden = HiddenPreview(
            body: body.isEmpty ? HiddenPreview.standardBody : body,
            showsTitle: category?.options.contains(.hiddenPreviewsShowTitle) == true,
            showsSubtitle: category?.options.contains(.hiddenPreviewsShowSubtitle) == true)
        return seen
    }
}
