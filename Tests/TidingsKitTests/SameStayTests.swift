import PhoneCore
import Requirements
import SDKTestSupport
import Testing
import TidingsClient
import TidingsModel
import VirtualPhone

@testable import TidingsKit

/// A connection that is lost and comes back while the app stays in the background, on a phone without a service extension.
@MainActor @Suite(.serialized) struct `A message pushed between two connections of one background stay` {
    /// Loses the connection, brings the push of a message, lets the person do something, and connects again.
    private func play(_ bench: ChatBench, person: (MessageID) async -> Void = { _ in }) async -> MessageID {
        await bench.until { $0.server.frames.contains { if case .registerPush = $0 { true } else { false } } }
        await bench.goHome()
        bench.server.setNetwork(.refuses)
        await bench.until { $0.kit?.client.connectionStatus != .connected }
        let message = bench.server.say("hi")
        await bench.phone.deliver(bench.push(message), collapseID: message.description)
        await person(message)
        bench.server.setNetwork(.works)
        await bench.advance(by: 12_000)
        await bench.until { $0.kit?.client.kitFacts.isKnown(message) == true }
        await bench.advance(by: 3_000)
        return message
    }

    @Test func `rings once`() async {
        let bench = await ChatBench()
        let message = await self.play(bench)
        #expect(bench.kit?.client.kitFacts.isKnown(message) == true)
        #expect(bench.kit?.client.runState == .backgroundActive)
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [message.description])
    }

    /// The delivered list cannot tell of it any more. The server does: it gave the message to APNs.
    @Test func `rings once also if the person has cleared it meanwhile`() async {
        let bench = await ChatBench()
        let message = await self.play(bench) { await bench.phone.dismiss($0.description) }
        #expect(bench.kit?.client.kitFacts.isKnown(message) == true)
        #expect(bench.kit?.client.runState == .backgroundActive)
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [message.description])
    }

    @Test func `rings once by the app itself if no push was sent`() async {
        let bench = await ChatBench()
        await bench.goHome()
        // The server still takes the connection for a good one, and waits for an answer on it.
        bench.server.setNetwork(.refuses, isNoticed: false)
        await bench.until { $0.kit?.client.connectionStatus != .connected }
        let message = bench.server.say("hi")
        bench.server.setNetwork(.works)
        await bench.advance(by: 12_000)
        await bench.until { $0.kit?.client.kitFacts.isKnown(message) == true }
        await bench.advance(by: 3_000)
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [message.description])
    }
}
