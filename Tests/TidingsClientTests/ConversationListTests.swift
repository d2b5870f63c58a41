import ClientCore
import Foundation
import SDKTestSupport
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let people: [UserID] = ["bob", "carol", "dave"]
private let withBob = ConversationID(type: .direct, target: "bob")
private let withCarol = ConversationID(type: .direct, target: "carol")
private let withDave = ConversationID(type: .direct, target: "dave")

extension ClientBench {
    /// Alice's client on one of her devices.
    fileprivate func client(on device: String) throws -> ChatClient {
        try self.client {
            $0.storeFolder = self.folder.appendingPathComponent(device)
            $0.appGroupFolder = self.folder.appendingPathComponent("\(device)-group")
        }
    }

    fileprivate func connected(on device: String) async throws -> ChatClient {
        let client = try self.client(on: device)
        try await client.connect(userID: alice, token: "alice")
        return client
    }
}

extension ChatClient {
    fileprivate var names: [String] { get throws { try self.conversations().map(\.conversation.target) } }

    /// Waits until something holds of what the client has.
    fileprivate func wait(until holds: (ChatClient) throws -> Bool) async rethrows {
        while try !holds(self) { await Task.yield() }
    }
}

@Suite struct `The list of conversations` {
    @Test func `has the pinned first, the archived elsewhere, and not the hidden, on every device`() async throws {
        let bench = try ClientBench()
        let phone = try await bench.connected(on: "phone")
        let pad = try await bench.connected(on: "pad")
        for person in people { bench.server.deliver("hi", from: person, to: alice) }
        for client in [phone, pad] { try await client.wait { try $0.names == ["dave", "carol", "bob"] } }
        try phone.setPinned(true, for: withBob)
        #expect(try phone.names == ["bob", "dave", "carol"])
        bench.clock.advance(seconds: 1)
        try phone.setPinned(true, for: withCarol)
        try pad.setArchived(true, for: withDave)
        for client in [phone, pad] {
            try await client.wait { try $0.names == ["carol", "bob"] && $0.archivedConversations().count == 1 }
            #expect(try client.archivedConversations().map(\.conversation) == [withDave])
        }
        try pad.setHidden(true, for: withBob)
        for client in [phone, pad] { try await client.wait { try $0.names == ["carol"] } }
        #expect(try phone.unreadMessageCount() == 3)

        // A message brings back what was hidden, pinned as before, and leaves what was archived.
        bench.server.deliver("again", from: "bob", to: alice)
        bench.server.deliver("again", from: "dave", to: alice)
        for client in [phone, pad] {
            try await client.wait { try $0.names == ["carol", "bob"] && $0.unreadMessageCount() == 5 }
            #expect(try client.archivedConversations().map(\.conversation) == [withDave])
        }
        try phone.setArchived(false, for: withDave)
        try pad.setPinned(false, for: withCarol)
        for client in [phone, pad] { try await client.wait { try $0.names == ["bob", "dave", "carol"] } }

        // What was there before is there on a new device.
        let new = try await bench.connected(on: "new")
        try await new.wait { try $0.names == ["bob", "dave", "carol"] }
        for client in [phone, pad, new] { await client.signOut() }
    }

    @Test func `is changed without a connection, and on the other devices with the next`() async throws {
        let bench = try ClientBench()
        let phone = try await bench.connected(on: "phone")
        let pad = try await bench.connected(on: "pad")
        for person in people { bench.server.deliver("hi", from: person, to: alice) }
        for client in [phone, pad] { try await client.wait { try $0.names.count == 3 } }
        phone.disconnect()
        try phone.setPinned(true, for: withBob)
        bench.clock.advance(seconds: 1)
        try phone.setPinned(true, for: withCarol)
        try phone.setHidden(true, for: withDave)
        try phone.setDraft("h", for: withBob)
        try phone.setDraft("ho", for: withBob)
        // The other device has another word meanwhile: the server takes it first.
        try pad.setDraft("hm", for: withBob)
        _ = await bench.server.frame {
            if case .request(_, .setConversationState(withBob, .draft("hm"))) = $0 { true } else { false }
        }
        #expect(try phone.names == ["carol", "bob"])
        #expect(try phone.conversations().last?.draft?.text == "ho")

        try await phone.connect(userID: alice, token: "alice")
        for client in [phone, pad] {
            try await client.wait { try $0.names == ["carol", "bob"] && $0.draft(for: withBob)?.text == "ho" }
        }
        for client in [phone, pad] { await client.signOut() }
    }

