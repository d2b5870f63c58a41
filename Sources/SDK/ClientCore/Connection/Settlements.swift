import DequeModule
package import TidingsModel

/// Which entries are settled, in the order of the log: an entry is told to the server only when all before it are settled,
/// and runs of one disposition travel as one number (DESIGN §3 "Acks").
package struct Settlements: Hashable, Sendable {
    /// Everything up to here is settled and has been told, or is in `sent`.
    package private(set) var settled: LogPosition
    /// The entries after `settled`, in order: decided, or still open. Those that will be told together are held together: a device
    /// may catch up on a long log in the background, where nothing of it can be told before the app comes to the foreground.
    private var open: Deque<Slot> = []
    /// Told on the current or the last connection, and not proven to have arrived.
    private var sent: [ClientFrame.Settlement] = []
    private var sentBeforePing: UInt64 = 0

    /// How many runs are kept for repeating after a lost connection.
    package static let sentMax = 64

    /// The entries from behind the slot before up to a position.
    private struct Slot: Hashable, Sendable {
        var position: LogPosition
        var verdict: Verdict
    }

    /// What is known of one entry.
    package enum Verdict: Hashable, Sendable {
        /// Stored; whether and how it is shown is not decided.
        case undecided
        /// Stored, and left to the server's push: decided only with all others.
        case left
        /// Decided.
        case settled(Disposition)
        /// Nothing to show, for example "read on another device": goes along with its other tenants.
        case neutral

        /// Whether an entry right behind one with this verdict is told with it, and as it is.
        fileprivate func takesAlong(_ next: Verdict) -> Bool {
            switch (self, next) {
            // Whoever is told of the person's own message has no leg for it: its disposition counts nothing.
            case (.left, .left), (.left, .neutral), (.left, .settled(.suppressed(.ownMessage))): true
            case (.settled(let disposition), .settled(let other)): disposition == other
            case (.settled, .neutral), (.neutral, .neutral): true
            case (.undecided, _), (.left, _), (.settled, _), (.neutral, _): false
            }
        }
    }

    /// - Parameters:
    ///   - settled: as the local store remembers it.
    ///   - stored: entries between the two were stored by an earlier process that could not decide them.
    package init(settled: LogPosition, stored: LogPosition) {
        self.settled = min(settled, stored)
        if self.settled < stored { self.open.append(Slot(position: stored, verdict: .left)) }
    }

    /// How many runs of entries wait for a verdict or for one before them.
    package var openCount: Int { self.open.count }

    /// A stored entry. Entries come in the order of the log.
    package mutating func append(_ position: LogPosition, _ verdict: Verdict) {
        guard position > (self.open.last?.position ?? self.settled) else { return }
        if self.open.last?.verdict.takesAlong(verdict) == true {
            self.open[self.open.count - 1].position = position
            return
        }
        self.open.append(Slot(position: position, verdict: verdict))
    }

    /// Decides an undecided entry; anything else stays as it is.
    package mutating func decide(_ position: LogPosition, _ disposition: Disposition) {
        guard let index = self.open.firstIndex(where: { $0.position == position }),
            self.open[index].verdict == .undecided
        else { return }
        self.open[index].verdict = .settled(disposition)
    }

    /// Decides everything that is undecided or left.
    package mutating func decideAll(_ disposition: Disposition) {
        for index in self.open.indices where [.undecided, .left].contains(self.open[index].verdict) {
            self.open[index].verdict = .settled(disposition)
        }
    }

    /// Takes what can be told now: contiguous from the front, coalesced. Returns nothing if nothing is new.
    package mutating func take(pingsSent: UInt64) -> [ClientFrame.Settlement] {
        var runs: [ClientFrame.Settlement] = []
        while let slot = self.open.first {
            let disposition: Disposition
            switch slot.verdict {
            case .undecided, .left: return self.remember(runs, pingsSent: pingsSent)
            case .settled(let decided): disposition = decided
            case .neutral: disposition = runs.last?.disposition ?? .suppressed(.notNotifiable)
            }
            self.open.removeFirst()
            self.settled = slot.position
            if runs.last?.disposition == disposition {
                runs[runs.count - 1].upTo = slot.position
            } else {
                runs.append(ClientFrame.Settlement(upTo: slot.position, disposition: disposition))
            }
        }
        return self.remember(runs, pingsSent: pingsSent)
    }

    /// What has to be told again on a new connection: an ack counts only from the current session, and the last ones of a
    /// lost connection may never have arrived.
    package var repeated: [ClientFrame.Settlement] { self.sent }

    /// A pong proves that everything written before its ping has arrived.
    package mutating func confirmed(ping: UInt64) {
        if ping > self.sentBeforePing { self.sent.removeAll() }
    }

    /// Another person, or another log.
    package mutating func forget() { self = Settlements(settled: 0, stored: 0) }

    private mutating func remember(
        _ runs: [ClientFrame.Settlement], pingsSent: UInt64
    ) -> [ClientFrame.Settlement] {
        guard !runs.isEmpty else { return [] }
        self.sent.append(contentsOf: runs)
        if self.sent.count > Self.sentMax { self.sent.removeFirst(self.sent.count - Self.sentMax) }
        self.sentBeforePing = pingsSent
        return runs
    }
}
