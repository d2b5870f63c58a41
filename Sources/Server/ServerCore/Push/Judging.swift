import StoreModel
import TidingsModel

enum Judgement {
    case ended
    case waits
    case sent
    /// The device has a push under way, or its lane has no room.
    case mustQueue
}

extension Device {
    mutating func judge(_ leg: Int, hasTurn: Bool, _ person: inout PersonState, _ turn: inout Turn) -> Judgement {
        switch PushVerdict(self.facts(of: self.legs[leg], &person, &turn)) {
        case .end(let end):
            var ended = self.legs[leg]
            ended.steps.append(.judged)
            self.legs.remove(at: leg)
            self.endLeg(ended, end, &turn)
            return .ended
        case .wait(.live), .wait(.grace), .wait(.inFlight):
            self.legs[leg].state = .held
            return .waits
        case .wait(let wait):
            if wait == .merging { self.legs[leg].isMerging = true }
            let until = self.end(of: wait, leg, &person, &turn)
            // Nothing else may call a device whose token is held before the leg is not worth a push any more.
            let end = until ?? (self.isHeld(&turn) ? self.legs[leg].expiry(turn.now, turn.settings) : nil)
            if let end { person.judgeAt = min(person.judgeAt ?? .max, end) }
            self.keepWaiting(leg, wait, until: until, &turn)
            // What waits for the lane is called by the lane; what waits for the device alone, by the device's own timer.
            if self.laneHold(&turn) != .none { self.joinLane(&person, &turn) }
            return .waits
        case .send:
            return self.send(leg, hasTurn: hasTurn, &person, &turn)
        }
    }

    /// Monotonic milliseconds; nil for a wait that another event ends.
    private mutating func end(of wait: LegWait, _ leg: Int, _ person: inout PersonState, _ turn: inout Turn) -> Int64? {
        let now = turn.now
        return switch wait {
        case .quietHours: person.quiet(at: now.wall, turn.zones).until.map { now.monotonic + max(1, $0 - now.wall) }
        case .activeElsewhere: person.activeElsewhereUntil
        case .merging: self.stormEnd(self.legs[leg], &turn)
        case .live, .grace, .configFault, .breakerOpen, .throttled, .providerDown, .inFlight: nil
        }
    }

    /// Makes a leg durable before a wait that can outlast the process (design.md §3 "Push work").
    private mutating func keepWaiting(_ leg: Int, _ wait: LegWait, until: Int64?, _ turn: inout Turn) {
        guard self.legs[leg].state != .waiting(wait) else { return }
        let now = turn.now
        self.legs[leg].state = .waiting(wait)
        // It has waited for them in the earlier process, too.
        if wait == .quietHours { self.legs[leg].isRestored = false }
        if wait.isForAPNs { self.legs[leg].hasWaitedForAPNs = true }
        self.legs[leg].isKept = true
        let notBefore = (until ?? self.retry?.until).map { now.wall + max(0, $0 - now.monotonic) }
        self.legs[leg].steps.append(.waited(wait, until: notBefore, at: now.wall))
        turn.ask(.keepLeg(self.openLeg(at: leg, notBefore: notBefore)))
    }

    func openLeg(at leg: Int, notBefore: Int64? = nil) -> OpenLeg {
        let open = self.legs[leg]
        let id = LegID(message: open.id, user: self.key.user, device: self.id)
        return OpenLeg(
            leg: id, position: open.position, wait: open.wait,
            apnsID: open.sentAttempt.map { apnsID(of: id, attempt: $0) }, attempts: open.attempts,
            notBefore: notBefore, pushJob: open.pushJob, steps: open.steps)
    }

    // Here and below: mutating, though it changes nothing, so that device, person and turn are asked where they lie.
    mutating func facts(of open: Leg, _ person: inout PersonState, _ turn: inout Turn) -> PushFacts {
        var facts = PushFacts()
        if open.position <= self.settled { facts.settled = .shown }
        facts.token = self.token
        switch self.lease {
        case .foreground, .background: facts.presence = .live
        case .grace, .returning: facts.presence = .grace
        case .probing: facts.presence = open.state == .held ? .grace : .gone
        case .gone: facts.presence = .gone
        }
        facts.lane = self.laneHold(&turn)
        if let retry = self.retry, retry.until != nil {
            facts.retry = retry.wait == .throttled ? .throttled : .providerDown
        }
        switch open.subject {
        case .message(let shared):
            facts.isFromBlocked = shared.isHushed
            self.addMessageFacts(of: shared.message, open, to: &facts, &person, &turn)
        case .recall(let recall, _):
            // Silent and without content: neither a level nor the hour holds it up.
            facts.isExpired = turn.now.wall >= recall.at + turn.settings.pushLifetime
        }
        return facts
    }

