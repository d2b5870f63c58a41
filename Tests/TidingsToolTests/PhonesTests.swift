import ArgumentParser
import Foundation
import PhoneCore
import Testing
import TidingsModel

@testable import tidings

@Suite struct `A phone to be hosted` {
    private func read(_ text: String) -> Result<HostedPhoneSetup, InvalidField> {
        do throws(InvalidField) { return .success(try HostedPhoneSetup(text)) } catch { return .failure(error) }
    }

    private func read(json: JSONValue) -> Result<HostedPhoneSetup, InvalidField> {
        do throws(InvalidField) { return .success(try HostedPhoneSetup(json: JSONFields(json))) } catch {
            return .failure(error)
        }
    }

    @Test func `has a name, and is of today unless it is said`() throws {
        let alice = try self.read("alice").get()
        #expect((alice.id, alice.user) == ("alice", "alice"))
        #expect((alice.versionText, alice.style, alice.delegate) == ("17", .scenes, .modern))
        #expect(try self.read(json: ["id": "alice", "user": .null]).get() == alice)
    }

    @Test func `is what is said, on the command line as in a request`() throws {
        let old = try self.read("old,user=bob,ios=9.3,delegate=legacy").get()
        #expect((old.id, old.user) == ("old", "bob"))
        #expect((old.versionText, old.style, old.delegate) == ("9.3", .application, .legacy))
        #expect(
            try self.read(json: ["id": "old", "user": "bob", "ios": "9.3", "delegate": "legacy"]).get() == old)
        #expect(try self.read("a,lifecycle=application").get().style == .application)
    }

    @Test(arguments: [
        ("", "id"), ("../a", "id"), ("a b", "id"), ("a.b", "id"), (String(repeating: "a", count: 65), "id"),
        ("a,ios=two", "ios"), ("a,ios=2", "ios"), ("a,lifecycle=scene", "lifecycle"), ("a,delegate=", "phone"),
        ("a,delegate=old", "delegate"), ("a,iOS=17", "iOS"), ("a,ios", "phone"), ("a,ios=17,ios=18", "phone"),
        ("a,user=b c", "user"),
    ])
    func `is refused by the member that is wrong`(text: String, field: String) {
        guard case .failure(let fault) = self.read(text) else {
            Issue.record("\(text) is taken")
            return
        }
        #expect(fault.field == field)
    }

    @Test func `has the delegate methods that are named, or all that go with its delegate`() throws {
        #expect(try self.read("a").get().methods == nil)
        let two = try self.read("a,implements=willPresent+performFetch").get()
        #expect(two.methods == [.willPresent, .performFetch])
        #expect(try self.read(json: ["id": "a", "implements": ["performFetch", "willPresent"]]).get() == two)
        #expect(try self.read(json: ["id": "a", "implements": []]).get().methods == [])
        #expect(try self.read(json: ["id": "a", "implements": .null]).get().methods == nil)
    }

    @Test(arguments: ["willpresent", "willPresent\u{2B}willPresent", "\u{20}", "willTerminate"])
    func `is refused with a method that is none, or there twice, by name and rule`(methods: String) {
        guard case .failure(let fault) = self.read("a,implements=\(methods)") else {
            Issue.record("\(methods) is taken")
            return
        }
        #expect(fault.field == "implements")
        #expect(fault.rule.hasPrefix("must have each once of didReceiveRemoteNotification, "))
        #expect(fault.rule.contains("willPresent, didReceive, openSettings"))
    }

    @Test func `is refused with methods that are no list of texts`() {
        for (methods, field) in [("willPresent", "implements"), (["a": 1], "implements"), ([1], "implements[0]")]
            as [(JSONValue, String)]
        {
            guard case .failure(let fault) = self.read(json: ["id": "a", "implements": methods]) else {
                Issue.record("\(methods) is taken")
                continue
            }
            #expect(fault.field.hasSuffix(field))
        }
    }

    @Test func `is refused with a member that is not known`() {
        guard case .failure(let fault) = self.read(json: ["id": "a", "app": "x"]) else {
            Issue.record("it is taken")
            return
        }
        #expect(fault.field == "value.app" || fault.field == "app")
    }
}

