import TidingsModel

@testable import PhoneCore

extension SplitMix64 {
    /// A number below the bound; the tiny bias does not matter here.
    mutating func below(_ bound: Int) -> Int { Int(self.next() % UInt64(bound)) }

    mutating func chance(_ part: Int, of whole: Int) -> Bool { self.below(whole) < part }

    mutating func pick<Elements: RandomAccessCollection>(_ elements: Elements) -> Elements.Element {
        elements[elements.index(elements.startIndex, offsetBy: self.below(elements.count))]
    }
}

struct RandomWalk {
    static let apps: [BundleID] = ["chat.example", "mail.example"]
    static let listLimit = 6
    static let pendingLimit = 4

    struct Call: Equatable {
        var process: ProcessID
        var number: CallbackNumber
        var callback: Callback
    }

    let version: OSVersion
    var random: SplitMix64
    var core: PhoneCore
    var now = Now(monotonic: 0, wall: 1_700_000_000_000)
    var ledger = ProcessLedger()
    var open: [Call] = []
    var starting: [ProcessID] = []
    var living: [ProcessID] = []
    var faults: [String] = []
    var trace: [PhoneEffect] = []
    let keepsTrace: Bool
    /// What was called, in the words of ios-delivery.md §0.3, if effects are kept.
    var met: Set<String> = []
    var count: UInt64 = 0
    var intentions: [PhoneEvent] = []
    private var completed: Set<CallbackNumber> = []
    private var arrivals: [String: Int] = [:]
    private var presentations: [String: Int] = [:]
    private var extensions: [String: Int] = [:]

    init(seed: UInt64, version: OSVersion, keepsTrace: Bool = false) {
        self.version = version
        self.keepsTrace = keepsTrace
        self.random = SplitMix64(seed: seed)
        var settings = PhoneSettings()
        settings.listLimit = Self.listLimit
        settings.pendingLimit = Self.pendingLimit
        if self.random.chance(1, of: 2) { settings.backgroundTaskTime = 20_000 }
        settings.sharesExtensionProcess = self.random.chance(3, of: 4)
        settings.quirks = Self.quirks(&self.random)
        self.core = PhoneCore(version: version, settings: settings)
        for app in Self.apps {
            self.take(self.core.handle(.system(.appInstalled(self.install(app))), at: self.now))
            self.take(self.core.handle(.person(.settingChanged(app, .notifications, isOn: true)), at: self.now))
        }
    }

    private static func quirks(_ random: inout SplitMix64) -> Quirks {
        var quirks = Quirks()
        if random.chance(1, of: 8) { quirks.foregroundFetchBeforeWillPresent.toggle() }
        if random.chance(1, of: 8) { quirks.missingDidReceiveFallsBack.toggle() }
        if random.chance(1, of: 8) { quirks.noDelegatePresentsInForeground.toggle() }
        if random.chance(1, of: 8) { quirks.fetchTwiceOnTap.toggle() }
        if random.chance(1, of: 8) { quirks.extensionRunsBeforeFirstUnlock.toggle() }
        if random.chance(1, of: 8) { quirks.killedExtensionWithFilteringDiscards.toggle() }
        if random.chance(1, of: 8) { quirks.lockHeldWhileSuspendedKills.toggle() }
        return quirks
    }

    mutating func run(steps: Int) {
        for step in 0..<steps {
            if self.random.chance(1, of: 3) { self.passTime() }
            let event = self.event()
            if case .process(let process, .exited) = event {
                self.ledger.exited(process)
                self.forget(process)
            }
            self.take(self.core.handle(event, at: self.now))
            self.check(after: event, thoroughly: step % 8 == 0)
        }
    }

    private mutating func take(_ effects: [PhoneEffect]) {
        if self.keepsTrace { self.trace += effects }
        for effect in effects {
            if let fault = self.ledger.fault(of: effect) { self.faults.append(fault) }
            switch effect {
            case .startProcess(let process):
                self.starting.append(process)
                self.living.append(process)
            case .killProcess(let process): self.forget(process)
            case .call(let process, let number, let callback, let state):
                self.open.append(Call(process: process, number: number, callback: callback))
                if self.keepsTrace { self.met.insert(callback.short(state)) }
                self.intend(process, callback)
            case .registerTopic(let app) where self.random.chance(1, of: 3):
                self.intentions.append(.courier(.tokenIssued(app, "beef")))
            case .requestToken(let app, let kind) where self.random.chance(1, of: 2):
                self.intentions.append(.courier(.tokenOfKindIssued(app, kind, "beef")))
            case .record(let record): self.note(record.entry)
            default: break
            }
        }
    }

