import APNsModel
import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `The people of the HTTP API` {
    private static let people = ["a", "b"].map { PersonSummary(id: $0, isBanned: $0 == "b", devices: 2, unread: 3) }

    @Test func `come page by page, each with what a list shows`() async throws {
        let api = try await APIDouble(answering: .people(Self.people, hasMore: true))
        let first = try await api.request(.get, "users?limit=2")
        #expect(
            first.json["users"] == [
                ["id": "a", "banned": false, "devices": 2, "unread": 3],
                ["id": "b", "banned": true, "devices": 2, "unread": 3],
            ])
        let next = try #require(first.json["next"]?.stringValue)
        _ = try await api.request(.get, "users?limit=2&cursor=\(next)")
        #expect(api.commands == [.people("demo", after: nil, limit: 2), .people("demo", after: "b", limit: 2)])
        let last = try await APIDouble(answering: .people([], hasMore: false))
        #expect(try await last.request(.get, "users").json == ["users": [], "next": .null])
    }

    @Test func `are told to keys with the scope for accounts`() async throws {
        let api = try await APIDouble(answering: .people([], hasMore: false), scopes: [.settings, .trace])
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

@Suite struct `The statistics of the HTTP API` {
    @Test func `count since the store was opened, with every end of a leg`() async throws {
        let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
        let lane = PushLaneReport(
            environment: .sandbox, topic: "com.example", hold: .configFault, outage: outage, waiting: 3, inFlight: 1)
        let api = try await APIDouble(answering: .pushLanes([lane]))
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
            answer.json["lanes"] == [
                [
                    "environment": "sandbox", "topic": "com.example", "state": "config_fault",
                    "reason": "InvalidProviderToken", "waiting": 3, "in_flight": 1,
                ]
            ])
        let nothing: JSONValue = ["count": 0, "p50_ms": .null, "p95_ms": .null, "p99_ms": .null]
        #expect(answer.json["latency"]?["to_apns"] == ["five_minutes": nothing, "hour": nothing])
        let blind = try await APIDouble(scopes: [.settings])
        #expect(try await blind.request(.get, "statistics").status == 403)
    }
}
