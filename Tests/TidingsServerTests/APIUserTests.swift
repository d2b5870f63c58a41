import APNsModel
import HTTPTypes
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

@Suite struct `The people of the HTTP API` {
    private static let people = ["a", "b"].map {
        PersonSummary(id: $0, ban: $0 == "b" ? AccountBan(reason: "spam") : nil, devices: 2, unread: 3)
    }

    @Test func `come page by page, each with what a list shows`() async throws {
        let api = try await APIDouble(reading: .people(Self.people, hasMore: true))
        let first = try await api.request(.get, "users?limit=2")
        #expect(
            first.json["users"] == [
                ["id": "a", "banned": false, "ban": .null, "devices": 2, "unread": 3],
                ["id": "b", "banned": true, "ban": ["reason": "spam", "until": .null], "devices": 2, "unread": 3],
            ])
        let next = try #require(first.json["next"]?.stringValue)
        _ = try await api.request(.get, "users?limit=2&cursor=\(next)")
        #expect(api.reads == [.readPeople("demo", after: nil, limit: 2), .readPeople("demo", after: "b", limit: 2)])
        let last = try await APIDouble(reading: .people([], hasMore: false))
        #expect(try await last.request(.get, "users").json == ["users": [], "next": .null])
    }

    @Test func `are told to keys with the scope for accounts`() async throws {
        let api = try await APIDouble(reading: .people([], hasMore: false), scopes: [.settings, .trace])
        #expect(try await api.request(.get, "users").status == 403)
        #expect(try await api.request(.get, "users/bob").status == 403)
    }

    @Test func `are told one by one on a running server`() async throws {
        try await TestServer.with { server in
            let bob = try await server.client("bob")
            _ = try await server.request("PUT", "/v1/apps/demo/users/bob/profile", body: #"{"name":"Bob"}"#)
            let answer = try await server.request("GET", "/v1/apps/demo/users/bob")
            #expect(answer.status == 200)
            #expect(answer.json["name"] == "Bob")
            #expect(
                answer.json["devices"] == [
                    "count": 1, "here": 1, "push": ["none": 1, "registered": 0, "quarantined": 0, "dead": 0],
                ])
            await bob.close()
        }
    }
}

