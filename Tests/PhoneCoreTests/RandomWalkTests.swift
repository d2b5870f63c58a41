import PhoneCore
import Testing
import TidingsModel

/// SplitMix64: the same seed gives the same walk.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// People, pushes and processes that do anything at any time, on a phone with two apps.
struct RandomWalk {
    static let versions: [OSVersion] = [OSVersion(6, 1), OSVersion(9, 3), 10, 12, 13, 17, 26]
    static let apps: [BundleID] = ["chat.example", "mail.example"]

    var random: SeededGenerator
    var core: PhoneCore
    var now = Now(monotonic: 0, wall: 1_700_000_000_000)
    var ledger = ProcessLedger()
    /// Calls without an answer, and one that was answered already.
    var open: [(process: ProcessID, number: CallbackNumber, callback: Callback)] = []
    var starting: [ProcessID] = []
    var living: [ProcessID] = []
    var faults: [String] = []
    var trace: [PhoneEffect] = []
    var count: UInt64 = 0

    init(seed: UInt64) {
        self.random = SeededGenerator(state: seed)
        let version = Self.versions.randomElement(using: &self.random) ?? 17
        self.core = PhoneCore(
            version: version,
            apps: [
                InstalledApp(bundleID: Self.apps[0], hasFilteringEntitlement: Bool.random(using: &self.random)),
                InstalledApp(
                    bundleID: Self.apps[1], lifecycle: .application,
                    methods: DelegateMethods(rawValue: UInt32.random(in: 0...2047, using: &self.random))),
            ])
        for app in Self.apps {
            self.take(self.core.handle(.person(.settingChanged(app, .notifications, isOn: true)), at: self.now))
        }
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            if Int.random(in: 0..<3, using: &self.random) == 0 { self.passTime() }
            let event = self.event()
            if case .process(let process, .exited) = event {
                self.ledger.exited(process)
                self.forget(process)
            }
            self.take(self.core.handle(event, at: self.now))
            self.check(after: event)
        }
    }

    private mutating func take(_ effects: [PhoneEffect]) {
        self.trace += effects
        for effect in effects {
            if let fault = self.ledger.fault(of: effect) { self.faults.append(fault) }
            switch effect {
            case .startProcess(let process):
                self.starting.append(process)
                self.living.append(process)
            case .killProcess(let process): self.forget(process)
            case .call(let process, let number, let callback, _): self.open.append((process, number, callback))
            default: break
            }
        }
    }

    private mutating func forget(_ process: ProcessID) {
        self.living.removeAll { $0 == process }
        self.starting.removeAll { $0 == process }
        // Now and then an answer comes from a process that is gone.
        if Int.random(in: 0..<4, using: &self.random) > 0 { self.open.removeAll { $0.process == process } }
    }

    private mutating func check(after event: PhoneEvent) {
        if let next = self.core.nextDeadline, next <= self.now.monotonic {
            self.faults.append("deadline \(next) at \(self.now.monotonic) after \(event)")
        }
        let states = Self.apps.map { self.core.state(of: $0) ?? .notRunning }
        if states.count(where: { $0 == .foregroundActive }) > 1 { self.faults.append("two active apps") }
        if self.core.screen.lock != .unlocked, states.contains(.foregroundActive) {
            self.faults.append("active while locked")
        }
        for (app, state) in zip(Self.apps, states) where state.hasProcess != (self.core.process(of: app) != nil) {
            self.faults.append("\(app) is \(state) with process \(String(describing: self.core.process(of: app)))")
        }
        let keys = self.core.screen.list.map(\.key)
        if Set(keys).count != keys.count { self.faults.append("an identifier is listed twice") }
    }

    private mutating func passTime() {
        let step = [1, 10, 100, 1_000, 6_000, 6_000, 40_000].randomElement(using: &self.random) ?? 1
        let end = self.now.monotonic + Int64.random(in: 0...Int64(step), using: &self.random)
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

    // MARK: Events

    private mutating func event() -> PhoneEvent {
        switch Int.random(in: 0..<40, using: &self.random) {
        case 0..<7: .person(self.personEvent())
        case 7: .system(self.systemEvent())
        case 8..<14: .courier(self.courierEvent())
        default: self.processEvent()
        }
    }

    private mutating func app() -> BundleID { Self.apps.randomElement(using: &self.random) ?? Self.apps[0] }

    private mutating func key() -> NotificationKey {
        let keys = (self.core.screen.list + self.core.screen.banners).map(\.key)
        return keys.randomElement(using: &self.random) ?? NotificationKey(app: self.app(), identifier: "1")
    }

    private mutating func personEvent() -> PersonEvent {
        let isOn = Bool.random(using: &self.random)
        switch Int.random(in: 0..<16, using: &self.random) {
        case 0: return .unlocked
        case 1: return isOn ? .locked : .unlocked
        case 2, 3, 4, 5: return .appOpened(self.app())
        case 6: return .wentHome
        case 7: return .appForceQuit(self.app())
        case 8, 9: return .notificationTapped(self.key())
        case 10: return .notificationDismissed(self.key())
        case 11: return .actionPerformed(self.key(), action: "read", text: nil)
        case 12: return .permissionAnswered(allowed: isOn)
        case 13 where isOn || Bool.random(using: &self.random):
            let setting = SettingSwitch.allCases.randomElement(using: &self.random) ?? .alert
            return .settingChanged(self.app(), setting, isOn: isOn)
        case 14: return isOn ? .overlayAppeared : .overlayDisappeared
        default:
            return Int.random(in: 0..<4, using: &self.random) == 0
                ? .airplaneModeChanged(isOn: isOn) : .lowPowerModeChanged(isOn: isOn)
        }
    }

    private mutating func systemEvent() -> SystemEvent {
        switch Int.random(in: 0..<12, using: &self.random) {
        case 0, 1: .appKilled(self.app())
        case 2, 3, 4: .appFrozen(self.app())
        case 5, 6: .appEvicted(self.app())
        case 7, 8: .memoryRanLow
        case 9: .restarted
        case 10: .appInstalled(InstalledApp(bundleID: self.app()))
        default: .appFrozen(self.app())
        }
    }

    private mutating func courierEvent() -> CourierEvent {
        self.count += 1
        if Int.random(in: 0..<6, using: &self.random) == 0 { return .tokenIssued(self.app(), "beef") }
        let payloads = [Payload.alert, Payload.alertAndContent, Payload.content, Payload.mutable, ["aps": [:]]]
        let payload = payloads.randomElement(using: &self.random)?.objectValue ?? JSONObject()
        let collapse = Bool.random(using: &self.random) ? "\(Int.random(in: 1...5, using: &self.random))" : nil
        return .pushArrived(
            Push(delivery: self.count, topic: self.app().rawValue, payload: payload, collapseID: collapse))
    }

    private mutating func processEvent() -> PhoneEvent {
        if !self.starting.isEmpty, Int.random(in: 0..<3, using: &self.random) > 0 {
            return .process(self.starting.removeFirst(), .started)
        }
        if !self.open.isEmpty, Int.random(in: 0..<6, using: &self.random) > 0 {
            let index = Int.random(in: 0..<min(3, self.open.count), using: &self.random)
            let call = self.open[index]
            // Now and then the answer comes twice.
            if Int.random(in: 0..<20, using: &self.random) > 0 { self.open.remove(at: index) }
            return .process(call.process, .callbackCompleted(call.number, self.result(of: call.callback)))
        }
        guard let process = self.living.randomElement(using: &self.random) else { return .timerReached }
        return .process(process, self.report(of: process))
    }

    private mutating func result(of callback: Callback) -> CallbackResult {
        switch callback {
        case .receiveRemoteFetch: .fetch(FetchResult.allCases.randomElement(using: &self.random) ?? .noData)
        case .willPresent: .presentation(PresentationOptions(rawValue: UInt.random(in: 0...31, using: &self.random)))
        case .serviceExtensionReceive(let request):
            .content(Bool.random(using: &self.random) ? request.content : NotificationContent())
        default: .returned
        }
    }

    private mutating func report(of process: ProcessID) -> ProcessEvent {
        let task = BackgroundTaskNumber.random(in: 1...3, using: &self.random)
        switch Int.random(in: 0..<14, using: &self.random) {
        case 0 where Bool.random(using: &self.random):
            return .exited(crashed: Bool.random(using: &self.random))
        case 0, 1: return .delegateChanged(isSet: Int.random(in: 0..<4, using: &self.random) > 0)
        case 2, 3: return .remoteRegistrationRequested
        case 4, 5: return .backgroundTaskBegan(task)
        case 6, 7: return .backgroundTaskEnded(task)
        case 8: return .iconBadgeNumberSet(Int.random(in: -1...3, using: &self.random))
        case 9:
            let read = NotificationAction(identifier: "read", title: "Read", options: .foreground)
            return .categoriesSet([NotificationCategory(identifier: "", actions: [read], reportsDismissal: true)])
        case 10: return .deliveredRemoved(identifiers: ["1", "2"])
        case 11: return .query(1, .requestAuthorization([.alert, .sound, .badge]))
        default:
            let triggers: [NotificationTrigger?] = [
                nil, .timeInterval(milliseconds: 7_000, repeats: false),
                .timeInterval(milliseconds: 90_000, repeats: true),
            ]
            let request = NotificationRequest(
                identifier: "\(Int.random(in: 1...5, using: &self.random))",
                content: NotificationContent(body: "hello", badge: 1, sound: .standard),
                trigger: triggers.randomElement(using: &self.random) ?? nil)
            return .query(2, .add(request))
        }
    }
}

