import PhoneCore
import Testing
import TidingsModel

/// ios-delivery.md §12, APNs reference §17: Live Activities that listen to a channel (iOS 18).
@Suite struct `A broadcast to Live Activities` {
    static let topic = `A Live Activity`.topic
    static let channel = "dHN0LXNyY2gtY2hubA=="

    static func rig(_ version: OSVersion = 18, _ names: [String] = ["a"]) -> PhoneRig {
        var rig = PhoneRig(version, in: .foregroundActive)
        for name in names {
            rig.app(
                .activityStarted(activity: name, pushType: .channel(Self.channel), contentState: ["score": 0]))
        }
        return rig
    }

    static func push(
        _ rig: inout PhoneRig, _ event: String, at timestamp: Int64 = 20, score: Int64? = 1,
        channel: String = Self.channel, _ more: [(String, JSONValue)] = []
    ) {
        rig.broadcast(
            `A Live Activity`.payload(event, at: timestamp, score: score, more), suffix: Self.topic, channel: channel)
    }

    @Test func `reaches every activity on its channel, suspended or not, and no other`() {
        var rig = Self.rig(18, ["a", "b"])
        rig.app(.activityStarted(activity: "c", pushType: .token, contentState: ["score": 0]))
        rig.app(.activityStarted(activity: "d", pushType: .channel("b3RoZXI="), contentState: ["score": 0]))
        rig.enter(.suspended)
        Self.push(&rig, "update", score: 2)
        #expect(`A Live Activity`.scores(rig) == [2, 2, 0, 0])
        #expect(rig.calls == [])
        #expect(rig.state == .suspended)
    }

    @Test func `is asked for with the first activity on its channel and given up with the last`() {
        var rig = Self.rig(18, ["a", "b"])
        #expect(rig.effects.filter { $0 == .subscribe(PhoneRig.chat, channel: Self.channel) }.count == 1)
        #expect(!rig.effects.contains(.requestToken(PhoneRig.chat, .activity("a"))))
        let over = PhoneEffect.unsubscribe(PhoneRig.chat, channel: Self.channel)
        rig.app(.activityEnded(activity: "a"))
        #expect(!rig.effects.contains(over))
        rig.person(.activityDismissed(PhoneRig.chat, activity: "b"))
        #expect(rig.effects.filter { $0 == over }.count == 1)
        rig.app(.activityStarted(activity: "c", pushType: .channel(Self.channel), contentState: .null))
        #expect(rig.effects.filter { $0 == .subscribe(PhoneRig.chat, channel: Self.channel) }.count == 2)
        rig.send(.system(.restarted))
        #expect(rig.effects.filter { $0 == over }.count == 2)
    }

    @Test func `ends them, and none that is over takes another`() {
        var rig = Self.rig(18, ["a", "b"])
        Self.push(&rig, "end", score: 9)
        #expect(rig.activities == [.started, .started, .ended, .ended])
        Self.push(&rig, "update", at: 30, score: 1)
        #expect(`A Live Activity`.scores(rig) == [9, 9])
        #expect(rig.faults == ["a Live Activity's push must come on a channel that one listens to"])
    }

    @Test func `that was overtaken changes nothing`() {
        var rig = Self.rig()
        Self.push(&rig, "update", at: 20, score: 2)
        Self.push(&rig, "update", at: 10, score: 1)
        #expect(`A Live Activity`.scores(rig) == [2])
    }

    @Test func `with an alert sounds once, however many listen`() {
        var rig = Self.rig(18, ["a", "b", "c"])
        rig.enter(.suspended)
        Self.push(&rig, "update", [("alert", ["title": "Goal", "sound": "default"])])
        #expect(rig.presentations.map(\.sound) == [true])
        #expect(`A Live Activity`.scores(rig) == [1, 1, 1])
    }

    @Test func `cannot start one`() {
        var rig = Self.rig()
        rig.app(.pushToStartRequested)
        Self.push(&rig, "start", [("attributes-type", "Match"), ("attributes", [:])])
        #expect(rig.core.screen.activities.count == 1)
        #expect(rig.faults == ["a broadcast cannot start a Live Activity"])
    }

    @Test func `is not there before iOS 18`() {
        var rig = Self.rig(OSVersion(17, 9))
        #expect(rig.core.screen.activities == [])
        #expect(rig.faults == ["activity a on channel \(Self.channel) needs iOS 18"])
        #expect(!rig.effects.contains(.subscribe(PhoneRig.chat, channel: Self.channel)))
        rig.app(.activityStarted(activity: "b", pushType: .token, contentState: ["score": 0]))
        Self.push(&rig, "update", score: 2)
        #expect(`A Live Activity`.scores(rig) == [0])
    }

    @Test func `reaches one that a push started with a channel to listen to`() {
        let start: [(String, JSONValue)] = [
            ("attributes-type", "Match"), ("attributes", [:]), ("input-push-channel", .string(Self.channel)),
        ]
        for (version, expected): (OSVersion, [Int64?]) in [(18, [4]), (OSVersion(17, 2), [1])] {
            var rig = PhoneRig(version, in: .foregroundActive)
            rig.app(.pushToStartRequested)
            rig.push(`A Live Activity`.payload("start", at: 5, score: 1, start), suffix: Self.topic)
            let hasToken = rig.effects.contains(.requestToken(PhoneRig.chat, .activity("activity-1")))
            #expect(hasToken == (version < 18))
            Self.push(&rig, "update", score: 4)
            #expect(`A Live Activity`.scores(rig) == expected)
        }
    }

    @Test func `may be 5,120 bytes long`() {
        for (length, score): (Int, Int64) in [(5_120, 1), (5_121, 0)] {
            var rig = Self.rig()
            let empty = `A Live Activity`.payload("update", at: 20, score: 1, [("more", "")])
            let filler = String(repeating: "x", count: length - empty.serialized.count)
            Self.push(&rig, "update", [("more", .string(filler))])
            #expect(`A Live Activity`.scores(rig) == [score], "\(length)")
        }
    }
}
