import APNsTestSupport
import Foundation
import Testing
import TidingsModel

@testable import APNsSimulator

@Suite(.timeLimit(testTimeLimit)) struct `The control port` {
    @Test(arguments: [
        ("/faults", "nonsense", "body"), ("/faults", "[]", "body"), ("/faults", #"{"status":503}"#, "status"),
        ("/faults", #"{"rules":[{"fault":"respond","status":"503"}]}"#, "rules[0].status"),
        ("/keys", "[]", "body"), ("/keys", #"{"name":"x"}"#, "name"), ("/keys", #"{"topics":[]}"#, "topics"),
        ("/keys", #"{"environments":["moon"]}"#, "environments[0]"), ("/keys", #"{"team_id":1}"#, "team_id"),
        ("/keys", #"{"environments":[]}"#, "environments"), ("/keys", #"{"team_id":""}"#, "team_id"),
        ("/keys", #"{"topics":["com.example.chat","a b"]}"#, "topics[1]"),
        ("/keys", #"{"related_key_id":"UNKNOWN001"}"#, "related_key_id"),
        ("/certificates", "{}", "bundle_id"), ("/certificates", #"{"bundle_id":"a b"}"#, "bundle_id"),
        ("/certificates", #"{"bundle_id":"com.example.chat","variant":"odd"}"#, "variant"),
        ("/broadcast", "{}", "bundle_id"), ("/broadcast", #"{"bundle_id":"com.example.chat"}"#, "enabled"),
        ("/devices/00ff/retire", #"{"end":"odd"}"#, "end"), ("/tally", #"{"enabled":1}"#, "enabled"),
        ("/tally", #"{"on":true}"#, "on"), ("/devices", "{}", "phones"),
        ("/devices", #"{"phones":[],"topic":"com.example.chat"}"#, "phones"),
        ("/devices", #"{"phones":["p","a b"],"topic":"com.example.chat"}"#, "phones[1]"),
        ("/devices", #"{"phones":["p"]}"#, "topic"), ("/devices", #"{"phones":["p"],"topic":"a b"}"#, "topic"),
        ("/devices", #"{"phones":["p"],"topic":"com.example.chat","environment":"moon"}"#, "environment"),
    ])
    func `names the member and the rule of what it refuses`(path: String, body: String, field: String) async throws {
        try await withSimulator { addresses, _ in
            let (status, problem) = try await LineSocket.http("POST", path, body: body, port: addresses.controlPort)
            #expect(status == 400)
            #expect(problem["field"]?.stringValue == field)
            #expect(problem["rule"]?.stringValue?.isEmpty == false)
        }
    }

    @Test(arguments: [
        ("/log?colour=red", "colour"), ("/log?limit=-1", "limit"), ("/log?limit=+5", "limit"),
        ("/log?topic=%FF", "query"), ("/log?since_ms=now", "since_ms"),
        ("/devices?colour=red", "colour"), ("/channels", "bundle_id"),
    ])
    func `names the member of a query it does not know`(path: String, field: String) async throws {
        try await withSimulator { addresses, _ in
            let (status, problem) = try await LineSocket.http("GET", path, port: addresses.controlPort)
            #expect(status == 400)
            #expect(problem["field"]?.stringValue == field)
        }
    }

    /// What one lets out of a path makes no other request of it; what is left of HTTP is `RequestRules`'s.
    @Test func `knows no path with an empty segment, and answers HEAD`() async throws {
        try await withSimulator { addresses, _ in
            for (method, path) in [
                ("GET", "/log/"), ("GET", "//log"), ("POST", "/keys//revoke"), ("POST", "/devices/"),
                ("POST", "/tally//"),
            ] {
                let (status, problem) = try await LineSocket.http(method, path, port: addresses.controlPort)
                #expect(status == 404, "\(path)")
                #expect(problem["field"] == "path", "\(path)")
            }
            let socket = try await LineSocket.connect(port: addresses.controlPort)
            try await socket.write("HEAD /log HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let lines = await socket.rest()
            #expect(lines.first?.hasPrefix("HTTP/1.1 200") == true)
            #expect(!lines.contains("[]"))
        }
    }

    @Test func `shows the way of a push, and counts by topic`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            #expect(try await provider.log() == [])
            let client = try await provider.opened(try authorization(addresses))
            let pushed = try #require(try await provider.phone.next())
            try await provider.phone.write(#"{"type":"ack","delivery":\#(pushed["delivery"]?.intValue ?? 0)}"# + "\n")
            while try await provider.log().last != "delivered" {}
            #expect(try await provider.log() == ["accepted", "sent", "delivered"])
            let id = try #require(pushed["apns_id"]?.stringValue)
            #expect(try await provider.log("?apns_id=\(id)&limit=1") == ["delivered"])
            #expect(try await provider.log("?event=sent&topic=\(Provider.topic)") == ["sent"])
            #expect(try await provider.log("?environment=production") == [])
            let metrics = try await provider.control("GET", "/metrics").json.arrayValue
            #expect(metrics?.count == 1)
            #expect(metrics?.first?["topic"]?.stringValue == Provider.topic)
            #expect(metrics?.first?["accepted"] == 1)
            #expect(metrics?.first?["delivered"] == 1)
            await client.close()
        }
    }

    @Test func `gives tokens to phones that do not connect, in their order, and the same again`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            func register(_ phones: String) async throws -> [String] {
                let body = #"{"phones":[\#(phones)],"topic":"com.example.chat"}"#
                let (status, answer) = try await provider.control("POST", "/devices", body)
                #expect(status == 200)
                return answer["tokens"]?.arrayValue?.compactMap(\.stringValue) ?? []
            }
            let tokens = try await register(#""p1","p2""#)
            #expect(Set(tokens).count == 2)
            #expect(
                try await register(#""p2","p3","p1""#).enumerated().filter { $0.offset != 1 }.map(\.element)
                    == tokens.reversed())
            for (phone, token) in zip(["p1", "p2"], tokens) {
                let devices = try await provider.control("GET", "/devices?phone=\(phone)").json.arrayValue
                #expect(devices?.map { $0["token"]?.stringValue } == [token])
                #expect(devices?.first?["environment"] == "sandbox")
                #expect(devices?.first?["connected"] == false)
            }
        }
    }

    @Test func `counts by device once it is told to`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let (status, problem) = try await provider.control("GET", "/tally")
            #expect(status == 404)
            #expect(problem["field"] == "tally")
            #expect(try await provider.control("POST", "/tally").status == 200)
            let client = try await provider.opened(try authorization(addresses))
            let tally: JSONValue = [
                "pushes": 1, "devices": 1, "once": 1, "repeated": 0, "repeats": 0, "several": 0, "names": 1,
            ]
            #expect(try await provider.control("GET", "/tally").json == tally)
            #expect(try await provider.control("POST", "/tally", #"{"enabled":false}"#).status == 200)
            #expect(try await provider.control("GET", "/tally").status == 404)
            await client.close()
        }
    }

    @Test func `adds a key that works at once, and revokes it`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let (status, key) = try await provider.control("POST", "/keys", #"{"topics":["com.example.chat"]}"#)
            #expect(status == 200)
            let keyID = try #require(key["key_id"]?.stringValue)
            let good = try authorization(addresses, keyID: keyID, pem: key["p8"]?.stringValue)
            let client = try await provider.opened(good)
            #expect(try await provider.control("POST", "/keys/\(keyID)/revoke").status == 200)
            #expect(
                try await provider.send(client, stream: 3, good)
                    == .answer(stream: 3, status: 403, reason: "InvalidProviderToken"))
            await client.close()
        }
    }

    @Test func `lets a team have two keys for all topics in an environment, as Apple does`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            func add(_ body: String) async throws -> (status: Int, key: String?, problem: String?) {
                let (status, json) = try await provider.control("POST", "/keys", body)
                return (status, json["key_id"]?.stringValue, json["detail"]?.stringValue)
            }
            // The first one was made with the simulator, for both environments.
            let second = try await add(#"{"environments":["sandbox"]}"#)
            #expect(second.status == 200)
            let third = try await add(#"{"environments":["production","sandbox"]}"#)
            #expect(third.status == 400)
            #expect(third.problem == "environments must leave at most 2 keys of this kind in sandbox, got 3")
            #expect(try await add(#"{"environments":["production"]}"#).status == 200)
            // Another kind, another team, and the place of one that was revoked.
            #expect(try await add(#"{"topics":["com.example.chat"]}"#).status == 200)
            #expect(try await add(#"{"team_id":"OTHERTEAM1"}"#).status == 200)
            #expect(try await provider.control("POST", "/keys/\(second.key ?? "")/revoke").status == 200)
            #expect(try await add(#"{"environments":["sandbox"]}"#).status == 200)
        }
    }

    @Test func `begins with the fault plan of a file`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/faults-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #"{"rules":[{"fault":"respond","status":500}]}"#.write(toFile: path, atomically: true, encoding: .utf8)
        try await withSimulator({ $0.faultsFile = path }) { addresses, _ in
            let provider = try await Provider(addresses)
            let client = try await provider.connect()
            #expect(
                try await provider.send(client, stream: 1, try authorization(addresses))
                    == .answer(stream: 1, status: 500, reason: "InternalServerError"))
            await client.close()
        }
    }
}

@Suite(.timeLimit(testTimeLimit)) struct `A simulator with a state database` {
    @Test func `knows devices, keys, channels and stored pushes again`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/apns-state-" + UUID().uuidString + ".db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        try await withSimulator({ $0.stateDatabase = path }) { addresses, configuration in
            let provider = try await Provider(addresses)
            let (_, key) = try await provider.control("POST", "/keys")
            let keyID = try #require(key["key_id"]?.stringValue)
            await provider.phone.close()
            while try await provider.control("GET", "/devices").json.arrayValue?.first?["connected"] == true {}
            let client = try await provider.opened(try authorization(addresses))
            await client.close()
            #expect(try await provider.log() == ["accepted", "stored"])

            // The second one reads what the first has written, as after a crash: the first is still there.
            let again = try APNsSimulator(configuration: configuration)
            let second = try await again.start()
            let later = try await Provider(second)
            #expect(later.device == provider.device)
            #expect(later.early.map { $0["type"] } == ["welcome", "push"])
            let good = try authorization(second, keyID: keyID, pem: key["p8"]?.stringValue)
            await (try await later.opened(good)).close()
            await again.stop()
        }
    }
}
