import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §10: processes, time, memory, and what is shown.
@Suite struct `An extension's process` {
    static let silent = AppBehaviour(deliver: nil)
    static let filtering = InstalledApp(bundleID: PhoneRig.chat, hasFilteringEntitlement: true)

    static func text(_ rig: PhoneRig) -> [String] {
        rig.core.screen.list.map(\.notification.request.content.body)
    }

    @Test func `serves several pushes at once, answered in any order`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "1")
        rig.pass(seconds: 10)
        rig.push(Payload.mutable, collapse: "2")
        let runs = rig.open("NSE")
        #expect(rig.started.count == 1)
        #expect(runs.count == 2)
        rig.process(
            runs[1].process, .callbackCompleted(runs[1].number, .content(NotificationContent(body: "second"))))
        #expect(Self.text(rig) == ["second"])
        rig.process(
            runs[0].process, .callbackCompleted(runs[0].number, .content(NotificationContent(body: "first"))))
        #expect(Self.text(rig) == ["first", "second"])
        #expect(rig.ends == [])
        rig.pass(seconds: 2)
        #expect(rig.ends == [.extensionDone])
        #expect(rig.faults == [])
    }

    @Test func `gives each push its own thirty seconds`() throws {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "1")
        rig.pass(seconds: 10)
        rig.push(Payload.mutable, collapse: "2")
        rig.pass(seconds: 21)
        #expect(rig.calls == ["NSE", "NSE", "EXP"])
        #expect(rig.list == ["1"])
        #expect(rig.ends == [], "the other push is still at work")
        let told = rig.effects.compactMap { effect -> String? in
            guard case .call(_, _, .serviceExtensionTimeWillExpire(let identifier, let call), _) = effect else {
                return nil
            }
            return "\(identifier) by call \(call)"
        }
        let first = rig.effects.compactMap { effect -> CallbackNumber? in
            if case .call(_, let number, .serviceExtensionReceive, _) = effect { number } else { nil }
        }.first
        #expect(told == ["1 by call \(try #require(first))"])
        rig.pass(seconds: 10)
        #expect(rig.list == ["2", "1"])
        #expect(rig.ends == [.extensionLate])
    }

    @Test func `is used again while it lives, or is a new one each time`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable)
        rig.pass(seconds: 1)
        rig.push(Payload.mutable)
        rig.pass(seconds: 3)
        rig.push(Payload.mutable)
        #expect(rig.started.count == 2)
        var settings = PhoneSettings()
        settings.sharesExtensionProcess = false
        var other = PhoneRig(17, settings: settings)
        other.push(Payload.mutable)
        other.push(Payload.mutable)
        #expect(other.started.count == 2)
        #expect(other.calls == ["NSE", "NSE"])
    }

    @Test func `that is slow to start is killed without EXP, and everything it should have had is shown`() {
        var core = PhoneCore(version: 17, apps: [InstalledApp(bundleID: PhoneRig.chat)])
        let start = Now(monotonic: 0, wall: 0)
        let app = ProcessID(app: PhoneRig.chat, role: .app, number: 1)
        let push = { (number: UInt64) in
            PhoneEvent.courier(
                .pushArrived(
                    Push(
                        delivery: number, topic: PhoneRig.chat.rawValue,
                        payload: Payload.mutable.objectValue ?? JSONObject(), collapseID: "\(number)")))
        }
        for event: PhoneEvent in [
            .person(.settingChanged(PhoneRig.chat, .notifications, isOn: true)), .person(.appOpened(PhoneRig.chat)),
            .process(app, .started), .process(app, .remoteRegistrationRequested),
            .system(.appKilled(PhoneRig.chat)), push(1), push(2),
        ] { _ = core.handle(event, at: start) }
        #expect(core.nextDeadline == 10_000)
        let effects = core.handle(.timerReached, at: Now(monotonic: 10_000, wall: 10_000))
        let process = ProcessID(app: PhoneRig.chat, role: .serviceExtension, number: 2)
        #expect(effects.first == .killProcess(process))
        #expect(!effects.contains { if case .call = $0 { true } else { false } })
        #expect(core.screen.list.map(\.key.identifier) == ["2", "1"])
        #expect(core.screen.badge(of: PhoneRig.chat) == 1)
    }

    @Test func `that uses too much memory is killed without EXP, and the originals are shown`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "1")
        rig.push(Payload.mutable, collapse: "2")
        let process = rig.started[0]
        rig.process(process, .memoryUseChanged(bytes: 24_000_000))
        #expect(rig.ends == [])
        rig.process(process, .memoryUseChanged(bytes: 24_000_001))
        #expect(rig.ends == [.extensionMemory])
        #expect(rig.calls == ["NSE", "NSE"])
        #expect(Self.text(rig) == ["hello", "hello"])
    }

    @Test(.requirement("S2.21")) func `that answers in the last second is believed`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "m")
        rig.pass(milliseconds: 30_999)
        #expect(rig.calls == ["NSE", "EXP"])
        let run = rig.open("NSE")[0]
        rig.process(run.process, .callbackCompleted(run.number, .content(NotificationContent(body: "best attempt"))))
        #expect(Self.text(rig) == ["best attempt"])
        rig.pass(seconds: 10)
        #expect(Self.text(rig) == ["best attempt"])
        #expect(rig.presentations.count == 1)
    }

    @Test(.requirement("S2.21"))
    func `that never answers leaves the push as it came, and an answer after that is void`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "m")
        rig.pass(seconds: 31)
        #expect(Self.text(rig) == ["hello"])
        let run = rig.open("NSE")[0]
        rig.process(run.process, .callbackCompleted(run.number, .content(NotificationContent(body: "too late"))))
        #expect(Self.text(rig) == ["hello"])
        #expect(rig.presentations.count == 1)
    }

    @Test func `that answers twice is believed once`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable, collapse: "m")
        let run = rig.open("NSE")[0]
        rig.process(run.process, .callbackCompleted(run.number, .content(NotificationContent(body: "again"))))
        #expect(Self.text(rig) == ["hello"])
        #expect(rig.presentations.count == 1)
        #expect(rig.faults == ["callback \(run.number) must be answered once"])
    }

    @Test(arguments: [(false, false, false), (true, false, true), (false, true, true)])
    func `that is gone with the filtering entitlement discards by its own exit, or by the quirk`(
        exits: Bool, quirk: Bool, discards: Bool
    ) {
        var settings = PhoneSettings()
        settings.quirks.killedExtensionWithFilteringDiscards = quirk
        var rig = PhoneRig(17, Self.filtering, behaviour: Self.silent, settings: settings)
        rig.push(Payload.mutable, collapse: "m")
        let process = rig.started[0]
        rig.process(process, exits ? .exited(crashed: false) : .memoryUseChanged(bytes: 30_000_000))
        #expect(rig.list == (discards ? [] : ["m"]))
        #expect(rig.presentations.map(\.reason) == [discards ? .filtered : .system])
        #expect(rig.badge == (discards ? 0 : 1))
    }

    @Test func `may filter from iOS 13_3 only, and only what is an alert`() {
        let emptied: @Sendable (NotificationContent) -> NotificationContent = { _ in NotificationContent(badge: 4) }
        for (version, type, shown) in [
            (OSVersion(13, 3), "alert", false), (OSVersion(13, 2), "alert", true), (OSVersion(17), "background", true),
        ] {
            var rig = PhoneRig(version, Self.filtering, behaviour: AppBehaviour(deliver: emptied))
            rig.push(Payload.mutable, collapse: "m", type: type)
            #expect(rig.list == (shown ? ["m"] : []), "iOS \(version), \(type)")
            #expect(rig.badge == 4)
        }
    }

    @Test func `goes on for an activity, which is told when its time is over`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "m")
        let run = rig.open("NSE")[0]
        rig.process(run.process, .expiringActivityBegan(7))
        rig.process(run.process, .callbackCompleted(run.number, .content(NotificationContent(body: "done"))))
        rig.pass(milliseconds: 29_999)
        #expect(rig.calls == ["NSE"])
        rig.pass(milliseconds: 1)
        #expect(rig.calls == ["NSE", "activityExpired(7)"])
        rig.process(run.process, .expiringActivityEnded(7))
        rig.pass(seconds: 2)
        #expect(rig.ends == [.extensionDone])
        rig.push(Payload.mutable)
        let other = rig.open("NSE")[1]
        rig.process(other.process, .expiringActivityBegan(7))
        rig.process(other.process, .callbackCompleted(other.number, .content(NotificationContent(body: "done"))))
        rig.pass(seconds: 35)
        #expect(rig.ends == [.extensionDone, .extensionDone])
        #expect(rig.core.nextDeadline == nil)
    }
}

