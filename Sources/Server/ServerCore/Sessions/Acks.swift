import StoreModel
import TidingsModel

extension Turn {
    mutating func tellEnd(_ ended: EndedLeg) {
        self.ask(.endLeg(ended))
        if ended.end.mayBeShown { self.store.lateEnds.append(LateEnd(request: self.store.sent, leg: ended.leg)) }
    }
}

extension Person {
    mutating func writeCursors(_ turn: inout Turn) {
        for index in self.devices.indices { self.devices[index].writeCursor(&self.state, &turn) }
    }
}

extension Device {
    mutating func endLeg(_ leg: Leg, _ end: LegEnd, _ turn: inout Turn) {
        self.endLeg(leg.ended(end, of: self.key, at: turn.now.wall), &turn)
    }

    mutating func endLeg(_ ended: EndedLeg, _ turn: inout Turn) {
        guard !self.isLeaving else {
            self.leaving?.ended.append(ended)
            return
        }
        turn.tellEnd(ended)
        if ended.end.couldNotBePushed { self.unpushed.insert(ended.leg.message) }
    }

    /// design.md §3 "Acks".
    mutating func acknowledge(
        _ ack: ClientFrame.Ack, _ person: inout PersonState, _ turn: inout Turn
    ) throws(InvalidField) {
        let head = person.head
        try InvalidField.check(ack.stored <= head, "ack.stored", "must be at most \(head), the head of the log")
        let stored = max(self.stored, ack.stored)
        var before: LogPosition = 0
        for settlement in ack.settled {
            try InvalidField.check(
                settlement.upTo > before, "ack.settled", "must be ascending, each from after the one before")
            try InvalidField.check(
                settlement.upTo <= stored, "ack.settled",
                "must be at most \(stored), up to where the device has stored the log")
            before = settlement.upTo
        }
        self.stored = stored
        for settlement in ack.settled { self.settle(upTo: settlement.upTo, settlement.disposition, &person, &turn) }
        if self.lease == .foreground { self.settle(upTo: stored, nil, &person, &turn) }
        self.writeSettled(&turn)
        self.writeSkipped(&turn)
    }

    /// In the foreground what is stored is settled (design.md §3 "Acks").
    mutating func settleStored(_ person: inout PersonState, _ turn: inout Turn) {
        self.settle(upTo: self.stored, nil, &person, &turn)
        self.writeSettled(&turn)
    }

    /// Without a disposition the app is in the foreground and has them on its screen.
    private mutating func settle(
        upTo position: LogPosition, _ disposition: Disposition?, _ person: inout PersonState, _ turn: inout Turn
    ) {
        guard position > self.settled else { return }
        self.settled = position
        if position >= person.head, !self.unpushed.isEmpty {
            self.unpushed = UnpushedMessages()
            self.owesSettled = true
        }
        self.progressAt = turn.now.monotonic
        let user = self.key.user
        let isWatched = turn.sessions.watchers[user] != nil
        var arrivals: [ArrivedMessage] = []
        while let leg = self.legs.popFirst(upTo: position) {
            if isWatched, let arrival = leg.arrival(at: user.user) { arrivals.append(arrival) }
            self.endLeg(
                leg, leg.isGone ? .recalled : .settled(disposition ?? leg.impliedDisposition(for: user.user)), &turn)
        }
        if !arrivals.isEmpty { person.sendDeliveryReceipts(arrivals, &turn) }
    }

    mutating func writeSettled(_ turn: inout Turn) {
        guard self.settled > self.written || self.owesSettled, !self.isLeaving else { return }
        self.written = max(self.written, self.settled)
        self.owesSettled = false
        turn.ask(.advance(self.key, settled: self.settled, decided: nil))
    }

    /// A device left to sync on its own gets the newest entry once it has caught up: it notices the gap if it lacks
    /// earlier ones.
    private mutating func writeSkipped(_ turn: inout Turn) {
        guard self.skippedUpTo > 0 else { return }
        if self.stored >= self.skippedUpTo {
            self.skippedUpTo = 0
        } else if self.legs.count <= turn.settings.liveWindowMax / 2, let session = self.session,
            let last = self.legs.last
        {
            self.skippedUpTo = 0
            let entry = LogEntry(position: last.position, body: last.body)
            turn.emit(.write(session, .entry(last.recall == nil ? entry : entry.place)))
        }
    }

    /// `decided` may have moved by an end that a crash would repeat: it is written a little later, for many at once.
    mutating func dirtyCursor(_ person: inout PersonState, _ turn: inout Turn) {
        guard self.flushAt == nil, self.decided(head: person.head) > self.written else { return }
        self.flushAt = turn.now.monotonic + turn.settings.cursorFlushTime
    }

    private mutating func decided(head: LogPosition) -> LogPosition {
        let decided = self.legs.decided(head: head)
        guard let unsure = self.unsure.first else { return decided }
        return min(decided, unsure - 1)
    }

    mutating func writeCursor(_ person: inout PersonState, _ turn: inout Turn) {
        self.flushAt = nil
        let decided = self.decided(head: person.head)
        // The store forgets the cursors of a device that signs out.
        guard decided > self.written, !self.isLeaving else { return }
        self.written = decided
        turn.ask(.advance(self.key, settled: nil, decided: decided))
    }
}
