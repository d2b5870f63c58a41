import PhoneCore
import ServerCore
import TidingsModel

package enum Behaviour: String, Hashable, Sendable, CaseIterable {
    case night
    case commute
    case meetings
    case clearsNotifications
}

package struct Population: Hashable, Sendable {
    var versions: [OSVersion] = [17]
    var styles: [LifecycleStyle] = [.scenes]
    var filtering: Int64 = 0
    var behaviours: [Behaviour] = []
    var crowd = Crowd()
    var sendsInFlightMax = ServerSettings().sendsInFlightMax
    var pushText = PushTextMode.serviceExtension
    /// True if the app lets messages for another screen ring in the foreground.
    var ringsInForeground = false
    /// True if the app has declared that nobody else pushes to it; in the World nobody does.
    var isOnlySender = false
    /// The sources of names on phones; one at least.
    var nameSources: [NameSource] = [.app]
    var usesCommunication = false
    /// The kinds of which the app has an account.
    var accounts: [ConversationType] = []
    /// True if the app's backend pushes to audiences.
    var hasPushes = false
    /// True if installations are people before a person signs in, and may be again.
    var hasAnonymousPeople = false
    /// True if the app's push credentials are replaced.
    var hasRotations = false

    init() {}
}

extension WorldFaults {
    /// Some faults of the harsh plan, and some not at all.
    static func drawn(_ chance: inout SplitMix64) -> WorldFaults {
        var plan = WorldFaults.none
        plan.isDrawn = true
        plan.latencyMax = chance.number(40...WorldFaults.harsh.latencyMax)
        let levels: [WorldFaults] = [.none, .default, .harsh]
        func level() -> WorldFaults { levels[Int(chance.number(0...2))] }
        plan.silentDeath = level().silentDeath
        plan.reset = level().reset
        // A run without a crash shows little.
        plan.crash = max(level().crash, WorldFaults.default.crash)
        plan.apns = level().apns
        plan.phone = level().phone
        plan.push = level().push
        plan.extensions = level().extensions
        plan.neglect = level().neglect
        plan.server = level().server
        plan.slowLinks = level().slowLinks
        plan.http = level().http
        plan.phoneFaults = PhoneFault.allCases.filter { _ in chance.chance(perMille: 500) }
        plan.serverFaults = ServerFault.ofMachine.filter { _ in chance.chance(perMille: 500) }
        return plan
    }

    /// By a generator of its own, so that what else a seed draws stays what it is.
    mutating func drawStoreFaults(seed: UInt64) {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: 7_000)
        self.storeFaults = ServerFault.ofStore.filter { _ in chance.chance(perMille: 500) }
    }
}

extension Population {
    static func drawn(_ chance: inout SplitMix64) -> Population {
        var population = Population()
        population.versions = [15, 16, 17, 18].filter { _ in chance.chance(perMille: 600) }
        if population.versions.isEmpty { population.versions = [17] }
        population.styles = [[.scenes], [.application], [.scenes, .application]][Int(chance.number(0...2))]
        population.filtering = [0, 300][Int(chance.number(0...1))]
        population.behaviours = Behaviour.allCases.filter { _ in chance.chance(perMille: 600) }
        population.sendsInFlightMax = [population.sendsInFlightMax, 1][Int(chance.number(0...1))]
        population.isOnlySender = chance.chance(perMille: 400)
        return population
    }
}

extension Population {
    /// Behind those of as many phones as there may be.
    static let namesDraw = 2_000

    /// By a generator of its own, so that what else a seed draws stays what it is.
    mutating func drawNames(seed: UInt64) {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: Self.namesDraw)
        self.ringsInForeground = chance.chance(perMille: 500)
        self.usesCommunication = chance.chance(perMille: 600)
        self.nameSources = NameSource.allCases.filter { _ in chance.chance(perMille: 600) }
        if self.nameSources.isEmpty { self.nameSources = [.app] }
    }

    private static let accountsDraw = 4_000

    /// Likewise.
    mutating func drawAccounts(seed: UInt64) {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: Self.accountsDraw)
        guard chance.chance(perMille: 500) else { return }
        self.accounts = World.accounts.map(\.type).filter { _ in chance.chance(perMille: 700) }
    }

    private static let pushesDraw = 5_000

    /// Likewise.
    mutating func drawPushes(seed: UInt64) {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: Self.pushesDraw)
        self.hasPushes = chance.chance(perMille: 500)
        self.hasAnonymousPeople = self.hasPushes && chance.chance(perMille: 600)
    }

    private static let rotationsDraw = 6_100

    /// Likewise.
    mutating func drawRotations(seed: UInt64) {
        var chance = SplitMix64(seed: seed, stream: .swarm, draw: Self.rotationsDraw)
        self.hasRotations = chance.chance(perMille: 300)
    }
}

extension Population {
    /// Systems before iOS 15, in some worlds. Nothing is passive there, and what is silenced shows a banner. Before
    /// iOS 10 there is neither an extension nor a list whose entries have names, so that P3 says nothing there
    /// (docs/inside/simulation-world.md).
    mutating func addOldSystems(_ chance: inout SplitMix64) {
        guard chance.chance(perMille: 400) else { return }
        self.versions += ([10, 11, 12, 13, 14] as [OSVersion]).filter { _ in chance.chance(perMille: 500) }
    }
}

extension World {
    mutating func followsBehaviour(_ index: Int) -> Bool {
        guard let behaviour = self.phones[index].behaviour, behaviour != .clearsNotifications,
            self.chance.chance(perMille: 150)
        else {
            return false
        }
        self.appendTrace("person on phone \(index) has the behaviour \(behaviour.rawValue)")
        switch behaviour {
        case .clearsNotifications: return false
        case .night:
            self.emit(.reached(.nights))
            self.handle(PhoneEvent.person(.locked), on: index)
            self.phones[index].sleepsUntil = self.time + self.chance.number(600_000...1_800_000)
        case .commute:
            self.emit(.reached(.commutes))
            self.emit(.disturbed(self.phones[index].key))
            self.handle(PhoneEvent.person(.airplaneModeChanged(isOn: true)), on: index)
            self.plan(
                .phone(index, .person(.airplaneModeChanged(isOn: false))), after: self.chance.number(2_000...60_000))
        case .meetings:
            self.emit(.reached(.meetings))
            self.handle(PhoneEvent.person(.focusChanged(Focus())), on: index)
            self.plan(.phone(index, .person(.focusChanged(nil))), after: self.chance.number(60_000...600_000))
        }
        return true
    }
}
