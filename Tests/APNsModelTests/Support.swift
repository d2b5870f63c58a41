import TidingsModel

@testable import APNsModel

/// A generator with a seed: the same cases in every run.
struct Seeded: RandomNumberGenerator {
    private var numbers: SplitMix64

    init(_ seed: UInt64) { self.numbers = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { self.numbers.next() }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { self.number(1...100) <= percent }

    mutating func maybe<Value>(_ percent: Int, _ value: (inout Seeded) -> Value) -> Value? {
        self.chance(percent) ? value(&self) : nil
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[self.number(0...values.count - 1)] }
}

// What payloads are made of.
extension Seeded {
    /// Characters of one to many bytes, and those JSON must escape.
    private static let characters: [Character] = [
        "a", "Z", "0", " ", "/", "\"", "\\", "\n", "\t", "\u{1}", "\u{1f}", "\u{7f}", "\u{e9}", "e\u{301}", "\u{4f60}",
        "\u{1f600}", "\u{1f1e9}\u{1f1ea}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{2028}", "\r\n",
    ]

    mutating func text(_ lengthMax: Int = 12) -> String {
        var text = ""
        for _ in 0..<self.number(0...lengthMax) { text.append(self.pick(Self.characters)) }
        return text
    }

    mutating func json(depth: Int = 2) -> JSONValue {
        switch self.number(0...(depth > 0 ? 6 : 4)) {
        case 0: .null
        case 1: .bool(self.chance(50))
        case 2: .int(Int64(truncatingIfNeeded: self.next()))
        case 3: JSONNumber(Double(self.number(-9_999...9_999)) / 64).map { .number($0) } ?? .null
        case 4: .string(self.text())
        case 5: .array((0..<self.number(0...3)).map { _ in self.json(depth: depth - 1) })
        default: .object(self.object(depth: depth - 1))
        }
    }

    mutating func object(depth: Int = 2) -> JSONObject {
        var object = JSONObject()
        for number in 0..<self.number(0...4) {
            object["\(self.text(3))\(number)"] = self.json(depth: depth)
        }
        return object
    }

    mutating func localization() -> APNsPayload.Localization {
        APNsPayload.Localization("K" + self.text(3), (0..<self.number(0...2)).map { _ in self.text(4) })
    }

    /// A payload that breaks no rule.
    mutating func payload() -> APNsPayload {
        var payload = APNsPayload(custom: self.object())
        let activity = self.maybe(25) { $0.activity() }
        if activity?.event == .start || self.chance(80) { payload.alert = self.alert(isActivity: activity != nil) }
        payload.liveActivity = activity
        payload.badge = self.maybe(50) { $0.number(0...1_000_000) }
        if activity == nil || payload.alert != nil {
            payload.sound = self.maybe(50) {
                $0.chance(70)
                    ? .named("s" + $0.text(3)) : .critical(name: "c", volume: Double($0.number(0...8)) / 8)
            }
        }
        payload.threadID = self.maybe(40) { $0.text() }
        payload.category = self.maybe(40) { $0.text() }
        payload.mutableContent = self.chance(50)
        payload.contentAvailable = self.chance(30)
        payload.interruptionLevel = self.maybe(30) { $0.pick(APNsPayload.InterruptionLevel.allCases) }
        payload.relevanceScore = self.maybe(30) { Double($0.number(0...16)) / 16 }
        payload.filterCriteria = self.maybe(20) { $0.text() }
        payload.targetContentID = self.maybe(20) { $0.text() }
        payload.contentChanged = self.chance(10)
        return payload
    }

    private mutating func alert(isActivity: Bool) -> APNsPayload.Alert {
        var alert = APNsPayload.Alert(title: self.maybe(50) { $0.text() }, subtitle: self.maybe(30) { $0.text() })
        alert.body = self.maybe(80) { $0.text(60) }
        alert.launchImage = self.maybe(20) { $0.text() }
        alert.subtitleLocalization = self.maybe(20) { $0.localization() }
        if !isActivity || alert.title == nil { alert.titleLocalization = self.maybe(20) { $0.localization() } }
        if !isActivity || alert.body == nil { alert.bodyLocalization = self.maybe(20) { $0.localization() } }
        let lines = [alert.titleLocalization, alert.subtitleLocalization, alert.bodyLocalization]
        if alert.title == nil, alert.subtitle == nil, alert.body == nil, lines.allSatisfy({ $0 == nil }) {
            alert.body = "b"
        }
        return alert
    }

    private mutating func activity() -> APNsPayload.LiveActivity {
        let event = self.pick(APNsPayload.LiveActivity.Event.allCases)
        var activity = APNsPayload.LiveActivity(event: event, timestamp: Int64(self.number(0...2_000_000_000)))
        activity.contentState = self.object()
        activity.staleDate = self.maybe(30) { Int64($0.number(0...9)) }
        activity.dismissalDate = self.maybe(30) { Int64($0.number(0...9)) }
        if event == .start {
            activity.attributesType = "T" + self.text(3)
            activity.attributes = self.object()
            activity.inputPushChannel = self.maybe(30) { _ in "dGVzdA==" }
            activity.inputPushToken = self.chance(30)
        }
        return activity
    }
}

/// Runs something that may break a rule; nil if it does not.
func broken(_ run: () throws(InvalidField) -> Void) -> InvalidField? {
    do throws(InvalidField) {
        try run()
        return nil
    } catch {
        return error
    }
}
