import Foundation
import SDKTestSupport
import Testing
import TidingsModel

@testable import TidingsClient

@Suite struct `What screens ask of the client` {
    @Test func `is a folder beside the person's store, which goes at a sign-out and with another person`() async throws
    {
        let bench = try ClientBench()
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let client = try bench.client()
        #expect(throws: ChatError.notSignedIn) { try client.screensFolder() }
        try await client.connect(userID: "alice", token: "alice")
        let folder = try client.screensFolder()
        #expect(try client.screensFolder() == folder)
        try Data("typed".utf8).write(to: folder.appendingPathComponent("outgoing.json"))
        try await client.connect(userID: "bob", token: "bob")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let next = try client.screensFolder()
        #expect(next != folder)
        try Data("typed".utf8).write(to: next.appendingPathComponent("outgoing.json"))
        await client.signOut()
        #expect(!FileManager.default.fileExists(atPath: next.path))
    }

    @Test func `is to send a draft under an id of its own: twice is the same message`() async throws {
        let bench = try ClientBench()
        defer { try? FileManager.default.removeItem(at: bench.folder) }
        let client = try bench.client()
        let draft = MessageDraft(
            clientMessageID: "mine", conversation: ConversationID(type: .direct, target: "bob"), objectName: .text,
            content: MessageContent.text("hi").json)
        await #expect(throws: ChatError.notSignedIn) { try await client.send(draft) }
        try await client.connect(userID: "alice", token: "alice")
        let first = try await client.send(draft)
        let second = try await client.send(draft)
        #expect(first.id == second.id)
        #expect(bench.server.log(of: "bob").count == 1)
        #expect(try client.storedMessage(first.id)?.text == "hi")
        #expect(try client.storedMessage(MessageID(rawValue: 1)) == nil)
    }

    @Test func `is a thumbnail of the system's, or none`() throws {
        let file = URL(fileURLWithPath: "/dev/null")
        #expect(try SystemThumbnails().thumbnail(of: file, pixels: 100) == nil)
    }
}
