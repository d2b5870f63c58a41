import APNsModel
import StoreModel
import TidingsModel

// When a person's unread count has fallen (read elsewhere, recalled, deleted, muted), a push corrects the badge of phones that were
// told a higher one: merged with those that follow soon, and never when an alert goes anyway. It is silent, or an alert that nobody sees, by
// what the phone can do (docs/inside/decisions/0033-badge-pushes.md).
extension ServerCore {
    struct BadgeState: Hashable, Sendable {
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

    static let hour: Int64 = 3_600_000

    mutating func scheduleBadgePush(slot: Int, index: Int) {
        guard self.people[slot].devices[index].badge.dueAt == nil else { return }
        if case .end = BadgeVerdict(self.badgeFacts(slot, index)) { return }
        self.people[slot].devices[index].badge.dueAt = self.turn.now.monotonic + self.turn.settings.badgePushDelay
    }

    mutating func checkBadge(slot: Int, index: Int) {
        let now = self.turn.now
        self.people[slot].devices[index].badge.sent.removeAll { now.monotonic >= $0 + Self.hour }
        self.people[slot].devices[index].badge.silent.removeAll { now.monotonic >= $0 + Self.hour }
        guard let due = self.people[slot].devices[index].badge.dueAt, now.monotonic >= due else { return }
        self.people[slot].devices[index].badge.dueAt = nil
        let device = self.people[slot].devices[index]
        switch BadgeVerdict(self.badgeFacts(slot, index)) {
        case .end: break
        case .wait(.restarted): self.people[slot].devices[index].badge.dueAt = self.turn.startedAt.monotonic + Self.hour
        case .wait(.budget):
            let sent = self.badgeRoute(slot, index) == .silent ? device.badge.silent : device.badge.sent
            self.people[slot].devices[index].badge.dueAt = sent.first.map { $0 + Self.hour }
        case .wait(.recentAlert):
            self.people[slot].devices[index].badge.dueAt = self.lastAlert(slot, device).map {
                $0 + self.turn.settings.badgeAlertGap
            }
        case .wait(.busy), .wait(.lane):
            self.people[slot].devices[index].badge.dueAt = now.monotonic + self.turn.settings.badgePushDelay
        case .send:
            guard let (registration, _) = device.registration, let lane = self.lane(slot, index) else { return }
            self.sendBadge(slot, index, registration, lane)
        }
    }

    private func badgeFacts(_ slot: Int, _ index: Int) -> BadgeFacts {
        let now = self.turn.now
        let device = self.people[slot].devices[index]
        var facts = BadgeFacts()
        facts.isSwitchedOff = self.turn.settings.badgePushesPerHour <= 0
        facts.isLive = device.lease.isLive
        facts.hasToken = device.registration != nil && !self.isHeld(slot, index)
        facts.isTooHigh = device.badge.shown.map { $0 > self.people[slot].unread } ?? true
        // A server that crashes again and again must not send them each time, or iOS would throttle the app (apns.md §14); a badge that
        // falls an hour late does little harm. A device that has connected since has set the badge itself.
        let route = self.badgeRoute(slot, index)
        let perHour: Int? =
            switch route {
            case .filtered: nil
            case .direct: self.turn.settings.directBadgesPerHour
            case .silent: self.turn.settings.badgePushesPerHour
            }
        facts.isBudgetUnknown = perHour != nil && self.isSilentBudgetUnknown(device)
        let sent = route == .silent ? device.badge.silent : device.badge.sent
        facts.isBudgetSpent = perHour.map { sent.count >= $0 } ?? false
        facts.isAlertRecent =
            route != .silent
            && self.lastAlert(slot, device).map { now.monotonic < $0 + self.turn.settings.badgeAlertGap } ?? false
        facts.isBusy =
            self.turn.state != .open || device.lease != .gone || device.inFlight != nil || device.retry?.until != nil
            || device.turn != nil
        let lane = self.lane(slot, index).flatMap { self.turn.lanes[$0] }
        facts.isLaneHeld =
            self.laneHold(slot, index) != .none
            || (lane.map { $0.isTripped || !$0.hasRoom(for: slot, self.turn.settings) } ?? false)
        return facts
    }

    func isSilentBudgetUnknown(_ device: Device) -> Bool {
        device.signedInAt < self.turn.startedAt.wall
            && self.turn.now.monotonic < self.turn.startedAt.monotonic + Self.hour
    }

    /// A server that has just started may have sent one, unless the device has connected since; and so may one that has forgotten the person
    /// before the gap was over.
    private func lastAlert(_ slot: Int, _ device: Device) -> Int64? {
        if let known = device.badge.alertAt { return known }
        let atStart = device.signedInAt < self.turn.startedAt.wall ? self.turn.startedAt.monotonic : nil
        return [atStart, self.people[slot].forgottenAlertAt].compactMap(\.self).max()
    }