    /// An instruction to the app is no message that anybody sees.
    @Test func `has what is hidden back with a message that stays, not with an instruction`() async throws {
        let bench = try ClientBench()
        let phone = try await bench.connected(on: "phone")
        bench.server.deliver("hi", from: "bob", to: alice)
        try await phone.wait { try $0.names == ["bob"] }
        try phone.setHidden(true, for: withBob)
        _ = try await phone.sendCommand("reload", to: withBob)
        #expect(try phone.names == [])
        _ = try await phone.send(text: "ho", to: withBob)
        try await phone.wait { try $0.names == ["bob"] }
        try phone.setHidden(true, for: withBob)
        try phone.setHidden(false, for: withBob)
        #expect(try phone.names == ["bob"])
        await phone.signOut()
    }
}

@Suite struct `A draft` {
    @Test func `is told to the other devices as it is written, and gone when it is sent`() async throws {
        let bench = try ClientBench()
        let phone = try await bench.connected(on: "phone")
        let pad = try await bench.connected(on: "pad")
        var changes = pad.conversationSettingsChanges.makeAsyncIterator()
        try phone.setDraft("Dear Bob", for: withBob)
        let draft = ConversationDraft(text: "Dear Bob", writtenAt: bench.clock.now.wall)
        var change = try #require(await changes.next())
        #expect(change.conversation == withBob && change.settings.draft == draft)
        #expect(try pad.draft(for: withBob) == draft)
        // Nothing is in the list that has no message.
        #expect(try pad.conversations() == [])
        try phone.setDraft("", for: withBob)
        change = try #require(await changes.next())
        #expect(change.settings == ConversationSettings())
        #expect(try pad.draft(for: withBob) == nil)
        for client in [phone, pad] { await client.signOut() }
    }

    @Test func `that is too long is refused here, and the one before stays`() throws {
        let client = try ClientBench().client()
        #expect(throws: ChatError.notSignedIn) { try client.setDraft("ho", for: withBob) }
        let long = String(repeating: "x", count: 4_097)
        #expect(
            throws: ChatError.invalid(InvalidField(field: "draft", rule: "must be 1 to 4096 bytes, got 4097"))
        ) { try client.setDraft(long, for: withBob) }
        #expect(throws: ChatError.self) { try client.setPinned(true, for: ConversationID(type: .direct, target: "")) }
    }
}

@Suite struct `A person's other device` {
    @Test func `is in the list, is signed out by them, and is told so`() async throws {
        let bench = try ClientBench()
        let phone = try await bench.connected(on: "phone")
        let pad = try await bench.connected(on: "pad")
        let devices = try await phone.devices()
        #expect(devices.count == 2 && devices.count(where: \.isCurrent) == 1)
        #expect(devices.allSatisfy { $0.lastSeenAt == nil && $0.connectedAt == bench.clock.now.wall })
        let other = try #require(devices.first { !$0.isCurrent })
        try await phone.signOut(device: other.id)
        while pad.connectionStatus.kind != .refused { await Task.yield() }
        #expect(
            pad.connectionStatus
                == .refused(
                    .init(code: .kicked, field: "device", rule: "was signed out: by the person, on another device")))
        #expect(try await phone.devices().map(\.isCurrent) == [true])
        for device in [other.id, devices.first(where: \.isCurrent)?.id ?? "", "nobody's"] {
            await #expect(throws: ChatError.self) { try await phone.signOut(device: device) }
        }
        #expect(phone.connectionStatus == .connected)
        await phone.signOut()
    }
}

extension ConnectionStatus {
    fileprivate enum Kind { case refused, other }
    fileprivate var kind: Kind { if case .refused = self { .refused } else { .other } }
}
