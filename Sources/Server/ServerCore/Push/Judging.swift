import StoreModel
import TidingsModel

extension ServerCore {
    mutating func decidePush(slot: Int, index: Int, leg: Int, hasTurn: Bool) -> Judgement {
        switch PushVerdict(self.facts(slot, index, leg)) {
        case .end(let end):
            var ended = self.people[slot].devices[index].legs[leg]
            ended.steps.append(.judged)
            self.people[slot].devices[index].legs.remove(at: leg)
            self.endLeg(ended, slot: slot, index: index, end)
            return .ended
        case .wait(.live), .wait(.grace), .wait(.inFlight):
            self.people[slot].devices[index].legs[leg].state = .held
            return .waits
        case .wait(let wait):
            if wait == .merging { self.people[slot].devices[index].legs[leg].isMerging = true }
            let until = self.waitEnd(wait, slot, index, leg)
            // Nothing else may call a device whose token is held before the leg is not worth a push any more.
            let end = until ?? (self.isHeld(slot, index) ? self.expiry(slot, index, leg) : nil)
            if let end { self.people[slot].judgeAt = min(self.people[slot].judgeAt ?? .max, end) }
            self.keepWaitingLeg(slot: slot, index: index, leg: leg, wait, until: until)
            // What waits for the lane is called by the lane; what waits for the device alone, by the device's own timer.
            if self.laneHold(slot, index) != .none { self.joinLane(slot, index) }
            return .waits
        case .send:
            return self.send(slot, index, leg, hasTurn: hasTurn)
        }
    }

    /// Monotonic milliseconds; nil for a wait that another event ends.
    private func waitEnd(_ wait: LegWait, _ slot: Int, _ index: Int, _ leg: Int) -> Int64? {
        let now = self.turn.now
        return switch wait {
        case .quietHours: self.quiet(slot, at: now).until.map { now.monotonic + max(1, $0 - now.wall) }
        case .activeElsewhere: self.activeElsewhere(slot, than: index)
        case .merging: self.stormEnd(self.people[slot].devices[index].legs[leg], slot, index)
        case .live, .grace, .configFault, .breakerOpen, .throttled, .providerDown, .inFlight: nil
        }
    }

    /// Monotonic milliseconds.
    private func expiry(_ slot: Int, _ index: Int, _ leg: Int) -> Int64 {
        let end =
            switch self.people[slot].devices[index].legs[leg].subject {
            case .message(let shared): self.expiry(of: shared.message)
            case .recall(let recall, _): recall.at + self.turn.settings.pushLifetime
            }
        return self.turn.now.monotonic + max(1, end - self.turn.now.wall)
    }

    private func activeElsewhere(_ slot: Int, than device: Int) -> Int64? {
        guard self.turn.settings.activeElsewhereTime > 0 else { return nil }
        var until: Int64?
        for index in self.people[slot].devices.indices where index != device {
            // Compared in place: a device is large, and this runs for each push.
            guard self.people[slot].devices[index].lease == .foreground,
                let activeAt = self.people[slot].devices[index].activeAt
            else { continue }
            let end = activeAt + self.turn.settings.activeElsewhereTime
            if self.turn.now.monotonic < end { until = max(until ?? end, end) }
        }
        return until
    }

    /// Makes a leg durable before a wait that can outlast the process (design.md §3 "Push work").
    private mutating func keepWaitingLeg(slot: Int, index: Int, leg: Int, _ wait: LegWait, until: Int64?) {
        let now = self.turn.now
        guard self.people[slot].devices[index].legs[leg].state != .waiting(wait) else { return }
        self.people[slot].devices[index].legs[leg].state = .waiting(wait)
        // It has waited for them in the earlier process, too.
        if wait == .quietHours { self.people[slot].devices[index].legs[leg].isRestored = false }
        if wait.isForAPNs { self.people[slot].devices[index].legs[leg].hasWaitedForAPNs = true }
        self.people[slot].devices[index].legs[leg].isKept = true
        let end = until ?? self.people[slot].devices[index].retry?.until
        let notBefore = end.map { now.wall + max(0, $0 - now.monotonic) }
        self.people[slot].devices[index].legs[leg].steps.append(.waited(wait, until: notBefore, at: now.wall))
        self.turn.ask(.keepLeg(self.openLeg(slot, index, leg, notBefore: notBefore)))
    }

    func openLeg(_ slot: Int, _ index: Int, _ leg: Int, notBefore: Int64?) -> OpenLeg {
        let device = self.people[slot].devices[index]
        let open = device.legs[leg]
        let id = LegID(message: open.id, user: self.people[slot].key, device: device.id)
        return OpenLeg(
            leg: id, position: open.position, wait: open.wait,
            apnsID: open.sentAttempt.map { apnsID(of: id, attempt: $0) }, attempts: open.attempts,
            notBefore: notBefore, pushJob: open.pushJob, steps: open.steps)
    }