    private mutating func intend(_ process: ProcessID, _ callback: Callback) {
        switch callback {
        case .serviceExtensionReceive(let request): self.extensions[request.identifier, default: 0] += 1
        case .didFinishLaunching:
            self.intend(
                process,
                [
                    .refreshTaskRegistered(identifier: "refresh"), .delegateChanged(isSet: true),
                    .categoriesSet([Self.category]),
                ])
        case .applicationDidBecomeActive, .sceneDidBecomeActive:
            let activity = ProcessEvent.activityStarted(activity: "a", pushType: .token, contentState: .null)
            let task = ProcessEvent.query(9, .submitRefreshTask(RefreshTaskRequest(identifier: "refresh")))
            self.intend(process, [activity, task, .voipRegistrationChanged(isOn: true), .pushToStartRequested])
        case .applicationDidEnterBackground, .sceneDidEnterBackground:
            self.intend(process, [.backgroundTaskBegan(1), .expiringActivityBegan(1)])
            if self.random.chance(1, of: 4) { self.intentions.append(.system(.backgroundChance(process.app))) }
        default: break
        }
    }

    private mutating func intend(_ process: ProcessID, _ events: [ProcessEvent]) {
        for event in events where self.random.chance(1, of: 3) { self.intentions.append(.process(process, event)) }
    }

    private mutating func note(_ entry: PhoneRecord.Entry) {
        switch entry {
        case .completion(let number, _):
            if !self.completed.insert(number).inserted { self.faults.append("callback \(number) was answered twice") }
        case .arrival(let arrival): self.arrivals[arrival.identifier, default: 0] += 1
        case .presentation(let record) where record.isRemote && record.reason != .heldForSummary:
            self.presentations[record.identifier, default: 0] += 1
        default: break
        }
    }

    private mutating func forget(_ process: ProcessID) {
        self.living.removeAll { $0 == process }
        self.starting.removeAll { $0 == process }
        // Now and then an answer comes from a process that is gone.
        if !self.random.chance(1, of: 4) { self.open.removeAll { $0.process == process } }
    }

    private mutating func check(after event: PhoneEvent, thoroughly: Bool) {
        if let next = self.core.nextDeadline, next <= self.now.monotonic {
            self.faults.append("deadline \(next) at \(self.now.monotonic) after \(event)")
        }
        var active = 0
        for app in self.core.apps {
            if app.state == .foregroundActive { active += 1 }
            let pending = app.center.schedule.requests.count
            if pending > Self.pendingLimit { self.faults.append("\(pending) are pending") }
        }
        if active > 1 { self.faults.append("two active apps after \(event)") }
        if active > 0, self.core.screen.lock != .unlocked { self.faults.append("active while locked after \(event)") }
        if thoroughly { self.checkLists(after: event) }
    }

    private mutating func checkLists(after event: PhoneEvent) {
        let keys = self.core.listed.map(\.key)
        if Set(keys).count != keys.count { self.faults.append("an identifier is listed twice") }
        for app in Self.apps where keys.count(where: { $0.app == app }) > Self.listLimit {
            self.faults.append("the list of \(app) is too long")
        }
        for (identifier, count) in self.presentations where count > self.arrivals[identifier] ?? 0 {
            self.faults.append("\(identifier) was presented \(count) times after \(event)")
        }
        for (identifier, count) in self.extensions where count > self.arrivals[identifier] ?? 0 {
            self.faults.append("\(identifier) was given to the extension \(count) times")
        }
        let screen = self.core.screen
        if screen.lock != .unlocked, screen.foregroundApp != nil {
            self.faults.append("an app in the foreground while locked")
        }
        if screen.badges.contains(where: { $0.count < 1 }) { self.faults.append("an icon with an empty badge") }
    }

    // MARK: Time

    private mutating func passTime() {
        let steps = [1, 10, 100, 1_000, 6_000, 6_000, 40_000, 40_000]
        let step = self.random.chance(1, of: 60) ? 10_800_000 : self.random.pick(steps)
        let end = self.now.monotonic + Int64(self.random.below(step + 1))
        var rounds = 0
        while let next = self.core.nextDeadline, next <= end, rounds < 10_000 {
            self.advance(to: max(next, self.now.monotonic))
            self.take(self.core.handle(.timerReached, at: self.now))
            rounds += 1
        }
        if rounds == 10_000 { self.faults.append("time does not pass") }
        self.advance(to: end)
    }

    private mutating func advance(to moment: Int64) {
        let step = max(0, moment - self.now.monotonic)
        self.now = Now(monotonic: self.now.monotonic + step, wall: self.now.wall + step)
    }
}
