import Crypto
import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The push credentials of the HTTP API` {
    private static let path = "/v1/apps/demo/push-credentials"

    private static func body(_ key: P256.Signing.PrivateKey, _ more: String = "") -> String {
        let file = Data(key.pemRepresentation.utf8).base64EncodedString()
        return #"{"file":"\#(file)","name":"AuthKey_ABC123DEFG.p8","team_id":"DEF123GHIJ"\#(more)}"#
    }

    private func upload(
        _ server: TestServer, _ key: P256.Signing.PrivateKey = .init(), by operatorKey: String, _ more: String = "",
        headers: [String] = []
    ) async throws -> APIResponse {
        try await server.request(
            "POST", Self.path, key: operatorKey, body: Self.body(key, more), headers: headers)
    }

    private func id(_ answer: APIResponse) throws -> String { try #require(answer.json["id"]?.stringValue) }

    @Test func `are uploaded, told of without a secret, and there after a restart`() async throws {
        try await TestServer.withFolder { folder in
            let key = P256.Signing.PrivateKey()
            let secret = key.pemRepresentation.split(separator: "\n")[1]
            var (olga, told) = ("", JSONValue.null)
            try await TestServer.with(folder: folder) { server in
                olga = try await server.operatorKey()
                let made = try await self.upload(
                    server, key, by: olga, #","topics":["com.example.chat"],"environments":["sandbox"]"#)
                #expect(made.status == 201)
                told = made.json
                #expect(told["kind"] == "token_key" && told["state"] == "uploaded")
                #expect(told["key_id"] == "ABC123DEFG" && told["team_id"] == "DEF123GHIJ")
                #expect(told["topics"] == ["com.example.chat"] && told["environments"] == ["sandbox"])
                #expect(told["fingerprint"]?.stringValue?.count == 64)
                for path in [Self.path, "\(Self.path)/\(try self.id(made))", "/v1/apps/demo"] {
                    let answer = try await server.request("GET", path, key: olga)
                    #expect(answer.status == 200)
                    #expect(!answer.text.contains(secret))
                }
            }
            try await TestServer.with(folder: folder) { server in
                let all = try await server.request("GET", Self.path, key: olga)
                #expect(all.json["push_credentials"] == .array([told]))
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where name.hasPrefix("server.sqlite") {
                let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }

    @Test func `are uploaded once, whatever is repeated`() async throws {
        try await TestServer.withOperator { server, olga in
            let key = P256.Signing.PrivateKey()
            let once = ["Idempotency-Key: one"]
            let first = try await self.upload(server, key, by: olga, headers: once)
            let again = try await self.upload(server, key, by: olga, headers: once)
            #expect(first.status == 201 && again.status == 201)
            #expect(first.json == again.json)
            let other = try await self.upload(server, key, by: olga)
            #expect(other.status == 409 && other.json["code"] == "exists")
        }
    }

    @Test func `need an operator, and one who administers to be changed`() async throws {
        try await TestServer.withOperator { server, olga in
            let vera = try await server.operatorKey("vera", "send")
            let id = try self.id(try await self.upload(server, by: olga))
            #expect(try await server.request("GET", Self.path).json["code"] == "wrong_key")
            #expect(try await server.request("GET", Self.path, key: vera).status == 200)
            #expect(try await self.upload(server, by: vera).status == 403)
            for change in ["activate", "roll-back", "retire"] {
                #expect(
                    try await server.request("POST", "\(Self.path)/\(id)/\(change)", key: vera, body: "{}").status
                        == 403)
            }
            #expect(try await server.request("DELETE", "\(Self.path)/\(id)", key: vera).status == 403)
        }
    }

    @Test func `are activated, replaced, gone back from, retired and forgotten`() async throws {
        try await TestServer.withOperator { server, olga in
            func post(_ id: String, _ change: String, _ body: String = "{}") async throws -> APIResponse {
                try await server.request("POST", "\(Self.path)/\(id)/\(change)", key: olga, body: body)
            }
            func states() async throws -> [String] {
                let all = try await server.request("GET", Self.path, key: olga)
                return all.json["push_credentials"]?.arrayValue?.compactMap { $0["state"]?.stringValue } ?? []
            }
            let first = try self.id(try await self.upload(server, by: olga))
            let second = try self.id(try await self.upload(server, by: olga))
            let unproven = try await post(first, "activate")
            #expect(unproven.status == 409 && unproven.json["code"] == "wrong_credential_state")
            #expect(try await post(first, "activate", #"{"unproven":true}"#).json["state"] == "active")
            let replacing = try await post(second, "activate", #"{"unproven":true,"in_place_of":"\#(first)"}"#)
            #expect(replacing.json["replaces"]?.stringValue == first)
            #expect(try await states() == ["replaced", "active"])
            #expect(try await post(second, "roll-back").json["state"] == "rolled_back")
            #expect(try await states() == ["active", "rolled_back"])
            #expect(try await server.request("DELETE", "\(Self.path)/\(first)", key: olga).status == 409)
            #expect(try await post(first, "retire").json["state"] == "replaced")
            for id in [first, second] {
                #expect(try await server.request("DELETE", "\(Self.path)/\(id)", key: olga).status == 204)
            }
            #expect(try await states() == [])
            let gone = try await post(first, "activate")
            #expect(gone.status == 404 && gone.json["code"] == "unknown_push_credential")
        }
    }

    @Test(arguments: [
        (#"{"file":"","name":"AuthKey_ABC123DEFG.p8","team_id":"T"}"#, "file"), (#"{"file":"!"}"#, "file"),
        (#"{"name":"AuthKey_ABC123DEFG.p8"}"#, "file"), (#"{"file":"aGVsbG8="}"#, "file"),
    ])
    func `are refused with what is wrong with the file`(body: String, field: String) async throws {
        try await TestServer.withOperator { server, olga in
            let answer = try await server.request("POST", Self.path, key: olga, body: body)
            #expect(answer.status == 400)
            #expect(answer.json["field"]?.stringValue == field)
        }
    }

    @Test func `are refused without their ids, or with an environment that is none`() async throws {
        try await TestServer.withOperator { server, olga in
            let file = Data(P256.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString()
            for (more, field) in [
                ("", "key_id"), (#","key_id":"ABC123DEFG""#, "team_id"),
                (#","key_id":"K","team_id":"T","environments":["both"]"#, "environments[0]"),
                (#","key_id":"K","team_id":"T","environments":[]"#, "environments"),
                (#","key_id":"K","team_id":"T","topics":[""]"#, "topics"),
            ] {
                let answer = try await server.request(
                    "POST", Self.path, key: olga, body: #"{"file":"\#(file)"\#(more)}"#)
                #expect(answer.status == 400)
                #expect(answer.json["field"]?.stringValue == field, "\(more)")
            }
        }
    }
}