    func facts(_ slot: Int, _ index: Int, _ leg: Int) -> PushFacts {
        self.facts(slot, index, of: self.people[slot].devices[index].legs[leg])
    }

    func facts(_ slot: Int, _ index: Int, of open: Leg) -> PushFacts {
        var facts = PushFacts()
        if open.position <= self.people[slot].devices[index].settled { facts.settled = .shown }
        facts.token = self.people[slot].devices[index].token
        switch self.people[slot].devices[index].lease {
        case .foreground, .background: facts.presence = .live
        case .grace, .returning: facts.presence = .grace
        case .probing: facts.presence = open.state == .held ? .grace : .gone
        case .gone: facts.presence = .gone
        }
        facts.lane = self.laneHold(slot, index)
        if let retry = self.people[slot].devices[index].retry, retry.until != nil {
            facts.retry = retry.wait == .throttled ? .throttled : .providerDown
        }
        switch open.subject {
        case .message(let shared):
            facts.isFromBlocked = shared.isHushed
            self.addMessageFacts(of: shared.message, open, to: &facts, slot: slot, index: index)
        case .recall(let recall, _):
            // Silent and without content: neither a level nor the hour holds it up.
            facts.isExpired = self.turn.now.wall >= recall.at + self.turn.settings.pushLifetime
        }
        return facts
    }

    private func addMessageFacts(of message: Message, _ open: Leg, to facts: inout PushFacts, slot: Int, index: Int) {
        let user = self.people[slot].key.user
        // A command is for the app; the phone shows none on a live connection either.
        facts.isNotifiable =
            message.flags.isSuperset(of: [.notified, .stored]) && message.conversation.type != .chatRoom
            && message.sender != user
        facts.isRecalled = open.recall == .recalled
        facts.isReadElsewhere = open.recall == .deleted
        if self.isRead(message, at: open.position, slot) { facts.isReadElsewhere = true }
        facts.isExpired = self.isExpired(message)
        facts.isMuted = self.isMuted(message, slot)
        if self.people[slot].settings.person.quietHours != nil {
            facts.quietHours = self.quiet(slot, at: self.turn.now).hold
        }
        facts.isActiveElsewhere = self.activeElsewhere(slot, than: index) != nil
        facts.isStorm = self.stormEnd(open, slot, index) != nil
    }

    func isRead(_ message: Message, at position: LogPosition, _ slot: Int) -> Bool {
        guard !self.people[slot].readUpTo.isEmpty else { return false }
        let conversation = message.conversation(seenBy: self.people[slot].key.user)
        return (self.people[slot].readUpTo[conversation] ?? 0) >= position
    }

    func isExpired(_ message: Message) -> Bool { self.turn.now.wall >= self.expiry(of: message) }

    private func expiry(of message: Message) -> Int64 {
        min(message.sentAt + self.turn.settings.pushLifetime, message.expiresAt ?? .max)
    }

    private func isMuted(_ message: Message, _ slot: Int) -> Bool {
        let user = self.people[slot].key.user
        let settings = self.people[slot].settings
        let conversation = message.conversation(seenBy: user)
        return !settings.person.level(of: conversation, settings.conversations[conversation], wall: self.turn.now.wall)
            .allows(message.mentions, of: user)
    }

    /// Returns the messages that a phone has missed, as its extension may show them (design.md §5 "Keep-one"): a message that must never be
    /// pushed to this person, or waits for quiet hours to end, is not shown there either. Images and portraits are told only if a push may
    /// name them.
    func missed(_ page: LogPage, on device: DeviceKey) -> LogPage {
        let user = device.user
        var page = page
        page.entries = page.entries.map { $0.seen(on: device.device) }
        page.imageHosts = self.pushRules(of: user.app).imageHosts
        // tidy: order does not leave: each name is by itself.
        for (sender, names) in page.names where names.portrait != nil {
            page.names[sender]?.portrait = self.portrait(names.portrait, in: sender.conversation, of: user.app)
        }
        guard let slot = self.slots[user], self.people[slot].isReady else { return page }
        let isQuiet = self.quiet(slot, at: self.turn.now).hold != .none
        for index in page.entries.indices {
            guard case .message(var message) = page.entries[index].body else { continue }
            let sent = Now(monotonic: self.turn.now.monotonic, wall: message.sentAt)
            guard
                isQuiet || self.isExpired(message) || self.isMuted(message, slot)
                    || self.quiet(slot, at: sent).hold == .drop
            else { continue }
            message.flags.remove(.notified)
            page.entries[index].body = .message(message)
        }
        return page
    }
}
