import StoreModel
import TidingsModel

extension ServerCore {
    mutating func endLeg(_ leg: Leg, slot: Int, index: Int, _ end: LegEnd) {
        let device = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        self.endLeg(leg.ended(end, of: device, at: self.turn.now.wall), slot: slot, index: index)
    }

    mutating func endLeg(_ ended: EndedLeg, slot: Int, index: Int) {
        guard !self.people[slot].devices[index].isLeaving else {
            self.people[slot].devices[index].leaving?.ended.append(ended)
            return
        }
        self.tellEnd(ended, slot: slot, index: index)
    }

    mutating func tellEnd(_ ended: EndedLeg, slot: Int, index: Int) {
        self.turn.ask(.endLeg(ended))
        if ended.end.couldNotBePushed { self.people[slot].devices[index].unpushed.insert(ended.leg.message) }
        if ended.end.mayBeShown {
            self.turn.store.lateEnds.append(LateEnd(request: self.turn.store.sent, leg: ended.leg))
        }
    }

    /// design.md §3 "Acks".
    mutating func acknowledge(_ ack: ClientFrame.Ack, _ slot: Int, _ index: Int) throws(InvalidField) {
        let head = self.people[slot].head
        try InvalidField.check(ack.stored <= head, "ack.stored", "must be at most \(head), the head of the log")
        let stored = max(self.people[slot].devices[index].stored, ack.stored)
        var before: LogPosition = 0
        for settlement in ack.settled {
            try InvalidField.check(
                settlement.upTo > before, "ack.settled", "must be ascending, each from after the one before")
            try InvalidField.check(
                settlement.upTo <= stored, "ack.settled",
                "must be at most \(stored), up to where the device has stored the log")
            before = settlement.upTo
        }
        self.people[slot].devices[index].stored = stored
        for settlement in ack.settled {
            self.settle(slot, index, upTo: settlement.upTo, settlement.disposition)
        }
        if self.people[slot].devices[index].lease == .foreground {
            self.settle(slot, index, upTo: stored, nil)
        }
        self.writeSettled(slot, index)
        self.writeSkipped(slot, index)
    }

    /// In the foreground what is stored is settled (design.md §3 "Acks").
    mutating func settleStored(_ slot: Int, _ index: Int) {
        self.settle(slot, index, upTo: self.people[slot].devices[index].stored, nil)
        self.writeSettled(slot, index)
    }

    /// Without a disposition the app is in the foreground and has them on its screen.
    private mutating func settle(_ slot: Int, _ index: Int, upTo position: LogPosition, _ disposition: Disposition?) {
        guard position > self.people[slot].devices[index].settled else { return }
        self.people[slot].devices[index].settled = position
        if position >= self.people[slot].head, !self.people[slot].devices[index].unpushed.isEmpty {
            self.people[slot].devices[index].unpushed = UnpushedMessages()
            self.people[slot].devices[index].owesSettled = true
        }
        self.people[slot].devices[index].progressAt = self.turn.now.monotonic
        let user = self.people[slot].key
        let device = self.people[slot].devices[index].id
        var requests = self.turn.store.sent
        let isWatched = self.turn.sessions.watchers[user] != nil
        var arrivals: [ArrivedMessage] = []
        var shown: [LateEnd] = []
        let isLeaving = self.people[slot].devices[index].isLeaving
        var untold: [EndedLeg] = []
        self.people[slot].devices[index].legs.settle(upTo: position) { leg in
            if isWatched, let arrival = leg.arrival(at: user.user) { arrivals.append(arrival) }
            let ended = leg.ended(
                leg.isGone ? .recalled : .settled(disposition ?? leg.impliedDisposition(for: user.user)),
                of: DeviceKey(user: user, device: device), at: self.turn.now.wall)
            guard !isLeaving else { return untold.append(ended) }
            requests += 1
            self.turn.emit(.store(StoreRequestID(requests), .endLeg(ended)))
            if ended.end.mayBeShown { shown.append(LateEnd(request: requests, leg: ended.leg)) }
        }
        self.turn.store.sent = requests
        self.turn.store.lateEnds.append(contentsOf: shown)
        if isLeaving { self.people[slot].devices[index].leaving?.ended.append(contentsOf: untold) }
        if !arrivals.isEmpty { self.sendDeliveryReceipts(arrivals, slot: slot) }
    }

    mutating func writeSettled(_ slot: Int, _ index: Int) {
        let settled = self.people[slot].devices[index].settled
        let isAhead = settled > self.people[slot].devices[index].written
        guard isAhead || self.people[slot].devices[index].owesSettled, !self.people[slot].devices[index].isLeaving
        else { return }
        self.people[slot].devices[index].written = max(self.people[slot].devices[index].written, settled)
        self.people[slot].devices[index].owesSettled = false
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        self.turn.ask(.advance(key, settled: settled, decided: nil))
    }

    /// A device left to sync on its own gets the newest entry once it has caught up: it notices the gap if it lacks
    /// earlier ones.
    private mutating func writeSkipped(_ slot: Int, _ index: Int) {
        let skipped = self.people[slot].devices[index].skippedUpTo
        guard skipped > 0 else { return }
        if self.people[slot].devices[index].stored >= skipped {
            self.people[slot].devices[index].skippedUpTo = 0
        } else if self.people[slot].devices[index].legs.count <= self.turn.settings.liveWindowMax / 2,
            let session = self.people[slot].devices[index].session,
            let last = self.people[slot].devices[index].legs.last
        {
            self.people[slot].devices[index].skippedUpTo = 0
            let entry = LogEntry(position: last.position, body: last.body)
            self.turn.emit(.write(session, .entry(last.recall == nil ? entry : entry.place)))
        }
    }

    /// `decided` may have moved by an end that a crash would repeat: it is written a little later, for many at once.
    mutating func dirtyCursor(_ slot: Int, _ index: Int) {
        guard self.people[slot].devices[index].flushAt == nil,
            self.decided(slot, index) > self.people[slot].devices[index].written
        else { return }
        self.people[slot].devices[index].flushAt = self.turn.now.monotonic + self.turn.settings.cursorFlushTime
    }

    private func decided(_ slot: Int, _ index: Int) -> LogPosition {
        let decided = self.people[slot].devices[index].legs.decided(head: self.people[slot].head)
        guard let unsure = self.people[slot].devices[index].unsure.first else { return decided }
        return min(decided, unsure - 1)
    }

    mutating func writeCursor(_ slot: Int, _ index: Int) {
        self.people[slot].devices[index].flushAt = nil
        let decided = self.decided(slot, index)
        // The store forgets the cursors of a device that signs out.
        guard decided > self.people[slot].devices[index].written, !self.people[slot].devices[index].isLeaving else {
            return
        }
        self.people[slot].devices[index].written = decided
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        self.turn.ask(.advance(key, settled: nil, decided: decided))
    }
}
