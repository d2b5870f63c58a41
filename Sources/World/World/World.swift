import APNsClientCore
import APNsCore
import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// Server, APNs, phones and people in one process on a virtual clock, driven by one seed (DESIGN §8). The cores are the real
/// ones; this only carries their effects to where they become events, late, twice cut off, or never.
package struct World {
    let options: WorldOptions
    /// What the party draws from whose turn it is.
    var chance: SplitMix64
    /// How many turns each party had.
    var turns: OrderedDictionary<Party, Int> = [:]
    var turn = OutsideEvent(.setup, turn: 0)
    /// What has happened from outside in this moment; nil if nothing has.
    var cause: OutsideEvent?
    /// Who is at work in this moment.
    var atWork = Party.setup
    /// How long the server's disk takes, and how long requests and answers take between the server and Apple.
    var diskChance: SplitMix64
    var roadChance: SplitMix64
    var agenda = Agenda()
    var time: Int64 = 0
    var report: WorldReport
    var hash = FNV1a()
    var checkers: Checkers
    /// How many events have come at this instant.
    var eventsNow = 0
    var instant: Int64 = -1
    /// Nothing breaks from the time of healing on.
    var hasHealed = false

    // The server: one life after the other on the same store.
    var server: ServerCore?
    var life = 0
    var store = ReferenceStore()
    var epoch: UInt64 = 0
    /// What the disk has not synced: commands, and by whose request, in two lists of the same length.
    var batch: [StoreCommand] = []
    var batchRequests: [StoreRequestID] = []
    var isSyncing = false
    var serverTimerAt: Int64?
    /// Effects until the server crashes; nil for no crash under way.
    var effectsToCrash: Int64?
    var lastSession: UInt64 = 0
    /// How much longer a sync takes, in milliseconds; whether there is no room; how far the wall clock is ahead, in milliseconds.
    var syncDelay: Int64 = 0
    var isDiskFull = false
    var clockSkew: Int64 = 0

    // APNs.
    var apns: APNsService
    /// What ails it, or the way to it.
    var apnsFault: APNsFault?
    var apnsOutage = APNsOutage()
    /// The server's client of it, as long as the server lives, and their connections.
    var pool: WorldPool?
    var links: [UInt64: AppleLink] = [:]
    var lastLink: UInt64 = 0
    /// The newest number of a request, and of Apple's own name of one.
    var lastRequest: UInt64 = 0
    var lastUnique: UInt64 = 0
    /// The devices that recipient tags name.
    var tags: OrderedDictionary<String, DeviceKey> = [:]
    var lastCourier: UInt64 = 0
    var phoneOfCourier: [UInt64: Int] = [:]

    // Phones and people.
    var phones: [WorldPhone] = []
    /// In the order of their numbers.
    var people: [UserID] = []
    /// The requests of another app on the same server, of which no promise is told.
    var otherTenants: Set<APIRequestID> = []
    /// What hostile clients have, and what they say once the server takes it.
    var hostile = HostileClients()
    var hostileWaits: [(session: SessionID, token: PushToken)] = []
    var hostileDrafts: [(session: SessionID, draft: MessageDraft)] = []
    /// Groups and discussions.
    var groups: [ConversationID] = []
    var lastAPIRequest: UInt64 = 0
    /// The requests of the HTTP API the server has not answered.
    var openAPIRequests: Set<APIRequestID> = []
    /// The extensions' requests the server has not answered.
    var apiCallers: [APIRequestID: APICaller] = [:]
    var connections: [WorldConnection] = []
    /// How many connections there were when the server started last.
    var connectionsBefore = 0
    /// Room for what the cores want done, kept from event to event.
    var scratch = WorldScratch()
    /// Lines of the trace, if they are wanted.
    var lines: [TraceLine]?

    /// All people of the world live by one clock.
    static let zone = TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)
    static let app = AppID("demo")
    static let bundle = BundleID("com.example.chat")
    /// Wall milliseconds of time 0: 2026-01-01T00:00:00Z.
    static let wallStart: Int64 = 1_767_225_600_000

    /// A world that has not begun.
    ///
    /// - Parameter keepsLines: whether the trace is kept as text; the hash is the same either way.
    init(options: WorldOptions, checkers: Checkers = Checkers(), keepsLines: Bool = false) {
        self.options = options
        self.checkers = checkers
        self.chance = SplitMix64(seed: options.seed, party: .setup, turn: 0)
        self.diskChance = SplitMix64(seed: options.seed, party: .disk, turn: 0)
        self.roadChance = SplitMix64(seed: options.seed, party: .road, turn: 0)
        self.report = WorldReport(seed: options.seed)
        self.lines = keepsLines ? [] : nil
        let key = ProviderKey(keyID: Self.keyID, teamID: Self.teamID, environments: [.sandbox], topics: nil)
        var configuration = APNsService.Configuration(keys: [key])
        configuration.faults = options.faults.faults(seed: options.seed)
        self.apns = APNsService(configuration: configuration)
    }

    /// Runs a world from beginning to end.
    package static func run(_ options: WorldOptions) -> WorldReport {
        var world = World(options: options)
        return world.run()
    }

    /// Runs it and gives the trace as text as well.
    package static func trace(_ options: WorldOptions) -> (report: WorldReport, lines: [TraceLine]) {
        Self.trace(options, checkers: Checkers())
    }

    /// Runs it under other promises.
    static func run(_ options: WorldOptions, checkers: Checkers) -> WorldReport {
        var world = World(options: options, checkers: checkers)
        return world.run()
    }

    static func trace(_ options: WorldOptions, checkers: Checkers) -> (report: WorldReport, lines: [TraceLine]) {
        var world = World(options: options, checkers: checkers, keepsLines: true)
        let report = world.run()
        return (report, world.lines ?? [])
    }

    var now: Now { Now(monotonic: self.time, wall: Self.wallStart + self.time) }

    mutating func plan(_ occurrence: consuming Occurrence, after milliseconds: Int64) {
        self.agenda.plan(occurrence, at: self.time + max(0, milliseconds))
    }

    /// A line of the trace: what the hash is made of.
    ///
    /// - Parameters:
    ///   - more: what whoever reads the trace is told beside, and what is no part of the hash: descriptions that are made by reflection
    ///     cost more than everything else in a run.
    ///   - isRoutine: whether it comes all the time and tells nothing.
    mutating func note(_ text: @autoclosure () -> String, more: @autoclosure () -> String = "", isRoutine: Bool = false)
    {
        let text = text()
        self.hash.feed(UInt64(bitPattern: self.time))
        self.hash.feed(text)
        guard self.lines != nil else { return }
        let more = more()
        self.lines?.append(
            TraceLine(
                at: self.time, party: self.atWork, cause: self.cause,
                text: more.isEmpty ? text : "\(text) (\(more))", isRoutine: isRoutine))
    }

    /// It is a party's turn: what is drawn from now on is that turn's.
    mutating func takeTurn(_ party: Party) {
        let turn = self.turns[party] ?? 0
        self.turns[party] = turn + 1
        self.chance = SplitMix64(seed: self.options.seed, party: party, turn: turn)
        self.turn = OutsideEvent(party, turn: turn)
    }

    /// Whether what the party does in this turn happens: in a run that is cut down only what was kept does.
    mutating func happens() -> Bool { self.happens(self.turn) }

    mutating func happens(_ event: OutsideEvent) -> Bool {
        if let kept = self.options.kept, !kept.contains(event) { return false }
        self.report.outside.append(Happening(event: event, at: self.time))
        self.hash.feed(event.party.stream)
        self.hash.feed(UInt64(event.turn))
        self.cause = event
        return true
    }

    private var latencies: ClosedRange<Int64> { 5...max(5, self.options.faults.latencyMax) }

    /// How long a frame takes on a connection.
    mutating func latency(on connection: Int) -> Int64 {
        let slowness = self.hasHealed ? 0 : self.connections[connection].slowness
        return self.connections[connection].chance.number(self.latencies) + slowness
    }

    /// How long what a phone says or is told takes, where there is no connection to the server.
    mutating func latency(of phone: Int) -> Int64 { self.phones[phone].chance.number(self.latencies) }

    /// How long something takes between the server and Apple.
    mutating func latencyToApple() -> Int64 { self.roadChance.number(self.latencies) }

    private mutating func run() -> WorldReport {
        self.begin()
        let end = self.options.duration + WorldOptions.healTime
        while let at = self.agenda.goOn(until: end) {
            self.time = max(self.time, at)
            self.report.events += 1
            self.cause = nil
            guard self.comesToRest(), let occurrence = self.agenda.take() else { break }
            self.atWork = self.party(of: occurrence)
            self.happen(occurrence)
        }
        self.checkers.judge(self.ending(withMessages: true))
        self.report.acknowledged = self.checkers.acknowledged
        self.report.rings = self.checkers.rings
        self.report.marks = self.checkers.marks
        self.report.violations = self.checkers.violations
        self.report.traceHash = self.hash.value
        return self.report
    }

    mutating func begin() {
        for index in 0..<self.options.phones {
            let person = self.owner(of: index)
            self.phones.append(self.newPhone(index, of: person))
            self.goOnline(index)
            self.plan(.phone(index, .person(.appOpened(Self.bundle))), after: 1_000)
            // People begin once everybody has signed in.
            self.plan(.personActs(index), after: 60_000 + self.chance.number(0...60_000))
        }
        self.gatherPhoneless()
        self.plan(.serverStart, after: 0)
        self.plan(.groupsBegin, after: 500)
        self.plan(.backendActs, after: 65_000)
        self.plan(.otherTenantActs, after: 67_000)
        if self.options.faults.hasHostileClients { self.plan(.hostileActs, after: 90_000) }
        self.plan(.chanceOfCrash, after: 70_000)
        self.plan(.chanceOfAPNsFault, after: 80_000)
        self.plan(.measure, after: 0)
        self.plan(.heal, after: self.options.duration)
    }

    /// Tells the promises what happened.
    mutating func see(_ fact: Fact) { self.checkers.see(fact, at: self.serverNow) }

    /// Who is at work when something is due.
    private func party(of occurrence: Occurrence) -> Party {
        switch occurrence {
        case .server, .serverTimer, .storeSynced, .serverCrash, .serverStart, .toServer, .serverHangUp, .chanceOfCrash,
            .apiRequest, .diskHeals, .pool, .poolTimer, .fromApple, .connectTimeout:
            .server
        case .apns, .apnsFault, .appleAnswers, .toApple, .chanceOfAPNsFault: .apns
        case .phone(let index, _), .phoneTimer(let index), .client(let index, _, _), .clientTimer(let index, _),
            .center(let index, _, _), .pushArrives(let index, _, _), .extensionHears(let index, _, _, _),
            .extensionGoesOn(let index, _, _),
            .storageFreed(let index),
            .energySaved(let index):
            .phone(index)
        case .toClient(let connection, _), .clientHangUp(let connection): .phone(self.connections[connection].phone)
        case .personActs(let index), .signsIn(let index), .takesBack(let index, _), .clears(let index, _):
            .person(index)
        case .groupsBegin, .backendActs: .backend
        case .otherTenantActs: .otherTenant
        case .hostileActs, .hostileRegisters, .hostileWrites: .hostile
        case .measure, .heal, .openEverything, .endLook, .leaveEverything, .finalProbe, .finalProbeEnds: .setup
        }
    }

    // tidy: long because it is one case per occurrence.
    private mutating func happen(_ occurrence: consuming Occurrence) {
        switch occurrence {
        case .server(let life, let event):
            if life == self.life { self.handle(event) }
        case .serverTimer(let life):
            guard life == self.life, self.serverTimerAt == self.time else { return }
            self.serverTimerAt = nil
            self.handle(ServerEvent.timeReached)
        case .storeSynced(let life):
            if life == self.life { self.sync() }
        case .serverCrash: self.crash()
        case .serverStart: self.startServer()
        case .apns(let event): self.handle(event)
        case .apnsFault(let fault): self.change(fault)
        case .appleAnswers(let request, let response): self.answer(request, response)
        case .pool(let life, let event):
            if life == self.life { self.handle(event) }
        case .poolTimer(let life): self.reachPoolTimer(life: life)
        case .toApple(let link, let frame): self.arrive(frame, atApple: link)
        case .fromApple(let link, let frame): self.arrive(frame, on: link)
        case .connectTimeout(let link): self.giveUpConnecting(link)
        case .phone(let index, let event): self.handle(event, on: index)
        case .phoneTimer(let index):
            guard self.phones[index].timerAt == self.time else { return }
            self.phones[index].timerAt = nil
            self.handle(.timerReached, on: index)
        case .client(let index, let process, let event): self.handle(event, in: process, on: index)
        case .center(let index, let process, let event): self.handle(event, in: process, on: index)
        case .clientTimer(let index, let process):
            guard self.phones[index].processes[process]?.timerAt == self.time else { return }
            self.phones[index].processes[process]?.timerAt = nil
            self.handle(.deadlineReached, in: process, on: index)
        case .toServer(let connection, let frame): self.arrive(frame, on: connection)
        case .toClient(let connection, let frame): self.arrive(frame, on: connection)
        case .serverHangUp(let connection): self.hangUpServer(connection)
        case .clientHangUp(let connection): self.hangUpClient(connection)
        case .personActs(let index): self.act(index)
        case .signsIn(let index): self.signIn(index)
        case .takesBack(let index, let message): self.takeBack(message, on: index)
        case .clears(let index, let key): self.clear(key, on: index)
        case .chanceOfCrash: self.maybeCrash()
        case .chanceOfAPNsFault: self.maybeBreakAPNs()
        case .groupsBegin: self.beginGroups()
        case .backendActs: self.backendActs()
        case .otherTenantActs: self.otherTenantActs()
        case .hostileActs: self.hostileActs()
        case .hostileRegisters(let life): if life == self.life { self.registerMadeUpDevices() }
        case .hostileWrites(let life): if life == self.life { self.writeHostileDrafts() }
        case .apiRequest(let request, let command): self.ask(command, as: request)
        case .extensionHears(let index, let call, let request, let result):
            self.extensionHears(result, to: request, for: call, on: index)
        case .extensionGoesOn(let index, let call, let event): self.extensionGoesOn(event, for: call, on: index)
        case .pushArrives(let index, let generation, let push):
            guard generation == self.phones[index].tokenGeneration else { return }
            self.handle(.courier(.pushArrived(push)), on: index)
        case .diskHeals: self.healDisk()
        case .storageFreed(let index): self.phones[index].isFull = false
        case .energySaved(let index): self.saveEnergy(false, on: index)
        case .measure: self.measure()
        case .heal: self.heal()
        case .openEverything:
            for index in self.phones.indices { self.handle(.person(.appOpened(Self.bundle)), on: index) }
        case .endLook: self.endLook()
        case .leaveEverything:
            for index in self.phones.indices { self.handle(.person(.wentHome), on: index) }
        case .finalProbe: self.callTheRoll()
        case .finalProbeEnds: self.endFinalProbe()
        }
    }
}
