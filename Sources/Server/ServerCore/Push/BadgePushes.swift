import APNsModel
import StoreModel
import TidingsModel

// When a person's unread count has fallen (read elsewhere, recalled, deleted, muted), a push corrects the badge of phones that were
// told a higher one: merged with those that follow soon, and never when an alert goes anyway. It is silent, or an alert that nobody sees, by
// what the phone can do (docs/inside/decisions/0033-badge-pushes.md).
struct BadgeState: Hashable, Sendable {
    static let hour: Int64 = 3_600_000

    /// The number of the last push APNs accepted; nil if the app has been in the foreground since, or nothing is
    /// known.
    var shown: Int?
    var dueAt: Int64?
    /// Numbers that nobody looks at before they are shown, in the last hour; monotonic milliseconds.
    var sent: [Int64] = []
    /// Silent pushes, those that the app's backend asks for among them, as `sent`.
    var silent: [Int64] = []
    /// When APNs has answered the last alert, of a message or of a number.
    var alertAt: Int64?
}

extension Device {
    mutating func scheduleBadgePush(_ person: inout PersonState, _ turn: inout Turn) {
        guard self.badge.dueAt == nil else { return }
        if case .end = BadgeVerdict(self.badgeFacts(&person, &turn)) { return }
        self.badge.dueAt = turn.now.monotonic + turn.settings.badgePushDelay
    }

    mutating func checkBadge(_ person: inout PersonState, _ turn: inout Turn) {
        let now = turn.now.monotonic
        self.badge.sent.removeAll { now >= $0 + BadgeState.hour }
        self.badge.silent.removeAll { now >= $0 + BadgeState.hour }
        guard let due = self.badge.dueAt, now >= due else { return }
        self.badge.dueAt = nil
        switch BadgeVerdict(self.badgeFacts(&person, &turn)) {
        case .end: break
        case .wait(.restarted): self.badge.dueAt = turn.startedAt.monotonic + BadgeState.hour
        case .wait(.budget):
            let sent = self.badgeRoute(&turn) == .silent ? self.badge.silent : self.badge.sent
            self.badge.dueAt = sent.first.map { $0 + BadgeState.hour }
        case .wait(.recentAlert):
            if let last = self.lastAlert(&person, &turn) { self.badge.dueAt = last + turn.settings.badgeAlertGap }
        case .wait(.busy), .wait(.lane): self.badge.dueAt = now + turn.settings.badgePushDelay
        case .send: self.sendBadge(&person, &turn)
        }
    }

    private mutating func badgeFacts(_ person: inout PersonState, _ turn: inout Turn) -> BadgeFacts {
        var facts = BadgeFacts()
        facts.isSwitchedOff = turn.settings.badgePushesPerHour <= 0
        facts.isLive = self.lease.isLive
        facts.hasToken = self.registration != nil && !self.isHeld(&turn)
        facts.isTooHigh = self.badge.shown.map { $0 > person.unread } ?? true
        // A server that crashes again and again must not send them each time, or iOS would throttle the app (apns.md §14); a badge that
        // falls an hour late does little harm. A device that has connected since has set the badge itself.
        let route = self.badgeRoute(&turn)
        let perHour: Int? =
            switch route {
            case .filtered: nil
            case .direct: turn.settings.directBadgesPerHour
            case .silent: turn.settings.badgePushesPerHour
            }
        facts.isBudgetUnknown = perHour != nil && self.isSilentBudgetUnknown(&turn)
        let sent = route == .silent ? self.badge.silent : self.badge.sent
        facts.isBudgetSpent = perHour.map { sent.count >= $0 } ?? false
        if route != .silent, let last = self.lastAlert(&person, &turn) {
            facts.isAlertRecent = turn.now.monotonic < last + turn.settings.badgeAlertGap
        }
        facts.isBusy =
            turn.state != .open || self.lease != .gone || self.inFlight != nil || self.retry?.until != nil
            || self.laneTurn != nil
        let lane = self.lane.flatMap { turn.lanes[$0] }
        facts.isLaneHeld =
            self.laneHold(&turn) != .none
            || (lane.map { $0.isTripped || !$0.hasRoom(for: person.slot, turn.settings) } ?? false)
        return facts
    }

