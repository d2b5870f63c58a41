import APNsCore
import TidingsModel

/// What a run is made of. Together with the seed it determines every event of the run.
package struct WorldOptions: Hashable, Sendable {
    /// Every choice of the run comes from it.
    package var seed: UInt64
    /// How many phones, 2 or more. Some people have two.
    package var phones: Int
    /// How long people act and things break, in milliseconds; afterwards everything heals.
    package var duration: Int64
    /// What breaks.
    package var faults: WorldFaults
    /// Who holds phones, and which.
    var population: Population
    /// How long a user token lives, in milliseconds; nil for longer than the run.
    package var tokenLife: Int64?
    /// All that happens from outside; nil for everything that is drawn.
    package var kept: Set<OutsideEvent>?

    /// Options of a run.
    package init(seed: UInt64, phones: Int = 4, hours: Int64 = 1, faults: WorldFaults = .default) {
        self.seed = seed
        self.phones = phones
        self.duration = hours * 3_600_000
        var chance = SplitMix64(seed: seed, party: .swarm, turn: 0)
        self.faults = faults.isDrawn ? .drawn(&chance) : faults
        self.population = faults.isDrawn || faults == .harsh ? .drawn(&chance) : Population()
        guard faults.isDrawn else { return }
        self.population.crowd = .drawn(&chance)
        self.population.addOldSystems(&chance)
        self.faults.apnsFaults = APNsFault.allCases.filter { _ in chance.chance(perMille: 500) }
        self.faults.hasHostileClients = chance.chance(perMille: 250)
    }

    /// Time for everything to converge after the last fault, in milliseconds.
    package static let healTime: Int64 = 1_260_000
}

/// How much breaks, in occurrences of a thousand.
package struct WorldFaults: Hashable, Sendable {
    /// Connections that die without a word, per frame written.
    package var silentDeath: Int64
    /// Connections that are reset, per frame written.
    package var reset: Int64
    /// Server crashes, per 10 seconds; the crash falls between two effects.
    package var crash: Int64
    /// What may ail APNs, and how often, per minute; each is as likely as the others.
    package var apns: Int64
    var apnsFaults: [APNsFault]
    /// Phones that freeze without a word, are killed by the system or lose the network, per action of a person.
    package var phone: Int64
    /// Pushes that come late, that overtake others, that come twice, and whose newer one is given up in the store of APNs,
    /// per push.
    package var push: Int
    /// Extensions that are ended or do not go on, per push.
    var extensions: Int64
    /// Completion handlers the app never calls, per call.
    var neglect: Int64
    /// What may happen to the server besides a crash, and how often, per 10 seconds.
    var server: Int64
    var serverFaults: [ServerFault]
    /// Connections on a slow link.
    var slowLinks: Int64
    /// What may happen to phones; each is as likely as the others.
    var phoneFaults: [PhoneFault]
    /// Requests of extensions that are lost, or whose answers are, per request or answer.
    var http: Int64
    /// Whether two people have clients of their own and mean ill.
    var hasHostileClients = false
    /// Each seed has a plan and a population of its own.
    var isDrawn = false
    /// The longest time a frame takes, in milliseconds.
    package var latencyMax: Int64

    /// Nothing breaks.
    package static let none = WorldFaults(
        silentDeath: 0, reset: 0, crash: 0, apns: 0, phone: 0, push: 0, extensions: 0, neglect: 0, server: 0,
        slowLinks: 0, http: 0,
        latencyMax: 40)
    /// The usual: a crash every few minutes, bad networks, bad minutes at APNs.
    package static let `default` = WorldFaults(
        silentDeath: 4, reset: 6, crash: 40, apns: 60, phone: 120, push: 50, extensions: 30, neglect: 30, server: 15,
        slowLinks: 30, http: 50,
        latencyMax: 400)
    /// Much more of everything.
    package static let harsh = WorldFaults(
        silentDeath: 20, reset: 30, crash: 150, apns: 250, phone: 300, push: 250, extensions: 150, neglect: 100,
        server: 50, slowLinks: 150,
        http: 200, latencyMax: 3_000, hasHostileClients: true)

    /// The name of the plan; nil for another.
    package var name: String? {
        if self.isDrawn { return "swarm" }
        return switch self {
        case .none: "none"
        case .default: "default"
        case .harsh: "harsh"
        default: nil  // tidy: plans that nobody has named
        }
    }

    /// The plan of a name: `none`, `default`, `harsh` or `swarm`.
    package init?(name: String) {
        switch name {
        case "none": self = .none
        case "default": self = .default
        case "harsh": self = .harsh
        case "swarm": self = .swarm
        default: return nil
        }
    }

    /// Each seed has a plan of its own, and people and phones of its own.
    package static let swarm = {
        var plan = WorldFaults.none
        plan.isDrawn = true
        return plan
    }()

    private init(
        silentDeath: Int64, reset: Int64, crash: Int64, apns: Int64, phone: Int64, push: Int, extensions: Int64,
        neglect: Int64, server: Int64,
        slowLinks: Int64,
        http: Int64,
        latencyMax: Int64, hasHostileClients: Bool = false
    ) {
        self.hasHostileClients = hasHostileClients
        self.silentDeath = silentDeath
        self.reset = reset
        self.crash = crash
        self.apns = apns
        self.apnsFaults = APNsFault.allCases
        self.phone = phone
        self.push = push
        self.extensions = extensions
        self.neglect = neglect
        self.phoneFaults = PhoneFault.allCases
        self.server = server
        self.serverFaults = ServerFault.allCases
        self.slowLinks = slowLinks
        self.http = http
        self.latencyMax = latencyMax
    }

    /// What APNs does to pushes on their way.
    func faults(seed: UInt64) -> APNsService.Faults {
        var faults = APNsService.Faults()
        faults.seed = seed
        faults.reorderPerMille = self.push
        faults.duplicatePerMille = self.push
        faults.olderSurvivesPerMille = self.push
        return faults
    }
}

/// What a run showed.
package struct WorldReport: Hashable, Sendable {
    /// The seed of the run.
    package var seed: UInt64
    /// Events handled by all cores.
    package var events = 0
    /// Messages whose sender got the acknowledgement.
    package var acknowledged = 0
    /// Pushes APNs accepted.
    package var pushes = 0
    /// Banners or sounds.
    package var rings = 0
    /// Server crashes.
    package var crashes = 0
    /// Connections that broke.
    package var broken = 0
    /// What happened from outside, in order.
    package var outside: [Happening] = []
    /// What the run has come to.
    package var marks = WorldMarks()
    /// Hash over everything that happened, in order.
    package var traceHash: UInt64 = 0
    /// What no promise allows, in the order found; empty if all held.
    package var violations: [Violation] = []

    /// A run that has not begun.
    package init(seed: UInt64) { self.seed = seed }
}

/// A promise that did not hold.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// The promise by its name in `docs/simulation.md`, or `bug` for something our own code must not do.
    package var promise: String
    /// What happened, with the ids.
    package var text: String
    /// When, in milliseconds since the beginning; nil if it shows at the end only.
    package var at: Int64?

    /// A violation from its parts.
    package init(promise: String, text: String, at: Int64?) {
        self.promise = promise
        self.text = text
        self.at = at
    }

    /// `P1: text`.
    package var description: String { "\(self.promise): \(self.text)" }
}
