import Testing
import TidingsModel

@testable import PhoneCore

/// ios-delivery.md §12; ActivityKit's `AlertConfiguration`: what an alert in a push adds to a change.
@Suite struct `An alert in a Live Activity's push` {
    static let topic = `A Live Activity`.topic

    static func push(
        _ rig: inout PhoneRig, event: String = "update", at timestamp: Int64 = 20, _ more: [(String, JSONValue)]
    ) {
        rig.push(
            `A Live Activity`.payload(event, at: timestamp, score: 1, more), suffix: Self.topic, activity: "a")
    }

    static let alert: [(String, JSONValue)] = [
        ("alert", ["title": "Goal", "body": "1:0", "sound": "default"])
    ]

    @Test func `shows a banner on an unlocked phone and sounds once, and leaves no entry`() {
        for event in ["update", "end"] {
            var rig = `A Live Activity`.rig(OSVersion(16, 1))
            Self.push(&rig, event: event, Self.alert)
            #expect(
                rig.presentations == [
                    PresentationRecord(
                        identifier: "a", isRemote: true, banner: true, sound: true, reason: .liveActivity)
                ], "\(event)")
            #expect(rig.list == [])
            #expect(rig.badge == 0)
            #expect(rig.calls == [], "its app is not woken")
        }
    }

    @Test func `lights up a locked phone's screen for as long as a banner stays`() {
        var rig = `A Live Activity`.rig()
        rig.person(.locked)
        Self.push(&rig, Self.alert)
        #expect(
            rig.presentations == [
                PresentationRecord(
                    identifier: "a", isRemote: true, sound: true, reason: .liveActivity, lit: true)
            ])
        #expect(rig.core.screen.isLit)
        rig.pass(seconds: 5)
        #expect(!rig.core.screen.isLit)
    }

    @Test func `is not there without the key`() {
        for more: [(String, JSONValue)] in [[], [("sound", "default")], [("alert", .null)]] {
            var rig = `A Live Activity`.rig()
            Self.push(&rig, more)
            #expect(rig.presentations == [], "\(more)")
            #expect(rig.activities == [.updated])
        }
    }

    @Test func `sounds only if it names a sound, inside the alert or beside it`() {
        for (more, sounds): ([(String, JSONValue)], Bool) in [
            ([("alert", ["title": "Goal"])], false), ([("alert", "Goal")], false),
            ([("alert", "Goal"), ("sound", "goal.caf")], true),
            ([("alert", ["title": "Goal", "sound": "goal.caf"])], true),
        ] {
            var rig = `A Live Activity`.rig()
            Self.push(&rig, more)
            #expect(rig.presentations.map(\.banner) == [true], "\(more)")
            #expect(rig.presentations.map(\.sound) == [sounds], "\(more)")
        }
    }

    @Test func `is made once of a push that comes twice, and not of one that was overtaken`() {
        var rig = `A Live Activity`.rig()
        Self.push(&rig, at: 20, Self.alert)
        Self.push(&rig, at: 20, Self.alert)
        Self.push(&rig, at: 10, Self.alert)
        #expect(rig.presentations.count == 1)
        Self.push(&rig, at: 21, [])
        Self.push(&rig, at: 22, Self.alert)
        #expect(rig.presentations.count == 2)
    }

    @Test func `makes no noise on a muted phone and nothing at all in a Focus`() {
        var muted = `A Live Activity`.rig()
        muted.person(.muteChanged(isOn: true))
        Self.push(&muted, Self.alert)
        #expect(muted.presentations.map(\.sound) == [false])
        #expect(muted.presentations.map(\.banner) == [true])
        var focused = `A Live Activity`.rig()
        focused.person(.focusChanged(Focus(allowsTimeSensitive: true, allowedApps: [])))
        Self.push(&focused, Self.alert)
        #expect(
            focused.presentations == [PresentationRecord(identifier: "a", isRemote: true, reason: .focus)])
    }

    @Test func `is nothing while its own app is in the foreground`() {
        var rig = `A Live Activity`.rig()
        rig.enter(.foregroundActive)
        Self.push(&rig, Self.alert)
        #expect(rig.presentations == [])
        #expect(rig.activities == [.updated])
    }

    @Test func `comes with a push that starts one`() {
        var rig = PhoneRig(18, in: .foregroundActive)
        rig.app(.pushToStartRequested)
        rig.enter(.suspended)
        rig.push(
            `A Live Activity`.payload(
                "start", at: 5, [("attributes-type", "Match"), ("attributes", [:])] + Self.alert),
            suffix: Self.topic)
        #expect(rig.presentations.map(\.identifier) == ["activity-1"])
        #expect(rig.presentations.map(\.isRing) == [true])
    }
}