    private mutating func addMessageFacts(
        of message: Message, _ open: Leg, to facts: inout PushFacts, _ person: inout PersonState, _ turn: inout Turn
    ) {
        // A command is for the app; the phone shows none on a live connection either.
        facts.isNotifiable =
            message.flags.isSuperset(of: [.notified, .stored]) && message.conversation.type != .chatRoom
            && message.sender != self.key.user.user
        facts.isRecalled = open.recall == .recalled
        facts.isReadElsewhere = open.recall == .deleted || person.hasRead(message, at: open.position)
        facts.isExpired = turn.isExpired(message)
        facts.isMuted = person.isMuted(message, turn.now)
        if person.settings.person.quietHours != nil {
            facts.quietHours = person.quiet(at: turn.now.wall, turn.zones).hold
        }
        facts.isActiveElsewhere = person.activeElsewhereUntil != nil
        facts.isStorm = self.stormEnd(open, &turn) != nil
    }
}

extension Leg {
    /// Monotonic milliseconds at which it is not worth a push any more.
    fileprivate func expiry(_ now: Now, _ settings: ServerSettings) -> Int64 {
        let end =
            switch self.subject {
            case .message(let shared): shared.message.expiry(settings.pushLifetime)
            case .recall(let recall, _): recall.at + settings.pushLifetime
            }
        return now.monotonic + max(1, end - now.wall)
    }
}

extension Message {
    fileprivate func expiry(_ lifetime: Int64) -> Int64 { min(self.sentAt + lifetime, self.expiresAt ?? .max) }
}

extension Turn {
    mutating func isExpired(_ message: Message) -> Bool { self.now.wall >= message.expiry(self.settings.pushLifetime) }
}

extension PersonState {
    mutating func hasRead(_ message: Message, at position: LogPosition) -> Bool {
        guard !self.readUpTo.isEmpty else { return false }
        return (self.readUpTo[message.conversation(seenBy: self.key.user)] ?? 0) >= position
    }

    mutating func isMuted(_ message: Message, _ now: Now) -> Bool {
        let conversation = message.conversation(seenBy: self.key.user)
        return !self.settings.person.level(of: conversation, self.settings.conversations[conversation], wall: now.wall)
            .allows(message.mentions, of: self.key.user)
    }
}

extension ServerCore {
    /// Returns the messages that a phone has missed, as its extension may show them (design.md §5 "Keep-one"): a message that must never be
    /// pushed to this person, or waits for quiet hours to end, is not shown there either. Images and portraits are told only if a push may
    /// name them.
    mutating func missed(_ page: LogPage, on device: DeviceKey) -> LogPage {
        let user = device.user
        var page = page
        page.entries = page.entries.map { $0.seen(on: device.device) }
        page.imageHosts = self.turn.settings.pushRules(of: user.app).imageHosts
        // tidy: order does not leave: each name is by itself.
        for (sender, names) in page.names where names.portrait != nil {
            page.names[sender]?.portrait = self.turn.settings.portrait(
                names.portrait, in: sender.conversation, of: user.app)
        }
        guard let slot = self.slots[user], self.people[slot].state.isReady else { return page }
        let isQuiet = self.people[slot].state.quiet(at: self.turn.now.wall, self.turn.zones).hold != .none
        for index in page.entries.indices {
            guard case .message(var message) = page.entries[index].body else { continue }
            guard
                isQuiet || self.turn.isExpired(message)
                    || self.people[slot].state.isMuted(message, self.turn.now)
                    || self.people[slot].state.quiet(at: message.sentAt, self.turn.zones).hold == .drop
            else { continue }
            message.flags.remove(.notified)
            page.entries[index].body = .message(message)
        }
        return page
    }
}
