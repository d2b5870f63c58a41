import HTTPTypes
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(5))) struct `A stream of events that a key has opened` {
    private func open(_ server: TestServer, _ key: String, app: String) async throws -> RawClient {
        let client = try await RawClient.connect(port: server.listening.apiPort)
        try await client.send(
            text: "GET /v1/apps/\(app)/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Authorization: Bearer \(key)\r\n\r\n")
        let head = try await client.head()
        guard head.hasPrefix("HTTP/1.1 200 ") else { throw RawClient.UnexpectedAnswer(text: head) }
        return client
    }

    /// Something happens in the app.
    private func push(_ server: TestServer, app: String, key: String) async throws {
        let made = try await server.request(
            "POST", "/v1/apps/\(app)/pushes", key: key,
            body: #"{"notification":{"text":"x"},"audience":{"users":["bob"]}}"#)
        #expect(made.status == 202)
    }

    @Test func `ends with it, with its overlap, and with its app's suspension, though nothing happens`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            let watcher = try await self.open(server, olga, app: "shop")
            let ends: [(name: String, method: String, path: String, body: String?)] = [
                ("removed", "DELETE", "api-keys/backend", nil),
                ("rotated", "POST", "api-keys/backend/rotate", #"{"overlap_seconds":0}"#),
                ("suspended", "POST", "suspend", nil),
            ]
            for end in ends {
                let key = try await server.makeKey(#"["trace"]"#, key: olga)
                let reader = try await self.open(server, key, app: "shop")
                _ = try await server.request(end.method, "/v1/apps/shop/\(end.path)", key: olga, body: end.body)
                // A last chunk of no bytes says that the answer is whole.
                #expect(await reader.rest().hasSuffix("0\r\n\r\n"), "\(end.name)")
                _ = try await server.request("DELETE", "/v1/apps/shop/api-keys/backend", key: olga)
            }
            _ = try await server.request("POST", "/v1/apps/shop/resume", key: olga)
            let key = try await server.makeKey(#"["trace"]"#, key: olga)
            let reader = try await self.open(server, key, app: "shop")
            let rotate = "/v1/apps/shop/api-keys/backend/rotate"
            _ = try await server.request("POST", rotate, key: olga, body: #"{"overlap_seconds":3600}"#)
            try await self.push(server, app: "shop", key: olga)
            #expect(try await reader.text(until: "event: push_job").contains("retry: "))
            // Of two that are replaced the older one ends.
            _ = try await server.request("POST", rotate, key: olga, body: #"{"overlap_seconds":3600}"#)
            #expect(await reader.rest().hasSuffix("0\r\n\r\n"))
            // Operators go on looking at an app that is suspended.
            #expect(try await watcher.text(until: "event: push_job").contains("retry: "))
            await watcher.close()
        }
    }

    @Test func `of an operator ends with it and with the operator, and goes on with a role that may look`() async throws
    {
        try await TestServer.withOperator { server, olga in
            let keys = (try await server.operatorKey("vera", "send"), try await server.operatorKey("sven", "view"))
            let (vera, sven) = (
                try await self.open(server, keys.0, app: "demo"), try await self.open(server, keys.1, app: "demo")
            )
            func ask(_ method: String, _ path: String, _ body: String? = nil) async throws {
                let answer = try await server.request(method, "/v1/operators/\(path)", key: olga, body: body)
                #expect(answer.status < 300, "\(path)")
            }
            try await ask("PATCH", "vera", #"{"role":"view"}"#)
            try await self.push(server, app: "demo", key: olga)
            _ = try await vera.text(until: "event: push_job")
            try await ask("POST", "vera/rotate")
            #expect(await vera.rest().hasSuffix("0\r\n\r\n"))
            _ = try await sven.text(until: "event: push_job")
            try await ask("DELETE", "sven")
            #expect(await sven.rest().hasSuffix("0\r\n\r\n"))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The places of those who read events` {
    @Test func `are not kept from operators by the app's own readers`() async throws {
        let api = try await APIDouble()
        api.feed.begin(epoch: 7)
        let places = (0..<EventFeed.readersMax).map { _ in api.feed.enter("demo") }
        let headers = try await api.signIn(.view)
        // Whoever had a place is told that the server stops.
        api.feed.end()
        let answer = try await api.request(.get, "events", headers: headers, key: nil)
        #expect(answer.json["detail"]?.stringValue?.hasPrefix("the server takes no work") == true)
        #expect(places.count == EventFeed.readersMax)
    }
}
