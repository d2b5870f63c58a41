import APNsModel
import Foundation
import Testing
import TidingsModel

@testable import APNsClientCore

@Suite struct `The cost of the dispatcher` {
    /// Prints processor time, and asserts nothing about it. `TIDINGS_MEASURE=1 swift test -c release` shows it.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TIDINGS_MEASURE"] != nil), arguments: [1, 100, 1_000])
    func `is printed for 100,000 requests that are accepted`(inFlight: Int) {
        for connections in [1, 4] {
            var core = Self.opened(connections: connections, streams: inFlight)
            let total = 100_000
            let response = APNsResponse(status: 200, apnsID: "01234567-89ab-cdef-0123-456789abcdef")
            let asks = (0..<1_000).map {
                APNsDispatcher.Ask(
                    topic: "com.example.app", token: PushToken(String(repeating: "ab", count: 16) + "\($0)"),
                    bytes: 60, deadline: 40_000)
            }
            var effects: [APNsDispatcher.Effect] = []
            var open: [(ConnectionID, Int64)] = []
            open.reserveCapacity(total + 10)
            var answered = 0
            var finished = 0
            let started = clock()
            for number in 0..<total {
                let now = Now(monotonic: Int64(number / 100), wall: Int64(number / 100))
                effects.removeAll(keepingCapacity: true)
                core.handle(
                    .sendRequested(RequestID(UInt64(number + 100)), asks[number % 1_000]), at: now, into: &effects)
                if number >= inFlight {
                    let (id, stream) = open[answered]
                    answered += 1
                    core.handle(.responded(id, stream: stream, response, jitter: 1), at: now, into: &effects)
                    if answered % 500 == 0 { core.handle(.windowOpened(id, by: 30_000), at: now, into: &effects) }
                }
                for effect in effects {
                    switch effect {
                    case .openStream(let id, let stream, _): open.append((id, stream))
                    case .finish: finished += 1
                    default: break
                    }
                }
            }
            let microseconds = Double(clock() - started) * 1_000_000 / Double(CLOCKS_PER_SEC)
            #expect(finished == total - inFlight)
            print(
                "dispatcher, \(connections) connections, \(inFlight) in flight:",
                "\((microseconds * 1_000 / Double(total)).rounded() / 1_000) µs per request")
        }
    }

    /// Connections that stand, with a token and nothing in flight.
    private static func opened(connections: Int, streams: Int) -> APNsDispatcher {
        var configuration = APNsDispatcher.Configuration()
        configuration.connectionsMax = connections
        var core = APNsDispatcher(configuration: configuration)
        let now = Now(monotonic: 0, wall: 0)
        func send(_ number: UInt64) {
            let ask = APNsDispatcher.Ask(topic: "t", token: nil, bytes: 0, deadline: 60_000)
            _ = core.handle(.sendRequested(RequestID(number), ask), at: now)
        }
        let response = APNsResponse(status: 200)
        for number in 1...UInt64(connections) {
            let id = ConnectionID(number)
            // The first proves the connection, the second fills it, so that the next one is opened.
            send(2 * number)
            _ = core.handle(.resolved(id, ["a"]), at: now)
            _ = core.handle(.connected(id), at: now)
            _ = core.handle(.tokenMinted, at: now)
            _ = core.handle(.streamLimitAnnounced(id, 1), at: now)
            _ = core.handle(.responded(id, stream: 1, response, jitter: 0), at: now)
            send(2 * number + 1)
        }
        for number in 1...UInt64(connections) {
            let id = ConnectionID(number)
            _ = core.handle(.streamLimitAnnounced(id, streams), at: now)
            _ = core.handle(.windowOpened(id, by: .max), at: now)
            _ = core.handle(.responded(id, stream: 3, response, jitter: 0), at: now)
        }
        #expect(core.openCount == 0)
        #expect(core.connections.count == connections)
        return core
    }
}
