import APNsModel
import Foundation
import HTTPTypes
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

private let id = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"
private let channel: APNsChannelID = "dHN0LXNyY2gt/2hubA=="

@Suite struct `A Live Activity by the HTTP API` {
    @Test func `is started with everything that the backend says`() async throws {
        let api = try await APIDouble(answering: .passed(at: 5))
        let answer = try await api.request(
            .post, "live-activities",
            #"""
            {"id":"0B9F1C9E-3A54-4B8E-9F57-0D6A1C6B7E01","environment":"sandbox","topic":"com.example.chat","token":"ab12",
             "event":"start","timestamp":1800000000999,"content_state":{"eta":9},"attributes_type":"Ride",
             "attributes":{"car":"7"},"stale_at":1800000060000,"dismissal_at":1800000120000,
             "alert":{"title":"Ride","body":{"loc_key":"COMING","loc_args":["7"]},"sound":"horn.caf"},
             "relevance_score":75.5,"input_push_channel":"dHN0LXNyY2gt/2hubA==","input_push_token":true,"priority":5,
             "expires_at":1800000030001}
            """#)
        #expect(answer.status == 202)
        #expect(answer.json == ["id": .string(id), "sent_at": 5])
        var activity = APNsPayload.LiveActivity(
            event: .start, timestamp: 1_800_000_000, contentState: JSONObject([("eta", 9)]), attributesType: "Ride",
            attributes: JSONObject([("car", "7")]), staleDate: 1_800_000_060, dismissalDate: 1_800_000_120)
        activity.inputPushChannel = channel
        activity.inputPushToken = true
        let payload = APNsPayload(
            alert: .init(title: "Ride", bodyLocalization: .init("COMING", ["7"])), sound: .named("horn.caf"),
            relevanceScore: 75.5, liveActivity: activity)
        #expect(
            api.commands == [
                .pushActivity(
                    "demo",
                    LiveActivityPush(
                        id: id, environment: .sandbox, topic: "com.example.chat", target: .token("ab12"),
                        payload: payload, priority: .powerAware, expiration: 1_800_000_031))
            ])
    }

    @Test func `is updated by channel with the least, under an id of its own`() async throws {
        let api = try await APIDouble(answering: .passed(at: 5))
        let body = #"""
            {"environment":"production","topic":"com.example.chat","channel":"dHN0LXNyY2gt/2hubA==","event":"update",
             "content_state":{},"expires_at":0}
            """#
        for _ in 0..<2 { #expect(try await api.request(.post, "live-activities", body).status == 202) }
        let pushes = api.commands.compactMap { command -> LiveActivityPush? in
            if case .pushActivity(_, let push) = command { push } else { nil }
        }
        #expect(pushes.count == 2)
        #expect(pushes.first?.id != pushes.last?.id)
        #expect(pushes.first?.target == .channel(channel))
        #expect(pushes.first?.expiration == 0)
        #expect(pushes.first?.priority == .immediate)
        let now = Int64(Date().timeIntervalSince1970)
        #expect(abs((pushes.first?.payload.liveActivity?.timestamp ?? 0) - now) < 600)
    }

    @Test func `has one id under one idempotency key`() async throws {
        let api = try await APIDouble(answering: .passed(at: 5))
        let body = #"""
            {"environment":"production","topic":"com.example.chat","token":"ab12","event":"end"}
            """#
        var ids: [JSONValue?] = []
        for key in ["one", "one", "two"] {
            ids.append(
                try await api.request(.post, "live-activities", body, headers: [("Idempotency-Key", "\"\(key)\"")])
                    .json["id"])
        }
        #expect(ids[0] == ids[1])
        #expect(ids[0] != ids[2])
    }

    @Test(arguments: [
        (#""token":"ab12","event":"update","content_state":{},"environment":"x""#, "environment"),
        (#""token":"ab12","event":"update","content_state":{},"topic":"a b""#, "topic"),
        (#""event":"update","content_state":{}"#, "token"),
        (#""token":"ab12","channel":"dHN0LXNyY2gt/2hubA==","event":"update","content_state":{}"#, "token"),
        (#""token":"ab1","event":"update","content_state":{}"#, "token"),
        (#""channel":"cup","event":"update","content_state":{}"#, "channel"),
        (#""channel":"dHN0LXNyY2gt/2hubA==","event":"start","content_state":{}"#, "alert"),
        (#""token":"ab12","event":"begin""#, "event"), (#""token":"ab12","event":"update""#, "content_state"),
        (#""token":"ab12","event":"update","content_state":7"#, "content_state"),
        (#""token":"ab12","event":"start","content_state":{},"alert":{"title":"x"}"#, "attributes_type"),
        (#""token":"ab12","event":"update","content_state":{},"alert":{"title":7}"#, "alert.title"),
        (#""token":"ab12","event":"update","content_state":{},"alert":{}"#, "alert"),
        (#""token":"ab12","event":"update","content_state":{},"alert":{"text":"x"}"#, "alert.text"),
        (#""token":"ab12","event":"update","content_state":{},"priority":7"#, "priority"),
        (#""token":"ab12","event":"update","content_state":{},"priority":1"#, "priority"),
        (#""token":"ab12","event":"update","content_state":{},"stale_at":-1"#, "stale_at"),
        (#""token":"ab12","event":"update","content_state":{},"expires_at":-1"#, "expires_at"),
        (#""token":"ab12","event":"update","content_state":{},"id":"7""#, "id"),
        (#""token":"ab12","event":"update","content_state":{},"sound":"x""#, "sound"),
    ])
    func `that breaks a rule is refused, and nothing is pushed`(members: String, field: String) async throws {
        let api = try await APIDouble(answering: .passed(at: 5))
        let more =
            (members.contains("environment") ? "" : #","environment":"sandbox""#)
            + (members.contains("topic") ? "" : #","topic":"com.example.chat""#)
        let answer = try await api.request(.post, "live-activities", "{\(members)\(more)}")
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }

    @Test(
        arguments: [
            (
                PassedPushState.pushing, [("state", "pushing")]
            ),
            (.accepted(apnsID: "A", uniqueID: "U"), [("state", "accepted"), ("apns_id", "A"), ("unique_id", "U")]),
            (
                .refused(
                    APNsRefusal(.expiredToken, status: 410, invalidSince: APNsInvalidSince(milliseconds: 7))),
                [("state", "refused"), ("reason", "ExpiredToken"), ("status", 410), ("invalid_since", 7)]
            ),
            (.notSent(reason: "no_credential"), [("state", "not_sent"), ("reason", "no_credential")]),
            (.unanswered, [("state", "unanswered")]),
        ] as [(PassedPushState, [(String, JSONValue)])])
    func `is told with what APNs said`(state: PassedPushState, members: [(String, JSONValue)]) async throws {
        let push = LiveActivityPush(
            id: id, environment: .sandbox, topic: "com.example.chat", target: .token("ab12"),
            payload: APNsPayload(liveActivity: .init(event: .end, timestamp: 5)))
        let api = try await APIDouble(answering: .activityPush(ActivityPushTrace(push: push, sentAt: 5, state: state)))
        let answer = try await api.request(.get, "live-activities/\(id)")
        #expect(api.commands == [.activityPush("demo", id)])
        #expect(
            answer.json
                == .members(
                    [
                        ("id", .string(id)), ("environment", "sandbox"), ("topic", "com.example.chat"),
                        ("target", "token"), ("event", "end"), ("sent_at", 5),
                    ] + members + [("meaning", .string(state.meaning))]))
    }

    @Test func `that nobody remembers is told so`() async throws {
        let api = try await APIDouble(answering: .activityPush(nil))
        let answer = try await api.request(.get, "live-activities/\(id)")
        #expect(answer.status == 404)
        #expect(answer.json["code"] == "unknown_live_activity")
    }
}

@Suite struct `Broadcast channels by the HTTP API` {
    private static let place = "?environment=sandbox&topic=com.example.chat"

    private func asked(_ operation: APNsChannelRequest.Operation) -> APICommand {
        .channels("demo", APNsChannelRequest(operation, bundleID: "com.example.chat", environment: .sandbox))
    }

    @Test func `are made, listed page by page, read and deleted`() async throws {
        let created = try await APIDouble(answering: .channels(.answered(.created(channel))))
        let answer = try await created.request(
            .post, "broadcast-channels",
            #"{"environment":"sandbox","topic":"com.example.chat","storage":"most_recent"}"#)
        #expect(answer.status == 201)
        #expect(answer.json == ["id": .string(channel.rawValue), "storage": "most_recent"])
        guard case .channels("demo", let asked)? = created.commands.first else {
            Issue.record("\(created.commands)")
            return
        }
        #expect(asked.operation == .create(.mostRecentMessage))
        try asked.validate()

        let listed = try await APIDouble(answering: .channels(.answered(.list(["bbbb", "aaaa", "cccc"]))))
        let page = try await listed.request(.get, "broadcast-channels\(Self.place)&limit=2")
        #expect(page.json["channels"] == ["aaaa", "bbbb"])
        let next = try #require(page.json["next"]?.stringValue)
        let rest = try await listed.request(.get, "broadcast-channels\(Self.place)&limit=2&cursor=\(next)")
        #expect(rest.json == ["channels": ["cccc"], "next": .null])
        #expect(listed.commands == [self.asked(.list), self.asked(.list)])

        let read = try await APIDouble(
            answering: .channels(.answered(.channel(APNsChannel(id: channel, storagePolicy: .noStorage)))))
        let path = "broadcast-channels/dHN0LXNyY2gt%2F2hubA%3D%3D\(Self.place)"
        let one = try await read.request(.get, path)
        #expect(one.json == ["id": .string(channel.rawValue), "storage": "none"])
        #expect(read.commands == [self.asked(.read(channel))])

        let deleted = try await APIDouble(answering: .channels(.answered(.deleted)))
        #expect(try await deleted.request(.delete, path).status == 204)
        #expect(deleted.commands == [self.asked(.delete(channel))])
    }

    @Test(
        arguments: [
            (.answered(.refused(APNsRefusal(.channelNotRegistered, status: 400))), 404, "unknown_channel"),
            (.answered(.refused(APNsRefusal(.featureNotEnabled, status: 400))), 502, "apns_refused"),
            (.unanswered("reset"), 504, "apns_unanswered"), (.answered(.malformed("no id")), 504, "apns_unanswered"),
            (.notSent("no connection"), 503, "unavailable"), (.noCredential, 400, "invalid_field"),
            (.answered(.list([])), 500, "internal"),
        ] as [(ChannelOutcome, Int, String)])
    func `are told as problems where APNs does not do it`(
        outcome: ChannelOutcome, status: Int, code: String
    ) async throws {
        let api = try await APIDouble(answering: .channels(outcome))
        let answer = try await api.request(.delete, "broadcast-channels/aaaa\(Self.place)")
        #expect(answer.status == status)
        #expect(answer.json["code"] == .string(code))
    }

    @Test func `need a topic and an environment`() async throws {
        let api = try await APIDouble(answering: .channels(.noCredential))
        for (query, field) in [
            ("?environment=sandbox", "topic"), ("?topic=com.example.chat", "environment"),
            ("?environment=moon&topic=com.example.chat", "environment"),
        ] {
            let answer = try await api.request(.get, "broadcast-channels\(query)")
            #expect(answer.status == 400)
            #expect(answer.json["field"] == .string(field))
        }
        #expect(api.commands == [])
    }
}
