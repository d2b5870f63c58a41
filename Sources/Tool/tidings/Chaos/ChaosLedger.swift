import APNsModel

/// Compares the client's reports and the simulator's log, notification by notification. Notifications are numbered from 0. The lines of one
/// notification come in the order of the log.
struct ChaosLedger: Sendable {
    enum Result: Hashable, Sendable {
        case accepted
        case refused(APNsReason)
        /// True if the stream was reset, rather than the connection lost or silent.
        case unknown(byReset: Bool)
        case notSent
    }

    struct Sightings: Sendable {
        /// `apns.client.faults`, by fault.
        var faults: [String: Int] = [:]
        /// `apns.client.connections.closed`, by cause.
        var closed: [String: Int] = [:]
        /// `apns.client.connections.opened`.
        var opened = 0
    }

    struct Outages: Sendable {
        /// Connections that were open when one began.
        var cut = 0
        var refused = 0
    }

    private struct Entry {
        var ends = 0
        var result = Result.notSent
        var accepted = 0
        var reasons: Set<APNsReason> = []
        var last: ChaosLine?
    }

    private var entries: [Entry]
    private var lines: [ChaosLine: Int] = [:]
    private var broken: [String] = []
    private(set) var endedCount = 0
    private(set) var sentCount = 0

    init(notifications: Int) { self.entries = Array(repeating: Entry(), count: notifications) }

    // MARK: What happened

    mutating func ended(_ number: Int, _ result: Result) {
        self.entries[number].ends += 1
        self.entries[number].result = result
        guard self.entries[number].ends == 1 else { return }
        self.endedCount += 1
        if result != .notSent { self.sentCount += 1 }
    }

    /// - Parameter number: nil for a request that is no notification of ours.
    mutating func logged(_ number: Int?, _ line: ChaosLine) {
        self.lines[line, default: 0] += 1
        guard let number, self.entries.indices.contains(number) else {
            return self.broken.append("the log has a request that nobody sent: \(line)")
        }
        if line == .accepted { self.entries[number].accepted += 1 }
        if case .refused(let reason) = line { self.entries[number].reasons.insert(reason) }
        self.entries[number].last = line
    }

    mutating func addViolation(_ text: String) { self.broken.append(text) }

    // MARK: Whether it agrees

    /// How many faults may were injected unseen by the client: the answer was on its way when the connection ended, and
    /// the notification was reported as of unknown outcome.
    func doubtful(_ fault: ChaosFault) -> Int {
        guard let line = fault.line else { return 0 }
        return self.entries.count { $0.last == line && $0.result == .unknown(byReset: false) }
    }

    var results: [Result: Int] {
        self.entries.reduce(into: [:]) { if $1.ends > 0 { $0[$1.result, default: 0] += 1 } }
    }

    /// All broken promises in words. `taken` is how often the simulator says that each fault was injected, `atLeast` how
    /// often each should have.
    func violations(taken: [ChaosFault: Int], seen: Sightings, outages: Outages, atLeast: Int) -> [String] {
        self.broken + self.ofNotifications() + self.ofTheLog(taken) + self.ofAnswers(taken, seen)
            + self.ofConnections(taken, seen, outages) + self.ofNumbers(taken, atLeast)
    }

    private func ofNotifications() -> [String] {
        var found: [String] = []
        for (number, entry) in self.entries.enumerated() {
            if entry.ends != 1 { found.append("notification \(number) ended \(entry.ends) times") }
            switch entry.result {
            case .accepted where entry.ends > 0 && entry.accepted == 0:
                found.append("notification \(number) was reported as accepted, and the log does not have it")
            case .accepted where entry.accepted > 1:
                found.append(
                    "notification \(number) was accepted \(entry.accepted) times, and not reported as unknown")
            case .refused where entry.accepted > 0:
                found.append("notification \(number) was reported as refused, and accepted")
            case .refused(let reason) where !entry.reasons.contains(reason):
                found.append("notification \(number) was reported as refused for \(reason.name), and was not")
            case .notSent where entry.ends > 0 && entry.accepted > 0:
                found.append("notification \(number) was reported as not sent, and accepted")
            case .unknown(byReset: true) where entry.last != ChaosFault.resetStream.line:
                found.append("notification \(number) was reported as reset, and was not")
            case .accepted, .refused, .notSent, .unknown: break
            }
        }
        return found
    }

