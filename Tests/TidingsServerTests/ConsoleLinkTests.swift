import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `A one-time link to the console` {
    @Test func `signs in once, as an operator who is added if there is none`() async throws {
        try await TestServer.with { server in
            let link = try await server.consoleLink().get()
            let prefix = "http://127.0.0.1:\(server.listening.apiPort)/console/#link=tl_"
            #expect(link.hasPrefix(prefix))
            let answer = try await server.use(link)
            #expect(answer.json["operator"] == "local" && answer.json["role"] == "administer")
            #expect(answer.json["has_password"] == false)
            let browser = try server.browser(of: answer)
            #expect(try await browser.request("GET", "/v1/operators").status == 200)
            let again = try await server.use(link)
            #expect(again.status == 401 && again.json["code"] == "sign_in_refused" && again.json["field"] == "link")
            // Without a password nobody signs in otherwise, and one may be set.
            #expect(try await server.signIn("local", password: "").status == 401)
            let set = try await browser.request(
                "PUT", "/v1/operators/local/password", body: #"{"password":"first pass phrase"}"#)
            #expect(set.status == 204)
            #expect(try await server.signIn("local", password: "first pass phrase").status == 200)
        }
    }

    @Test func `signs in an operator who is there with the role they have`() async throws {
        try await TestServer.with { server in
            _ = try await server.operatorKey("vera", "view")
            let answer = try await server.use(try await server.consoleLink("vera").get())
            #expect(answer.json["operator"] == "vera" && answer.json["role"] == "view")
            guard case .failure(let failure) = try await server.consoleLink("a/b") else {
                Issue.record("a/b is a name")
                return
            }
            #expect(failure.reason.hasPrefix("name must be 1 to 64 letters"))
        }
    }

    @Test func `is for this machine, and is not used up by others`() async throws {
        try await TestServer.with({
            $0.proxy.addresses = ["127.0.0.1"]
            $0.console.local = "true"
        }) { server in
            let link = try await server.consoleLink().get()
            let elsewhere = try await server.use(
                link, headers: ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"])
            #expect(elsewhere.status == 403 && elsewhere.json["code"] == "local_only")
            #expect(try await server.use(link).status == 200)
        }
    }

    @Test func `is not made where others may come as this machine`() async throws {
        try await TestServer.with({ $0.proxy.addresses = ["127.0.0.1"] }) { server in
            guard case .failure(let failure) = try await server.consoleLink() else {
                Issue.record("a link is made")
                return
            }
            #expect(failure.reason == "console.local must be true where a proxy is named or api.host is open")
            // Nor is a password taken without what the proxy says.
            let key = try await server.operatorKey()
            let set = try await server.request(
                "PUT", "/v1/operators/olga/password", key: key, body: #"{"password":"a long pass phrase"}"#)
            #expect(set.status == 403 && set.json["code"] == "tls_required")
        }
    }

    @Test func `is good for ten minutes, and the newest sixteen are`() {
        let links = ConsoleLinks()
        let first = links.draw(for: "anna", at: Now(monotonic: 0, wall: 0))
        #expect(links.use(first, at: Now(monotonic: 599_999, wall: 0)) == "anna")
        #expect(links.use(first, at: Now(monotonic: 599_999, wall: 0)) == nil)
        let second = links.draw(for: "anna", at: Now(monotonic: 0, wall: 0))
        #expect(links.use(second, at: Now(monotonic: 600_000, wall: 0)) == nil)
        let many = (0..<17).map { links.draw(for: "\($0)", at: Now(monotonic: 0, wall: 0)) }
        #expect(links.use(many[0], at: Now(monotonic: 0, wall: 0)) == nil)
        #expect(links.use(many[1], at: Now(monotonic: 0, wall: 0)) == "1")
    }
}
