import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing
import TidingsModel

@testable import TidingsServer

private let screen = #"{"do":"screen"}"#
private let home = #"{"do":"home"}"#

@Suite(.timeLimit(.minutes(10))) struct `The virtual phones behind the server` {
    private static let routes: [(method: String, path: String, body: String?)] = [
        ("GET", "/v1/phones", nil), ("POST", "/v1/phones", #"{"id":"alice"}"#), ("DELETE", "/v1/phones/alice", nil),
        ("GET", "/v1/phones/alice/events", nil), ("POST", "/v1/phones/alice/commands", screen),
    ]

    private static let phone =
        #"{"id":"alice","user":"alice","app":"com.example.chat","ios":"17","lifecycle":"scenes","delegate":"modern","#
        + #""implements":[],"can_change":true}"#

    @Test func `are off unless the configuration says where they are`() async throws {
        try await TestServer.with { server in
            let key = try await server.operatorKey()
            for route in Self.routes {
                let answer = try await server.request(route.method, route.path, key: key, body: route.body)
                #expect(answer.status == 404 && answer.json["code"] == "phones_off", "\(route)")
                #expect(answer.json["field"] == "console.phones")
            }
        }
    }

    @Test func `are told of with the token of the file, and of nothing else that the browser sent`() async throws {
        try await PhoneHostDouble.with { server, host in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            host.setAnswer(.json(200, #"{"phones":[\#(Self.phone)],"can_start":true}"#))
            let list = try await browser.request("GET", "/v1/phones", headers: ["X-Other: 1", "Accept: text/x"])
            #expect(list.status == 200 && list.json["phones"]?.arrayValue?.first?["id"] == "alice")
            #expect(list.header("Cache-Control") == "no-store")
            host.setAnswer(.json(200, #"{"ok":true,"result":{}}"#))
            let done = try await browser.request("POST", "/v1/phones/alice/commands", body: home)
            #expect(done.status == 200 && done.json == ["ok": true, "result": [:]])
            #expect(
                host.requests == [
                    .init(method: "GET", path: "/v1/phones"),
                    .init(method: "POST", path: "/v1/phones/alice/commands", body: home),
                ])
            for fields in host.headers {
                #expect(fields[.authorization] == "Bearer \(PhoneHostDouble.token)")
                let sent = Set(fields.map(\.name.canonicalName))
                #expect(
                    sent.isSubset(of: ["authorization", "connection", "content-type", "content-length"]), "\(sent)")
            }
        }
    }

    @Test func `are started and ended by who administers, with the body as it came`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey()
            host.setAnswer(.json(201, Self.phone))
            let body = #"{"id":"alice","ios":"9.3","delegate":"legacy"}"#
            let started = try await server.request("POST", "/v1/phones", key: key, body: body)
            #expect(started.status == 201 && started.json["id"] == "alice")
            host.setAnswer(.json(204, ""))
            #expect(try await server.request("DELETE", "/v1/phones/alice", key: key).status == 204)
            #expect(
                host.requests == [
                    .init(method: "POST", path: "/v1/phones", body: body),
                    .init(method: "DELETE", path: "/v1/phones/alice"),
                ])
        }
    }

    /// Which routes are answered with 2xx: list, start, end, look, touch.
    @Test(arguments: [
        ("view", [true, false, false, false, false]), ("content", [true, false, false, true, false]),
        ("send", [true, false, false, true, true]), ("administer", [true, true, true, true, true]),
    ])
    func `are for operators, each to their role`(role: String, mayUse: [Bool]) async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey("anna", role)
            let asked: [(String, String, String?, PhoneHostDouble.Answer)] = [
                ("GET", "/v1/phones", nil, .json(200, #"{"phones":[],"can_start":true}"#)),
                ("POST", "/v1/phones", #"{"id":"alice"}"#, .json(201, Self.phone)),
                ("DELETE", "/v1/phones/alice", nil, .json(204, "")),
                ("POST", "/v1/phones/alice/commands", screen, .json(200, #"{"ok":true,"result":{}}"#)),
                ("POST", "/v1/phones/alice/commands", home, .json(200, #"{"ok":true,"result":{}}"#)),
            ]
            for (index, request) in asked.enumerated() {
                host.forget()
                host.setAnswer(request.3)
                let answer = try await server.request(request.0, request.1, key: key, body: request.2)
                #expect((answer.status < 300) == mayUse[index], "\(request)")
                if !mayUse[index] { #expect(answer.json["code"] == "missing_role") }
                #expect(host.requests.count == (mayUse[index] ? 1 : 0), "\(request)")
            }
            if role == "view" {
                #expect(try await server.request("GET", "/v1/phones/alice/events", key: key).status == 403)
                #expect(host.requests == [])
            }
        }
    }

    @Test func `are for nobody else, and not for another site's page`() async throws {
        try await PhoneHostDouble.with { server, host in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            for route in Self.routes {
                for key in [nil, TestServer.key, "x"] {
                    let answer = try await server.request(route.method, route.path, key: key, body: route.body)
                    #expect(answer.status == (key == TestServer.key ? 403 : 401), "\(route)")
                }
                guard route.method != "GET" else { continue }
                let bare = try await browser.bare(route.method, route.path, body: route.body)
                #expect(bare.status == 403 && bare.json["code"] == "csrf", "\(route)")
            }
            #expect(host.requests == [])
        }
    }

    @Test(arguments: [
        "..%2Fphones", "%2E%2E", "alice%20x", "alice%3Fx", "alice%0D%0AX-A:%201", String(repeating: "x", count: 65),
    ])
    func `have names, and what is none is not asked for`(name: String) async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey()
            for (method, rest, body) in [("DELETE", "", nil), ("GET", "/events", nil), ("POST", "/commands", home)] {
                let answer = try await server.request(method, "/v1/phones/\(name)\(rest)", key: key, body: body)
                #expect(answer.status == 404 && answer.json["code"] == "unknown_phone", "\(method)")
            }
            #expect(host.requests == [])
        }
    }

    @Test func `refuse in their own words`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey()
            host.setAnswer(.json(400, #"{"field":"ios","rule":"must be a version"}"#))
            let bad = try await server.request("POST", "/v1/phones", key: key, body: #"{"id":"a","ios":"x"}"#)
            #expect(bad.status == 400 && bad.problem == "ios must be a version")
            host.setAnswer(.json(404, #"{"field":"id","rule":"names no phone that is on"}"#))
            let gone = try await server.request("POST", "/v1/phones/bob/commands", key: key, body: home)
            #expect(gone.status == 404 && gone.json["code"] == "unknown_phone")
            host.setAnswer(.json(200, #"{"ok":false,"field":"app","rule":"does not run"}"#))
            let refused = try await server.request("POST", "/v1/phones/bob/commands", key: key, body: home)
            #expect(refused.status == 200 && refused.json["rule"] == "does not run")
            for body in ["", "[]", "{}", #"{"do":1}"#] {
                let answer = try await server.request("POST", "/v1/phones/bob/commands", key: key, body: body)
                #expect(answer.status == 400, "\(body)")
            }
        }
    }

    @Test func `are in the audit log by what is done to them, and not by each look`() async throws {
        let log = LineLog()
        try await PhoneHostDouble.with(audit: log.logger) { server, host in
            let key = try await server.operatorKey("sven", "send")
            host.setAnswer(.json(200, #"{"ok":true,"result":{}}"#))
            for body in [screen, home, screen] {
                #expect(
                    try await server.request("POST", "/v1/phones/alice/commands", key: key, body: body).status == 200)
            }
            let lines = log.lines.filter { $0.contains("/v1/phones/alice/commands") }
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.first?.contains("sven") == true && lines.first?.contains("home") == true)
        }
    }

    @Test func `are in the store's audit by what was done to them`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey()
            func command(_ body: String, answered: String) async throws {
                host.setAnswer(.json(200, answered))
                let answer = try await server.request("POST", "/v1/phones/alice/commands", key: key, body: body)
                #expect(answer.status == 200)
            }
            host.setAnswer(.json(201, Self.phone))
            _ = try await server.request("POST", "/v1/phones", key: key, body: #"{"id":"alice"}"#)
            try await command(screen, answered: #"{"ok":true,"result":{}}"#)
            try await command(#"{"do":"type","text":"a secret"}"#, answered: #"{"ok":true,"result":{}}"#)
            try await command(home, answered: #"{"ok":false,"field":"app","rule":"does not run"}"#)
            host.setAnswer(.json(404, #"{"field":"id","rule":"names no phone that is on"}"#))
            _ = try await server.request("POST", "/v1/phones/bob/commands", key: key, body: home)
            host.setAnswer(.json(204, ""))
            _ = try await server.request("DELETE", "/v1/phones/alice", key: key)
            let told = try await server.request("GET", "/v1/audit?limit=10", key: key)
            let records = (told.json["records"]?.arrayValue ?? []).filter {
                $0["action"]?.stringValue?.contains("phones") == true
            }
            #expect(
                records.map { "\($0["action"]?.stringValue ?? "") \($0["subject"]?.stringValue ?? "")" } == [
                    "DELETE phones/{id} alice", "POST phones/{id}/commands alice type", "POST phones alice",
                ])
            #expect(records.allSatisfy { $0["app"] == .null })
            #expect(!told.text.contains("secret"))
        }
    }

    @Test func `that are not there are told of in a sentence that helps`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey()
            for (status, field) in [
                (401, "console.phones_token_path"), (500, "console.phones"), (302, "console.phones"),
            ] {
                host.setAnswer(.json(status, #"{"field":"x","rule":"y"}"#))
                for (method, path, body) in Self.routes {
                    let answer = try await server.request(method, path, key: key, body: body)
                    #expect(answer.status == 502 && answer.json["code"] == "phones_unreachable", "\(method) \(path)")
                    #expect(answer.json["field"]?.stringValue == field)
                }
            }
        }
        try await PhoneHostDouble.with(token: nil) { server, host in
            let answer = try await server.request("GET", "/v1/phones", key: try await server.operatorKey())
            #expect(answer.status == 502 && answer.json["field"] == "console.phones_token_path")
            #expect(host.requests == [])
        }
        try await TestServer.withFolder { folder in
            let path = "\(folder)/control.token"
            try PhoneHostDouble.token.write(toFile: path, atomically: true, encoding: .utf8)
            // RFC 6335 §6 reserves the port: nobody listens there.
            try await TestServer.with(
                folder: folder,
                {
                    $0.console.phones = "127.0.0.1:1023"
                    $0.console.phonesTokenPath = path
                }
            ) { server in
                let answer = try await server.request("GET", "/v1/phones", key: try await server.operatorKey())
                #expect(answer.status == 502 && answer.json["field"] == "console.phones")
                #expect(answer.problem?.contains("--port 1023") == true)
            }
        }
    }

    @Test(arguments: [
        "192.0.2.1:7482", "phones.example.com:7482", "127.0.0.1", "127.0.0.1:0", "http://127.0.0.1:1", ":1",
    ])
    func `are on this machine`(address: String) {
        var configuration = ServerConfiguration()
        configuration.console.phones = address
        #expect(configuration.validate().map(\.field) == ["console.phones"])
    }

    @Test(arguments: ["127.0.0.1:7482", "localhost:7482", "[::1]:7482"])
    func `are found by any of this machine's own names`(address: String) {
        #expect(PhonesAddress(address)?.port == 7_482)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The events of a virtual phone` {
    private static let events = ["id: s/1\ndata: {\"n\":1}\n\n", "data: {\"event\":\"views\"}\n\n"]

    private func open(
        _ server: TestServer, _ headers: [String], path: String = "/v1/phones/alice/events?last=5"
    ) async throws -> (client: RawClient, head: String) {
        let client = try await RawClient.connect(port: server.listening.apiPort, receiveBuffer: 4_096)
        let lines = ["GET \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
        try await client.send(text: lines.joined(separator: "\r\n") + "\r\n\r\n")
        return (client, try await client.head())
    }

    @Test func `go through as they are, and the reader's place with the question`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey("carla", "content")
            host.setAnswer(.events(Self.events))
            let headers = ["Authorization: Bearer \(key)", "Last-Event-ID: s/0"]
            let (client, head) = try await self.open(server, headers)
            #expect(head.hasPrefix("HTTP/1.1 200") && head.lowercased().contains("content-type: text/event-stream"))
            #expect(host.requests.map(\.path) == ["/v1/phones/alice/events?last=5"])
            #expect(host.headers.first?[.init("Last-Event-ID")!] == "s/0")
            let text = try await client.text(until: Self.events[1])
            #expect(text.contains(Self.events[0]))
            // Whoever has gone is not read for.
            await client.close()
            try await server.eventually { host.ended.withLockedValue { $0 } == 1 }
        }
    }

    @Test func `end at sign-out`() async throws {
        try await PhoneHostDouble.with { server, host in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            host.setAnswer(.events(Self.events))
            let (client, head) = try await self.open(server, ["Cookie: \(browser.cookie)"])
            #expect(head.hasPrefix("HTTP/1.1 200"))
            #expect(try await browser.request("DELETE", "/v1/session").status == 204)
            #expect(await client.rest().contains(Self.events[0]))
            try await server.eventually { host.ended.withLockedValue { $0 } == 1 }
        }
    }

    @Test func `end with the role of who reads`() async throws {
        try await PhoneHostDouble.with { server, host in
            try await server.operatorWithPassword("carla", "content")
            let root = try await server.operatorKey("root")
            let browser = try await server.browser("carla")
            host.setAnswer(.events(Self.events))
            let (client, _) = try await self.open(server, ["Cookie: \(browser.cookie)"])
            let changed = try await server.request(
                "PATCH", "/v1/operators/carla", key: root, body: #"{"role":"view"}"#)
            try #require(changed.status == 200)
            #expect(await client.rest().contains(Self.events[0]))
        }
    }

    @Test(
        arguments: [
            ("DELETE", "", nil), ("POST", "/rotate", "{}"), ("PATCH", "", #"{"role":"view"}"#),
        ] as [(String, String, String?)])
    func `end with the key that has opened them, its operator, and the role`(
        method: String, path: String, body: String?
    ) async throws {
        try await PhoneHostDouble.with { server, host in
            let (root, key) = (
                try await server.operatorKey("root"), try await server.operatorKey("carla", "content")
            )
            host.setAnswer(.events(Self.events))
            let (client, head) = try await self.open(server, ["Authorization: Bearer \(key)"])
            #expect(head.hasPrefix("HTTP/1.1 200"))
            let changed = try await server.request(method, "/v1/operators/carla\(path)", key: root, body: body)
            try #require(changed.status < 300)
            #expect(await client.rest().contains(Self.events[0]))
            try await server.eventually { host.ended.withLockedValue { $0 } == 1 }
        }
    }

    @Test func `have so many readers, and a place is free again when one has gone`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey("carla", "content")
            let headers = ["Authorization: Bearer \(key)"]
            host.setAnswer(.events(Self.events))
            var readers: [RawClient] = []
            for _ in 0..<PhonesProxy.readersMax {
                let (client, head) = try await self.open(server, headers)
                #expect(head.hasPrefix("HTTP/1.1 200"))
                readers.append(client)
            }
            let more = try await server.request("GET", "/v1/phones/alice/events", key: key)
            #expect(more.status == 503 && more.json["field"] == "events")
            await readers.removeLast().close()
            try await server.eventually {
                let (client, head) = try await self.open(server, headers)
                guard head.hasPrefix("HTTP/1.1 200") else { return false }
                readers.append(client)
                return true
            }
            for reader in readers { await reader.close() }
        }
    }

    @Test func `are not read from the phone faster than somebody reads them here`() async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey("carla", "content")
            // Far more than all sockets on the way hold.
            let count = 4_096
            host.setAnswer(.chunks(count))
            // The client of `RawClient` reads what comes, so this one is a socket that nobody reads.
            let silent = try await SilentReader.connect(port: server.listening.apiPort)
            try await silent.send("GET /v1/phones/a/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\n\r\n")
            var before = -1
            var same = 0
            try await server.eventually {
                let now = host.written.withLockedValue { $0 }
                same = now == before && now > 0 ? same + 1 : 0
                before = now
                return same >= 200
            }
            #expect(before < count / 2)
            await silent.close()
            try await server.eventually { host.ended.withLockedValue { $0 } == 1 }
        }
    }

    @Test(arguments: ["last=x", "after=-1", "last=1&last=2", "types=a"])
    func `are asked for by numbers`(query: String) async throws {
        try await PhoneHostDouble.with { server, host in
            let key = try await server.operatorKey("carla", "content")
            #expect(try await server.request("GET", "/v1/phones/a/events?\(query)", key: key).status == 400)
            #expect(host.requests == [])
        }
    }
}
