import PhoneCore
import Testing
import TidingsModel

extension `An app's life` {
    @Test func `with scenes ends in the background without a word to a scene that never connected`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        _ = core.handle(.person(.appOpened(PhoneRig.chat)), at: now)
        _ = core.handle(.process(process, .started), at: now)
        _ = core.handle(.person(.wentHome), at: now)
        let effects = core.handle(.process(process, .callbackCompleted(2, .returned)), at: now)
        #expect(!effects.contains { if case .call = $0 { true } else { false } })
        #expect(core.state(of: PhoneRig.chat) == .backgroundRunning)
    }

    @Test func `hears of protected data when the phone is locked and unlocked, while it runs`() {
        var rig = PhoneRig(17, Self.plain)
        rig.send(.system(.appInstalled(InstalledApp(bundleID: "mail.example"))))
        rig.person(.appOpened("mail.example"))
        rig.person(.wentHome)
        rig.pass(seconds: 6)
        rig.enter(.foregroundActive)
        #expect(rig.ask(.protectedDataAvailable) == .protectedData(isAvailable: true))
        rig.person(.locked)
        #expect(rig.ask(.protectedDataAvailable) == .protectedData(isAvailable: false))
        rig.person(.unlocked)
        #expect(
            rig.calls == [
                "WRA", "DEB", "protectedData(unavailable)", "protectedData(available)", "WEF", "DBA",
            ], "the suspended app hears nothing")
    }

    @Test func `hears of protected data at the first unlock if it was launched before`() {
        let app = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, backgroundModes: .voip)
        var rig = PhoneRig(17, app, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.send(.system(.restarted))
        rig.clear()
        rig.push(["call": "ann"], suffix: ".voip")
        rig.person(.unlocked)
        #expect(rig.calls == ["WF", "DF", "VOIP(background)", "protectedData(available)"])
    }
}

extension `A phone that freezes an app without a word` {
    static func frozenLaunch(
        _ version: OSVersion, settings: PhoneSettings = PhoneSettings(), offline: Bool = false
    ) -> (core: PhoneCore, effects: [PhoneEffect]) {
        let app = InstalledApp(
            bundleID: PhoneRig.chat, lifecycle: .application, methods: [.receiveRemote, .receiveRemoteFetch])
        var core = PhoneCore(version: version, settings: settings, apps: [app])
        let now = Now(monotonic: 0, wall: 0)
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        let push = Push(
            delivery: 1, topic: PhoneRig.chat.rawValue,
            payload: Payload.alertAndContent.objectValue ?? JSONObject(), collapseID: "m")
        var effects: [PhoneEffect] = []
        for event: PhoneEvent in [
            .person(.appOpened(PhoneRig.chat)), .process(process, .started),
            .process(process, .remoteRegistrationRequested), .courier(.pushArrived(push)),
            .system(.appFrozen(PhoneRig.chat)), .person(.appOpened(PhoneRig.chat)),
            .process(process, .callbackCompleted(2, .returned)),
        ] { effects += core.handle(event, at: now) }
        return (core, effects)
    }

    static func wakes(_ effects: [PhoneEffect]) -> [WakeOutcome] {
        effects.compactMap { effect in
            if case .record(let record) = effect, case .wake(_, let outcome) = record.entry { outcome } else { nil }
        }
    }

    static func fetches(_ effects: [PhoneEffect]) -> Int {
        effects.count { if case .call(_, _, .receiveRemoteFetch, _) = $0 { true } else { false } }
    }

    @Test func `gives it the silent part of a push it kept waiting, for a wake, and none before iOS 7`() {
        let (_, effects) = Self.frozenLaunch(17)
        #expect(Self.wakes(effects) == [.delivered])
        #expect(Self.fetches(effects) == 1)
        let (_, old) = Self.frozenLaunch(OSVersion(6, 1))
        #expect(Self.wakes(old) == [])
        #expect(Self.fetches(old) == 0)
    }

    @Test func `holds that part without a wake to spare, until the person opens the app`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 0
        let (_, effects) = Self.frozenLaunch(17, settings: settings)
        #expect(Self.wakes(effects) == [.heldForBudget, .delivered])
        #expect(Self.fetches(effects) == 1, "the icon brought it")
    }
}

