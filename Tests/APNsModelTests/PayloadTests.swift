import Testing
import TidingsModel

@testable import APNsModel

private func text(_ payload: APNsPayload, bytesMax: Int = 4_096) throws -> String {
    String(decoding: try payload.serialized(bytesMax: bytesMax), as: UTF8.self)
}

@Suite struct `A payload` {
    @Test func `has Apple's members in aps and the app's beside it`() throws {
        let payload = APNsPayload(
            alert: .init(title: "A \"b\"", subtitle: "s", body: "line\n2"), badge: 3, sound: "default",
            threadID: "private/bob", category: "reply", mutableContent: true, contentAvailable: true,
            interruptionLevel: .timeSensitive, custom: JSONObject([("rc", ["mId": "1"]), ("n", 2)]))
        #expect(
            try text(payload)
                == #"{"aps":{"alert":{"title":"A \"b\"","subtitle":"s","body":"line\n2"},"badge":3,"sound":"default","#
                + #""thread-id":"private/bob","category":"reply","content-available":1,"mutable-content":1,"#
                + #""interruption-level":"time-sensitive"},"rc":{"mId":"1"},"n":2}"#)
    }

    @Test func `has every other member Apple knows, under Apple's key`() throws {
        let payload = APNsPayload(
            alert: .init(
                titleLocalization: .init("T", ["1", "2"]), subtitleLocalization: .init("S"),
                bodyLocalization: .init("B", ["x"]), launchImage: "i.png"),
            sound: .critical(name: "siren.caf", volume: 0.5), relevanceScore: 0.25, filterCriteria: "work",
            targetContentID: "window", contentChanged: true)
        #expect(
            try text(payload)
                == #"{"aps":{"alert":{"launch-image":"i.png","title-loc-key":"T","title-loc-args":["1","2"],"#
                + #""subtitle-loc-key":"S","loc-key":"B","loc-args":["x"]},"#
                + #""sound":{"critical":1,"name":"siren.caf","volume":0.5},"relevance-score":0.25,"#
                + #""filter-criteria":"work","target-content-id":"window","content-changed":true}}"#)
    }

    @Test func `starts a Live Activity with words from the app's tables and the sound inside the alert`() throws {
        let payload = APNsPayload(
            alert: .init(titleLocalization: .init("T", ["LH400"]), bodyLocalization: .init("B")), sound: "chime.caf",
            relevanceScore: 70,
            liveActivity: .init(
                event: .start, timestamp: 1_700_000_000, contentState: JSONObject([("gate", "A1")]),
                attributesType: "Flight", attributes: JSONObject([("number", 400)]), staleDate: 1_700_000_100,
                inputPushChannel: "dGVzdA==", inputPushToken: true))
        #expect(
            try text(payload)
                == #"{"aps":{"alert":{"title":{"loc-key":"T","loc-args":["LH400"]},"body":{"loc-key":"B"},"#
                + #""sound":"chime.caf"},"relevance-score":70.0,"timestamp":1700000000,"event":"start","#
                + #""content-state":{"gate":"A1"},"attributes-type":"Flight","attributes":{"number":400},"#
                + #""stale-date":1700000100,"input-push-channel":"dGVzdA==","input-push-token":1}}"#)
    }

    @Test func `ends a Live Activity`() throws {
        let end = APNsPayload(liveActivity: .init(event: .end, timestamp: 9, dismissalDate: 0))
        #expect(try text(end) == #"{"aps":{"timestamp":9,"event":"end","dismissal-date":0}}"#)
    }

    @Test func `of device management has no aps`() {
        #expect(String(decoding: APNsPayload.deviceManagement(pushMagic: "m\""), as: UTF8.self) == #"{"mdm":"m\""}"#)
    }

    /// What is written is what was meant, for payloads of every shape.
    @Test func `is JSON with nothing lost, whatever is in it`() throws {
        var seeded = Seeded(1)
        for _ in 0..<500 {
            let payload = seeded.payload()
            let json = try JSONValue(parsing: payload.serialized(bytesMax: 1_000_000))
            #expect(json["aps"]?["badge"]?.intValue == payload.badge.map { Int64($0) })
            #expect(json["aps"]?["thread-id"]?.stringValue == payload.threadID)
            if let body = payload.alert?.body { #expect(json["aps"]?["alert"]?["body"]?.stringValue == body) }
            var custom = try #require(json.objectValue)
            custom["aps"] = nil
            #expect(custom == payload.custom)
        }
    }

    @Test func `without anything is an empty aps`() throws {
        #expect(try text(APNsPayload()) == #"{"aps":{}}"#)
    }

    @Test func `removes the badge with 0 and refuses less`() throws {
        #expect(try text(APNsPayload(badge: 0)) == #"{"aps":{"badge":0}}"#)
        #expect(throws: InvalidField(field: "badge", rule: "must be 0 or more")) { try text(APNsPayload(badge: -1)) }
    }

    @Test func `keeps Apple's name for Apple`() {
        #expect(throws: InvalidField.self) { try text(APNsPayload(custom: JSONObject([("aps", 1)]))) }
    }

    /// Every budget from far too small to ample, with a text of one-, two-, three- and four-byte characters, escapes, a
    /// flag and a family of joined figures.
    @Test func `is shortened to whole characters at every budget, and uses what it may`() throws {
        let body = "a\u{e9}\"\n\u{4f60}\u{1f600}\u{1f1e9}\u{1f1ea}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1}z"
        let characters = Array(body)
        let payload = APNsPayload(alert: .init(title: "t", body: body), badge: 1)
        let whole = try payload.serialized(bytesMax: 4_096).count
        let empty = try APNsPayload(alert: .init(title: "t", body: ""), badge: 1).serialized(bytesMax: 4_096).count
        for budget in 0..<empty { #expect(throws: InvalidField.self) { try payload.serialized(bytesMax: budget) } }
        var lengths: Set<Int> = []
        for budget in empty...whole {
            let bytes = try payload.serialized(bytesMax: budget)
            #expect(bytes.count <= budget)
            let written = try #require(JSONValue(parsing: bytes)["aps"]?["alert"]?["body"]?.stringValue)
            guard budget < whole else {
                #expect(written == body)
                continue
            }
            let kept = written.hasSuffix("\u{2026}") ? Array(written.dropLast()) : []
            #expect(kept == Array(characters.prefix(kept.count)))
            lengths.insert(kept.count)
            // One more character would not have fitted.
            let more = String(characters.prefix(kept.count + 1)) + "\u{2026}"
            let longer = APNsPayload(alert: .init(title: "t", body: more), badge: 1)
            #expect(try longer.serialized(bytesMax: 4_096).count > budget)
        }
        #expect(lengths == Set(0..<characters.count - 1))
    }

    @Test func `that would not fit even without a body says so`() {
        let custom = JSONObject([("blob", .string(String(repeating: "x", count: 5_000)))])
        let error = #expect(throws: InvalidField.self) {
            try APNsPayload(alert: .init(body: "b"), custom: custom).serialized(bytesMax: 4_096)
        }
        #expect(error?.field == "payload")
    }
}
