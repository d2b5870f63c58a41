import PhoneCore
import Requirements
import Testing
import TidingsModel

/// ios-delivery.md §12, ActivityKit.
@Suite struct `A Live Activity` {
    static let topic = ".push-type.liveactivity"
    static let start: Int64 = 1_700_000_000

    static func rig(_ version: OSVersion = 17) -> PhoneRig {
        var rig = PhoneRig(version, in: .foregroundActive)
        rig.app(.activityStarted(activity: "a", pushType: .token, contentState: ["score": 0]))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .activity("a"), "a0")))
        rig.enter(.suspended)
        return rig
    }

    static func payload(
        _ event: String, at timestamp: Int64, score: Int64? = nil, _ more: [(String, JSONValue)] = []
    ) -> JSONValue {
        let state: [(String, JSONValue)] = score.map { [("content-state", ["score": .int($0)])] } ?? []
        return [
            "aps": .members([("timestamp", .int(timestamp)), ("event", .string(event))] + state + more)
        ]
    }

    static func scores(_ rig: PhoneRig) -> [Int64?] {
        rig.core.screen.activities.map { $0.contentState["score"]?.intValue }
    }

    @Test func `has a token of its own, which may change`() {
        var rig = PhoneRig(17, in: .foregroundActive)
        rig.app(.activityStarted(activity: "a", pushType: .token, contentState: ["score": 0]))
        #expect(rig.effects.contains(.requestToken(PhoneRig.chat, .activity("a"))))
        for token: PushToken in ["a0", "a0", "a1"] {
            rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .activity("a"), token)))
        }
        #expect(rig.calls == ["activityToken(a,a0)", "activityToken(a,a1)"])
        rig.app(.activityStarted(activity: "b", pushType: nil, contentState: .null))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .activity("b"), "b0")))
        #expect(rig.calls.count == 2)
        #expect(rig.activities == [.started, .started])
    }

    @Test func `is started by an app in the foreground only, and from iOS 16_1`() {
        var rig = PhoneRig(17, in: .backgroundRunning)
        rig.app(.activityStarted(activity: "a", pushType: .token, contentState: .null))
        var old = PhoneRig(16)
        old.enter(.foregroundActive)
        old.app(.activityStarted(activity: "a", pushType: .token, contentState: .null))
        for faults in [rig.faults, old.faults] {
            #expect(faults == ["activity a needs iOS 16.1 and the app in the foreground"])
        }
        #expect(rig.core.screen.activities == [])
    }

    @Test func `is changed by pushes in the order of their timestamps, and wakes nothing`() {
        var rig = Self.rig()
        rig.push(Self.payload("update", at: 20, score: 2), suffix: Self.topic, activity: "a")
        rig.push(Self.payload("update", at: 10, score: 1), suffix: Self.topic, activity: "a")
        #expect(Self.scores(rig) == [2])
        rig.push(Self.payload("update", at: 20, score: 3), suffix: Self.topic, activity: "a")
        #expect(Self.scores(rig) == [3])
        #expect(rig.calls == [])
        #expect(rig.state == .suspended)
        rig.person(.appOpened(PhoneRig.chat))
        #expect(rig.calls == ["activity(a,updated)", "sceneWEF", "sceneDBA"], "the newest change only")
        #expect(rig.faults == [])
    }

    @Test func `that was ended stays for a while and takes no more pushes`() {
        var rig = Self.rig()
        rig.push(Self.payload("end", at: 20, score: 9), suffix: Self.topic, activity: "a")
        #expect(rig.activities == [.ended])
        #expect(rig.effects.contains(.dropToken(PhoneRig.chat, .activity("a"))))
        rig.push(Self.payload("update", at: 30, score: 1), suffix: Self.topic, activity: "a")
        #expect(Self.scores(rig) == [9])
        #expect(rig.faults == ["a Live Activity's push must name one that is not over"])
        rig.pass(milliseconds: 14_399_999)
        #expect(Self.scores(rig) == [9])
        rig.pass(milliseconds: 1)
        #expect(Self.scores(rig) == [])
        #expect(rig.core.nextDeadline == nil)
    }

    @Test func `leaves at its dismissal date`() {
        var rig = Self.rig()
        let now = rig.now.wall / 1_000
        rig.push(
            Self.payload("end", at: 20, score: 9, [("dismissal-date", .int(now + 60))]), suffix: Self.topic,
            activity: "a")
        rig.pass(seconds: 59)
        #expect(Self.scores(rig) == [9])
        rig.pass(seconds: 1)
        #expect(Self.scores(rig) == [])
        var other = Self.rig()
        other.push(
            Self.payload("end", at: 20, score: 9, [("dismissal-date", .int(now - 60))]), suffix: Self.topic,
            activity: "a")
        #expect(Self.scores(other) == [])
    }

    @Test func `becomes stale at its date unless a newer state comes`() {
        var rig = Self.rig()
        let now = rig.now.wall / 1_000
        let stale: (Int64) -> [(String, JSONValue)] = { [("stale-date", .int($0))] }
        rig.push(Self.payload("update", at: 20, score: 1, stale(now + 60)), suffix: Self.topic, activity: "a")
        rig.pass(seconds: 30)
        rig.push(Self.payload("update", at: 30, score: 2, stale(now + 120)), suffix: Self.topic, activity: "a")
        rig.pass(seconds: 89)
        #expect(rig.activities == [.updated, .updated])
        rig.pass(seconds: 1)
        #expect(rig.activities == [.updated, .updated, .stale])
        rig.push(
            Self.payload("update", at: 40, score: 3, stale(.max)), suffix: Self.topic, activity: "a")
        rig.pass(seconds: 3_600)
        #expect(rig.activities.last == .updated, "a date beyond all time is never")
    }

    @Test func `is ended by the system after eight hours, by the person at once`() {
        var rig = Self.rig()
        rig.pass(seconds: 8 * 3_600)
        #expect(rig.activities == [.ended])
        rig.pass(seconds: 4 * 3_600)
        #expect(rig.core.screen.activities == [])
        var other = Self.rig()
        other.person(.activityDismissed(PhoneRig.chat, activity: "a"))
        #expect(other.activities == [.dismissed])
        #expect(other.core.screen.activities == [])
        #expect(other.effects.contains(.dropToken(PhoneRig.chat, .activity("a"))))
        other.person(.activityDismissed(PhoneRig.chat, activity: "a"))
        #expect(other.faults == ["activity a must be on the lock screen"])
    }

    @Test func `is changed and ended by its app`() {
        var rig = Self.rig()
        rig.enter(.foregroundActive)
        rig.app(.activityContentChanged(activity: "a", contentState: ["score": 4]))
        #expect(Self.scores(rig) == [4])
        rig.app(.activityEnded(activity: "a"))
        #expect(rig.activities == [.updated, .ended])
        #expect(rig.calls == ["activity(a,ended)"])
        rig.app(.activityEnded(activity: "a"))
        #expect(rig.faults == ["activity a must be there and not over"])
    }

    @Test func `is started by a push from iOS 17_2, and its app learns the token in the background`() {
        let start = Self.payload(
            "start", at: 5, score: 1, [("attributes-type", "Match"), ("attributes", ["home": "A"])])
        var rig = PhoneRig(OSVersion(17, 2), in: .foregroundActive)
        rig.app(.pushToStartRequested)
        #expect(rig.effects.contains(.requestToken(PhoneRig.chat, .pushToStart)))
        rig.send(.courier(.tokenOfKindIssued(PhoneRig.chat, .pushToStart, "50")))
        #expect(rig.calls == ["startToken(50)"])
        rig.send(.system(.appKilled(PhoneRig.chat)))
        rig.clear()
        rig.push(start, suffix: Self.topic)
        #expect(Self.scores(rig) == [1])
        #expect(rig.calls == ["WF", "DF", "activity(activity-1,started)"])
        #expect(rig.effects.contains(.requestToken(PhoneRig.chat, .activity("activity-1"))))
        #expect(rig.state == .suspended)
        var quit = PhoneRig(OSVersion(17, 1))
        quit.enter(.foregroundActive)
        quit.app(.pushToStartRequested)
        quit.push(start, suffix: Self.topic)
        #expect(quit.faults.count == 2)
        #expect(quit.core.screen.activities == [])
    }

    @Test func `started by a push does not launch an app the person quit`() {
        var rig = PhoneRig(18, in: .foregroundActive)
        rig.app(.pushToStartRequested)
        rig.enter(.forceQuit)
        rig.push(
            Self.payload("start", at: 5, score: 1, [("attributes-type", "Match"), ("attributes", [:])]),
            suffix: Self.topic)
        #expect(Self.scores(rig) == [1])
        #expect(rig.calls == [])
        #expect(rig.state == .forceQuit)
    }

    @Test func `needs a timestamp and an event`() {
        var rig = Self.rig()
        for payload: JSONValue in [["aps": ["event": "update"]], ["aps": ["timestamp": 1]], [:]] {
            rig.push(payload, suffix: Self.topic, activity: "a")
        }
        rig.push(Self.payload("stale", at: 90), suffix: Self.topic, activity: "a")
        #expect(rig.faults.count == 4)
        #expect(Self.scores(rig) == [0])
        #expect(rig.acknowledged.count == 4)
    }

    @Test func `ends with a restart, a reinstallation and a new device, and survives an update`() {
        for (event, stays) in [
            (SystemEvent.restarted, false), (.appReinstalled(InstalledApp(bundleID: PhoneRig.chat)), false),
            (.restoredFromBackup, false), (.appRemoved(PhoneRig.chat), false),
            (.appUpdated(InstalledApp(bundleID: PhoneRig.chat)), true),
        ] {
            var rig = Self.rig()
            rig.send(.system(event))
            #expect(Self.scores(rig) == (stays ? [0] : []), "\(event)")
        }
    }
}
