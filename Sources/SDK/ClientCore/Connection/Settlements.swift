import DequeModule
package import TidingsModel

/// Which entries are settled, in the order of the log: an entry is told to the server only when all before it are settled,
/// and runs of one disposition travel as one number (DESIGN §3 "Acks").
package struct Settlements: Hashable, Sendable {
    /// Everything up to here is settled and has been told, or is in `sent`.
    package private(set) var settled: LogPosition
    /// The entries after `settled`, in order: decided, or still open. Neighbours that share a fate are one run, so that what a
    /// phone has missed in weeks costs no more than what it missed in a minute.
    private var open: Deque<Run> = []
    /// Told on the current or the last connection, and not proven to have arrived.
    private var sent: [ClientFrame.Settlement] = []
    private var sentBeforePing: UInt64 = 0

    /// How many runs are kept for repeating after a lost connection.
    package static let sentMax = 64

    /// All entries of the log from the one to the other.
    private struct Run: Hashable, Sendable {
        var first: LogPosition
        var last: LogPosition
        var verdict: Verdict

        init(_ position: LogPosition, _ verdict: Verdict) {
            self.first = position
            self.last = position
            self.verdict = verdict
        }

        /// Whether an entry right behind it is told together with it, whatever becomes of it.
        func takes(_ next: Verdict) -> Bool {
            switch self.verdict {
            case .undecided, .settled: next == self.verdict || next == .neutral
            case .neutral: next == .neutral
            case .asked: false
            }
        }
    }

    /// What is known of one entry.
    package enum Verdict: Hashable, Sendable {
        /// Stored; left to the server's push until the app comes to the front.
        case undecided
        /// Stored; whether and how it is shown is being decided, for this one alone.
        case asked
        /// Decided.
        case settled(Disposition)
        /// Nothing to show, for example "read on another device": goes along with its neighbours.
        case neutral
    }

    /// - Parameters:
    ///   - settled: as the local store remembers it.
    ///   - stored: entries between the two were stored by an earlier process that could not decide them.
    package init(settled: LogPosition, stored: LogPosition) {
        self.settled = min(settled, stored)
        if self.settled < stored {
            var run = Run(self.settled + 1, .undecided)
            run.last = stored
            self.open.append(run)
        }
    }

    /// Whether entries wait for a verdict or for one before them.
    package var hasOpen: Bool { !self.open.isEmpty }
    /// How many runs of such entries are kept.
    package var openCount: Int { self.open.count }

    /// A stored entry. Entries come in the order of the log.
    package mutating func append(_ position: LogPosition, _ verdict: Verdict) {
        guard let last = self.open.last else {
            if position > self.settled { self.open.append(Run(position, verdict)) }
            return
        }
        guard position > last.last else { return }
        if last.takes(verdict) {
            self.open[self.open.count - 1].last = position
        } else {
            self.open.append(Run(position, verdict))
        }
    }

    /// Decides an entry about which somebody is asked; anything else stays as it is.
    package mutating func decide(_ position: LogPosition, _ disposition: Disposition) {
        guard let index = self.open.firstIndex(where: { $0.first == position && $0.verdict == .asked }) else { return }
        self.open[index].verdict = .settled(disposition)
    }

    /// Decides everything that is not decided.
    package mutating func decideAll(_ disposition: Disposition) {
        for index in self.open.indices {
            switch self.open[index].verdict {
            case .undecided, .asked: self.open[index].verdict = .settled(disposition)
            case .settled, .neutral: continue
            }
        }
    }

    /// Takes what can be told now: contiguous from the front, coalesced. Returns nothing if nothing is new.
    package mutating func take(pingsSent: UInt64) -> [ClientFrame.Settlement] {
        var runs: [ClientFrame.Settlement] = []
        while let run = self.open.first {
            let disposition: Disposition
            switch run.verdict {
            case .undecided, .asked: return self.remember(runs, pingsSent: pingsSent)
            case .settled(let decided): disposition = decided
            case .neutral: disposition = runs.last?.disposition ?? .suppressed(.notNotifiable)
            }
            self.open.removeFirst()
            self.settled = run.last
            if runs.last?.disposition == disposition {
                runs[runs.count - 1].upTo = run.last
            } else {
                runs.append(ClientFrame.Settlement(upTo: run.last, disposition: disposition))
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
