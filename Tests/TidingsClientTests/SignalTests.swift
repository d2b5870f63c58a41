import ClientCore
import Foundation
import SDKTestSupport
import ServerCore
import StoreModel
import Synchronization
import Testing
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")
private let lobby = ConversationID(type: .chatRoom, target: "lobby")

@Suite(.timeLimit(.minutes(2))) struct `A client and what is said only now` {
    private func said(_ number: UInt64) -> Message {
        Message(
            id: MessageID(rawValue: number), app: "demo", sender: bob, conversation: lobby,
            clientMessageID: ClientMessageID("r\(number)"), objectName: .text, content: #"{"content":"\#(number)"}"#,
            flags: .normal, pushText: nil, sentAt: 1)
    }

    @Test func `tells and hears who types`() async throws {
        let (bench, client) = try ClientBench.withClient()
        client.setTyping(true, in: withBob)
        try await client.connect(userID: alice, token: "alice")
        var changes = client.typingChanges.makeAsyncIterator()
        client.setTyping(true, in: withBob)
        _ = await bench.server.frame { $0 == .typing(withBob, isTyping: true) }
        bench.server.write(.signal(.typing(withBob, bob, isTyping: true)), to: alice)
        #expect(await changes.next() == .init(conversation: withBob, user: bob, isTyping: true))
        await client.signOut()
    }

    @Test func `watches people, and asks who has read a message`() async throws {
        let (bench, client) = try await ClientBench.connected()
        var presences = client.presenceChanges.makeAsyncIterator()
        var receipts = client.receiptChanges.makeAsyncIterator()
        bench.server.answerRequests(.presence([Presence(id: bob, isOnline: true)]))
        #expect(try await client.watch([bob]) == [Presence(id: bob, isOnline: true)])
        let gone = Presence(id: bob, isOnline: false, lastSeenAt: 7)
        bench.server.write(.signal(.presence(gone)), to: alice)
        #expect(await presences.next() == gone)
        let id = MessageID(rawValue: 5)
        bench.server.write(.signal(.receipt(withBob, bob, .read, upTo: id)), to: alice)
        #expect(await receipts.next() == .init(conversation: withBob, user: bob, kind: .read, upTo: id))
        let all = MessageReceipts(id: id, recipients: 1, delivered: [bob], read: [bob])
        bench.server.answerRequests(.receipts(all))
        #expect(try await client.receipts(of: id) == all)
        bench.server.answerRequests(.done(0))
        try await client.unwatch([bob])
        await client.signOut()
    }

    @Test func `hears a room it has entered, and enters it again after a lost connection`() async throws {
        let (bench, client) = try await ClientBench.connected()
        let history = [self.said(2), self.said(1)]
        bench.server.answerRequests(.history(history, hasMore: false))
        var messages = client.roomMessages(lobby).makeAsyncIterator()
        #expect(try await client.enterRoom(lobby, history: 2).map(\.id.rawValue) == [1, 2])
        bench.server.write(.signal(.room(self.said(3))), to: alice)
        #expect(await messages.next()?.id.rawValue == 3)
        let missed = [self.said(5), self.said(4), self.said(3)]
        bench.server.answerRequests(.history(missed, hasMore: true))
        bench.server.drop()
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        bench.clock.advance(seconds: 1)
        #expect(await messages.next()?.id.rawValue == 4)
        #expect(await messages.next()?.id.rawValue == 5)
        client.disconnect()
        for await status in client.connectionStatuses where status == .disconnected { break }
        try await client.exitRoom(lobby)
        await client.signOut()
    }
}
