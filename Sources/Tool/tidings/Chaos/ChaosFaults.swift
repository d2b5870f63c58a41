import APNsCore
import APNsSimulator

/// The faults of one run: a plan that is always active, and outages that begin now and then and end when the
/// simulator has refused two connections.
struct ChaosFaults {
    /// How often each fault was injected, without what the active plan has done.
    private(set) var taken: [ChaosFault: Int] = [:]
    private(set) var outages = ChaosLedger.Outages()
    private let seed: UInt64
    private var begun = 0

    init(seed: UInt64) { self.seed = seed }

    func begin(_ simulator: APNsSimulator) async throws {
        try await simulator.setFaults(ChaosFault.plan(seed: self.seed, outages: 0))
    }

    /// Begins an outage if one is due after so many ended notifications. Those that were not sent do not count, or
    /// outages would come faster the less gets through.
    mutating func advance(to sent: Int, _ simulator: APNsSimulator) async throws {
        guard sent * ChaosFault.outage.perMille / 1_000 > self.begun else { return }
        self.begun += 1
        let (counts, cut) = try await simulator.replaceFaults(ChaosFault.plan(seed: self.seed, outages: self.begun))
        self.count(counts)
        self.taken[.outage, default: 0] += 1
        self.outages.cut += cut
    }

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