@Suite struct `Two hundred random lives of a phone` {
    /// What a batch of walks must have met, so that they prove something.
    static let expected: Set<String> = [
        "WF", "DF", "DF(remoteNotification)", "WEF", "DBA", "WRA", "DEB", "WT", "memory", "SC", "SC(response)",
        "sceneWEF", "sceneDBA", "sceneWRA", "sceneDEB", "sceneDisconnect", "R0(active)", "RF(active)",
        "RF(background)", "L0(active)", "WP", "DR", "DR(read)", "token(beef)", "expired(1)", "NSE", "EXP",
    ]

    @Test(arguments: 0..<8) func `break no promise`(batch: UInt64) {
        var met: Set<String> = []
        for seed in (batch * 25)..<(batch * 25 + 25) {
            var walk = RandomWalk(seed: seed)
            walk.run(steps: 500)
            #expect(walk.faults == [], "seed \(seed), iOS \(walk.core.version)")
            for case .call(_, _, let callback, let state) in walk.trace { met.insert(callback.short(state)) }
        }
        #expect(Self.expected.subtracting(met) == [])
    }

    @Test func `are the same for the same seed`() {
        var first = RandomWalk(seed: 7)
        var second = RandomWalk(seed: 7)
        first.run(steps: 500)
        second.run(steps: 500)
        #expect(first.trace == second.trace)
        #expect(first.core == second.core)
    }
}
