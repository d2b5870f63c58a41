import APNsModel
import TidingsModel

// What happens to a push that is not in flight: the decision chain of APNs reference, section 15.
extension Courier {
    enum Gate: Equatable {
        case open
        /// Monotonic.
        case until(Int64)
        case closed
    }

    func gate(_ parcel: Parcel, at now: Now) -> Gate {
        if self.isHeldForPower(parcel.push) { return .closed }
        if let time = parcel.notBefore, time > now.monotonic { return .until(time) }
        guard let rate = self.share(parcel.push), var bucket = self.shares[parcel.push.target.app] else { return .open }
        let wait = bucket.takeToken(rate, at: now.monotonic)
        return wait == 0 ? .open : .until(now.monotonic + wait)
    }

    private func isHeldForPower(_ push: AcceptedPush) -> Bool {
        switch (self.power, push.priority) {
        case (.awake, _), (_, .immediate), (.asleep, .powerAware): false
        case (.asleep, .powerFirst): !self.isRoused
        case (.lowPower, .powerAware), (.lowPower, .powerFirst): true
        }
    }

    /// Background pushes for apps that are not on the screen have one.
    private func share(_ push: AcceptedPush) -> APNsService.Rate? {
        guard push.pushType == .background, push.channel == nil,
            self.conditions[push.target.app]?.life != .foreground
        else { return nil }
        return self.rules.backgroundRate
    }

    mutating func spend(_ push: AcceptedPush, at now: Now) {
        guard let rate = self.share(push) else { return }
        _ = self.shares[push.target.app, default: TokenBucket(rate, at: now.monotonic)].takeToken(
            rate, at: now.monotonic)
    }

    private func veto(_ push: AcceptedPush) -> DeliveryLogEntry.DiscardCause? {
        guard let condition = self.conditions[push.target.app] else { return nil }
        switch push.pushType {
        case .alert: return condition.notificationsEnabled ? nil : .notificationsDisabled
        case .background:
            if condition.life == .forceQuit { return .forceQuit }
            return condition.backgroundRefreshEnabled ? nil : .backgroundRefreshDisabled
        case .voip, .complication, .fileprovider, .mdm, .location, .liveactivity, .pushtotalk, .widgets, .controls:
            return nil
        }
    }

    mutating func admit(_ push: AcceptedPush, at now: Now, into effects: inout [APNsService.Effect]) {
        var parcel = Parcel(push: push)
        if self.isHeldForPower(push) { return self.store(parcel, at: now, into: &effects) }
        if let cause = self.veto(push) {
            effects.append(.log(push.logged(.discarded(cause), at: now)))
            return
        }
        let delay = self.rules.faults.powerAwareDelayMilliseconds
        if delay > 0, push.priority != .immediate {
            parcel.notBefore = now.monotonic + Int64.random(in: 0...delay, using: &self.dice)
        }
        guard self.share(push) != nil else {
            self.enqueue(parcel, max: self.rules.waitingPerAppMax, at: now, into: &effects)
            return
        }
        // Of background pushes the newest alone waits (APNs reference, section 14).
        if case .until = self.gate(parcel, at: now) { effects.append(.log(push.logged(.held, at: now))) }
        self.enqueue(parcel, max: 1, among: .background, at: now, into: &effects)
    }

    /// Kept in the one place of its app, or given up.
    mutating func store(_ parcel: Parcel, at now: Now, into effects: inout [APNsService.Effect]) {
        if let cause = self.veto(parcel.push) ?? self.hindrance(parcel.push, at: now) {
            effects.append(.log(parcel.push.logged(.discarded(cause), at: now)))
            if parcel.isStored { effects.append(.forget(.push, key: parcel.push.uniqueID)) }
            return
        }
        // What a channel stores lies in the channel.
        guard parcel.push.channel == nil else {
            effects.append(.log(parcel.push.logged(.stored, at: now)))
            return
        }
        var stored = parcel
        stored.isStored = true
        stored.notBefore = nil
        guard self.enqueue(stored, max: 1, at: now, into: &effects), !parcel.isStored else { return }
        effects.append(.log(parcel.push.logged(.stored, at: now)))
        effects.append(.save(parcel.push.record))
    }

