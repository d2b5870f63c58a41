import APNsModel
import StoreModel
import TidingsModel

// When a person's unread count has fallen (read elsewhere, recalled, deleted, muted), a silent push corrects the badge of phones that were
// told a higher one: merged with those that follow soon, a few an hour at most (apns.md §14), and never when an alert goes anyway.
extension ServerCore {
    struct BadgeState: Hashable, Sendable {
        /// The number of the last push APNs accepted; nil if the app has been in the foreground since, or nothing is
        /// known.
        var shown: Int?
        var dueAt: Int64?
        var sent: [Int64] = []
    }

    private static let hour: Int64 = 3_600_000

    mutating func scheduleBadgePush(slot: Int, index: Int, _ now: Now) {
        guard self.people[slot].devices[index].badge.dueAt == nil else { return }
        if case .end = BadgeVerdict(self.badgeFacts(slot, index, now)) { return }
        self.people[slot].devices[index].badge.dueAt = now.monotonic + self.settings.badgePushDelay
    }

    mutating func checkBadge(slot: Int, index: Int, _ now: Now, _ effects: inout [ServerEffect]) {
        self.people[slot].devices[index].badge.sent.removeAll { now.monotonic >= $0 + Self.hour }
        guard let due = self.people[slot].devices[index].badge.dueAt, now.monotonic >= due else { return }
        self.people[slot].devices[index].badge.dueAt = nil
        let device = self.people[slot].devices[index]
        switch BadgeVerdict(self.badgeFacts(slot, index, now)) {
        case .end: break
        case .wait(.restarted): self.people[slot].devices[index].badge.dueAt = self.startedAt.monotonic + Self.hour
        case .wait(.budget):
            self.people[slot].devices[index].badge.dueAt = device.badge.sent.first.map { $0 + Self.hour }
        case .wait(.busy), .wait(.lane):
            self.people[slot].devices[index].badge.dueAt = now.monotonic + self.settings.badgePushDelay
        case .send:
            guard let (registration, _) = device.registration, let lane = self.lane(slot, index) else { return }
            self.sendBadge(slot, index, registration, lane, now, &effects)
        }
    }

    private func badgeFacts(_ slot: Int, _ index: Int, _ now: Now) -> BadgeFacts {
        let device = self.people[slot].devices[index]
        var facts = BadgeFacts()
        facts.isSwitchedOff = self.settings.badgePushesPerHour <= 0
        facts.isLive = device.lease.isLive
        facts.hasToken = device.registration != nil
        facts.isTooHigh = device.badge.shown.map { $0 > self.people[slot].unread } ?? true
        // A server that crashes again and again must not send them each time, or iOS would throttle the app (apns.md §14); a badge that
        // falls an hour late does little harm. A device that has connected since has set the badge itself.
        facts.isBudgetUnknown =
            device.signedInAt < self.startedAt.wall && now.monotonic < self.startedAt.monotonic + Self.hour
        facts.isBudgetSpent = device.badge.sent.count >= self.settings.badgePushesPerHour
        facts.isBusy =
            self.state != .open || device.lease != .gone || device.inFlight != nil || device.retry?.until != nil
            || device.turn != nil
        let lane = self.lane(slot, index).flatMap { self.lanes[$0] }
        facts.isLaneHeld =
            self.laneHold(slot, index) != .none
            || (lane.map { $0.isTripped || !$0.hasRoom(for: slot, self.settings) } ?? false)
        return facts
    }

    private mutating func sendBadge(
        _ slot: Int, _ index: Int, _ registration: PushRegistration, _ lane: PushLane, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        let user = self.people[slot].key
        let device = DeviceKey(user: user, device: self.people[slot].devices[index].id)
        let unread = self.people[slot].unread
        // Expiration 0: APNs keeps one push of an app for a phone that is off, and a badge must not replace an alert that waits there
        // (apns.md §15). Beside `content-available`, `aps` has no other key (apns.md §14).
        let info = BadgeInfo(
            badge: unread, badgePosition: self.people[slot].head,
            recipientTag: recipientTag(of: device, salt: self.settings.recipientTagSalt))
        let payload = APNsPayload(contentAvailable: true, custom: JSONObject([(PushInfo.key, info.dictionary)]))
        let type = APNsPushType.background
        guard let bytes = try? payload.serialized(bytesMax: type.payloadBytesMax) else {
            effects.append(.flagBug("a badge does not fit a push"))
            return
        }
        self.makeLane(lane)
        self.pushCount += 1
        let push = PushID(self.pushCount)
        self.pushes[push] = OutgoingPush(
            slot: slot, leg: LegID(message: MessageID(rawValue: 0), user: user, device: device.device), positions: [],
            lane: lane, registration: registration,
            wasAccepted: self.people[slot].devices[index].push.wasAccepted, attempt: 0, badge: unread, isSilent: true)
        self.people[slot].devices[index].inFlight = push
        self.people[slot].devices[index].badge.sent.append(now.monotonic)
        self.people[slot].busyAt = now.monotonic
        self.lanes[lane]?.begin(push, of: slot, at: now.monotonic)
        effects.append(
            .push(
                push, user.app,
                APNsRequest(
                    token: registration.token, topic: registration.topic, pushType: type, priority: .powerAware,
                    expiration: 0, collapseID: "badge", payload: bytes,
                    environment: registration.environment)))
        self.handleBurstEvent(.started(push), of: lane, now, &effects)
    }

    mutating func updateBadge(_ push: OutgoingPush, isAccepted: Bool, slot: Int, index: Int, _ now: Now) {
        if isAccepted {
            self.people[slot].devices[index].badge.shown = push.badge
            // The count fell again meanwhile.
            if push.badge > self.people[slot].unread { self.scheduleBadgePush(slot: slot, index: index, now) }
        } else if push.isSilent {
            self.scheduleBadgePush(slot: slot, index: index, now)
        }
    }
}
