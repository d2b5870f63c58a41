import TidingsModel

extension PhoneCore {
    mutating func handleNotices(_ event: PersonEvent, _ turn: inout Turn) {
        switch event {
        case .alertStyleChanged(let app, let style):
            guard let index = self.installed(app, &turn) else { return }
            self.apps[index].settings.alertStyle = style
        case .previewsChanged(let app, let previews):
            guard let index = self.installed(app, &turn) else { return }
            self.apps[index].settings.showPreviews = previews
        case .focusChanged(let focus): self.notices.focus = focus
        case .summaryTimesChanged(let times): self.changeSummaryTimes(times, &turn)
        case .muteChanged(let isOn): self.notices.isMuted = isOn
        case .notificationSettingsOpened(let key):
            guard let entry = self.list.entry(key) else {
                return turn.recordFault(key.app, "notification \(key.identifier) must be in the list or a banner")
            }
            self.openSettings(of: key.app, from: entry.notification, &turn)
        case .appSettingsOpened(let app): self.openSettings(of: app, from: nil, &turn)
        case .bannerSwipedAway(let key): self.list.removeBanner(key)
        case .provisionalAnswered(let app, let keep): self.answerProvisional(app, keep: keep, &turn)
        case .alertPanelAnswered(let opens): self.answerPanel(opens: opens, &turn)
        default: break
        }
    }

    // MARK: Panels and provisional notifications

    private mutating func answerPanel(opens: Bool, _ turn: inout Turn) {
        guard let panel = self.list.panels.first else {
            return turn.recordFault(nil, "an alert panel must be on the screen")
        }
        guard opens else { return self.list.closePanel() }
        self.performAction(on: panel.key, action: UserResponse.defaultAction, text: nil, &turn)
    }

    private mutating func answerProvisional(_ app: BundleID, keep: Bool, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn) else { return }
        guard self.apps[index].settings.authorizationStatus == .provisional else {
            return turn.recordFault(app, "app \(app) must have provisional authorization")
        }
        guard keep else { return self.apps[index].settings.turn(.notifications, isOn: false) }
        self.apps[index].settings.authorizationStatus = .authorized
        self.apps[index].settings.alertStyle = .none
        self.apps[index].settings.lockScreen = false
        self.apps[index].settings.sound = false
        self.apps[index].settings.badge = false
    }

    // MARK: The app's own settings

    /// `userNotificationCenter(_:openSettingsFor:)` (ios-delivery.md §6.5).
    private mutating func openSettings(
        of app: BundleID, from notification: DeliveredNotification?, _ turn: inout Turn
    ) {
        guard let index = self.installed(app, &turn) else { return }
        guard self.version >= 12, self.apps[index].settings.providesAppNotificationSettings,
            self.apps[index].installed.methods.contains(.openSettings)
        else { return turn.recordFault(app, "app \(app) must offer its own notification settings") }
        self.unlock(returning: false, &turn)
        self.bringToFront(index, options: LaunchOptions(), step: .openSettings(notification), &turn)
    }

    // MARK: Scheduled summary

    private mutating func changeSummaryTimes(_ times: [Int], _ turn: inout Turn) {
        guard times.allSatisfy({ (0..<1_440).contains($0) }) else {
            return turn.recordFault(nil, "summary times must be 0 to 1439 minutes after midnight")
        }
        self.notices.summaryTimes = times
        if times.isEmpty { return self.deliverSummary(&turn) }
        if !self.notices.heldForSummary.isEmpty { self.notices.summaryAt = self.nextSummary(turn.now) }
    }

    private func nextSummary(_ now: Now) -> Int64? {
        CalendarMath.next(
            minutesOfDay: self.notices.summaryTimes, after: now.wall, utcOffset: self.settings.utcOffsetMinutes
        ).map { now.monotonic + ($0 - now.wall) }
    }

    mutating func holdForSummary(_ entry: ListEntry, _ turn: inout Turn) {
        self.notices.holdForSummary(entry, limit: self.settings.listLimit)
        if self.notices.summaryAt == nil { self.notices.summaryAt = self.nextSummary(turn.now) }
    }

    mutating func deliverSummary(_ turn: inout Turn) {
        let held = self.notices.heldForSummary
        self.notices.heldForSummary = []
        self.notices.summaryAt = nil
        for entry in held { self.releaseHeld(entry, &turn) }
    }

    mutating func releaseSummary(of app: BundleID, _ turn: inout Turn) {
        let held = self.notices.heldForSummary.filter { $0.app == app }
        self.notices.remove(app: app, identifiers: nil)
        for entry in held { self.releaseHeld(entry, &turn) }
    }

    /// Presents a held notification, unless the person has turned notifications off meanwhile (ios-delivery.md §4 gates 3 and 4).
    private mutating func releaseHeld(_ entry: ListEntry, _ turn: inout Turn) {
        guard let index = self.index(of: entry.app) else { return }
        let request = entry.notification.request
        let facts = self.presentationFacts(index, isLocal: !request.isRemote)
        guard facts.settings.allowsPresentation else {
            return self.presentNothing(
                request.identifier, index, isRemote: request.isRemote, reason: .notAuthorized, &turn)
        }
        var record = PresentationRecord(
            identifier: request.identifier, isRemote: request.isRemote, list: PresentationGate.lists(facts),
            reason: .summary)
        if record.list { record.replaced = self.list.insert(entry, limit: self.settings.listLimit) }
        turn.record(entry.app, .presentation(record))
    }

    /// nil removes all of the app's.
    mutating func removeNotices(of app: BundleID, identifiers: [String]? = nil) {
        self.list.remove(app: app, identifiers: identifiers)
        self.notices.remove(app: app, identifiers: identifiers)
    }

    // MARK: App clips

    /// An app clip may notify without asking for a while after it was opened (ios-delivery.md §9).
    mutating func refreshEphemeral(_ index: Int, _ turn: inout Turn) {
        guard self.version >= 14, self.apps[index].installed.isAppClip else { return }
        switch self.apps[index].settings.authorizationStatus {
        case .notDetermined: self.apps[index].settings.decide([.alert, .sound, .badge], status: .ephemeral)
        case .ephemeral: break
        case .denied, .authorized, .provisional: return
        }
        self.apps[index].ephemeralUntil = turn.now.monotonic + self.settings.ephemeralTime
    }

    mutating func endEphemeral(_ index: Int, _ turn: inout Turn) {
        guard let until = self.apps[index].ephemeralUntil, until <= turn.now.monotonic else { return }
        self.apps[index].ephemeralUntil = nil
        guard self.apps[index].settings.authorizationStatus == .ephemeral else { return }
        self.apps[index].settings.decide([], status: .notDetermined)
    }
}
