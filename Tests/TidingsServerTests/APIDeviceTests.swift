import APNsModel
import HTTPTypes
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

@Suite struct `The devices of the HTTP API` {
    private static let token = PushToken("8a3f" + String(repeating: "00", count: 28) + "07c1")
    private static let registration = PushRegistration(
        token: token, environment: .production, topic: "com.example.chat")

    private static func device(_ id: DeviceID, _ push: PushState = .none) -> DeviceInfo {
        let record = DeviceRecord(
            key: DeviceKey(user: UserKey(app: "demo", user: "bob"), device: id), platform: "ios", push: push,
            settled: 0, decided: 0, since: 0, signedInAt: 4, isSignedOut: false)
        return DeviceInfo(Device(record: record), Now(monotonic: 9, wall: 9))
    }

    @Test func `are told with shortened token, when they were seen, lease and badge`() async throws {
        var pad = Self.device("pad")
        (pad.presence, pad.lease, pad.leaseUntil) = (.background, .background(until: 30), 3_000)
        pad.lastSeenAt = nil
        var phone = Self.device("phone", .registered(Self.registration, at: 3))
        phone.badge = 3
        phone.lastSeenAt = 7
        let api = try await APIDouble(answering: .devices([pad, phone]))
        let answer = try await api.request(.get, "users/bob/devices")
        #expect(
            answer.json == [
                "devices": [
                    [
                        "id": "pad", "platform": "ios", "connected_at": 4, "presence": "background",
                        "lease": "background", "last_seen_at": .null, "badge": .null, "lease_until": 3_000,
                        "push": "none", "voip": "none",
                    ],
                    [
                        "id": "phone", "platform": "ios", "connected_at": 4, "presence": "away", "lease": "gone",
                        "last_seen_at": 7, "badge": 3, "push": "registered", "push_at": 3, "push_token": "8a3f…07c1",
                        "push_topic": "com.example.chat", "push_environment": "production", "voip": "none",
                    ],
                ], "next": .null,
            ])
        #expect(!answer.text.contains(Self.token.rawValue))
    }

    @Test(
        arguments: [
            (.quarantined(registration, at: 3, reason: "BadTopic"), "8a3f…07c1"), (.dead(timestamp: 5), nil),
            (.none, nil), (.registered(.init(token: "ab12ab12", environment: .sandbox, topic: "t"), at: 3), "…"),
        ] as [(PushState, String?)])
    func `have as much of a token as tells it from others, if there is one`(
        push: PushState, told: String?
    ) async throws {
        let api = try await APIDouble(answering: .devices([Self.device("phone", push)]))
        let answer = try await api.request(.get, "users/bob/devices")
        #expect(answer.json["devices"]?.arrayValue?.map { $0["push_token"]?.stringValue } == [told])
    }

    @Test(arguments: [
        (Lease.foreground, "foreground"), (.background(until: 1), "background"), (.probing(until: 1), "probing"),
        (.grace(until: 1), "grace"), (.returning(until: 1), "returning"), (.gone, "gone"),
    ])
    func `have each lease by its name`(lease: Lease, name: String) async throws {
        var device = Self.device("phone")
        device.lease = lease
        let api = try await APIDouble(answering: .devices([device]))
        let answer = try await api.request(.get, "users/bob/devices")
        #expect(answer.json["devices"]?.arrayValue?.map { $0["lease"]?.stringValue } == [name])
    }
}
