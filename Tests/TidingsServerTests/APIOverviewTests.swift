import Foundation
import HTTPTypes
import NIOPosix
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

@Suite(.timeLimit(.minutes(5))) struct `What the HTTP API tells of the last hour` {
    @Test func `is nothing before the store is open, and then has a list for each number`() async throws {
        let api = try await APIDouble()
        #expect(try await api.request(.get, "statistics/history").status == 503)
        api.feed.begin(epoch: 7)
        let bob = DeviceKey(user: UserKey(app: "demo", user: "bob"), device: "phone")
        let now = Clocks.now()
        let message = MessageID(wallMilliseconds: now.wall, node: 0, counter: 0)
        let leg = LegID(message: message, user: bob.user, device: "phone")
        api.feed.append(
            [
                .device(bob, .connected), .acceptedCustom(message, "demo", recipients: 1),
                .endedLeg(EndedLeg(leg: leg, end: .settled(.shown), at: 1)),
                .answeredPush(bob, .badge, .refused(apnsID: nil, status: 400, reason: "x")),
            ], at: now)
        api.feed.setQueues(["demo": .init(waiting: 2, inFlight: 1)], at: now)
        let answer = try await api.request(.get, "statistics/history")
        #expect(answer.status == 200)
        let json = answer.json
        func first(_ list: JSONValue?) -> JSONValue? { list?.arrayValue?.first }
        #expect(json["since"] == json["from"])
        #expect(json["step_ms"] == 10_000)
        #expect(first(json["connections"]) == 1)
        #expect(first(json["messages"]) == 1)
        #expect(first(json["pushes"]?["refused"]) == 1)
        #expect(json["legs"]?.objectValue?.members.map(\.key) == ["settled"])
        #expect(first(json["delivered"]?["count"]) == 1)
        #expect(first(json["delivered"]?["p99_ms"]) == 0)
        #expect(first(json["to_apns"]?["p50_ms"]) == .null)
        #expect(first(json["queue"]?["waiting"]) == 2)
        #expect(first(json["queue"]?["in_flight"]) == 1)
        #expect(try await APIDouble(scopes: [.settings]).request(.get, "statistics/history").status == 403)
    }

    @Test func `survives a restart, but not a damaged file`() async throws {
        func messages(_ server: TestServer) async throws -> Int64? {
            let history = try await server.request("GET", "/v1/apps/demo/statistics/history").json
            return history["messages"]?.arrayValue?.compactMap(\.intValue).reduce(0, +)
        }
        try await TestServer.withFolder { folder in
            var file = ""
            try await TestServer.with(folder: folder) { server in
                file = "\(server.configuration.store.path).history"
                let body = """
                    {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},"text":"hi"}
                    """
                _ = try await server.request("POST", "/v1/apps/demo/messages", body: body)
            }
            try await TestServer.with(folder: folder) { server in
                let count = try await messages(server)
                #expect(count == 1)
            }
            try Data("{\"demo\":".utf8).write(to: URL(fileURLWithPath: file))
            try await TestServer.with(folder: folder) { server in
                let count = try await messages(server)
                #expect(count == 0)
            }
        }
    }

    @Test func `is counted by a running server`() async throws {
        try await TestServer.with { server in
            let bob = try await server.client("bob")
            let body = """
                {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},"text":"hi"}
                """
            _ = try await server.request("POST", "/v1/apps/demo/messages", body: body)
            let history = try await server.request("GET", "/v1/apps/demo/statistics/history").json
            #expect(history["messages"]?.arrayValue?.compactMap(\.intValue).reduce(0, +) == 1)
            #expect(history["connections"]?.arrayValue?.last == 1)
            let statistics = try await server.request("GET", "/v1/apps/demo/statistics").json
            #expect(statistics["queue"] == ["waiting": 0, "in_flight": 0])
            #expect(statistics["lanes"] == [])
            await bob.close()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The conversations of the HTTP API` {
    private static let team = ListedConversation(
        id: ConversationID(type: .group, target: "team-1"), name: "Team", portrait: nil, members: 3,
        isDissolved: false)

    @Test func `come page by page`() async throws {
        let api = try await APIDouble(reading: .conversations([Self.team], hasMore: true))
        let first = try await api.request(.get, "conversations?limit=1")
        #expect(
            first.json["conversations"] == [
                [
                    "conversation": ["type": "GRP", "type_name": "group", "target": "team-1"], "name": "Team",
                    "portrait": .null,
                    "members": 3, "is_dissolved": false,
                ]
            ])
        let next = try #require(first.json["next"]?.stringValue)
        _ = try await api.request(.get, "conversations?limit=1&cursor=\(next)")
        #expect(
            api.reads == [
                .readConversations("demo", after: nil, limit: 1),
                .readConversations("demo", after: Self.team.id, limit: 1),
            ])
        #expect(try await api.request(.get, "conversations?cursor=eHh4eHh4eA").status == 400)
        #expect(try await APIDouble(scopes: [.trace]).request(.get, "conversations").status == 403)
    }

    @Test func `are those that were made`() async throws {
        try await TestServer.with { server in
            for (path, body) in [("GRP/b", #"{"name":"B","members":["ann","bob"]}"#), ("CHRM/a", #"{"members":[]}"#)] {
                _ = try await server.request("PUT", "/v1/apps/demo/conversations/\(path)", body: body)
            }
            let answer = try await server.request("GET", "/v1/apps/demo/conversations").json
            let told = answer["conversations"]?.arrayValue?.map {
                "\($0["conversation"]?["target"]?.stringValue ?? "") \($0["members"]?.intValue ?? -1)"
            }
            #expect(told == ["a 0", "b 2"])
            #expect(answer["next"] == .null)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A preview of the HTTP API` {
    @Test func `is what a push is made of, with names and bytes, and sends nothing`() async throws {
        try await TestServer.with { server in
            _ = try await server.request("PUT", "/v1/apps/demo/users/alice/profile", body: #"{"name":"Alice"}"#)
            _ = try await server.request(
                "PUT", "/v1/apps/demo/conversations/GRP/team", body: #"{"name":"The team","members":["alice","bob"]}"#)
            let before = try await server.request("GET", "/v1/apps/demo/statistics").json
            let push = #"{"notification":{"text":"Shoes","title":"Sale","sound":"ping.caf"}}"#
            let told = try await server.request("POST", "/v1/apps/demo/pushes/preview", body: push)
            #expect(told.status == 200)
            #expect(told.json["shown"] == ["title": "Sale", "subtitle": .null, "body": "Shoes"])
            #expect(told.json["payload"]?["aps"]?["sound"] == "ping.caf")
            #expect(told.json["bytes_max"] == 4_096)
            #expect(told.json["bytes"]?.intValue == told.json["payload"].map { Int64($0.serialized.count) })
            let message = """
                {"send":{"sender":"alice","client_message_id":"c1","conversation":{"type":"GRP","target":"team"},
                "content":"{\\"content\\":\\"hi\\"}"}}
                """
            let group = try await server.request("POST", "/v1/apps/demo/pushes/preview", body: message)
            #expect(group.json["shown"] == ["title": "The team", "subtitle": .null, "body": "Alice: hi"])
            let after = try await server.request("GET", "/v1/apps/demo/statistics").json
            #expect(before["messages"] == after["messages"])
            #expect(try await server.request("GET", "/v1/apps/demo/pushes").json["pushes"] == [])
        }
    }

    @Test func `is of silent pushes, calls and Live Activities, too`() async throws {
        try await TestServer.with { server in
            _ = try await server.request("PUT", "/v1/apps/demo/users/alice/profile", body: #"{"name":"Alice"}"#)
            func preview(_ body: String) async throws -> APIResponse {
                try await server.request("POST", "/v1/apps/demo/pushes/preview", body: body)
            }
            let silent = try await preview(#"{"silent":{"data":{"sync":true}}}"#)
            #expect(silent.status == 200 && silent.json["push_type"] == "background")
            #expect(silent.json["payload"]?["aps"] == ["content-available": 1])
            #expect(silent.json["headers"]?["apns-priority"] == "5")
            #expect(silent.json["shown"] == .null && silent.json["text_mode"] == .null)
            let call = try await preview(#"{"call":{"from":"alice","to":"bob","video":true}}"#)
            #expect(call.json["push_type"] == "voip" && call.json["bytes_max"] == 5_120)
            #expect(call.text.contains("Alice"))
            let activity = try await preview(
                #"""
                {"live_activity":{"environment":"sandbox","topic":"com.example.chat","event":"update",
                "content_state":{"score":1}}}
                """#)
            #expect(activity.json["push_type"] == "liveactivity" && activity.status == 200)
            #expect(activity.json["payload"]?["aps"]?["content-state"] == ["score": 1])
        }
    }

    @Test func `is of one push`() async throws {
        let api = try await APIDouble(reading: .profiles([]))
        for (body, field) in [
            (#"{"silent":{},"call":{"from":"a","to":"b"}}"#, "silent"),
            (#"{"silent":{},"notification":{"text":"x"}}"#, "notification"),
            (#"{"silent":{"device":"phone"}}"#, "silent.device"), (#"{"call":{"to":"b"}}"#, "call.from"),
            (#"{"live_activity":{"event":"update"}}"#, "live_activity.environment"),
        ] {
            let answer = try await api.request(.post, "pushes/preview", body)
            #expect(answer.status == 400 && answer.json["field"]?.stringValue == field, "\(body)")
        }
        #expect(api.commands == [])
    }

    @Test func `is refused with what a push would be refused with`() async throws {
        let api = try await APIDouble(reading: .profiles([]))
        let custom = try await api.request(.post, "pushes/preview", #"{"custom":{"content":"x"}}"#)
        #expect(custom.json["field"] == "custom")
        #expect(try await api.request(.post, "pushes/preview", "{}").json["field"] == "notification")
        let unknown = try await api.request(.post, "pushes/preview", #"{"notification":{"text":"x"},"audience":1}"#)
        #expect(unknown.json["field"] == "audience")
        let tag = try await api.request(
            .post, "pushes/preview", #"{"notification":{"text":"x"},"language":"not a tag"}"#)
        #expect(tag.json["field"] == "language")
        #expect(api.commands == [])
        let blind = try await APIDouble(scopes: [.trace])
        #expect(try await blind.request(.post, "pushes/preview", #"{"notification":{"text":"x"}}"#).status == 403)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `What operators are told of the server` {
    @Test func `is how long it runs, its store, and its last backup, also by the next process`() async throws {
        try await TestServer.withFolder { folder in
            let copy = folder + "/copy.sqlite"
            try await TestServer.with(folder: folder) { server in
                let olga = try await server.operatorKey()
                let first = try await server.request("GET", "/v1/server", key: olga)
                #expect(first.status == 200)
                #expect(first.json["backup"] == ["running": .null, "last": .null, "last_good": .null])
                #expect(first.json["storage"]?["state"] == "ok")
                #expect(first.json["storage"]?["database_bytes"]?.intValue ?? 0 > 0)
                #expect(first.json["schema"]?.intValue == Int64(MessageStoreAdapter.schema))
                let group = MultiThreadedEventLoopGroup.singleton
                let path = server.configuration.store.path
                #expect(try await StoreControl.backUp(database: path, to: copy, group: group) == nil)
                // It is there already.
                #expect(try await StoreControl.backUp(database: path, to: copy, group: group) != nil)
                try await Self.checkBackups(server, olga, copy)
            }
            try await TestServer.with(folder: folder) { server in
                try await Self.checkBackups(server, try await server.operatorKey("again"), copy)
            }
        }
    }

    private static func checkBackups(_ server: TestServer, _ key: String, _ copy: String) async throws {
        let backup = try #require(try await server.request("GET", "/v1/server", key: key).json["backup"])
        #expect(backup["running"] == .null)
        #expect(backup["last"]?["error"]?.stringValue?.isEmpty == false)
        #expect(backup["last"]?["bytes"] == .null)
        let good = try #require(backup["last_good"])
        #expect(good["path"] == .string(copy))
        #expect(good["error"] == .null)
        let size = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? NSNumber
        #expect(good["bytes"]?.intValue == size?.int64Value)
        #expect(good["ended_at"]?.intValue ?? 0 >= good["started_at"]?.intValue ?? .max)
    }

    @Test func `is for those who administer`() async throws {
        try await TestServer.with { server in
            _ = try await server.operatorKey()
            for role in ["view", "content", "send"] {
                let key = try await server.operatorKey("o-\(role)", role)
                #expect(try await server.request("GET", "/v1/server", key: key).json["code"] == "missing_role")
            }
            #expect(try await server.request("GET", "/v1/server").json["code"] == "wrong_key")
        }
    }
}

@Suite struct `The state of backups` {
    private struct Broken: Error, CustomStringConvertible { var description: String { "no room" } }

    private static func with(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "tidings-status-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder + "/store.sqlite")
    }

    @Test func `says that one is being made, and what became of it`() async throws {
        try await Self.with { database in
            let status = ServerStatus(database: database, schema: 1, startedAt: 5)
            let copy = database + ".copy"
            try await status.backUp(to: copy, now: { 7 }) {
                #expect(status.backups.running == .init(path: copy, startedAt: 7))
                try Data(repeating: 1, count: 12).write(to: URL(fileURLWithPath: copy))
            }
            let good = ServerStatus.Backup(path: copy, startedAt: 7, endedAt: 7, bytes: 12)
            #expect(status.backups == .init(last: good, lastGood: good))
            await #expect(throws: Broken.self) {
                try await status.backUp(to: "/x", now: { 9 }) { throw Broken() }
            }
            let bad = ServerStatus.Backup(path: "/x", startedAt: 9, endedAt: 9, error: "no room")
            #expect(status.backups == .init(last: bad, lastGood: good))
            #expect(ServerStatus(database: database, schema: 1, startedAt: 10).backups == status.backups)
        }
    }

    @Test func `is told of what was made while no server ran`() async throws {
        try await Self.with { database in
            let copy = database + ".copy"
            try Data(repeating: 1, count: 12).write(to: URL(fileURLWithPath: copy))
            StoreControl.noteBackup(of: database, to: copy, startedAt: 3, endedAt: 4)
            let made = ServerStatus.Backup(path: copy, startedAt: 3, endedAt: 4, bytes: 12)
            let status = ServerStatus(database: database, schema: 1, startedAt: 5)
            #expect(status.backups == .init(last: made, lastGood: made))
        }
    }

    @Test func `begins anew where its file cannot be read`() async throws {
        try await Self.with { database in
            try Data("{".utf8).write(to: URL(fileURLWithPath: ServerStatus.file(of: database)))
            #expect(ServerStatus(database: database, schema: 1, startedAt: 5).backups == .init())
        }
    }
}