    /// The oldest of the same app make room, or by fault the newest one. - Returns: whether it is there.
    @discardableResult
    private mutating func enqueue(
        _ parcel: Parcel, max: Int, among type: APNsPushType? = nil, at now: Now,
        into effects: inout [APNsService.Effect]
    ) -> Bool {
        func competes(_ other: Parcel) -> Bool {
            other.push.target.app == parcel.push.target.app && other.push.channel == nil
                && (type == nil || other.push.pushType == type)
        }
        guard parcel.push.channel == nil else {
            self.waiting.append(parcel)
            return true
        }
        var surplus = self.waiting.count(where: competes) + 1 - max
        if surplus > 0, self.dice.falls(perMille: self.rules.faults.olderSurvivesPerMille),
            let older = self.waiting.last(where: competes)
        {
            effects.append(.log(parcel.push.logged(.overwritten(by: older.push.apnsID), at: now)))
            if parcel.isStored { effects.append(.forget(.push, key: parcel.push.uniqueID)) }
            return false
        }
        while surplus > 0, let index = self.waiting.firstIndex(where: competes) {
            let older = self.waiting.remove(at: index)
            effects.append(.log(older.push.logged(.overwritten(by: parcel.push.apnsID), at: now)))
            if older.isStored { effects.append(.forget(.push, key: older.push.uniqueID)) }
            surplus -= 1
        }
        self.waiting.append(parcel)
        return true
    }

    /// Takes back the push in flight, and then all that wait.
    mutating func takeBack(at now: Now, into effects: inout [APNsService.Effect]) {
        var all = self.waiting
        if case .awaiting(_, _, let returned) = self.state {
            effects.append(.log(returned.push.logged(.returned, at: now)))
            all.insert(returned, at: 0)
        }
        self.waiting = []
        self.wakeAt = nil
        self.isRoused = false
        for parcel in all { self.store(parcel, at: now, into: &effects) }
    }

    mutating func maybeRepeat(_ parcel: Parcel, at now: Now, into effects: inout [APNsService.Effect]) {
        guard !parcel.isRepeated, self.dice.falls(perMille: self.rules.faults.duplicatePerMille) else { return }
        effects.append(.log(parcel.push.logged(.duplicated, at: now)))
        self.waiting.insert(Parcel(push: parcel.push, isRepeated: true), at: 0)
    }

    /// Takes a new condition of an app, and gives up pushes that it may not have any more.
    mutating func report(
        _ app: DeviceTopic, _ condition: AppCondition, at now: Now, into effects: inout [APNsService.Effect]
    ) {
        self.conditions[app] = condition
        for parcel in self.waiting where parcel.push.target.app == app {
            guard let cause = self.veto(parcel.push) else { continue }
            self.discard(cause, at: now, into: &effects) { $0.uniqueID == parcel.push.uniqueID }
        }
    }

    mutating func discard(
        _ cause: DeliveryLogEntry.DiscardCause, at now: Now, into effects: inout [APNsService.Effect],
        where isMeant: (AcceptedPush) -> Bool
    ) {
        for parcel in self.waiting where isMeant(parcel.push) {
            effects.append(.log(parcel.push.logged(.discarded(cause), at: now)))
            if parcel.isStored { effects.append(.forget(.push, key: parcel.push.uniqueID)) }
        }
        self.waiting.removeAll { isMeant($0.push) }
    }

    /// Discards expired pushes. A push that came while the phone was there is brought even if late: the expiration is about storing.
    mutating func discardExpired(at now: Now, into effects: inout [APNsService.Effect]) {
        for parcel in self.waiting where parcel.isStored && self.hindrance(parcel.push, at: now) != nil {
            self.discard(.expired, at: now, into: &effects) { $0.uniqueID == parcel.push.uniqueID }
        }
    }

    /// Expiration 0, its date, 30 days, or a channel without storage.
    private func hindrance(_ push: AcceptedPush, at now: Now) -> DeliveryLogEntry.DiscardCause? {
        if push.expiration == 0 || push.channel?.policy == .noStorage { return .notStorable }
        if now.wall - push.acceptedAt >= self.rules.storageMaxSeconds * 1_000 { return .expired }
        if let expiration = push.expiration, now.wall / 1_000 >= expiration { return .expired }
        return nil
    }
}
