import DequeModule
package import TidingsModel

/// An entry is reported only when all before it are settled, and runs of one disposition travel as one number (design.md
/// §3 "Acks").
package struct Settlements: Hashable, Sendable {
    /// Everything up to here was reported, or is in `sent`.
    package private(set) var settled: LogPosition
    /// The entries after `settled`, in order. Those that will be reported together are one slot: a device may catch
    /// up on a long log in the background, where nothing can be reported before the app comes to the foreground.
    private var open: Deque<Slot> = []
    private var sent: [ClientFrame.Settlement] = []
    private var sentBeforePing: UInt64 = 0

    package static let sentMax = 64

    private struct Slot: Hashable, Sendable {
        var position: LogPosition
        var verdict: Verdict
    }

    package enum Verdict: Hashable, Sendable {
        case undecided
        /// Left to the server's push: decided only with all others.
        case left
        case settled(Disposition)
        /// Nothing to show, for example "read on another device": reported with the entries around it.
        case neutral

        fileprivate func takesAlong(_ next: Verdict) -> Bool {
            switch (self, next) {
            // A device that is told of the person's own message has no leg for it: its disposition counts nothing.
            case (.left, .left), (.left, .neutral), (.left, .settled(.suppressed(.ownMessage))): true
            case (.settled(let disposition), .settled(let other)): disposition == other
            case (.settled, .neutral), (.neutral, .neutral): true
            case (.undecided, _), (.left, _), (.settled, _), (.neutral, _): false
            }
        }
    }

    /// Entries between the two were stored by an earlier process that could not decide them.
    package init(settled: LogPosition, stored: LogPosition) {
        self.settled = min(settled, stored)
        if self.settled < stored { self.open.append(Slot(position: stored, verdict: .left)) }
    }

    package var openCount: Int { self.open.count }

    package mutating func append(_ position: LogPosition, _ verdict: Verdict) {
        guard position > (self.open.last?.position ?? self.settled) else { return }
        if self.open.last?.verdict.takesAlong(verdict) == true {
            self.open[self.open.count - 1].position = position
            return
        }
        self.open.append(Slot(position: position, verdict: verdict))
    }

    package mutating func decide(_ position: LogPosition, _ disposition: Disposition) {
        guard let index = self.open.firstIndex(where: { $0.position == position }),
            self.open[index].verdict == .undecided
        else { return }
        self.open[index].verdict = .settled(disposition)
    }

    package mutating func decideAll(_ disposition: Disposition) {
        for index in self.open.indices where [.undecided, .left].contains(self.open[index].verdict) {
            self.open[index].verdict = .settled(disposition)
        }
    }

    package mutating func drainReport(pingsSent: UInt64) -> [ClientFrame.Settlement] {
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

    /// An acknowledgement counts for the current session only, and the last ones of a lost connection may never have
    /// arrived.
    package var repeated: [ClientFrame.Settlement] { self.sent }

    package mutating func confirmed(ping: UInt64) {
        if ping > self.sentBeforePing { self.sent.removeAll() }
    }

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