@Suite struct `The conversations of somebody, by the HTTP API` {
    @Test func `come page by page, without texts`() async throws {
        let team = ConversationID(type: .group, target: "team")
        let message = Message(
            id: MessageID(rawValue: 7), app: "demo", sender: "alice", conversation: team, clientMessageID: "c",
            objectName: .text, content: "a secret", flags: .normal, pushText: nil, sentAt: 70)
        var settings = ConversationSettings(level: .mentions, levelUntil: 90)
        settings.pinnedAt = 80
        let listed = PersonalConversation(
            id: team, place: 12, name: "Team", portrait: nil, unread: 3, mentions: 1, isMuted: false,
            settings: settings, newest: .init(message))
        let api = try await APIDouble(reading: .conversationList([listed], hasMore: true))
        let first = try await api.request(.get, "users/bob/conversations?limit=1")
        #expect(
            first.json["conversations"] == [
                [
                    "conversation": ["type": "GRP", "type_name": "group", "target": "team"], "name": "Team",
                    "portrait": .null, "unread": 3,
                    "mentions": 1, "is_muted": false, "level": "mentions", "level_until": 90, "pinned_at": 80,
                    "is_archived": false, "is_hidden": false, "is_dissolved": false,
                    "last_message": [
                        "message_id": .string(message.id.description), "sender": "alice", "object_name": "RC:TxtMsg",
                        "object_type": "text",
                        "sent_at": 70,
                    ],
                ]
            ])
        #expect(!first.text.contains("secret"))
        let next = try #require(first.json["next"]?.stringValue)
        _ = try await api.request(.get, "users/bob/conversations?limit=1&cursor=\(next)")
        let bob = UserKey(app: "demo", user: "bob")
        #expect(
            api.reads == [
                .readConversationList(bob, before: nil, limit: 1), .readConversationList(bob, before: 12, limit: 1),
            ])
        // A cursor of somebody else's list.
        #expect(try await api.request(.get, "users/carol/conversations?cursor=\(next)").status == 400)
        let other = try await APIDouble(reading: .conversationList([], hasMore: false), scopes: [.trace, .accounts])
        #expect(try await other.request(.get, "users/bob/conversations").status == 403)
    }

    @Test func `are what they have on a running server`() async throws {
        try await TestServer.with { server in
            _ = try await server.request("PUT", "/v1/apps/demo/users/alice/profile", body: #"{"name":"Alice"}"#)
            let message = #"""
                {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},
                "content":"{\"content\":\"hi\"}"}
                """#
            let sent = try await server.request("POST", "/v1/apps/demo/messages", body: message)
            let list = try await server.request("GET", "/v1/apps/demo/users/bob/conversations")
            let found = list.json["conversations"]?.arrayValue ?? []
            #expect(list.status == 200 && found.count == 1 && list.json["next"] == .null)
            #expect(found.first?["name"] == "Alice" && found.first?["unread"] == 1)
            #expect(found.first?["last_message"]?["message_id"] == sent.json["message_id"])
            let nobody = try await server.request("GET", "/v1/apps/demo/users/nobody/conversations")
            #expect(nobody.status == 200 && nobody.json["conversations"] == [])
        }
    }
}

@Suite struct `The statistics of the HTTP API` {
    @Test func `count since the store was opened, with every end of a leg`() async throws {
        let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
        let lane = PushLaneReport(
            environment: .sandbox, topic: "com.example", hold: .configFault, outage: outage, waiting: 3, inFlight: 1)
        var open = OpenLegCounts()
        (open[.configFault], open[.live]) = (8, 3)
        let api = try await APIDouble(answering: .pushLanes([lane], open: open))
        #expect(try await api.request(.get, "statistics").status == 503)
        api.feed.begin(epoch: 7)
        let device = DeviceKey(user: UserKey(app: "demo", user: "bob"), device: "phone")
        let leg = LegID(message: MessageID(rawValue: 5), user: device.user, device: "phone")
        api.feed.append(
            [.device(device, .connected), .endedLeg(EndedLeg(leg: leg, end: .muted, at: 1))],
            at: Now(monotonic: 1, wall: 1))
        let answer = try await api.request(.get, "statistics")
        #expect(answer.status == 200)
        #expect(answer.json["connections"] == 1)
        #expect(answer.json["legs"]?["muted"] == 1)
        #expect(answer.json["legs"]?.objectValue?.members.count == LegEnd.names.count)
        #expect(answer.json["since"]?.intValue ?? 0 > 1_700_000_000_000)
        #expect(answer.json["queue"] == ["waiting": 3, "in_flight": 1])
        #expect(
            answer.json["open_legs"] == [
                "total": 11,
                "waits": [
                    "live": 3, "grace": 0, "quiet_hours": 0, "active_elsewhere": 0, "merging": 0, "config_fault": 8,
                    "breaker_open": 0, "throttled": 0, "provider_down": 0, "in_flight": 0,
                ],
            ])
        #expect(answer.json["legs_hour"]?["muted"] == 1 && answer.json["legs_hour"]?["settled"] == 0)
        #expect(answer.json["legs_hour"]?.objectValue?.members.count == LegEnd.names.count)
        #expect(
            answer.json["lanes"] == [
                [
                    "environment": "sandbox", "topic": "com.example", "state": "config_fault",
                    "reason": "InvalidProviderToken", "waiting": 3, "in_flight": 1, "refused_tokens": 0,
                ]
            ])
        let nothing: JSONValue = ["count": 0, "p50_ms": .null, "p95_ms": .null, "p99_ms": .null]
        #expect(answer.json["latency"]?["to_apns"] == ["five_minutes": nothing, "hour": nothing])
        let blind = try await APIDouble(scopes: [.settings])
        #expect(try await blind.request(.get, "statistics").status == 403)
    }
}
