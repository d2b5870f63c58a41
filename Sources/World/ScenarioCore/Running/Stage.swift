import ClientCore
import PhoneCore
import TidingsModel

/// A phone with one app on a virtual clock: performs the steps of a case, plays the app, and keeps the trace.
struct Stage {
    /// The app of every scenario.
    static let bundle: BundleID = "chat.example"
    /// How many events one moment may bring before the case is given up: an endless exchange of calls and answers.
    static let eventsMax = 100_000

    let setup: ScenarioCase
    var core: PhoneCore
    private(set) var now = Now(monotonic: 1_000_000, wall: 1_767_225_600_000)
    var trace = Trace()
    var app: HostedApp
    private var queue: [PhoneEvent] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    private var deliveries: UInt64 = 0
    private var queries: QueryNumber = 0
    /// While the phone cannot be reached the newest push waits (ios-delivery.md §3.2).
    private var stored: Push?
    private var isReachable = true
    /// Whether APNs has a token of the app (ios-delivery.md §4 gate 1).
    private var isRegistered = false
    /// Names of notifications.
    var labels = Labels()
    /// What phone and SDK did, in order; nil while nobody looks.
    var observed: [Observation]?
    /// Why the case cannot go on; nil while it can.
    private(set) var halted: String?

    /// One thing that phone or SDK did.
    enum Observation: Equatable {
        case phone(PhoneEffect)
        case client(ClientEffect)
        /// The kit posts a local notification.
        case posts(LocalNotification)
    }

    /// Something that happens later.
    private struct Timer {
        var at: Int64
        var order: Int
        var event: Later
    }

    /// What can happen later.
    enum Later {
        case phone(PhoneEvent)
        case client(ClientEvent, ProcessID)
        case serverDeadline(LogPosition)
    }

    init(_ setup: ScenarioCase) {
        self.setup = setup
        self.core = PhoneCore(
            version: setup.phone.version, settings: setup.phone.settings, apps: [setup.app.installed])
        self.app = HostedApp(setup: setup.app)
    }

    var state: AppState { self.core.state(of: Self.bundle) ?? .notRunning }
    var process: ProcessID? { self.core.process(of: Self.bundle) }

    // MARK: Events

    /// Something happens now, with everything that follows at once.
    mutating func send(_ event: PhoneEvent) {
        self.queue.append(event)
        self.drain()
    }

    /// Something happens after what is happening now.
    mutating func follow(_ event: PhoneEvent) { self.queue.append(event) }

    mutating func later(_ event: Later, after wait: Int64) {
        self.timerCount += 1
        self.timers.append(Timer(at: self.now.monotonic + wait, order: self.timerCount, event: event))
    }

    mutating func drain() {
        var count = 0
        while !self.queue.isEmpty {
            let event = self.queue.removeFirst()
            for effect in self.core.handle(event, at: self.now) {
                self.observed?.append(.phone(effect))
                self.perform(effect)
            }
            count += 1
            if count > Self.eventsMax {
                self.halted = "phone and app go on without end"
                self.queue = []
            }
        }
    }

    private mutating func perform(_ effect: PhoneEffect) {
        switch effect {
        case .startProcess(let process):
            self.started(process)
            self.follow(.process(process, .started))
        case .suspendProcess(let process): self.suspended(process)
        case .resumeProcess(let process): self.resumed(process)
        case .killProcess(let process): self.killed(process)
        case .call(let process, let number, let callback, let state):
            self.answer(process, number, callback, state)
        case .answer(let process, let number, let answer): self.answered(process, number, answer)
        case .registerTopic(let bundle):
            self.isRegistered = true
            self.follow(.courier(.tokenIssued(bundle, "c0ffee")))
        case .requestToken(let bundle, let kind):
            self.follow(.courier(.tokenOfKindIssued(bundle, kind, "cafe")))
        case .connectCourier: self.becameReachable()
        case .disconnectCourier: self.isReachable = false
        case .record(let record): self.note(record)
        case .unregisterTopic: self.isRegistered = false
        case .acknowledge, .dropToken, .invalidateTokens: break
        }
    }

