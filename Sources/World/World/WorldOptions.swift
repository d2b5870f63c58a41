import APNsCore
import TidingsModel

/// Together with the seed it determines every event of the run.
package struct WorldOptions: Hashable, Sendable {
    package var seed: UInt64
    package var phones: Int
    /// How long people act and things break, in milliseconds; afterwards everything heals.
    package var duration: Int64
    package var faults: WorldFaults
    var population: Population
    /// How long a user token lives, in milliseconds; nil for longer than the run.
    package var tokenLife: Int64?
    /// The outside events of the run; nil for everything that is drawn.
    package var kept: Set<OutsideEvent>?

    package init(seed: UInt64, phones: Int = 4, hours: Int64 = 1, faults: WorldFaults = .default) {
        self.seed = seed
        self.phones = phones
        self.duration = hours * 3_600_000
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: 0)
        self.faults = faults.isDrawn ? .drawn(&chance) : faults
        self.population = faults.isDrawn || faults == .harsh ? .drawn(&chance) : Population()
        if faults.isDrawn || faults == .harsh {
            self.population.drawNames(seed: seed)
            self.population.drawAccounts(seed: seed)
            self.population.drawPushes(seed: seed)
            self.population.drawRotations(seed: seed)
        }
        guard faults.isDrawn else { return }
        self.faults.drawStoreFaults(seed: seed)
        self.population.crowd = .drawn(&chance)
        self.population.addOldSystems(&chance)
        self.faults.apnsFaults = APNsFault.allCases.filter { _ in chance.chance(perMille: 500) }
        self.faults.hasHostileClients = chance.chance(perMille: 250)
        self.population.pushText = [.serviceExtension, .alert, .idOnly, .serviceExtension][Int(chance.number(0...3))]
        self.population.ringsInForeground = chance.chance(perMille: 500)
    }

    package static let healTime: Int64 = 1_380_000
}

/// How much breaks, per mille.
package struct WorldFaults: Hashable, Sendable {
    /// Connections that die without a word, per frame written.
    package var silentDeath: Int64
    /// Connections that are reset, per frame written.
    package var reset: Int64
    /// Server crashes, per 10 seconds; the crash falls between two effects.
    package var crash: Int64
    /// Faults of APNs, per minute; each is as likely as the others.
    package var apns: Int64
    var apnsFaults = APNsFault.allCases
    /// Faults of phones, per action of a person; each is as likely as the others.
    package var phone: Int64
    /// Pushes that come late, that overtake others, that come twice, and whose newer one is given up in the store of
    /// APNs, per push.
    package var push: Int
    /// Extensions that are ended or do not go on, per push.
    var extensions: Int64
    /// Completion handlers the app never calls, per call.
    var neglect: Int64
    /// Faults of the server besides a crash, per 10 seconds; those of its store are half as many.
    var server: Int64
    var serverFaults = ServerFault.ofMachine
    var storeFaults = ServerFault.ofStore
    var slowLinks: Int64
    var phoneFaults = PhoneFault.allCases
    /// Requests of extensions that are lost, or whose answers are, per request or answer.
    var http: Int64
    var hasHostileClients = false
    /// Each seed has a plan and a population of its own.
    var isDrawn = false
    /// The longest time a frame takes, in milliseconds.
    package var latencyMax: Int64

    package static let none = WorldFaults(
        silentDeath: 0, reset: 0, crash: 0, apns: 0, phone: 0, push: 0, extensions: 0, neglect: 0, server: 0,
        slowLinks: 0, http: 0, latencyMax: 40)
    /// A crash every few minutes, bad networks, bad minutes at APNs.
    package static let `default` = WorldFaults(
        silentDeath: 4, reset: 6, crash: 40, apns: 60, phone: 120, push: 50, extensions: 30, neglect: 30, server: 15,
        slowLinks: 30, http: 50, latencyMax: 400)
    package static let harsh = WorldFaults(
        silentDeath: 20, reset: 30, crash: 150, apns: 250, phone: 300, push: 250, extensions: 150, neglect: 100,
        server: 50, slowLinks: 150, http: 200, hasHostileClients: true, latencyMax: 3_000)

    private static let named: [(name: String, faults: WorldFaults)] = [
        ("none", .none), ("default", .default), ("harsh", .harsh), ("swarm", .swarm),
    ]

    package var name: String? { self.isDrawn ? "swarm" : Self.named.first { $0.faults == self }?.name }

    package static let swarm = {
        var plan = WorldFaults.none
        plan.isDrawn = true
        return plan
    }()

    func faults(seed: UInt64) -> APNsService.Faults {
        var faults = APNsService.Faults()
        faults.seed = seed
        faults.reorderPerMille = self.push
        faults.duplicatePerMille = self.push
        faults.olderSurvivesPerMille = self.push
        return faults
    }
}

extension WorldFaults {
    package init?(name: String) {
        guard let known = Self.named.first(where: { $0.name == name }) else { return nil }
        self = known.faults
    }
}

package struct WorldReport: Hashable, Sendable {
    package var seed: UInt64
    package var events = 0
    package var acknowledged = 0
    package var pushes = 0
    package var rings = 0
    package var crashes = 0
    package var broken = 0
    package var outside: [Happening] = []
    package var marks = WorldMarks()
    package var traceHash: UInt64 = 0
    /// In the order found; empty if all promises held.
    package var violations: [Violation] = []

    package init(seed: UInt64) { self.seed = seed }
}

package struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// Its name in `docs/inside/simulation-checks.md`, or `bug` for something our own code must not do.
    package var promise: String
    package var text: String
    /// In milliseconds since the beginning; nil if it shows at the end only.
    package var at: Int64?

    /// `P1: text`.
    package var description: String { "\(self.promise): \(self.text)" }
}