extension `The device token` {
    @Test func `asked for and not come when the connection goes is reported as failed`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.remoteRegistrationRequested)
        rig.person(.airplaneModeChanged(isOn: true))
        #expect(rig.calls == ["noToken"])
        rig.person(.airplaneModeChanged(isOn: false))
        rig.send(.courier(.tokenIssued(PhoneRig.chat, "c0")))
        #expect(rig.calls == ["noToken"], "one question, one answer")
    }
}

extension `Background App Refresh` {
    @Test func `fetches whatever silent pushes there were`() {
        var rig = PhoneRig(12, Self.fetching, in: .foregroundActive)
        rig.app(.minimumFetchIntervalSet(0))
        rig.enter(.suspended)
        for _ in 1...4 { rig.push(Payload.content, type: "background") }
        #expect(rig.wakes == [.delivered, .delivered, .delivered, .heldForBudget])
        rig.send(.system(.backgroundChance(PhoneRig.chat)))
        #expect(rig.fetches == [.delivered])
    }
}

extension `The budget of silent pushes` {
    @Test func `is not spent on an app that dies when it is resumed`() {
        var rig = PhoneRig(17, in: .suspended)
        rig.push(Payload.content)
        let call = rig.open("RF")[0]
        rig.process(call.process, .callbackCompleted(call.number, .fetch(.newData)))
        rig.clear()
        rig.push(Payload.content)
        #expect(rig.story == ["ended(completionHandlerCalledTwice)", "wake(discardedByKill)"])
        for _ in 1...2 { rig.push(Payload.content) }
        #expect(rig.wakes == [.discardedByKill, .delivered, .delivered])
    }

    @Test func `brings a held push nowhere if refresh was turned off meanwhile`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 1
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        for number in 1...2 { rig.push(Self.numbered(number)) }
        rig.person(.settingChanged(PhoneRig.chat, .backgroundRefresh, isOn: false))
        rig.pass(seconds: 3_600)
        #expect(rig.wakes == [.delivered, .heldForBudget, .refreshOff])
        #expect(Self.numbers(rig) == [1])
    }

    @Test func `is as much a day as the settings say, and again the next day`() {
        var settings = PhoneSettings()
        settings.wakesPerHour = 100
        settings.wakesPerDay = 2
        var rig = PhoneRig(17, settings: settings, in: .suspended)
        for number in 1...3 { rig.push(Self.numbered(number)) }
        #expect(Self.numbers(rig) == [1, 2])
        rig.pass(seconds: 86_400)
        #expect(Self.numbers(rig) == [1, 2, 3])
        for number in 4...5 { rig.push(Self.numbered(number)) }
        #expect(Self.numbers(rig) == [1, 2, 3, 4])
        rig.pass(seconds: 86_400)
        #expect(Self.numbers(rig) == [1, 2, 3, 4, 5])
    }
}

extension `A VoIP push` {
    @Test func `is answered for by one call, whatever other push is open`() {
        var rig = PhoneRig(17, Self.app, behaviour: AppBehaviour(reportsCall: false), in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.person(.wentHome)
        rig.clear()
        rig.send(.system(.appFrozen(PhoneRig.chat)))
        rig.person(.appOpened(PhoneRig.chat))
        rig.clear()
        rig.push(Self.payload, suffix: ".voip")
        #expect(rig.calls == ["VOIP(active)"])
        #expect(rig.ends == [], "in the foreground nothing must be reported")
    }
}

/// A wall clock that is set while the phone runs (ios-delivery.md §4 gate 5, §9, §12).
@Suite struct `A clock that is set` {
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    /// 07:00.
    static let start = 7 * hour

    /// A phone with an app in the background, at 07:00 and monotonic 0.
    static func core() -> (core: PhoneCore, process: ProcessID) {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let process = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        for event: PhoneEvent in [
            .person(.settingChanged(PhoneRig.chat, .notifications, isOn: true)), .person(.appOpened(PhoneRig.chat)),
            .process(process, .started),
        ] { _ = core.handle(event, at: Now(monotonic: 0, wall: Self.start)) }
        return (core, process)
    }