@Suite struct `An extension` {
    static let silent = AppBehaviour(deliver: nil)

    @Test func `removes delivered notifications, as a recall does`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.alert, collapse: "old")
        rig.push(Payload.mutable, collapse: "recall")
        let run = rig.open("NSE")[0]
        rig.process(run.process, .deliveredRemoved(identifiers: ["old"]))
        #expect(rig.list == [])
    }

    @Test func `is told before the first unlock that protected data is out of reach, and while locked`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.send(.system(.restarted))
        rig.clear()
        rig.push(Payload.mutable, collapse: "m")
        let run = rig.open("NSE")[0]
        rig.process(run.process, .query(1, .protectedDataAvailable))
        rig.person(.unlocked)
        rig.process(run.process, .query(2, .protectedDataAvailable))
        rig.person(.locked)
        rig.process(run.process, .query(3, .protectedDataAvailable))
        #expect(
            rig.answers == [false, true, false].map { QueryAnswer.protectedData(isAvailable: $0) })
    }

    @Test(.requirement("S2.19")) func `runs for no push that is silent, local, without text, for VoIP or an activity`()
    {
        let app = InstalledApp(bundleID: PhoneRig.chat, backgroundModes: [.remoteNotification, .voip])
        var rig = PhoneRig(17, app, in: .foregroundActive)
        rig.app(.voipRegistrationChanged(isOn: true))
        rig.app(.activityStarted(activity: "a", pushType: .token, contentState: .null))
        rig.enter(.suspended)
        rig.push(["aps": ["content-available": 1, "mutable-content": 1]])
        rig.push(["aps": ["badge": 2, "sound": "default", "mutable-content": 1]])
        rig.push(["aps": ["alert": "hi", "mutable-content": 1]], suffix: ".voip")
        rig.push(
            [
                "aps": [
                    "timestamp": 1, "event": "update", "content-state": ["n": 1], "mutable-content": 1,
                    "alert": ["body": "hi"],
                ]
            ], suffix: ".push-type.liveactivity", activity: "a")
        rig.fireLocal()
        #expect(!rig.calls.contains("NSE"))
        #expect(rig.faults == [])
        rig.push(Payload.mutable)
        #expect(rig.calls.contains("NSE"))
    }

    @Test func `does not run when alerts are off, nor before iOS 10`() {
        var rig = PhoneRig(17)
        rig.person(.settingChanged(PhoneRig.chat, .alert, isOn: false))
        rig.push(Payload.mutable)
        #expect(rig.calls == [])
        var old = PhoneRig(OSVersion(9, 3))
        old.push(Payload.mutable, collapse: "m")
        #expect(old.calls == [])
        #expect(old.list == ["m"])
    }

    @Test(.requirement("S2.20"))
    func `that leaves the badge alone shows the one of the payload, and one without a badge changes nothing`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable)
        #expect(rig.badge == 1)
        rig.push(["aps": ["alert": "hello", "mutable-content": 1]])
        #expect(rig.badge == 1)
    }

    @Test(.requirement("S2.22")) func `that takes the badge to 0 for a recall removes it from the icon`() {
        var rig = PhoneRig(17)
        rig.push(Payload.mutable)
        rig.behaviour.deliver = { content in
            var content = content
            content.badge = 0
            return content
        }
        rig.push(Payload.mutable)
        #expect(rig.badge == 0)
    }

    @Test func `works on while its app is updated away, and its push is shown as it came`() {
        var rig = PhoneRig(17, behaviour: Self.silent)
        rig.push(Payload.mutable, collapse: "m")
        rig.send(.system(.appUpdated(InstalledApp(bundleID: PhoneRig.chat))))
        #expect(rig.ends == [.updated])
        #expect(rig.list == ["m"])
    }
}
