import StoreModel
package import TidingsModel

/// An app's last hour in steps of ten seconds: a ring of integers, whose size does not depend on how much happens.
package struct AppHistory: Hashable, Sendable {
    package static let stepMilliseconds: Int64 = 10_000
    /// An hour, with the step under way.
    package static let stepsMax: Int64 = 360
    private static let minuteMilliseconds: Int64 = 60_000
    /// An hour, and the minute under way.
    private static let minutesMax: Int64 = 61

    /// The counts of a step, each a number in the ring.
    enum Column: Int, CaseIterable {
        case connections, messages, accepted, refused, unknown, notSent, waiting, inFlight
        case delivered, delivered50, delivered95, delivered99, toAPNs, toAPNs50, toAPNs95, toAPNs99
    }

    /// What lasts from one step to the next.
    private static let lasting: [Column] = [.connections, .waiting, .inFlight]

    /// What a file keeps of it.
    package struct Saved: Codable, Hashable, Sendable {
        /// Wall milliseconds.
        var begunAt: Int64
        /// The last one, counted from there.
        var step: Int64
        /// The oldest first; empty where nothing was.
        var steps: [[UInt32]]
    }

    /// How long ways took that are under way or over.
    private struct Ways: Hashable, Sendable {
        var delivered = LatencyHistogram()
        var toAPNs = LatencyHistogram()

        mutating func removeAll() {
            self.delivered.removeAll()
            self.toAPNs.removeAll()
        }
    }

    private static let width = Column.allCases.count + LegEnd.names.count
    private static let endColumns = Dictionary(
        uniqueKeysWithValues: LegEnd.names.enumerated().map { ($1, Column.allCases.count + $0) })

    /// Monotonic milliseconds: where the first step begins; before the process did for one that goes on.
    private var begun: Int64
    /// Milliseconds from the monotonic clock to the wall clock. Both are read one after the other, so they differ by a little each time.
    private var wallOffset: Int64
    /// Milliseconds: a larger difference is a wall clock that was set.
    private static let clockSetMin: Int64 = 1_000
    /// Counted from `begun`.
    private var step: Int64 = 0
    private var minute: Int64 = 0
    private var ring = [UInt32](repeating: 0, count: Int(Self.stepsMax) * Self.width)
    private var current = Ways()
    private var minutes = [Ways](repeating: Ways(), count: Int(Self.minutesMax))
    /// Monotonic milliseconds: the last report.
    package private(set) var usedAt: Int64

    package init(at now: Now) {
        self.begun = now.monotonic
        self.wallOffset = now.wall - now.monotonic
        self.usedAt = now.monotonic
    }

    /// Goes on where a saved one ended. Nil if that is more than an hour ago or yet to come, if nothing was in it, or if it is damaged.
    init?(_ saved: Saved, at now: Now) {
        guard (0...max(0, now.wall)).contains(saved.begunAt),
            (0...(now.wall / Self.stepMilliseconds)).contains(saved.step),
            (1...Int(Self.stepsMax)).contains(saved.steps.count), saved.step >= saved.steps.count - 1,
            (0..<Self.stepsMax).contains((now.wall - saved.begunAt) / Self.stepMilliseconds - saved.step),
            saved.steps.allSatisfy({ $0.isEmpty || $0.count == Self.width }), !saved.steps.allSatisfy(\.isEmpty)
        else { return nil }
        self.init(at: now)
        self.begun = saved.begunAt - self.wallOffset
        self.step = saved.step
        self.minute = saved.step * Self.stepMilliseconds / Self.minuteMilliseconds
        for (index, counts) in saved.steps.enumerated() {
            let first = self.place(0, in: saved.step - Int64(saved.steps.count - 1 - index))
            for (column, count) in counts.enumerated() { self.ring[first + column] = count }
        }
        // Nobody was connected while no process ran.
        for column in Self.lasting { self[column] = 0 }
    }

    /// The steps, for a file, without the latencies of whole minutes.
    package var saved: Saved {
        let steps = max(0, self.step - Self.stepsMax + 1)...self.step
        return Saved(
            begunAt: self.begun + self.wallOffset, step: self.step,
            steps: steps.map { step in
                let first = self.place(0, in: step)
                let counts = self.ring[first..<(first + Self.width)]
                return counts.contains { $0 > 0 } ? Array(counts) : []
            })
    }

    /// Returns true if it tells nothing that an empty one would not tell.
    func isForgotten(at now: Now) -> Bool {
        self[.connections] == 0 && now.monotonic - self.usedAt > Self.stepsMax * Self.stepMilliseconds
    }

    // MARK: - Counting

    private func place(_ column: Int, in step: Int64) -> Int { Int(step % Self.stepsMax) * Self.width + column }

    private subscript(_ column: Column) -> UInt32 {
        get { self.ring[self.place(column.rawValue, in: self.step)] }
        set { self.ring[self.place(column.rawValue, in: self.step)] = newValue }
    }

    /// - Parameters: connections: of the app, with the report. commits: of all messages.
    mutating func add(_ report: ServerReport, connections: Int, _ commits: CommitTimes, at now: Now) {
        self.advance(to: now)
        self.usedAt = now.monotonic
        self[.connections] = UInt32(clamping: connections)
        switch report {
        case .accepted, .acceptedCustom: self[.messages] &+= 1
        case .endedLeg(let ended): self.add(ended, commits, at: now)
        case .answeredPush(_, let subject, let result): self.add(result, to: subject, commits, at: now)
        case .recalled, .edited, .sentLeg, .waitingLeg, .receipt, .device, .raisedAlarm, .clearedAlarm, .pushJob,
            .expiringCredential, .storage:
            break
        }
    }

    private mutating func add(_ ended: EndedLeg, _ commits: CommitTimes, at now: Now) {
        if let column = Self.endColumns[ended.end.name] { self.ring[self.place(column, in: self.step)] &+= 1 }
        guard case .settled = ended.end else { return }
        self.current.delivered.add(commits.age(of: ended.leg.message, at: now))
    }

    private mutating func add(
        _ result: ServerReport.PushResult, to subject: ServerReport.PushSubject, _ commits: CommitTimes, at now: Now
    ) {
        switch result {
        case .accepted: self[.accepted] &+= 1
        case .refused: self[.refused] &+= 1
        case .unknown: self[.unknown] &+= 1
        case .notSent, .noCredential: self[.notSent] &+= 1
        }
        guard case .accepted = result, case .message(let message) = subject else { return }
        self.current.toAPNs.add(commits.age(of: message, at: now))
    }

    /// How many pushes wait, and how many are with the APNs client.
    mutating func setQueue(waiting: Int, inFlight: Int, at now: Now) {
        self.advance(to: now)
        self[.waiting] = UInt32(clamping: waiting)
        self[.inFlight] = UInt32(clamping: inFlight)
    }

    // MARK: - Time

    /// Closes the steps that are over. Of several without a report each has what lasts: connections and queues.
    mutating func advance(to now: Now) {
        let passed = max(0, now.monotonic - self.begun)
        let (step, minute) = (passed / Self.stepMilliseconds, passed / Self.minuteMilliseconds)
        guard step > self.step else { return }
        self.closeWays()
        let values = Self.lasting.map { self[$0] }
        for next in max(self.step + 1, step - Self.stepsMax + 1)...step {
            self.step = next
            let first = self.place(0, in: next)
            for place in first..<(first + Self.width) { self.ring[place] = 0 }
            for (column, value) in zip(Self.lasting, values) { self[column] = value }
        }
        guard minute > self.minute else { return }
        for next in max(self.minute + 1, minute - Self.minutesMax + 1)...minute {
            self.minutes[Int(next % Self.minutesMax)].removeAll()
        }
        self.minute = minute
    }

    /// A step lies within one minute.
    private mutating func closeWays() {
        let (delivered, toAPNs) = (self.current.delivered, self.current.toAPNs)
        self.write(delivered, to: [.delivered, .delivered50, .delivered95, .delivered99])
        self.write(toAPNs, to: [.toAPNs, .toAPNs50, .toAPNs95, .toAPNs99])
        self.minutes[Int(self.minute % Self.minutesMax)].delivered.add(delivered)
        self.minutes[Int(self.minute % Self.minutesMax)].toAPNs.add(toAPNs)
        self.current.removeAll()
    }

    private mutating func write(_ ways: LatencyHistogram, to columns: [Column]) {
        guard ways.count > 0 else { return }
        let summary = ways.summary
        let values = [Int64(summary.count), summary.p50 ?? 0, summary.p95 ?? 0, summary.p99 ?? 0]
        for (column, value) in zip(columns, values) { self[column] = UInt32(clamping: value) }
    }

    // MARK: - Reading

    /// - Returns: what there is, the step under way included.
    package mutating func report(at now: Now) -> HistoryReport {
        self.advance(to: now)
        let first = max(0, self.step - Self.stepsMax + 1)
        let steps = first...self.step
        func column(_ column: Int) -> [Int] { steps.map { Int(self.ring[self.place(column, in: $0)]) } }
        func summaries(_ columns: [Column], _ open: LatencyHistogram) -> [LatencyHistogram.Summary] {
            steps.map { step in
                guard step < self.step else { return open.summary }
                let values = columns.map { Int64(self.ring[self.place($0.rawValue, in: step)]) }
                guard values[0] > 0 else { return .init() }
                return .init(count: Int(values[0]), p50: values[1], p95: values[2], p99: values[3])
            }
        }
        let offset = now.wall - now.monotonic
        if abs(offset - self.wallOffset) >= Self.clockSetMin { self.wallOffset = offset }
        let wall = self.wallOffset
        return HistoryReport(
            since: self.begun + wall, from: self.begun + first * Self.stepMilliseconds + wall,
            stepMilliseconds: Self.stepMilliseconds, connections: column(Column.connections.rawValue),
            messages: column(Column.messages.rawValue), accepted: column(Column.accepted.rawValue),
            refused: column(Column.refused.rawValue), unknown: column(Column.unknown.rawValue),
            notSent: column(Column.notSent.rawValue), waiting: column(Column.waiting.rawValue),
            inFlight: column(Column.inFlight.rawValue),
            ends: LegEnd.names.enumerated().compactMap { index, name in
                let counts = column(Column.allCases.count + index)
                return counts.contains { $0 > 0 } ? .init(name: name, counts: counts) : nil
            },
            delivered: summaries([.delivered, .delivered50, .delivered95, .delivered99], self.current.delivered),
            toAPNs: summaries([.toAPNs, .toAPNs50, .toAPNs95, .toAPNs99], self.current.toAPNs))
    }

    /// Returns the latency of the last minutes that are over, and of the one under way.
    package mutating func latency(ofMinutes count: Int64, at now: Now) -> LatencyReport {
        self.advance(to: now)
        var ways = self.current
        for minute in max(0, self.minute - min(count, Self.minutesMax - 1))...self.minute {
            let one = self.minutes[Int(minute % Self.minutesMax)]
            ways.delivered.add(one.delivered)
            ways.toAPNs.add(one.toAPNs)
        }
        return LatencyReport(delivered: ways.delivered.summary, toAPNs: ways.toAPNs.summary)
    }
}

extension LegEnd {
    /// The names of all ends, so that all of them are told from the start.
    package static let names: [String] = {
        let ends: [LegEnd] = [
            .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .settled(.shown), .readElsewhere,
            .recalled, .expired, .muted, .quietHours, .noToken, .tokenQuarantined(reason: "", status: 0),
            .accepted(apnsID: ""), .tokenDead(timestamp: 0), .rejected(reason: ""),
        ]
        return ends.map(\.name)
    }()
}