    static func add(_ trigger: NotificationTrigger, _ identifier: String) -> ProcessEvent {
        .query(
            1,
            .add(
                NotificationRequest(
                    identifier: identifier, content: NotificationContent(body: "hello"), trigger: trigger)))
    }

    @Test(arguments: [(hour + 30 * minute, ["calendar"]), (30 * minute, []), (-hour, [])])
    func `fires what is set for a time of day by the new time, and an interval by the old one`(
        step: Int64, fired: [String]
    ) {
        var (core, process) = Self.core()
        let now = Now(monotonic: 0, wall: Self.start)
        let eight = NotificationTrigger.calendar(CalendarComponents(hour: 8), repeats: false)
        _ = core.handle(.process(process, Self.add(eight, "calendar")), at: now)
        let interval = NotificationTrigger.timeInterval(milliseconds: 40 * Self.minute, repeats: false)
        _ = core.handle(.process(process, Self.add(interval, "interval")), at: now)
        _ = core.handle(.system(.appKilled(PhoneRig.chat)), at: now)
        let set = Now(monotonic: Self.minute, wall: Self.start + step + Self.minute)
        _ = core.handle(.timerReached, at: set)
        #expect(core.screen.list.map(\.key.identifier) == fired)
        let next = fired.isEmpty ? min(Self.hour - step, 40 * Self.minute) : Self.minute + 5_000
        #expect(core.nextDeadline == next)
    }

    @Test func `delivers the summary by the new time`() {
        var (core, process) = Self.core()
        let now = Now(monotonic: 0, wall: Self.start)
        let push = Push(
            delivery: 1, topic: PhoneRig.chat.rawValue, payload: Payload.alert.objectValue ?? JSONObject(),
            collapseID: "m")
        for event: PhoneEvent in [
            .process(process, .remoteRegistrationRequested), .system(.appKilled(PhoneRig.chat)),
            .person(.settingChanged(PhoneRig.chat, .scheduledDelivery, isOn: true)),
            .person(.summaryTimesChanged([480])), .courier(.pushArrived(push)),
        ] { _ = core.handle(event, at: now) }
        #expect(core.nextDeadline == Self.hour)
        _ = core.handle(.timerReached, at: Now(monotonic: 1_000, wall: Self.start + 20 * Self.minute + 1_000))
        #expect(core.nextDeadline == 40 * Self.minute)
        _ = core.handle(.timerReached, at: Now(monotonic: 2_000, wall: Self.start + 2 * Self.hour))
        #expect(core.screen.list.map(\.key.identifier) == ["m"])
    }

    @Test func `that only drifts by milliseconds moves nothing`() {
        var (core, process) = Self.core()
        let eight = NotificationTrigger.calendar(CalendarComponents(hour: 8), repeats: false)
        _ = core.handle(.process(process, Self.add(eight, "calendar")), at: Now(monotonic: 0, wall: Self.start))
        _ = core.handle(.system(.appKilled(PhoneRig.chat)), at: Now(monotonic: 0, wall: Self.start))
        _ = core.handle(.timerReached, at: Now(monotonic: 1_000, wall: Self.start + 1_999))
        #expect(core.nextDeadline == Self.hour)
    }
}

extension `A Live Activity` {
    @Test func `that a push started becomes stale at its date, and has a name of its own`() {
        var rig = PhoneRig(OSVersion(17, 2), in: .foregroundActive)
        rig.app(.pushToStartRequested)
        rig.app(.activityStarted(activity: "activity-1", pushType: nil, contentState: .null))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .pushToStart, "50")))
        rig.clear()
        let more: [(String, JSONValue)] = [
            ("attributes-type", "Match"), ("attributes", ["home": "A"]),
            ("stale-date", .int(rig.now.wall / 1_000 + 60)),
        ]
        rig.push(Self.payload("start", at: 5, score: 1, more), suffix: Self.topic)
        #expect(rig.core.screen.activities.map(\.activity) == ["activity-1", "activity-2"])
        rig.pass(seconds: 59)
        #expect(rig.activities == [.started])
        rig.pass(seconds: 1)
        #expect(rig.activities == [.started, .stale])
        #expect(rig.faults == [])
    }
}