    /// People who were in memory for a push alone leave it while an alert may still lie with APNs. Of all of them the last one is noted: for each
    /// by themselves, a push to everybody would leave as many as it reaches in a minute.
    mutating func noteForgottenAlerts(of slot: Int) {
        let last = self.people[slot].devices.lazy.compactMap(\.badge.alertAt).max()
        guard let last else { return }
        self.forgottenAlertAt = max(self.forgottenAlertAt ?? last, last)
    }

    private func badgeRoute(_ slot: Int, _ index: Int) -> BadgeRoute {
        var facts = BadgeRouteFacts()
        facts.isOnlySender = self.turn.settings.onlyPushSenders.contains(self.people[slot].key.app)
        if let status = self.people[slot].devices[index].reported?.status {
            facts.iconNumber = status.iconNumber
            facts.showsAlerts = status.allowsNotifications && status.alert
        }
        return BadgeRoute(facts)
    }

    private mutating func sendBadge(_ slot: Int, _ index: Int, _ registration: PushRegistration, _ lane: PushLane) {
        let now = self.turn.now
        let user = self.people[slot].key
        let device = DeviceKey(user: user, device: self.people[slot].devices[index].id)
        let route = self.badgeRoute(slot, index)
        let payload = self.badgePayload(for: device, slot, route)
        let type: APNsPushType = route == .silent ? .background : .alert
        guard let bytes = try? payload.serialized(bytesMax: type.payloadBytesMax) else {
            self.turn.emit(.flagBug("a badge does not fit a push"))
            return
        }
        self.turn.lanes.make(lane, self.turn.settings)
        let push = self.turn.lanes.nextPush()
        self.turn.lanes.pushes[push] = OutgoingPush(
            slot: slot, leg: LegID(message: MessageID(rawValue: 0), user: user, device: device.device), positions: [],
            lane: lane, registration: registration, wasAccepted: self.people[slot].devices[index].push.wasAccepted,
            attempt: 0, badge: self.people[slot].unread, badgeRoute: route)
        self.people[slot].devices[index].inFlight = push
        switch route {
        case .filtered: break
        case .direct: self.people[slot].devices[index].badge.sent.append(now.monotonic)
        case .silent: self.people[slot].devices[index].badge.silent.append(now.monotonic)
        }
        self.people[slot].busyAt = now.monotonic
        self.turn.lanes[lane]?.begin(push, of: slot, at: now.monotonic)
        // Expiration 0: APNs keeps one push of an app for a phone that is off, and a badge must not replace an alert that waits there
        // (apns.md §15).
        self.turn.emit(
            .push(
                push, to: device,
                APNsRequest(
                    token: registration.token, topic: registration.topic, pushType: type, priority: .powerAware,
                    expiration: 0, collapseID: BadgeInfo.identifier, payload: bytes,
                    environment: registration.environment)))
        self.handleBurstEvent(.started(push), of: lane)
    }

    private func badgePayload(for device: DeviceKey, _ slot: Int, _ route: BadgeRoute) -> APNsPayload {
        let unread = self.people[slot].unread
        let info = BadgeInfo(
            badge: unread, badgePosition: self.people[slot].head,
            recipientTag: recipientTag(of: device, salt: self.turn.settings.recipientTagSalt))
        let custom = JSONObject([(PushInfo.key, info.dictionary)])
        switch route {
        // An extension runs for an alert with words only (ios-delivery.md §10). Should it not run after all, nothing rings, and no number
        // is shown that nobody has compared.
        case .filtered:
            return APNsPayload(
                alert: .init(body: self.words(of: slot).words.stripped), mutableContent: true,
                interruptionLevel: .passive, custom: custom)
        case .direct: return APNsPayload(badge: unread)
        // Beside `content-available`, `aps` has no other key (apns.md §14).
        case .silent: return APNsPayload(contentAvailable: true, custom: custom)
        }
    }

    /// - Parameter isOver: APNs would answer the same again.
    mutating func updateBadge(_ push: OutgoingPush, isAccepted: Bool, isOver: Bool, slot: Int, index: Int) {
        let now = self.turn.now
        if push.badgeRoute != .silent { self.people[slot].devices[index].badge.alertAt = now.monotonic }
        if isAccepted {
            self.people[slot].devices[index].badge.shown = push.badge
            // The count fell again meanwhile.
            if push.badge > self.people[slot].unread { self.scheduleBadgePush(slot: slot, index: index) }
            // No budget bounds the filtered route: what would be refused again waits for the next change of the number.
        } else if let route = push.badgeRoute, !(isOver && route == .filtered) {
            self.scheduleBadgePush(slot: slot, index: index)
        }
    }
}
