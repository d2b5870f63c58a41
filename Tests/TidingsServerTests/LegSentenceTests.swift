import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `What the server says of a leg` {
    private static let leg = LegID(
        message: MessageID(rawValue: 8), user: UserKey(app: "demo", user: "bob"), device: "iphone")
    private static let push = LegStep.pushed(
        LegPush(attempt: 0, topic: "com.example.chat", environment: .production, expiration: 9), at: 4_000)

    private static func about(_ sender: UserID = "alice", in type: ConversationType = .direct) -> MessageLegs.About {
        .init(
            .message(
                Message(
                    id: Self.leg.message, app: "demo", sender: sender,
                    conversation: ConversationID(type: type, target: "bob"), clientMessageID: "c", objectName: .text,
                    content: "{}", flags: .normal, pushText: nil, sentAt: 1_000)))
    }

    private static func told(
        _ end: LegEnd, _ steps: [LegStep] = [], about: MessageLegs.About = Self.about(),
        receipts: [MessageTrace.Receipt] = []
    ) -> [JSONValue] {
        let ended = EndedLeg(leg: Self.leg, end: end, at: 5_000, steps: LegSteps(steps))
        return LegSentence.all(of: ended, about, receipts).map(\.json)
    }

    private static func keys(_ told: [JSONValue]) -> [String] { told.map { $0["key"]?.stringValue ?? "" } }

    @Test func `has words for every end and wait that a leg can have`() {
        #expect(LegSentence.words.count > 45)
        for name in LegEnd.names where name != "settled" {
            #expect(LegSentence.words["sentence.end.\(name)"] != nil, "\(name)")
        }
        for wait in LegWait.allCases { #expect(LegSentence.words["sentence.wait.\(wait.rawValue)"] != nil, "\(wait)") }
    }

    @Test func `is its end, with who, where and after how long`() {
        let muted = Self.told(.muted)
        #expect(Self.keys(muted) == ["sentence.end.muted"])
        #expect(muted.first?["text"] == LegSentence.words["sentence.end.muted"].map { JSONValue.string($0) })
        let places = muted.first?["places"]
        #expect(places?["user"] == "bob" && places?["device"] == "iphone" && places?["after"] == 4_000)
        #expect(Self.keys(Self.told(.rejected(reason: "BadTopic"))) == ["sentence.end.rejected.detail"])
    }

    @Test func `says how a phone settled it, and what it said of a push later`() {
        #expect(Self.keys(Self.told(.settled(.shown))) == ["settled.shown"])
        let receipt = MessageTrace.Receipt(leg: Self.leg, receipt: .opened, at: 6_000)
        let opened = Self.told(.accepted(apnsID: "a"), receipts: [receipt])
        #expect(Self.keys(opened) == ["sentence.end.accepted.opened"])
        #expect(opened.first?["places"]?["at"] == 6_000)
        #expect(Self.keys(Self.told(.accepted(apnsID: "a"))) == ["sentence.end.accepted"])
    }

    @Test func `says where it was read, and how long before the deadline`() {
        let read = LegStep.read(on: "ipad", at: 3_000)
        let missed = LegStep.turned(.deadlineMissed, at: 3_800)
        let deadline = Self.told(.readElsewhere, [read, missed, .judged])
        #expect(Self.keys(deadline) == ["sentence.end.read_elsewhere.deadline"])
        #expect(deadline.first?["places"]?["before"] == 800 && deadline.first?["places"]?["after"] == 2_000)
        #expect(Self.keys(Self.told(.readElsewhere, [read])) == ["sentence.end.read_elsewhere.reader"])
        #expect(Self.keys(Self.told(.readElsewhere)) == ["sentence.end.read_elsewhere"])
    }

    @Test func `says why it never rings, as far as the message says it`() {
        let own = Self.told(.notNotifiable, about: Self.about("bob"))
        #expect(Self.keys(own) == ["sentence.end.not_notifiable.own"])
        let room = Self.told(.notNotifiable, about: Self.about(in: .chatRoom))
        #expect(Self.keys(room) == ["sentence.end.not_notifiable.room"])
        #expect(Self.keys(Self.told(.notNotifiable)) == ["sentence.end.not_notifiable"])
    }

    @Test func `says why it was pushed and what held it up, each with its time`() {
        let steps: [LegStep] = [
            .turned(.deadlineMissed, at: 2_000), .waited(.activeElsewhere, until: nil, at: 2_000), Self.push,
            .answered(.refused, status: 503, reason: "Busy", at: 4_500),
        ]
        let told = Self.told(.accepted(apnsID: "a"), steps)
        #expect(Self.keys(told) == ["cause.deadline_missed", "sentence.end.accepted", "sentence.heldUp"])
        #expect(told.first?["places"]?["time"] == 1_000)
        let causes = told.last?["places"]?["causes"]?.arrayValue ?? []
        #expect(causes.map { $0["places"] } == [["cause": "active_elsewhere", "time": 2_000], ["answer": "503 Busy"]])
    }

    @Test func `says what it waits for, and until when`() {
        func keys(_ wait: LegWait, until: Int64?) -> [String] {
            let open = OpenLeg(leg: Self.leg, position: 1, wait: wait, notBefore: until)
            return Self.keys(LegSentence.all(of: open, Self.about()).map(\.json))
        }
        #expect(keys(.quietHours, until: 9_000) == ["sentence.wait.quiet_hours.until"])
        #expect(keys(.quietHours, until: nil) == ["sentence.wait.quiet_hours"])
        #expect(keys(.live, until: 9_000) == ["sentence.wait.live"])
    }
}