@Suite struct `The token of the phones` {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidings-phones-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    @Test func `is drawn once, into a file for its user alone`() throws {
        try self.withFolder { folder in
            let path = "\(folder)/inner/control.token"
            let token = try PhonesToken.load(path)
            #expect(token.utf8.count >= PhonesToken.lengthMin)
            #expect(try PhonesToken.load(path) == token)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            #expect(try PhonesToken.load("\(folder)/other/control.token") != token)
        }
    }

    @Test func `is not taken from a file that others read, and not if it is short or two words`() throws {
        try self.withFolder { folder in
            let path = "\(folder)/control.token"
            let good = try PhonesToken.load(path)
            func refuses(_ text: String, mode: Int = 0o600) throws -> Bool {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                do { _ = try PhonesToken.load(path) } catch is ToolFailure { return true }
                return false
            }
            #expect(try refuses(good, mode: 0o640))
            #expect(try refuses(good, mode: 0o604))
            #expect(try !refuses("\(good)\n"))
            #expect(try refuses(String(good.prefix(31))))
            #expect(try refuses("\(good) \(good)"))
            #expect(try refuses(""))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The port of the phones` {
    private static let token = "a-token-of-at-least-thirty-two-characters"

    private func with(_ body: (String) async throws -> Void) async throws {
        let host = PhonesHost(try PhoneOptions.parse([]), folder: "/nonexistent", environment: [:])
        let server = try await PhonesServer.start(PhonesAPI(host, token: Self.token), port: 0)
        let result = await Result.of { try await body("http://127.0.0.1:\(server.port)") }
        await server.stop()
        try result.get()
    }

    private func status(
        _ method: String, _ address: String, _ key: String?, _ body: JSONValue? = nil
    ) async throws -> (Int, JSONValue) {
        let (status, bytes) = try await HTTP.call(method, address, key: key, body: body)
        return (status, (try? JSONValue(parsing: bytes)) ?? .null)
    }

    @Test func `tells nothing without the token, not even whether there is a path`() async throws {
        try await self.with { address in
            for (method, path) in [
                ("GET", "/v1/phones"), ("POST", "/v1/phones"), ("DELETE", "/v1/phones/a"),
                ("GET", "/v1/phones/a/events"),
                ("POST", "/v1/phones/a/commands"), ("GET", "/"), ("GET", "/nothing"),
            ] {
                for key in [nil, "", "x", String(Self.token.dropLast()), Self.token + "x", Self.token.uppercased()] {
                    let (status, json) = try await self.status(method, address + path, key)
                    #expect(status == 401 && json["field"] == "Authorization", "\(method) \(path)")
                }
            }
        }
    }

    @Test func `tells who has it that there is no phone, and what is wrong`() async throws {
        try await self.with { address in
            let list = try await self.status("GET", "\(address)/v1/phones", Self.token)
            let modern: JSONValue = [
                "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "willPresent", "didReceive",
                "performFetch",
            ]
            let legacy: JSONValue = [
                "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "didReceiveLocalNotification",
                "performFetch", "handleRemoteAction", "handleLocalAction", "handleRemoteActionWithResponseInfo",
                "handleLocalActionWithResponseInfo",
            ]
            #expect(
                list == (
                    200,
                    ["phones": [], "can_start": true, "delegates": ["modern": modern, "legacy": legacy]]
                ))
            for (method, path, body) in [
                ("DELETE", "/v1/phones/a", nil), ("GET", "/v1/phones/a/events", nil),
                ("POST", "/v1/phones/a/commands", ["do": "home"] as JSONValue?),
            ] {
                let (status, json) = try await self.status(method, address + path, Self.token, body)
                #expect(status == 404 && json["field"] == "id", "\(method) \(path)")
            }
            let bad = try await self.status("POST", "\(address)/v1/phones", Self.token, ["id": "a", "ios": "x"])
            #expect(bad.0 == 400 && bad.1["field"] == "ios")
            let unknown = try await self.status(
                "POST", "\(address)/v1/phones", Self.token, ["id": "a", "implements": ["willPresent", "fly"]])
            #expect(unknown.0 == 400 && unknown.1["field"] == "implements")
            #expect(try await self.status("GET", "\(address)/v1/phones?a=1", Self.token).0 == 400)
            #expect(try await self.status("GET", "\(address)/v1/other", Self.token).0 == 404)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
