import APNsCore
import APNsSimulator

/// The faults of one run: a plan that goes on all the time, and outages that begin now and then and are over when the
/// simulator has turned two connections away.
struct ChaosFaults {
    /// How often each fault was injected so far, but for what the plan in place has not been asked.
    private(set) var taken: [ChaosFault: Int] = [:]
    /// What the outages did to connections.
    private(set) var outages = ChaosLedger.Outages()
    private let seed: UInt64
    private var begun = 0

    init(seed: UInt64) { self.seed = seed }

    /// Sets the plan without an outage.
    func begin(_ simulator: APNsSimulator) async throws {
        try await simulator.setFaults(ChaosFault.plan(seed: self.seed, outages: 0))
    }

    /// Begins an outage if one is due now that so many notifications were sent and have ended. What is not sent does not count:
    /// or outages would come the faster, the less gets through.
    mutating func advance(to sent: Int, _ simulator: APNsSimulator) async throws {
        guard sent * ChaosFault.outage.perMille / 1_000 > self.begun else { return }
        self.begun += 1
        let (counts, cut) = try await simulator.replaceFaults(ChaosFault.plan(seed: self.seed, outages: self.begun))
        self.count(counts)
        self.taken[.outage, default: 0] += 1
        self.outages.cut += cut
    }

    /// Counts what the rules of a plan have done.
    mutating func count(_ counts: [FaultCount]) {
        for (fault, count) in zip(ChaosFault.allCases, counts) {
            guard fault != .outage else {
                self.outages.refused += count.taken
                continue
            }
            self.taken[fault, default: 0] += count.taken
        }
    }
}