    func isSilentBudgetUnknown(_ turn: inout Turn) -> Bool {
        self.signedInAt < turn.startedAt.wall
            && turn.now.monotonic < turn.startedAt.monotonic + BadgeState.hour
    }

    /// A server that has just started may have sent one, unless the device has connected since; and so may one that has forgotten the person
    /// before the gap was over.
    private mutating func lastAlert(_ person: inout PersonState, _ turn: inout Turn) -> Int64? {
        if let known = self.badge.alertAt { return known }
        let atStart = self.signedInAt < turn.startedAt.wall ? turn.startedAt.monotonic : nil
        return [atStart, person.forgottenAlertAt].compactMap(\.self).max()
    }

    private mutating func badgeRoute(_ turn: inout Turn) -> BadgeRoute {
        var facts = BadgeRouteFacts()
        facts.isOnlySender = turn.settings.onlyPushSenders.contains(self.key.user.app)
        if let status = self.reported?.status {
            facts.iconNumber = status.iconNumber
            facts.showsAlerts = status.allowsNotifications && status.alert
        }
        return BadgeRoute(facts)
    }

    private mutating func sendBadge(_ person: inout PersonState, _ turn: inout Turn) {
        guard let (registration, _) = self.registration, let lane = self.lane else { return }
        let now = turn.now
        let route = self.badgeRoute(&turn)
        let type: APNsPushType = route == .silent ? .background : .alert
        let payload = self.badgePayload(route, &person, &turn)
        guard let bytes = try? payload.serialized(bytesMax: type.payloadBytesMax) else {
            return turn.emit(.flagBug("a badge does not fit a push"))
        }
        turn.lanes.make(lane, turn.settings)
        let leg = LegID(message: MessageID(rawValue: 0), user: self.key.user, device: self.id)
        let push = turn.lanes.begin(
            OutgoingPush(
                slot: person.slot, leg: leg, positions: [], lane: lane, registration: registration,
                wasAccepted: self.push.wasAccepted, attempt: 0, badge: person.unread, badgeRoute: route), now,
            turn.settings)
        self.inFlight = push
        switch route {
        case .filtered: break
        case .direct: self.badge.sent.append(now.monotonic)
        case .silent: self.badge.silent.append(now.monotonic)
        }
        person.busyAt = now.monotonic
        // Expiration 0: APNs keeps one push of an app for a phone that is off, and a badge must not replace an alert that waits there
        // (apns.md §15).
        let request = APNsRequest(
            token: registration.token, topic: registration.topic, pushType: type, priority: .powerAware, expiration: 0,
            collapseID: BadgeInfo.identifier, payload: bytes, environment: registration.environment)
        turn.emit(.push(push, to: self.key, request))
    }

    private mutating func badgePayload(
        _ route: BadgeRoute, _ person: inout PersonState, _ turn: inout Turn
    ) -> APNsPayload {
        let info = BadgeInfo(
            badge: person.unread, badgePosition: person.head,
            recipientTag: recipientTag(of: self.key, salt: turn.settings.recipientTagSalt))
        let custom = JSONObject([(PushInfo.key, info.dictionary)])
        switch route {
        // An extension runs for an alert with words only (ios-delivery.md §10). Should it not run after all, nothing rings, and no number
        // is shown that nobody has compared.
        case .filtered:
            return APNsPayload(
                alert: .init(body: turn.settings.words(for: person.reader()).words.stripped), mutableContent: true,
                interruptionLevel: .passive, custom: custom)
        case .direct: return APNsPayload(badge: person.unread)
        // Beside `content-available`, `aps` has no other key (apns.md §14).
        case .silent: return APNsPayload(contentAvailable: true, custom: custom)
        }
    }

    /// - Parameter isOver: APNs would answer the same again.
    mutating func updateBadge(
        _ push: OutgoingPush, isAccepted: Bool, isOver: Bool, _ person: inout PersonState, _ turn: inout Turn
    ) {
        if push.badgeRoute != .silent { self.badge.alertAt = turn.now.monotonic }
        if isAccepted {
            self.badge.shown = push.badge
            // The count fell again meanwhile.
            if push.badge > person.unread { self.scheduleBadgePush(&person, &turn) }
            // No budget bounds the filtered route: what would be refused again waits for the next change of the number.
        } else if let route = push.badgeRoute, !(isOver && route == .filtered) {
            self.scheduleBadgePush(&person, &turn)
        }
    }
}
