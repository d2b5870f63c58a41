import APNsCore
import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

/// Server, APNs, phones and people in one process on a virtual clock, driven by one seed (design.md §8). The cores are
/// the real ones; this only carries their effects to where they become events, late, twice, cut off, or never.
package struct World {
    let options: WorldOptions
    var chance: SplitMix64
    var draws: OrderedDictionary<RandomStream, Int> = [:]
    var draw = OutsideEvent(.setup, draw: 0)
    /// The event from outside in this moment; nil for none.
    var cause: OutsideEvent?
    var atWork = RandomStream.setup
    var diskChance: SplitMix64
    var appleChance: SplitMix64
    var agenda = Agenda()
    var time: Int64 = 0
    var report: WorldReport
    var hash = FNV1a()
    var checkers: Checkers
    var eventsNow = 0
    var instant: Int64 = -1
    var hasHealed = false

    // The server: one life after the other on the same store.
    var server: ServerCore?
    var life = 0
    let store: MemoryStore
    var epoch: UInt64 = 0
    /// The commands that the disk has not synced, and their requests, in two lists of the same length.
    var batch: [StoreCommand] = []
    var batchRequests: [StoreRequestID] = []
    var isSyncing = false
    var serverTimerAt: Int64?
    /// Effects until the server crashes; nil for no crash under way.
    var effectsToCrash: Int64?
    var lastSession: UInt64 = 0
    /// In milliseconds; and how far the wall clock is ahead.
    var syncDelay: Int64 = 0
    var isDiskFull = false
    /// True if the disk or the rows under the store have refused a batch in this life.
    var hasStoreFailed = false
    var clockSkew: Int64 = 0

    // APNs.
    var apns: APNsService
    var apnsFault: APNsFault?
    var apnsOutage = APNsOutage()
    var numbersAtAPNs = NumbersAtAPNs()
    /// The senders in the server's process; the records outlive it.
    var senders: WorldSenders?
    var credentials = WorldCredentials()
    var lastPool: UInt64 = 0
    var links: [UInt64: AppleLink] = [:]
    var lastLink: UInt64 = 0
    /// The newest number of a request, and of Apple's own name of one.
    var lastRequest: UInt64 = 0
    var lastUnique: UInt64 = 0
    var tags: OrderedDictionary<String, DeviceKey> = [:]
    var lastCourier: UInt64 = 0
    var phoneOfCourier: [UInt64: Int] = [:]

    // Phones and people.
    var phones: [WorldPhone] = []
    var people: [UserID] = []
    /// The people of installations, in the order in which they came.
    var anonymousPeople: [UserID] = []
    /// The requests of another app on the same server, of which no checker is told.
    var otherTenants: Set<APIRequestID> = []
    /// The hostile clients, and the messages that they send once the server has signed them in.
    var hostile = HostileClients()
    var hostileWaits: [(session: SessionID, token: PushToken)] = []
    var hostileDrafts: [(session: SessionID, draft: MessageDraft)] = []
    var groups: [ConversationID] = []
    var accounts = WorldAccounts()
    /// The push jobs of the app's backend, oldest first.
    var pushJobs: [PushJobID] = []
    var lastAPIRequest: UInt64 = 0
    /// Calls of the final probe that nobody recalls.
    var callsToStay: Set<MessageID> = []
    /// Calls of the final probe to be recalled when APNs accepts their push, and the pushes of such calls.
    var callsToRecall: Set<MessageID> = []
    var pushedCalls: [PushID: MessageID] = [:]
    var openAPIRequests: Set<APIRequestID> = []
    var apiCallers: [APIRequestID: APICaller] = [:]
    var connections: [WorldConnection] = []
    /// How many connections there were when the server started last.
    var connectionsBefore = 0
    var scratch = WorldScratch()
    var lines: [TraceLine]?

    static let zone = TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)
    static let app = AppID("demo")
    static let bundle = BundleID("com.example.chat")
    /// Wall milliseconds of time 0: 2026-01-01T00:00:00Z.
    static let wallStart: Int64 = 1_767_225_600_000

    /// - Parameter keepsLines: whether the trace is kept as text; the hash is the same either way.
    init(options: WorldOptions, checkers: Checkers = Checkers(), keepsLines: Bool = false) {
        self.options = options
        self.store = MemoryStore(configuration: .drawn(seed: options.seed))
        self.checkers = checkers
        self.chance = SplitMix64(seed: options.seed, stream: .setup, draw: 0)
        self.diskChance = SplitMix64(seed: options.seed, stream: .disk, draw: 0)
        self.appleChance = SplitMix64(seed: options.seed, stream: .appleNetwork, draw: 0)
        self.report = WorldReport(seed: options.seed)
        self.lines = keepsLines ? [] : nil
        var configuration = APNsService.Configuration(keys: [Self.appleKey(WorldCredentials.firstKeyID)])
        configuration.faults = options.faults.faults(seed: options.seed)
        self.apns = APNsService(configuration: configuration)
    }

    package static func run(_ options: WorldOptions) -> WorldReport {
        var world = World(options: options)
        return world.run()
    }

    package static func trace(_ options: WorldOptions) -> (report: WorldReport, lines: [TraceLine]) {
        Self.trace(options, checkers: Checkers())
    }

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

    /// Appends a line to the trace, of which the hash is made. `more` is told beside and is no part of the hash:
    /// descriptions that are made by reflection cost more than everything else in a run. What `isRoutine` comes all
    /// the time and tells nothing.
    mutating func appendTrace(
        _ text: @autoclosure () -> String, more: @autoclosure () -> String = "", isRoutine: Bool = false
    ) {
        let text = text()
        self.hash.feed(UInt64(bitPattern: self.time))
        self.hash.feed(text)
        guard self.lines != nil else { return }
        let more = more()
        self.lines?.append(
            TraceLine(
                at: self.time, stream: self.atWork, cause: self.cause,
                text: more.isEmpty ? text : "\(text) (\(more))", isRoutine: isRoutine))
    }

    /// Begins the next draw of a source, to which everything drawn from now on belongs.
    mutating func beginDraw(of stream: RandomStream) {
        let draw = self.draws[stream] ?? 0
        self.draws[stream] = draw + 1
        self.chance = SplitMix64(seed: self.options.seed, stream: stream, draw: draw)
        self.draw = OutsideEvent(stream, draw: draw)
    }

    /// In a run that is cut down only what was kept happens.
    mutating func happens() -> Bool { self.happens(self.draw) }

    mutating func happens(_ event: OutsideEvent) -> Bool {
        if let kept = self.options.kept, !kept.contains(event) { return false }
        self.report.outside.append(Happening(event: event, at: self.time))
        self.hash.feed(event.stream.number)
        self.hash.feed(UInt64(event.draw))
        self.cause = event
        return true
    }

    private var latencies: ClosedRange<Int64> { 5...max(5, self.options.faults.latencyMax) }

    mutating func latency(on connection: Int) -> Int64 {
        let slowness = self.hasHealed ? 0 : self.connections[connection].slowness
        return self.connections[connection].chance.number(self.latencies) + slowness
    }

    mutating func latency(of phone: Int) -> Int64 { self.phones[phone].chance.number(self.latencies) }

    mutating func latencyToApple() -> Int64 { self.appleChance.number(self.latencies) }

    private mutating func run() -> WorldReport {
        self.begin()
        let end = self.options.duration + WorldOptions.healTime
        while let (at, place) = self.agenda.advance(until: end) {
            self.time = max(self.time, at)
            self.report.events += 1
            self.cause = nil
            guard self.comesToRest() else { break }
            let occurrence = self.agenda.remove(place)
            self.atWork = self.stream(of: occurrence)
            self.handleOccurrence(occurrence)
        }
        self.checkers.checkEnding(self.ending(withMessages: true))
        self.report.acknowledged = self.checkers.acknowledged
        self.report.rings = self.checkers.rings
        self.report.marks = self.checkers.marks
        self.report.violations = self.checkers.violations
        self.report.traceHash = self.hash.value
        return self.report
    }

    mutating func begin() {
        for index in 0..<self.options.phones {
            self.phones.append(self.newPhone(index, of: self.firstPerson(on: index)))
            self.goOnline(index)
            self.plan(.phone(index, .person(.appOpened(Self.bundle))), after: 1_000)
            // People begin once everybody has signed in.
            self.plan(.personActs(index), after: 60_000 + self.chance.number(0...60_000))
        }
        for number in 0..<self.options.population.crowd.phoneless {
            self.people.append(UserID("q\(number)"))
            self.emit(.reached(.phoneless))
        }
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

    mutating func emit(_ fact: Fact) { self.checkers.observe(fact, at: self.serverNow) }

    private func stream(of occurrence: Occurrence) -> RandomStream {
        switch occurrence {
        case .server, .serverTimer, .storeSynced, .serverCrash, .serverStart, .toServer, .serverHangUp, .chanceOfCrash,
            .apiRequest, .diskHeals, .pool, .poolTimer, .fromApple, .connectTimeout:
            .server
        case .apns, .apnsFault, .appleAnswers, .toApple, .chanceOfAPNsFault: .apns
        case .phone(let index, _), .phoneTimer(let index), .client(let index, _, _), .clientTimer(let index, _),
            .center(let index, _, _), .pushArrives(let index, _, _), .extensionAnswered(let index, _, _, _),
            .continueExtension(let index, _, _), .storageFreed(let index), .energySaved(let index):
            .phone(index)
        case .toClient(let connection, _), .clientHangUp(let connection): .phone(self.connections[connection].phone)
        case .personActs(let index), .signsIn(let index), .recallsWritten(let index, _), .clears(let index, _),
            .readsCall(let index), .calledAgain(let index), .repeatsCall(let index):
            .person(index)
        case .groupsBegin, .backendActs: .backend
        case .otherTenantActs: .otherTenant
        case .namesChange: .names
        case .accountsAct: .accounts
        case .pushesAct: .pushes
        case .credentialsAct, .credentialStep: .credentials
        case .hostileActs, .hostileRegisters, .hostileWrites: .hostile
        case .measure, .heal, .openEverything, .endLook, .leaveEverything, .finalProbe, .finalProbeEnds,
            .reachesServer, .readingProbeEnds:
            .setup
        }
    }

    // tidy: long because it is one case per occurrence.
    private mutating func handleOccurrence(_ occurrence: consuming Occurrence) {
        switch occurrence {
        case .server(let life, let event):
            guard life == self.life else { return }
            if case .pushEnded(let push, .accepted) = event { self.maybeRecallCall(pushedBy: push) }
            self.handle(event)
        case .serverTimer(let life):
            guard life == self.life, self.serverTimerAt == self.time else { return }
            self.serverTimerAt = nil
            self.handle(ServerEvent.timeReached)
        case .storeSynced(let life):
            if life == self.life { self.syncDisk() }
        case .serverCrash: self.crash()
        case .serverStart: self.startServer()
        case .apns(let event): self.handle(event)
        case .apnsFault(let fault): self.setAPNsFault(fault)
        case .appleAnswers(let request, let response): self.answerPush(request, response)
        case .pool(let number, let event): self.handle(event, of: number)
        case .poolTimer(let number): self.wakePool(number)
        case .toApple(let link, let frame): self.deliverToApple(frame, on: link)
        case .fromApple(let link, let frame): self.deliverFromApple(frame, on: link)
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
        case .toServer(let connection, let frame): self.deliverToServer(frame, on: connection)
        case .toClient(let connection, let frame): self.deliverToClient(frame, on: connection)
        case .serverHangUp(let connection): self.hangUpServer(connection)
        case .clientHangUp(let connection): self.hangUpClient(connection)
        case .personActs(let index): self.actAsPerson(index)
        case .signsIn(let index): self.signIn(index)
        case .recallsWritten(let index, let message): self.recallWritten(message, on: index)
        case .clears(let index, let key): self.clearNotification(key, on: index)
        case .chanceOfCrash: self.maybeCrash()
        case .chanceOfAPNsFault: self.maybeBreakAPNs()
        case .groupsBegin: self.beginGroups()
        case .backendActs: self.backendActs()
        case .otherTenantActs: self.otherTenantActs()
        case .namesChange: self.namesChange()
        case .accountsAct: self.accountsAct()
        case .pushesAct: self.pushesAct()
        case .credentialsAct: self.credentialsAct()
        case .credentialStep(let step): self.takeStep(step)
        case .hostileActs: self.hostileActs()
        case .hostileRegisters(let life): if life == self.life { self.registerMadeUpDevices() }
        case .hostileWrites(let life): if life == self.life { self.writeHostileDrafts() }
        case .apiRequest(let request, let command): self.callAPI(command, as: request)
        case .extensionAnswered(let index, let call, let request, let result):
            self.extensionAnswered(result, to: request, for: call, on: index)
        case .continueExtension(let index, let call, let event): self.continueExtension(event, for: call, on: index)
        case .pushArrives(let index, let generation, let push):
            guard generation == self.phones[index].tokenGeneration else { return }
            self.phones[index].keepPush(push, at: self.time)
            self.handle(.courier(.pushArrived(push)), on: index)
        case .diskHeals: self.healDisk()
        case .storageFreed(let index): self.phones[index].isFull = false
        case .energySaved(let index): self.saveEnergy(false, on: index)
        case .measure: self.measure()
        case .heal: self.heal()
        case .openEverything:
            for index in self.phones.indices { self.handle(.person(.appOpened(Self.bundle)), on: index) }
        case .endLook:
            // Everybody has looked at the app for four minutes: all agree, but for the number on the icon, which the
            // system changes once the app has left.
            self.emit(.looked(self.ending(withMessages: false)))
            self.endPushes()
        case .leaveEverything:
            for index in self.phones.indices { self.handle(.person(.wentHome), on: index) }
        case .finalProbe: self.beginFinalProbe()
        case .finalProbeEnds:
            self.emit(.finalProbeEnded(self.finalProbePhones))
            self.beginReadingProbe()
        case .readsCall(let index): self.readCall(on: index)
        case .calledAgain(let index):
            let person = self.phones[index].person
            self.appendTrace("\(person) is called with the app in the foreground")
            self.call(person, as: Self.secondCall(of: person))
        case .repeatsCall(let index): self.repeatCall(on: index)
        case .reachesServer:
            // Who looks at a phone has time to get its log; who is away stays cut off while a push may still come.
            for phone in self.phones where phone.isInForeground { phone.isCutOff = false }
        case .readingProbeEnds:
            self.emit(.readingProbeEnded(self.finalProbePhones))
            for phone in self.phones { phone.isCutOff = false }
        }
    }
}
