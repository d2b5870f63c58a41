import ClientCore
import PhoneCore
import TidingsModel

/// A phone with one app on a virtual clock: performs the steps of a case, plays the app, and keeps the trace.
struct Stage {
    static let bundle: BundleID = "chat.example"
    /// How many events one moment may bring before the case is given up: an endless exchange of calls and answers.
    static let eventsMax = 100_000

    let setup: ScenarioCase
    var core: PhoneCore
    private(set) var now: Now
    var trace = ScenarioTrace()
    var app: HostedApp
    private var queue: [PhoneEvent] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    private var deliveries: UInt64 = 0
    private var queries: QueryNumber = 0
    /// While the phone cannot be reached the newest push of each topic waits (ios-delivery.md §3.2).
    private var stored: [StoredPush] = []
    private var isReachable = true
    /// Whether APNs has a token of the app (ios-delivery.md §4 gate 1).
    private var isRegistered = false
    /// How often the phone's tokens have become void: those that follow are others (ios-delivery.md §13).
    private var tokenSeries = 0
    /// The tokens APNs has of the app beside its device token.
    private(set) var tokens: Set<TokenKind> = []
    private var channels: Set<String> = []
    /// The app's process once it was launched; one started in advance is not (ios-delivery.md §2.2).
    private(set) var launched: ProcessID?
    var labels = Labels()
    var step: ScenarioPosition
    var preparation: [Difference] = []
    /// What phone and SDK did, in order; nil while nobody looks.
    var observed: [Observation]?
    /// Why the case cannot go on; nil while it can.
    private(set) var halted: String?

    enum Observation: Equatable {
        case phone(PhoneEffect)
        case client(ClientEffect)
        /// Without the app group, which cannot be used before the first unlock, nothing is counted.
        case requests(NotificationCenterQueue.Work, hasGroup: Bool)
        case extensionDecides(NotificationRequest)
        case posts
        case showsBadge(Int)
        /// The app wrote the number on the icon itself, and the phone took it (before iOS 16).
        case wroteIcon(Int)
    }

    private struct StoredPush {
        var push: Push
        var label: String
        /// Until when it is kept, in wall milliseconds.
        var until: Int64
    }

    /// How long APNs keeps a push at most, in milliseconds: 30 days (apns.md §15).
    private static let storageMax: Int64 = 2_592_000_000

    private struct Timer {
        var at: Int64
        var order: Int
        var event: Later
    }

    enum Later {
        case phone(PhoneEvent)
        case client(ClientEvent, ProcessID)
        case serverDeadline(LogPosition)
        /// Something happens to a push that the service extension has at work.
        case extensionGoesOn(CallbackNumber, ExtensionMachine.Event)
        case extensionAnswers(CallbackNumber)
    }

    /// Midnight of the day on which every case plays, in wall milliseconds: 1 January 2026 in UTC, the phone's time zone.
    static let midnight: Int64 = 1_767_225_600_000

    /// - Parameter wall: what the phone's clock says at the first launch, in wall milliseconds.
    init(_ setup: ScenarioCase, wall: Int64 = Self.midnight) {
        self.setup = setup
        self.step = setup.position
        self.now = Now(monotonic: 1_000_000, wall: wall)
        self.core = PhoneCore(
            version: setup.phone.version, settings: setup.phone.settings, apps: [setup.app.installed])
        self.app = HostedApp(setup: setup.app, major: setup.phone.version.major)
    }

    var state: AppState { self.core.state(of: Self.bundle) ?? .notRunning }
    var process: ProcessID? { self.core.process(of: Self.bundle) }

    // MARK: Events

