import ClientCore
import PhoneCore
import ServerCore
import SimulatedServer
import TidingsModel

/// A phone with one app on a virtual clock: performs the steps of a case, plays the app, and keeps the trace.
struct ScenarioPhone {
    static let bundle: BundleID = "chat.example"
    /// How many events one moment may bring before the case is given up: an endless exchange of calls and answers.
    static let eventsMax = 100_000

    let setup: ScenarioCase
    var core: PhoneCore
    private(set) var now: Now
    var trace = ScenarioTrace()
    var app: HostedApp
    var server: SimulatedServer?
    private var queue: [PhoneEvent] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    private var deliveries: UInt64 = 0
    private var queries: QueryNumber = 0
    /// While the phone cannot be reached the newest push of each topic waits (ios-delivery.md §3.2).
    private var stored: [StoredPush] = []
    private var isReachable = true
    /// True if APNs has a token of the app (ios-delivery.md §4 gate 1).
    private var isRegistered = false
    /// Counts reinstallations and new phones, each of which gets new tokens (ios-delivery.md §13).
    private var tokenSeries = 0
    private(set) var tokens: Set<TokenKind> = []
    private var channels: Set<String> = []
    /// The app's process once it is launched: a prewarmed one is not yet (ios-delivery.md §2.2).
    private(set) var launched: ProcessID?
    var labels = Labels()
    var step: ScenarioPosition
    var preparation: [Difference] = []
    /// The acts of phone and SDK, in order; nil if no test records them.
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
        /// The phone took a number that the app itself wrote to the icon (before iOS 16).
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
        case kit(KitMachine.Event, ProcessID)
        case appChooses(ReceivedNotification, KitMachine.Call, ProcessID)
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
        self.app = HostedApp(setup: setup.app)
        if let sdk = setup.app.sdk {
            let server = sdk.server(at: self.now)
            self.server = server
            self.app.sdk = SDKHost(setup: sdk, major: setup.phone.version.major, log: server.log(of: sdk.user))
            self.app.sdk?.extensionFilters = ExtensionDecision.mayFilter(
                isEntitled: setup.app.installed.hasFilteringEntitlement, version: setup.phone.version.description)
        }
    }

    var state: AppState { self.core.state(of: Self.bundle) ?? .notRunning }
    var process: ProcessID? { self.core.process(of: Self.bundle) }

    // MARK: Events

    mutating func handle(_ event: PhoneEvent) {
        self.queue.append(event)
        self.processQueue()
    }

    mutating func enqueue(_ event: PhoneEvent) { self.queue.append(event) }

    mutating func schedule(_ event: Later, after wait: Int64) {
        self.timerCount += 1
        self.timers.append(Timer(at: self.now.monotonic + wait, order: self.timerCount, event: event))
    }

    mutating func processQueue() {
        var count = 0
        while !self.queue.isEmpty {
            let event = self.queue.removeFirst()
            for effect in self.core.handle(event, at: self.now) {
                self.observed?.append(.phone(effect))
                self.carryOut(effect)
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

    private mutating func carryOut(_ effect: PhoneEffect) {
        switch effect {
        case .startProcess(let process):
            self.processStarted(process)
            self.enqueue(.process(process, .started))
        case .suspendProcess(let process): if process.role == .app { self.app.sdk?.isSuspended = true }
        case .resumeProcess(let process): self.clientResumed(process)
        case .killProcess(let process):
            self.clientKilled(process)
            self.endExtensions(in: process)
        case .call(let process, let number, let callback, let state):
            if case .willFinishLaunching = callback { self.launched = process }
            self.answerCallback(process, number, callback, state)
        case .answer(let process, let number, let answer): self.handleQueryAnswer(process, number, answer)
        case .registerTopic(let bundle):
            self.isRegistered = true
            let token = self.tokenSeries == 0 ? "c0ffee" : "c0ffee\(10 + self.tokenSeries)"
            self.enqueue(.courier(.tokenIssued(bundle, PushToken(token))))
        case .requestToken(let bundle, let kind):
            self.tokens.insert(kind)
            self.enqueue(.courier(.tokenOfKindIssued(bundle, kind, "cafe")))
        case .connectCourier: self.deliverStored()
        case .disconnectCourier: self.isReachable = false
        case .record(let record): self.traceRecord(record)
        case .unregisterTopic: self.isRegistered = false
        case .dropToken(_, let kind): self.tokens.remove(kind)
        case .subscribe(_, let channel): self.channels.insert(channel)
        case .unsubscribe(_, let channel): self.channels.remove(channel)
        case .invalidateTokens: self.voidTokens()
        case .acknowledge: break
        }
    }

    private mutating func traceRecord(_ record: PhoneRecord) {
        if case .arrival(let arrival) = record.entry {
            self.labels.addArrival(ofDelivery: arrival.delivery, identifier: arrival.identifier)
        }
        if case .activity(let update) = record.entry, update.change == .started {
            self.labels.addStarted(activity: update.activity)
        }
        self.trace.append(record.entry, at: self.now.monotonic, labels: self.labels)
    }

    // MARK: Time

    mutating func advance(by milliseconds: Int64) {
        let end = self.now.monotonic + milliseconds
        var idle = 0
        while self.halted == nil {
            let timer = self.timers.map(\.at).min() ?? .max
            let deadlines = [self.core.nextDeadline, self.clientDeadline, self.server?.nextDeadline].compactMap { $0 }
            let next = min(timer, deadlines.min() ?? .max)
            guard next <= end else { break }
            idle = next <= self.now.monotonic ? idle + 1 : 0
            if idle > Self.eventsMax { self.halted = "a deadline has passed and stays" }
            self.setTime(to: next)
            self.runTimers()
            // A client that hangs up in time is not taken for one that has missed its time.
            self.clientDeadlineReached()
            if self.server?.nextDeadline ?? .max <= next {
                self.handleServer(.timeReached)
                self.processQueue()
            }
            self.handle(.timerReached)
        }
        self.setTime(to: end)
    }

    private mutating func runTimers() {
        let due = self.timers.filter { $0.at <= self.now.monotonic }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        self.timers.removeAll { $0.at <= self.now.monotonic }
        for timer in due {
            self.perform(timer.event)
            self.processQueue()
        }
    }

    /// At once if there is nothing to wait for.
    mutating func perform(_ event: Later, after wait: Int64 = 0) {
        guard wait == 0 else { return self.schedule(event, after: wait) }
        switch event {
        case .phone(let event): self.enqueue(event)
        case .client(let event, let process): self.handleClient(event, in: process)
        case .kit(let event, let process): self.handleLateKit(event, in: process)
        case .appChooses(let notification, let call, let process):
            self.choosePresentation(of: notification, call, in: process)
        case .extensionGoesOn(let number, let event): self.handleExtension(event, number)
        case .extensionAnswers(let number): self.answerExtension(number)
        }
    }

    private mutating func setTime(to moment: Int64) {
        let step = max(0, moment - self.now.monotonic)
        self.now = Now(monotonic: self.now.monotonic + step, wall: self.now.wall + step)
    }

    // MARK: Pushes

    /// A push is on its way; a phone that cannot be reached gets the newest when it can.
    ///
    /// - Parameter lifetime: how long APNs may store it, in milliseconds: what `apns-expiration` says, 0 is not at all; nil is
    ///   as long as it can.
    mutating func sendPush(_ push: Push, label: String, lifetime: Int64? = nil) {
        self.deliveries += 1
        var push = push
        push.delivery = self.deliveries
        self.nameRecipient(of: &push)
        push.expiration = lifetime.map { $0 == 0 ? 0 : (self.now.wall + $0) / 1_000 }
        self.labels.addPush(push, label: label)
        guard self.isRegistered else { return self.traceUndelivered(label, .noToken) }
        self.deliver(push, label: label)
    }

    /// A file writes `<person>-here` for the recipient tag of the person who is signed in.
    private func nameRecipient(of push: inout Push) {
        guard let sdk = self.app.sdk, let tag = sdk.recipient?.tag, var info = push.payload[PushInfo.key]?.objectValue,
            info["to"] == .string("\(sdk.setup.person)-here")
        else { return }
        info["to"] = .string(tag)
        push.payload[PushInfo.key] = .object(info)
    }

    private mutating func traceUndelivered(_ label: String, _ reason: UndeliveredReason) {
        self.trace.append(undelivered: label, reason, at: self.now.monotonic)
    }

    private mutating func deliver(_ push: Push, label: String) {
        guard !self.isReachable else { return self.enqueue(.courier(.pushArrived(push))) }
        // The expiration is about storing: what the phone can have at once it gets.
        guard push.expiration != 0 else { return self.traceUndelivered(label, .notStored) }
        self.trace.append(nil, "waits: \(label)", kind: "apns", at: self.now.monotonic)
        func competes(_ older: StoredPush) -> Bool {
            older.push.topic == push.topic && older.push.activity == push.activity
                && older.push.channel == push.channel
        }
        for older in self.stored.filter(competes) { self.traceUndelivered(older.label, .overwritten) }
        self.stored.removeAll(where: competes)
        let longest = self.now.wall + Self.storageMax
        let until = push.expiration.map { min(longest, $0 * 1_000) } ?? longest
        self.stored.append(StoredPush(push: push, label: label, until: until))
    }

    private mutating func deliverStored() {
        self.isReachable = true
        for stored in self.stored {
            if self.now.wall >= stored.until {
                self.traceUndelivered(stored.label, .expired)
            } else {
                self.enqueue(.courier(.pushArrived(stored.push)))
            }
        }
        self.stored = []
    }

    /// A reinstallation, or another phone: what was meant for the old tokens reaches nobody.
    private mutating func voidTokens() {
        self.tokenSeries += 1
        self.isRegistered = false
        self.tokens = []
        for stored in self.stored { self.traceUndelivered(stored.label, .noToken) }
        self.stored = []
    }

    /// A push to a Live Activity, or to all on a channel; APNs refuses one without a token for it, and a start on a channel
    /// (ios-delivery.md §12).
    mutating func sendPush(_ scripted: ActivityPush) {
        self.deliveries += 1
        var push = Push(
            delivery: self.deliveries, topic: TokenKind.pushToStart.topic(of: Self.bundle),
            payload: JSONObject([("aps", .object(scripted.aps(at: self.now.wall)))]), pushType: "liveactivity")
        switch scripted.target {
        case .channel(let channel):
            guard scripted.event != .started else {
                return self.traceFault("APNs takes no broadcast that starts a Live Activity")
            }
            guard self.channels.contains(channel) else {
                return self.trace.append(nil, "nobody listens to \(channel)", kind: "apns", at: self.now.monotonic)
            }
            push.channel = channel
        case .activity(let label) where scripted.event == .started:
            guard self.tokens.contains(.pushToStart) else {
                return self.traceFault("APNs has no token to start a Live Activity")
            }
            self.labels.expectStart(ofActivity: label)
        case .activity(let label):
            let activity = self.labels.identifier(ofActivity: label)
            guard let activity, self.tokens.contains(.activity(activity)) else {
                return self.traceFault("APNs has no token of \(label)")
            }
            push.activity = activity
        }
        self.labels.addDelivery(push.delivery, label: scripted.target.text)
        self.deliver(push, label: scripted.target.text)
    }

    // MARK: The app asks

    mutating func submit(_ query: Query, in process: ProcessID, after wait: Int64 = 0) -> QueryNumber {
        self.queries += 1
        self.perform(.phone(.process(process, .query(self.queries, query))), after: wait)
        return self.queries
    }

    mutating func halt(_ reason: String) { if self.halted == nil { self.halted = reason } }

    mutating func traceFault(_ text: String) {
        self.trace.append(.fault(text), at: self.now.monotonic, labels: self.labels)
    }
}