    /// The log and the plan's own counts have the same faults, and no others.
    private func ofTheLog(_ taken: [ChaosFault: Int]) -> [String] {
        var found: [String] = []
        var known: Set<ChaosLine> = [.accepted]
        for fault in ChaosFault.allCases {
            guard let line = fault.line else { continue }
            known.insert(line)
            let (logged, injected) = (self.lines[line] ?? 0, taken[fault] ?? 0)
            if logged != injected {
                found.append("\(fault.rawValue) was injected \(injected) times, and the log has \(logged)")
            }
        }
        let others = self.lines.filter { !known.contains($0.key) }.map { "\($0.value) times \($0.key)" }.sorted()
        return found + others.map { "the log has what the plan does not do: \($0)" }
    }

    /// Every refusal and every stream that was ended reached the client, except those in doubt.
    private func ofAnswers(_ taken: [ChaosFault: Int], _ seen: Sightings) -> [String] {
        ChaosFault.allCases.compactMap { fault in
            guard let counter = fault.counter else { return nil }
            let (injected, saw) = (taken[fault] ?? 0, seen.faults[counter] ?? 0)
            let doubtful = self.doubtful(fault)
            guard saw > injected || saw < injected - doubtful else { return nil }
            return
                "\(fault.rawValue) was injected \(injected) times, \(doubtful) of them in doubt, and the client saw \(saw)"
        }
    }

    /// The client saw the end of every connection that was ended, and of no other. A connection cut by an outage may
    /// be closing already, after a refusal that asks for another one or for shutdown; a connection that is being made
    /// then is given up.
    private func ofConnections(_ taken: [ChaosFault: Int], _ seen: Sightings, _ outages: Outages) -> [String] {
        func sum(_ faults: ChaosFault...) -> Int { faults.reduce(0) { $0 + (taken[$1] ?? 0) } }
        var found: [String] = []
        let (cut, lost) = (sum(.cut, .loseAnswer), seen.closed["lost"] ?? 0)
        if lost < cut { found.append("the simulator cut \(cut) connections, and the client lost \(lost)") }
        let (refused, failed) = (sum(.tlsAlert, .refuseConnect) + outages.refused, seen.closed["connect_failed"] ?? 0)
        if failed > refused {
            found.append(
                "the simulator turned \(refused) connections away, and the client failed to connect \(failed) times")
        }
        let ended = cut + refused + outages.cut
        let closing = min(outages.cut, (seen.closed["refused"] ?? 0) + (seen.closed["shutdown"] ?? 0)) + 1
        if lost + failed > ended || lost + failed < ended - closing {
            found.append(
                "the simulator ended \(ended) connections, \(outages.cut) of them by outages, and the client lost \(lost) and "
                    + "failed to connect \(failed) times")
        }
        let (holes, silent) = (sum(.blackHole), seen.closed["silence"] ?? 0)
        if holes != silent { found.append("\(holes) connections fell silent, and the client noticed \(silent)") }
        // The answer Shutdown brings one more, which a client that is leaving anyway may not read.
        let (away, told) = (sum(.goAwayReason, .goAwayText, .goAwayEmpty), seen.faults["go_away"] ?? 0)
        if told < away || told > away + sum(.shutdown) {
            found.append(
                "the plan sent \(away) GOAWAYs and \(sum(.shutdown)) with Shutdown, and the client read \(told)")
        }
        return found
    }

    private func ofNumbers(_ taken: [ChaosFault: Int], _ atLeast: Int) -> [String] {
        ChaosFault.allCases.filter { (taken[$0] ?? 0) < atLeast }.map {
            "\($0.rawValue) was injected \(taken[$0] ?? 0) times, and should \(atLeast) times"
        }
    }
}