    /// Something happens now, with everything that follows at once.
    mutating func send(_ event: PhoneEvent) {
        self.queue.append(event)
        self.drain()
    }

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
            if case .process(_, .delegateChanged(let isSet)) = event { self.app.hasCenterDelegate = isSet }
            if case .process(_, .iconBadgeNumberSet(let count)) = event,
                self.core.screen.badge(of: Self.bundle) == max(0, count)
            {
                self.observed?.append(.wroteIcon(count))
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
            if case .willFinishLaunching = callback { self.launched = process }
            self.answer(process, number, callback, state)
        case .answer(let process, let number, let answer): self.answered(process, number, answer)
        case .registerTopic(let bundle):
            self.isRegistered = true
            let token = self.tokenSeries == 0 ? "c0ffee" : "c0ffee\(10 + self.tokenSeries)"
            self.follow(.courier(.tokenIssued(bundle, PushToken(token))))
        case .requestToken(let bundle, let kind):
            self.tokens.insert(kind)
            self.follow(.courier(.tokenOfKindIssued(bundle, kind, "cafe")))
        case .connectCourier: self.becameReachable()
        case .disconnectCourier: self.isReachable = false
        case .record(let record): self.note(record)
        case .unregisterTopic: self.isRegistered = false
        case .dropToken(_, let kind): self.tokens.remove(kind)
        case .subscribe(_, let channel): self.channels.insert(channel)
        case .unsubscribe(_, let channel): self.channels.remove(channel)
        case .invalidateTokens: self.tokensBecameVoid()
        case .acknowledge: break
        }
    }

    private mutating func note(_ record: PhoneRecord) {
        if case .arrival(let arrival) = record.entry {
            self.labels.arrived(delivery: arrival.delivery, identifier: arrival.identifier)
        }
        if case .activity(let update) = record.entry, update.change == .started {
            self.labels.started(activity: update.activity)
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
            case .extensionGoesOn(let number, let event):
                self.extensionGoesOn(event, number)
                self.drain()
            case .extensionAnswers(let number):
                self.answerExtension(number)
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
    ///
    /// - Parameter lifetime: how long APNs may store it, in milliseconds: what `apns-expiration` says, 0 is not at all; nil is
    ///   as long as it can.
    mutating func push(_ push: Push, label: String, lifetime: Int64? = nil) {
        self.deliveries += 1
        var push = push
        push.delivery = self.deliveries
        push.expiration = lifetime.map { $0 == 0 ? 0 : (self.now.wall + $0) / 1_000 }
        self.labels.pushed(push, label: label)
        guard self.isRegistered else { return self.undelivered(label, .noToken) }
        self.carry(push, label)
    }

    private mutating func undelivered(_ label: String, _ reason: UndeliveredReason) {
        self.trace.undelivered(label, reason, at: self.now.monotonic)
    }

    private mutating func carry(_ push: Push, _ label: String) {
        guard !self.isReachable else { return self.follow(.courier(.pushArrived(push))) }
        // The expiration is about storing: what the phone can have at once it gets.
        guard push.expiration != 0 else { return self.undelivered(label, .notStored) }
        self.trace.courier("waits: \(label)", at: self.now.monotonic)
        func competes(_ older: StoredPush) -> Bool {
            older.push.topic == push.topic && older.push.activity == push.activity
                && older.push.channel == push.channel
        }
        for older in self.stored.filter(competes) { self.undelivered(older.label, .overwritten) }
        self.stored.removeAll(where: competes)
        let longest = self.now.wall + Self.storageMax
        let until = push.expiration.map { min(longest, $0 * 1_000) } ?? longest
        self.stored.append(StoredPush(push: push, label: label, until: until))
    }

    private mutating func becameReachable() {
        self.isReachable = true
        for stored in self.stored {
            if self.now.wall >= stored.until {
                self.undelivered(stored.label, .expired)
            } else {
                self.follow(.courier(.pushArrived(stored.push)))
            }
        }
        self.stored = []
    }

    /// A reinstallation, or another phone: what was meant for the old tokens reaches nobody.
    private mutating func tokensBecameVoid() {
        self.tokenSeries += 1
        self.isRegistered = false
        self.tokens = []
        for stored in self.stored { self.undelivered(stored.label, .noToken) }
        self.stored = []
    }

    /// A push to a Live Activity, or to all on a channel; APNs refuses one without a token for it, and a start on a channel
    /// (ios-delivery.md §12).
    mutating func push(_ scripted: ActivityPush) {
        self.deliveries += 1
        var push = Push(
            delivery: self.deliveries, topic: TokenKind.pushToStart.topic(of: Self.bundle),
            payload: JSONObject([("aps", .object(scripted.aps(at: self.now.wall)))]), pushType: "liveactivity")
        switch scripted.target {
        case .channel(let channel):
            guard scripted.event != .started else {
                return self.fault("APNs takes no broadcast that starts a Live Activity")
            }
            guard self.channels.contains(channel) else {
                return self.trace.courier("nobody listens to \(channel)", at: self.now.monotonic)
            }
            push.channel = channel
        case .activity(let label) where scripted.event == .started:
            guard self.tokens.contains(.pushToStart) else {
                return self.fault("APNs has no token to start a Live Activity")
            }
            self.labels.expect(activity: label)
        case .activity(let label):
            let activity = self.labels.identifier(ofActivity: label)
            guard let activity, self.tokens.contains(.activity(activity)) else {
                return self.fault("APNs has no token of \(label)")
            }
            push.activity = activity
        }
        self.labels.sent(delivery: push.delivery, label: scripted.target.text)
        self.carry(push, scripted.target.text)
    }

    // MARK: The app asks

    mutating func ask(_ query: Query, of process: ProcessID) -> QueryNumber {
        self.queries += 1
        self.follow(.process(process, .query(self.queries, query)))
        return self.queries
    }

    mutating func halt(_ reason: String) { if self.halted == nil { self.halted = reason } }

    mutating func fault(_ text: String) {
        self.trace.note(.fault(text), at: self.now.monotonic, labels: self.labels)
    }
}
