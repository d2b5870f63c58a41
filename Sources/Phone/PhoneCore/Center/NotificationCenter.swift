import TidingsModel

/// An app's notification centre: what the person allows it, its categories, what it has scheduled, and its badge (ios-delivery.md §9).
struct NotificationCenter: Equatable, Sendable {
    var permissions = NotificationSettings()
    var categories: [NotificationCategory] = []
    var schedule = Schedule()
    private(set) var badge = 0
    /// In monotonic milliseconds.
    private(set) var ephemeralUntil: Int64?

    @inline(__always) var nextDeadline: Int64 {
        min(self.ephemeralUntil ?? .max, self.schedule.requests.first?.fireAt ?? .max)
    }

    func category(of content: NotificationContent) -> NotificationCategory? {
        self.categories.first { $0.identifier == content.categoryIdentifier }
    }

    mutating func handle(_ event: ProcessEvent, of app: BundleID, _ turn: inout Turn) {
        switch event {
        case .iconBadgeNumberSet(let count):
            guard self.setBadge(byApp: count, &turn) else { return }
            if count <= 0, turn.settings.quirks.badgeZeroClearsDelivered { turn.notices.remove(app: app) }
        case .categoriesSet(let categories): self.categories = categories
        case .pendingRemoved(let identifiers): self.schedule.remove(identifiers)
        case .deliveredRemoved(let identifiers): turn.notices.remove(app: app, identifiers: identifiers)
        case .localNotificationCancelled(let identifier):
            self.schedule.remove(identifier.map { [$0] })
            turn.notices.remove(app: app, identifiers: identifier.map { [$0] })
        default: break
        }
    }

    /// For a push that brings none.
    func newIdentifier(of app: BundleID, _ turn: inout Turn) -> String {
        while true {
            let name = turn.newIdentifier("push")
            if !turn.notices.has(NotificationKey(app: app, identifier: name)), !self.schedule.has(name) { return name }
        }
    }

    /// An action that a person has chosen.
    struct Choice {
        let notification: DeliveredNotification
        let options: NotificationAction.Options
        var isReported = true
    }

    /// Records a fault if the notification is gone or has no such action.
    func choose(_ action: String, on key: NotificationKey, _ turn: inout Turn) -> Choice? {
        guard let notification = turn.entry(key)?.notification else { return nil }
        turn.system.awaitsUnlock = nil
        let category = self.category(of: notification.request.content)
        switch action {
        case UserResponse.defaultAction: return Choice(notification: notification, options: .foreground)
        case UserResponse.dismissAction:
            let isReported = turn.version.hasUserNotifications && category?.reportsDismissal == true
            return Choice(notification: notification, options: [], isReported: isReported)
        default: break
        }
        guard turn.version >= 8, let custom = category?.actions.first(where: { $0.identifier == action }) else {
            turn.recordFault("action \(action) must be in the notification's category")
            return nil
        }
        return Choice(notification: notification, options: custom.options)
    }

    // MARK: Permissions

    /// The first request prompts, or grants quietly if provisional; later ones get the stored answer (ios-delivery.md
    /// §9). nil: the person must answer first.
    mutating func authorize(_ options: AuthorizationOptions, mayAsk: Bool, _ version: OSVersion) -> Bool? {
        switch self.permissions.authorizationStatus {
        case .authorized, .provisional, .ephemeral: return true
        case .denied: return false
        case .notDetermined: break
        }
        guard mayAsk else { return false }
        guard options.contains(.provisional), version >= 12 else { return nil }
        self.permissions.decide(options, status: .provisional)
        return true
    }

    mutating func answerProvisional(keep: Bool, of app: BundleID, _ turn: inout Turn) {
        guard self.permissions.authorizationStatus == .provisional else {
            return turn.recordFault("app \(app) must have provisional authorization")
        }
        guard keep else { return self.permissions.turn(.notifications, isOn: false) }
        self.permissions.authorizationStatus = .authorized
        self.permissions.alertStyle = .none
        self.permissions.lockScreen = false
        self.permissions.sound = false
        self.permissions.badge = false
    }

    /// An app clip may notify without asking for a while after it was opened (ios-delivery.md §9).
    mutating func refreshEphemeral(_ turn: inout Turn) {
        switch self.permissions.authorizationStatus {
        case .notDetermined: self.permissions.decide([.alert, .sound, .badge], status: .ephemeral)
        case .ephemeral: break
        case .denied, .authorized, .provisional: return
        }
        self.ephemeralUntil = turn.now.monotonic + turn.settings.ephemeralTime
    }

    mutating func endEphemeral(at now: Int64) {
        guard let until = self.ephemeralUntil, until <= now else { return }
        self.ephemeralUntil = nil
        guard self.permissions.authorizationStatus == .ephemeral else { return }
        self.permissions.decide([], status: .notDetermined)
    }

    // MARK: Local notifications

    /// Before iOS 8 local notifications needed no permission.
    func allowsLocal(_ version: OSVersion) -> Bool {
        self.permissions.allowsPresentation
            || (version < 8 && self.permissions.authorizationStatus == .notDetermined)
    }

    /// Answers an app's request: scheduled, or refused. The caller presents one without a trigger now; a request replaces a
    /// pending one of the same identifier (ios-delivery.md §9).
    mutating func add(_ request: NotificationRequest, _ turn: inout Turn) -> QueryAnswer {
        guard self.permissions.allowsPresentation else { return .refused(.notificationsNotAllowed) }
        guard !request.content.isEmpty else { return .refused(.noContent) }
        for attachment in request.content.attachments { if let fault = attachment.fault { return .refused(fault) } }
        if request.trigger == nil {
            self.schedule.remove([request.identifier])
        } else if !self.schedule.add(request, &turn) {
            return .refused(.invalidTrigger)
        }
        return .added
    }

    /// `UILocalNotification`: returns whether it is presented now, as a date in the past means; the call exists from iOS 4
    /// (ios-delivery.md §0.3).
    mutating func addLegacy(_ request: NotificationRequest, _ turn: inout Turn) -> Bool {
        if let rule = request.trigger?.outOfRange {
            turn.recordFault("local notification \(request.identifier): \(rule)")
            return false
        }
        guard turn.version >= 4 else {
            turn.recordFault("scheduleLocalNotification must not be used before iOS 4")
            return false
        }
        guard !request.content.isEmpty, !self.schedule.add(request, &turn) else { return false }
        self.schedule.remove([request.identifier])
        return true
    }

    /// ios-delivery.md §9.
    func allowsBadge(_ version: OSVersion) -> Bool {
        version < 8 || self.permissions.badge && self.permissions.authorizationStatus.showsBadges
    }

    /// Returns whether the app may set it: taking it away it always may.
    mutating func setBadge(byApp count: Int, _ turn: inout Turn) -> Bool {
        guard self.allowsBadge(turn.version) || count <= 0 else { return false }
        self.setBadge(count, &turn)
        return true
    }

    mutating func setBadge(_ count: Int, _ turn: inout Turn) {
        let count = max(0, count)
        guard self.badge != count else { return }
        self.badge = count
        turn.record(.badge(count))
    }
}
