import Foundation
import NIOCore
import Synchronization
import Testing

@testable import TidingsServer

@Suite struct `The addresses of a host` {
    /// What was tried, and for how long; the clock moves when an attempt says so.
    private final class LossyNetwork: Sendable {
        private struct State {
            var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
            var tried: [String] = []
        }

        private let state = Mutex(State())

        var now: NIODeadline { self.state.withLock { $0.now } }
        var tried: [String] { self.state.withLock { $0.tried } }

        func forward(by time: TimeAmount) { self.state.withLock { $0.now = $0.now + time } }

        func note(_ address: SocketAddress, _ time: TimeAmount) {
            let line = "\(address.ipAddress ?? "?") \(time.nanoseconds / 1_000_000)"
            self.state.withLock { $0.tried.append(line) }
        }
    }

    private static func addresses(_ count: Int) throws -> [SocketAddress] {
        try (1...count).map { try SocketAddress(ipAddress: "192.0.2.\($0)", port: 443) }
    }

    private let network = LossyNetwork()

    /// Answers the address that has answered; `swallows` those whose packets are lost.
    private func run(
        _ count: Int, swallows: ClosedRange<Int> = 1...1, _ fault: (any Error)? = nil
    ) async throws -> String? {
        let network = self.network
        let attempts = AddressAttempts(until: network.now + .seconds(10), now: { network.now })
        return try await attempts.first(of: try Self.addresses(count)) { address, time in
            network.note(address, time)
            if let fault { throw fault }
            guard swallows.contains(where: { address.ipAddress == "192.0.2.\($0)" }) else { return address.ipAddress }
            network.forward(by: time)
            throw ChannelError.connectTimeout(time)
        }
    }

    @Test func `have a time each, so that one that swallows packets leaves time for the next`() async throws {
        #expect(try await self.run(2) == "192.0.2.2")
        #expect(self.network.tried == ["192.0.2.1 2500", "192.0.2.2 7500"])
    }

    @Test func `share the time where there are many`() async throws {
        #expect(try await self.run(5, swallows: 1...4) == "192.0.2.5")
        #expect(
            self.network.tried == [
                "192.0.2.1 2000", "192.0.2.2 2000", "192.0.2.3 2000", "192.0.2.4 2000", "192.0.2.5 2000",
            ])
    }

    @Test func `are tried until the time is over`() async throws {
        await #expect(throws: ChannelError.self) { try await self.run(100, swallows: 1...100) }
        #expect(self.network.tried.count == 40 && self.network.tried.last == "192.0.2.40 250")
    }

    @Test func `are all tried where nobody listens`() async throws {
        await #expect(throws: IOError.self) {
            try await self.run(3, IOError(errnoCode: ECONNREFUSED, reason: "nobody"))
        }
        #expect(self.network.tried == ["192.0.2.1 2500", "192.0.2.2 2500", "192.0.2.3 10000"])
    }

    @Test func `are not tried further once something may have been sent`() async throws {
        for fault: any Error in [HTTPExchange.Fault.closed, IOError(errnoCode: ECONNRESET, reason: "reset")] {
            await #expect(throws: (any Error).self) { try await self.run(2, fault) }
        }
        #expect(self.network.tried == ["192.0.2.1 2500", "192.0.2.1 2500"])
    }
}
