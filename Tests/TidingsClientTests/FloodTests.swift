import ClientCore
import Foundation
import SDKTestSupport
import Synchronization
import Testing
import TidingsModel
import TidingsWire

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")

/// The text of one of many large messages.
private func large(_ number: Int) -> String { "\(number) " + String(repeating: "x", count: 30_000) }

@Suite(.timeLimit(.minutes(2))) struct `A client of a server with large pages` {
    private func waiting(_ bench: ClientBench, _ count: Int) {
        for number in 1...count { bench.server.deliver(large(number), from: bob, to: alice) }
    }

    @Test func `gets all that waits, over one connection`() async throws {
        let bench = try ClientBench()
        self.waiting(bench, 200)
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        _ = await bench.server.frame { if case .ack(let ack) = $0 { ack.stored == 200 } else { false } }
        #expect(try client.history(conversation: withBob, limit: 1_000).map(\.text) == (1...200).map(large))
        #expect(bench.server.hellos.count == 1)
        #expect(bench.server.connections.first?.limits.withLock { $0 } == [1_048_576, 2_097_152])
    }

    @Test func `gives up one that breaks its word, and comes back later each time`() async throws {
        let bench = try ClientBench()
        self.waiting(bench, 60)
        let all = bench.server.log(of: alice)
        bench.server.setScript {
            $0.change = { frame in
                switch frame {
                case .welcome(var welcome):
                    welcome.serverFrameBytesMax = 0
                    return .welcome(welcome)
                case .page(var page):
                    page.entries = all
                    return .page(page)
                default: return frame
                }
            }
        }
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        var waits: [Int64] = []
        for await status in client.connectionStatuses {
            guard case .waiting(let milliseconds, let reason) = status else { continue }
            #expect(reason.contains("at most 1048576 are allowed"))
            waits.append(milliseconds)
            if waits.count == 5 { break }
            bench.clock.advance(seconds: Double(milliseconds) / 1_000)
        }
        for (number, wait) in waits.enumerated() { #expect(wait >= Int64(250) << number) }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A client that is flooded` {
    @Test func `reads no further than it can handle, and goes on when it has caught up`() async throws {
        let (bench, client) = try await ClientBench.connected()
        let store = try #require(client.engine?.store)
        let connection = try #require(bench.server.connections.first)
        let count = Intake.bytesMax / 30_000 + 10
        // The engine stands still in the middle of the first message.
        store.current.withLock { _ in
            for number in 1...count { bench.server.deliver(large(number), from: bob, to: alice) }
            #expect(connection.readings.withLock { $0 } == [false])
        }
        _ = await bench.server.frame { if case .ack(let ack) = $0 { ack.stored == UInt64(count) } else { false } }
        #expect(connection.readings.withLock { $0 } == [false, true])
    }

    @Test func `holds so much for a reader that does not read, and tells it where to look`() async throws {
        let bench = try ClientBench()
        let client = try bench.client { $0.streamElementsMax = 2 }
        let gaps = client.streamGaps
        var messages = client.messages.makeAsyncIterator()
        var log = client.logEntries.makeAsyncIterator()
        try await client.connect(userID: alice, token: "alice")
        for number in 1...5 { bench.server.deliver("\(number)", from: bob, to: alice) }
        _ = await bench.server.frame { if case .ack(let ack) = $0 { ack.stored == 5 } else { false } }
        // Stored and acknowledged is also published: what is published comes before the ack.
        #expect(await messages.next()?.text == "4")
        #expect(await log.next()?.position == 4)
        var told = gaps.makeAsyncIterator()
        #expect(await [told.next(), told.next()] == [.messages, .logEntries])
        #expect(try client.history(conversation: withBob).map(\.text) == ["1", "2", "3", "4", "5"])
        #expect(await messages.next()?.text == "5")
    }
}
