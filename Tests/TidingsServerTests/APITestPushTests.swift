import APNsModel
import Foundation
import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

private let bob = DeviceKey(user: UserKey(app: "demo", user: "bob"), device: "phone")
private let token = PushToken(String(repeating: "ab12", count: 16))

@Suite struct `A test push by the HTTP API` {
    private static let registration = PushRegistration(token: token, environment: .sandbox, topic: "com.example.chat")

    private static func report(_ state: PassedPushState, outage: LaneOutage? = nil) -> TestPushReport {
        let record = DeviceRecord(
            key: bob, platform: "ios", push: .registered(Self.registration, at: 3), settled: 0, decided: 0, since: 0,
            signedInAt: 4, isSignedOut: false)
        var facts = PushFacts()
        facts.quietHours = .defer
        return TestPushReport(
            id: "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01", sentAt: 5,
            device: DeviceInfo(Device(record: record), Now(monotonic: 9, wall: 9)), lease: .gone,
            lane: .init(
                lane: PushLane(app: "demo", environment: .sandbox, topic: "com.example.chat"), hold: .none,
                outage: outage, waiting: 1, inFlight: 2),
            verdict: PushVerdict(facts), tests: PushVerdict.tests(of: facts),
            request: APNsRequest(
                token: token, topic: "com.example.chat", expiration: 0, apnsID: "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01",
                payload: Array(#"{"aps":{"alert":{"body":"x"}}}"#.utf8), environment: .sandbox), state: state)
    }

    @Test func `is answered with everything that is known, and without the token`() async throws {
        let report = Self.report(.accepted(apnsID: "A", uniqueID: nil))
        let api = try await APIDouble(answering: .testPush(report))
        let answer = try await api.request(
            .post, "users/bob/devices/phone/test-push", #"{"title":"T","text":"x"}"#,
            headers: [("Idempotency-Key", "\"k\"")])
        #expect(answer.status == 200)
        guard case .once(_, _, .testPush(bob, let test))? = api.commands.first else {
            Issue.record("\(api.commands)")
            return
        }
        #expect((test.title, test.text) == ("T", "x"))
        try test.validate()
        let json = answer.json
        #expect(json["device"]?["push"] == "registered")
        #expect(json["device"]?["push_at"] == 3)
        #expect(json["device"]?["push_token"] == "ab12…ab12")
        #expect(json["token"] == "ab12…ab12")
        #expect(json["lease"] == "gone")
        #expect(
            json["lane"] == [
                "environment": "sandbox", "topic": "com.example.chat", "state": "usable", "reason": .null, "waiting": 1,
                "in_flight": 2,
            ])
        #expect(json["credential"] == ["state": "accepted", "reason": .null])
        #expect(json["verdict"]?["result"] == "wait")
        #expect(json["verdict"]?["reason"] == "quiet_hours")
        let failed = json["verdict"]?["tests"]?.arrayValue?.filter { $0["passed"] == false } ?? []
        #expect(failed == [["fact": "quiet_hours", "passed": false, "result": "wait", "reason": "quiet_hours"]])
        #expect(json["request"]?["path"] == "/3/device/ab12…ab12")
        #expect(json["request"]?["headers"]?["apns-push-type"] == "alert")
        #expect(json["request"]?["payload"] == ["aps": ["alert": ["body": "x"]]])
        #expect(json["answer"]?["state"] == "accepted")
        #expect(json["unknown"]?.arrayValue?.count == 4)
        #expect(!answer.text.contains(token.rawValue))
    }

    @Test(
        arguments: [
            (.refused(APNsRefusal(.badDeviceToken, status: 400)), nil, "accepted", nil),
            (.refused(APNsRefusal(.topicDisallowed, status: 400)), nil, "refused", "TopicDisallowed"),
            (.notSent(reason: "config_fault"), LaneOutage(.credential, reason: "Forbidden"), "refused", "Forbidden"),
            (.notSent(reason: "config_fault"), LaneOutage(.credential, reason: "NoCredential"), "missing", nil),
            (.notSent(reason: "no_credential"), nil, "missing", nil), (.pushing, nil, "unknown", nil),
            (.unanswered, nil, "unknown", nil),
        ] as [(PassedPushState, LaneOutage?, String, String?)])
    func `says what is known of the credential`(
        state: PassedPushState, outage: LaneOutage?, told: String, reason: String?
    ) async throws {
        let api = try await APIDouble(answering: .testPush(Self.report(state, outage: outage)))
        let answer = try await api.request(.post, "users/bob/devices/phone/test-push", #"{"text":"x"}"#)
        #expect(answer.json["credential"] == ["state": .string(told), "reason": .optional(reason)])
    }

    @Test(arguments: [
        (#"{}"#, "text"), (#"{"text":""}"#, "text"), (#"{"text":"x","title":""}"#, "title"),
        (#"{"text":"x","sound":"y"}"#, "sound"),
    ])
    func `that breaks a rule is refused`(body: String, field: String) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(.post, "users/bob/devices/phone/test-push", body)
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }
}

@Suite struct `A silent push by the HTTP API` {
    @Test func `is told device by device`() async throws {
        let states: [(DeviceID, SilentPushReport.State)] = [
            ("a", .sent), ("b", .budgetSpent(nextAt: 7)), ("c", .budgetUnknown(nextAt: 8)), ("d", .noToken),
            ("e", .tokenDead), ("f", .tokenQuarantined(reason: "BadDeviceToken")),
            ("g", .notSent(reason: "provider_down")),
        ]
        let report = SilentPushReport(sentAt: 5, devices: states.map { .init(id: $0.0, state: $0.1) })
        let api = try await APIDouble(answering: .silentPush(report))
        let answer = try await api.request(.post, "users/bob/silent-push", #"{"device":"a","data":{"sync":7}}"#)
        #expect(answer.status == 200)
        guard case .silentPush(bob.user, let push)? = api.commands.first else {
            Issue.record("\(api.commands)")
            return
        }
        #expect(push.device == "a")
        #expect(push.data == JSONObject([("sync", 7)]))
        #expect(answer.json["sent_at"] == 5)
        #expect(
            answer.json["devices"] == [
                ["device": "a", "state": "sent"], ["device": "b", "state": "budget_spent", "next_at": 7],
                ["device": "c", "state": "budget_unknown", "next_at": 8], ["device": "d", "state": "no_token"],
                ["device": "e", "state": "token_dead"],
                ["device": "f", "state": "token_quarantined", "reason": "BadDeviceToken"],
                ["device": "g", "state": "not_sent", "reason": "provider_down"],
            ])
        #expect(answer.json["notes"]?.arrayValue?.first?.stringValue?.contains("force-quit") == true)
    }

    @Test func `with a wrong device or unknown members is refused`() async throws {
        let api = try await APIDouble()
        for (body, field) in [(#"{"device":"a b"}"#, "device"), (#"{"sound":"x"}"#, "sound"), (#"{"data":7}"#, "data")]
        {
            let answer = try await api.request(.post, "users/bob/silent-push", body)
            #expect(answer.status == 400)
            #expect(answer.json["field"] == .string(field))
        }
        #expect(api.commands == [])
    }
}
