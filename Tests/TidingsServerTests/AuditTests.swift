import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `Who has changed what` {
    private static func told(_ answer: APIResponse) -> [String] {
        (answer.json["records"]?.arrayValue ?? []).map { record in
            [
                record["actor"]?["kind"]?.stringValue ?? "", record["actor"]?["name"]?.stringValue ?? "",
                record["action"]?.stringValue ?? "", record["app"]?.stringValue ?? "-",
                record["subject"]?.stringValue ?? "", record["outcome"]?.stringValue ?? "",
            ].joined(separator: " ")
        }
    }

    @Test func `is told to operators who administer, page by page, by app and by actor`() async throws {
        try await TestServer.with { server in
            let olga = try await server.operatorKey()
            _ = try await server.makeApp(key: olga)
            _ = try await server.makeKey(#"["trace"]"#, key: olga)
            #expect(
                try await server.request("PUT", "/v1/apps/shop/settings", key: olga, body: #"{"name":"Shop"}"#).status
                    == 200)
            let vera = try await server.operatorKey("vera", "view")
            #expect(try await server.request("DELETE", "/v1/operators/olga", key: olga).status == 409)

            let all = try await server.request("GET", "/v1/audit?actor=olga", key: olga)
            #expect(
                Self.told(all) == [
                    "operator olga remove_operator - olga not_allowed", "operator olga set_settings shop  done",
                    "operator olga add_api_key shop backend done", "operator olga create_app shop  done",
                ])
            let first = try await server.request("GET", "/v1/audit?limit=1", key: olga)
            #expect(Self.told(first) == ["operator olga remove_operator - olga not_allowed"])
            let cursor = try #require(first.json["next"]?.stringValue)
            let second = try await server.request("GET", "/v1/audit?limit=1&cursor=\(cursor)", key: olga)
            #expect(Self.told(second) == ["command_line  add_operator - vera done"])
            let ofFile = try await server.request("GET", "/v1/audit?app=demo", key: olga)
            #expect(Self.told(ofFile) == ["configuration  import_app demo  done"])
            #expect(try await server.request("GET", "/v1/audit", key: vera).status == 403)
            #expect(try await server.request("GET", "/v1/audit?app=a%20b", key: olga).status == 400)
            #expect(try await server.request("GET", "/v1/audit?cursor=x", key: olga).status == 400)
        }
    }

    @Test func `is told to the app it is of, without addresses, and to no other`() async throws {
        try await TestServer.with { server in
            let olga = try await server.operatorKey()
            _ = try await server.makeApp(key: olga)
            let key = try await server.makeKey(#"["trace"]"#, key: olga)
            let own = try await server.request("GET", "/v1/apps/shop/audit", key: key)
            #expect(
                Self.told(own) == [
                    "operator olga add_api_key shop backend done", "operator olga create_app shop  done",
                ])
            #expect(own.json["records"]?.arrayValue?.allSatisfy { $0["address"] == nil } == true)
            #expect(try await server.request("GET", "/v1/apps/demo/audit", key: key).status == 401)
            #expect(try await server.request("GET", "/v1/audit", key: key).status == 401)
        }
    }
}
