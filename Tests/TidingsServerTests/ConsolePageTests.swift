// swift-format-ignore-file: NeverForceUnwrap

import Console
import Foundation
import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The console's pages` {
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    @Test func `are files of the binary, by their names, and may load nothing of others`() async throws {
        try await TestServer.with { server in
            for file in ConsoleFile.all {
                let answer = try await server.request("GET", "/console/\(file.name)", key: nil)
                #expect(answer.status == 200 && answer.text == String(decoding: file.bytes, as: UTF8.self))
                #expect(answer.header("Content-Type") == file.contentType)
                for (name, value) in [
                    ("Content-Security-Policy", Self.policy), ("X-Content-Type-Options", "nosniff"),
                    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
                    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-cache"),
                ] { #expect(answer.header(name) == value, "\(file.name) \(name)") }
            }
            let index = try await server.request("GET", "/console/", key: nil)
            #expect(try await server.request("GET", "/console/index.html", key: nil).text == index.text)
        }
    }

    @Test func `are sent once, and again when the build is another`() async throws {
        try await TestServer.with { server in
            let first = try await server.request("GET", "/console/", key: nil)
            let tag = try #require(first.header("ETag"))
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let again = try await server.request("GET", "/console/", key: nil, headers: ["If-None-Match: \(known)"])
                #expect(again.status == 304 && again.text.isEmpty && again.header("ETag") == tag, "\(known)")
                #expect(again.header("Content-Security-Policy") == Self.policy)
            }
            let other = try await server.request("GET", "/console/", key: nil, headers: ["If-None-Match: \"x\""])
            #expect(other.status == 200)
            let style = try await server.request("GET", "/console/console.css", key: nil)
            #expect(style.header("ETag") != tag)
        }
    }

    @Test func `are where the server's address leads`() async throws {
        try await TestServer.with { server in
            for (path, status) in [("/", 307), ("/console", 308)] {
                let answer = try await server.request("GET", path, key: nil)
                #expect(answer.status == status && answer.header("Location") == "/console/", "\(path)")
            }
        }
    }

    @Test(arguments: ["nothing.js", "INDEX.HTML", "..%2Findex.html", "%2e%2e", "openapi.yaml", "index.html%00"])
    func `are no other files`(name: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.request("GET", "/console/\(name)", key: nil)
            #expect(answer.status == 404 && answer.json["code"] == "unknown_file")
        }
    }

    @Test func `are not there where the console is off, and neither is signing in`() async throws {
        try await TestServer.withFolder { folder in
            var cookie = ""
            try await TestServer.with(folder: folder) { server in
                try await server.operatorWithPassword()
                cookie = try await server.browser().cookie
            }
            try await TestServer.with(folder: folder, { $0.console.enabled = "false" }) { server in
                for path in ["/", "/console", "/console/", "/console/index.html"] {
                    let answer = try await server.request("GET", path, key: nil)
                    #expect(answer.status == 404 && answer.json["code"] == "console_off", "\(path)")
                }
                #expect(try await server.signIn().json["code"] == "console_off")
                let asked = try await server.request("GET", "/v1/operators", key: nil, headers: ["Cookie: \(cookie)"])
                #expect(asked.status == 401)
                guard case .failure(let failure) = try await server.consoleLink() else {
                    Issue.record("a link is made")
                    return
                }
                #expect(failure.reason == "console.enabled must be true")
            }
        }
    }

    @Test func `are answered under the names that are set`() async throws {
        try await TestServer.with({ $0.console.hosts = ["push.example.com"] }) { server async throws in
            for (host, status) in [
                ("push.example.com", 200), ("PUSH.example.com:443", 200), ("localhost", 421), ("example.com", 421),
            ] {
                #expect(try await server.request("GET", "/console/", key: nil, host: host).status == status, "\(host)")
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A push from the console to many` {
    private static let job = PushJob(
        id: PushJobID("01qdq6qdr0000")!, app: "demo", account: ConversationID(type: .pushService, target: "push"),
        body: .custom(
            CustomMessage(
                id: MessageID(rawValue: 0), title: nil, content: "x", contentType: nil, extras: JSONObject(), sentAt: 0)
        ),
        audience: .everybody, createdAt: 5)

    private static func body(_ confirm: String?) -> String {
        let more = confirm.map { #","confirm":\#($0)"# } ?? ""
        return #"{"custom":{"content":"x"},"audience":{"everybody":true}\#(more)}"#
    }

    private static func confirm(_ devices: Int, _ password: String = TestServer.password) -> String {
        #"{"password":"\#(password)","devices":\#(devices)}"#
    }

    private static func isPush(_ command: APICommand) -> Bool {
        switch command {
        case .createPush: true
        case .once(_, _, let command): Self.isPush(command)
        default: false
        }
    }

    private func double(_ devices: Int) async throws -> APIDouble {
        try await APIDouble(
            answering: .pushJob(Self.job), audience: AudienceCount(people: devices / 2, devices: devices))
    }

    @Test func `needs nothing more for a thousand devices, nor with a key`() async throws {
        let few = try await self.double(1_000)
        let headers = try await few.signIn()
        for confirm in [nil, "null", Self.confirm(7, "wrong")] {
            let answer = try await few.request(.post, "pushes", Self.body(confirm), headers: headers, key: nil)
            #expect(answer.status == 202 && few.commands.contains(where: Self.isPush), "\(answer.text)")
            few.forget()
        }
        let many = try await self.double(5_000_000)
        for confirm in [nil, Self.confirm(7, "wrong")] {
            #expect(try await many.request(.post, "pushes", Self.body(confirm)).status == 202)
        }
        #expect(many.commands.allSatisfy(Self.isPush))
    }

    @Test func `needs the password, and the count to within a hundredth`() async throws {
        let api = try await self.double(20_000)
        let headers = try await api.signIn()
        for (confirm, code) in [
            (nil, "confirmation_needed"), (Self.confirm(19_799), "confirmation_needed"),
            (Self.confirm(20_201), "confirmation_needed"), (Self.confirm(20_000, "wrong"), "wrong_password"),
        ] {
            let answer = try await api.request(.post, "pushes", Self.body(confirm), headers: headers, key: nil)
            #expect(answer.status == 403 && answer.json["code"] == .string(code), "\(answer.text)")
            if code == "confirmation_needed" { #expect(answer.problem?.contains("20000") == true) }
            #expect(!api.commands.contains(where: Self.isPush))
        }
        for devices in [19_800, 20_000, 20_200] {
            api.forget()
            _ = try await api.request(.post, "pushes", Self.body(Self.confirm(devices)), headers: headers, key: nil)
            #expect(api.commands.contains(where: Self.isPush))
        }
    }

    @Test func `is told to set a password where there is none`() async throws {
        let api = try await self.double(1_001)
        let headers = try await api.signIn(password: nil)
        let answer = try await api.request(
            .post, "pushes", Self.body(Self.confirm(1_001)), headers: headers, key: nil)
        #expect(answer.json["code"] == "confirmation_needed" && answer.json["field"] == "confirm.password")
    }

    @Test func `is told what is wrong with the confirmation, whoever sends it`() async throws {
        let api = try await self.double(1)
        for confirm in ["{}", "1", #"{"password":"x"}"#, #"{"devices":1}"#, #"{"password":"x","devices":1,"x":1}"#] {
            #expect(try await api.request(.post, "pushes", Self.body(confirm)).status == 400, "\(confirm)")
        }
    }

    @Test func `is the same request with another password, which no digest holds`() async throws {
        let api = try await self.double(1)
        func fingerprint(_ confirm: String?, text: String = "x") async throws -> [UInt8]? {
            api.forget()
            let body = Self.body(confirm).replacing(#""content":"x""#, with: #""content":"\#(text)""#)
            _ = try await api.request(.post, "pushes", body, headers: [("Idempotency-Key", "k")])
            guard case .once(_, let fingerprint, _)? = api.commands.first(where: Self.isPush) else { return nil }
            return fingerprint
        }
        let first = try #require(try await fingerprint(Self.confirm(1, "one")))
        #expect(try await fingerprint(Self.confirm(2, "two")) == first)
        #expect(try await fingerprint(Self.confirm(1, "one"), text: "y") != first)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `An event stream of the console` {
    @Test(arguments: ["sign-out", "password", "role", "removal"])
    func `ends with its session, and with another role`(way: String) async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword("vera", "send")
            let root = try await server.operatorKey("root")
            let browser = try await server.browser("vera")
            let client = try await RawClient.connect(port: server.listening.apiPort)
            try await client.send(
                text: "GET /v1/apps/demo/events HTTP/1.1\r\nHost: localhost\r\nCookie: \(browser.cookie)\r\n"
                    + "Connection: close\r\n\r\n")
            #expect(try await client.head().contains("200 OK"))
            let answer =
                switch way {
                case "sign-out": try await browser.request("DELETE", "/v1/session")
                case "password":
                    try await server.request(
                        "PUT", "/v1/operators/vera/password", key: root, body: #"{"password":"another pass phrase"}"#)
                case "role":
                    try await server.request("PATCH", "/v1/operators/vera", key: root, body: #"{"role":"view"}"#)
                default: try await server.request("DELETE", "/v1/operators/vera", key: root)
                }
            #expect(answer.status < 300)
            // Until the server hangs up.
            #expect(await client.rest().contains("retry: "))
            await client.close()
        }
    }
}
