import Foundation
import Logging
import Testing
import TidingsModel
import TidingsWire

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `A server` {
    private static let draft = MessageDraft(
        clientMessageID: "c1", conversation: .init(type: .direct, target: "bob"), objectName: .text,
        content: "{\"content\":\"hello\"}")

    @Test func `carries a message from one client to the other, after it is on disk`() async throws {
        try await TestServer.with { server in
            let alice = try await server.client("alice", as: .json)
            let bob = try await server.client("bob", as: .protobuf)
            try await alice.send(.send(Self.draft))
            guard case .sendAccepted(let accepted) = try await alice.nextFrame() else {
                Issue.record("the send was refused")
                return
            }
            #expect(accepted.clientMessageID == "c1")
            #expect(accepted.position == 1)
            guard case .entry(let entry) = try await bob.nextFrame(), case .message(let message) = entry.body else {
                Issue.record("bob was not told")
                return
            }
            #expect(entry.position == 1)
            #expect(message.id == accepted.messageID)
            #expect(message.sender == "alice")
            #expect(message.content == Self.draft.content)
            #expect(server.metric("tidings_messages_accepted_total") == "1")
            await alice.close()
            await bob.close()
        }
    }

    @Test func `keeps what it acked when it is started again`() async throws {
        try await TestServer.withFolder { folder in
            var id: MessageID?
            try await TestServer.with(folder: folder) { server in
                let alice = try await server.client("alice")
                try await alice.send(.send(Self.draft))
                guard case .sendAccepted(let accepted) = try await alice.nextFrame() else { return }
                id = accepted.messageID
                await alice.close()
            }
            try await TestServer.with(folder: folder) { server in
                let bob = try await server.client("bob")
                try await bob.send(.sync(after: 0, limit: 10))
                guard case .page(let page) = try await bob.nextFrame(),
                    case .message(let message)? = page.entries.first?.body
                else {
                    Issue.record("the message is gone")
                    return
                }
                #expect(message.id == id)
                await bob.close()
            }
        }
    }

    @Test func `asks its clients to come back when it stops`() async throws {
        var client: RawClient?
        try await TestServer.with { server in client = try await server.client("alice") }
        let frame = try await client?.nextFrame()
        guard case .reconnect = frame else {
            Issue.record("not asked: \(String(describing: frame))")
            return
        }
        var codes: [UInt16?] = []
        while let frame = await client?.next() { codes.append(frame.closeCode) }
        #expect(codes == [1001])
    }

    private func faults(_ change: (inout ServerConfiguration) -> Void) async throws -> [String] {
        do {
            try await TestServer.with(change) { _ in }
            return []
        } catch let faults as ConfigurationFaults {
            return faults.faults.map { "\($0.field) \($0.rule)" }
        }
    }

    @Test func `names the port that is in use`() async throws {
        try await TestServer.with { server in
            let (gateway, api) = (server.listening.gatewayPort, server.listening.apiPort)
            let first = try await self.faults { $0.gateway.port = gateway }
            #expect(first == ["gateway.port must be free, but \(gateway) is in use on 127.0.0.1"])
            let second = try await self.faults { $0.api.port = api }
            #expect(second == ["api.port must be free, but \(api) is in use on 127.0.0.1"])
        }
    }

    @Test func `names an address that is not the machine's`() async throws {
        let faults = try await self.faults { $0.gateway.host = "203.0.113.1" }
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("gateway.host must be an address of this machine, got 203.0.113.1:0") == true)
    }

    @Test func `names a database it cannot use`() async throws {
        let faults = try await self.faults { $0.store.path = "/nonexistent/folder/server.sqlite" }
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("store.path must be a file the server can use") == true)
    }

    @Test func `names every credential it cannot use`() async throws {
        let faults = try await self.faults { configuration in
            var apns = ServerConfiguration.APNs()
            (apns.teamID, apns.keyID, apns.keyPath) = ("TEAM123456", "KEY1234567", "/nonexistent/key.p8")
            apns.topic = "com.example.chat"
            configuration.apps[0].apns = apns
            var second = ServerConfiguration.App(id: "second", tokenSecret: TestServer.secret)
            second.apns = apns
            configuration.apps.append(second)
        }
        #expect(
            faults == [
                "app.demo.apns.key_path must name a readable file, got \"/nonexistent/key.p8\"",
                "app.second.apns.key_path must name a readable file, got \"/nonexistent/key.p8\"",
            ])
    }

    @Test func `lists the faults of its configuration and starts nothing`() async throws {
        let faults = try await self.faults {
            $0.gateway.port = -1
            $0.apps[0].tokenSecret = Secret("short")
        }
        #expect(
            faults == [
                "gateway.port must be 0 to 65535, got -1", "app.demo.token_secret must be at least 32 bytes, got 5",
            ])
    }
}