    private mutating func note(_ record: PhoneRecord) {
        if case .arrival(let arrival) = record.entry {
            self.labels.arrived(delivery: arrival.delivery, identifier: arrival.identifier)
        }
        self.trace.note(record.entry, at: self.now.monotonic, labels: self.labels)
    }

    // MARK: Time

    /// Lets time pass, stopping at every deadline and timer on the way.
    mutating func pass(_ milliseconds: Int64) {
        let end = self.now.monotonic + milliseconds
        var idle = 0
        while self.halted == nil {
            let timer = self.timers.map(\.at).min() ?? .max
            let next = min(self.core.nextDeadline ?? .max, timer, self.clientDeadline ?? .max)
            guard next <= end else { break }
            idle = next <= self.now.monotonic ? idle + 1 : 0
            if idle > Self.eventsMax { self.halted = "a deadline has passed and stays" }
            self.move(to: next)
            self.runTimers()
            self.clientDeadlineReached()
            self.send(.timerReached)
        }
        self.move(to: end)
    }

    /// What is due now.
    private mutating func runTimers() {
        let due = self.timers.filter { $0.at <= self.now.monotonic }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        self.timers.removeAll { $0.at <= self.now.monotonic }
        for timer in due {
            switch timer.event {
            case .phone(let event): self.send(event)
            case .client(let event, let process):
                self.client(event, in: process)
                self.drain()
            case .serverDeadline(let position):
                self.serverDeadline(position)
                self.drain()
            }
        }
    }

    private mutating func move(to moment: Int64) {
        let step = max(0, moment - self.now.monotonic)
        self.now = Now(monotonic: self.now.monotonic + step, wall: self.now.wall + step)
    }

    // MARK: Pushes

    /// A push is on its way; a phone that cannot be reached gets the newest when it can.
    mutating func push(_ push: Push, label: String) {
        self.deliveries += 1
        var push = push
        push.delivery = self.deliveries
        self.labels.pushed(push, label: label)
        guard self.isRegistered else { return }
        guard self.isReachable else {
            self.stored = push
            return
        }
        self.follow(.courier(.pushArrived(push)))
    }

    private mutating func becameReachable() {
        self.isReachable = true
        guard let push = self.stored else { return }
        self.stored = nil
        self.follow(.courier(.pushArrived(push)))
    }

    // MARK: The app asks

    /// The number of a question of the app.
    mutating func ask(_ query: Query, of process: ProcessID) -> QueryNumber {
        self.queries += 1
        self.follow(.process(process, .query(self.queries, query)))
        return self.queries
    }

    mutating func halt(_ reason: String) { if self.halted == nil { self.halted = reason } }
}

/// The names a scenario has for what is on the phone.
struct Labels {
    private var pushes: [(push: Push, label: String)] = []
    /// Request identifiers with the label that had them last.
    private var identifiers: [(identifier: String, label: String)] = []

    mutating func pushed(_ push: Push, label: String) { self.pushes.append((push, label)) }

    mutating func arrived(delivery: UInt64, identifier: String) {
        guard let pushed = self.pushes.last(where: { $0.push.delivery == delivery }) else { return }
        self.identifiers.append((identifier, pushed.label))
    }

    mutating func named(_ identifier: String, _ label: String) { self.identifiers.append((identifier, label)) }

    /// What the file calls a request identifier; the identifier itself if nothing.
    func label(of identifier: String) -> String {
        self.identifiers.last { $0.identifier == identifier }?.label ?? identifier
    }

    func label(of subject: Subject) -> String? {
        switch subject {
        case .request(let identifier): self.label(of: identifier)
        case .payload(let payload): self.pushes.last { $0.push.payload == payload }?.label
        }
    }

    /// The request identifier of a label, once it is known.
    func identifier(of label: String) -> String? { self.identifiers.last { $0.label == label }?.identifier }
}
