import HTTP2Connection
import NIOCore
import Requirements
import Testing

/// Streams of frames, right and wrong ones, mutated and split, into both sessions.
@Suite struct `Any bytes at all` {
    /// Whatever came before: a frame is completed by these, and the next ones are DATA on stream 0.
    private static let zeros = [UInt8](repeating: 0, count: 16_384 + 64)

    @Test func `leave a server in order, or end its connection`() {
        Fuzz.run("HTTP/2 bytes for a server", short: 3_000, long: 200_000) { number in
            var chance = Chance(seed: UInt64(number))
            var configuration = ServerSession.Configuration()
            configuration.maxConcurrentStreams = 8
            configuration.bodyLimit = 100
            configuration.initialWindowSize = [65_535, 50][chance.below(2)]
            var bench = ServerBench(configuration, isStarted: chance.below(10) != 0)
            bench.session.withholdsWindow = chance.below(4) == 0
            let bytes = Self.bytes(&chance, forServer: true)
            var written = 0
            var events: [ServerSession.Event] = []
            for part in Self.parts(of: bytes, &chance) + [Self.zeros[...]] {
                let wasClosed = bench.session.isClosed
                let new = bench.receive(Array(part))
                if wasClosed, !new.isEmpty { Issue.record("case \(number): events after the end") }
                for case .request(let stream, _) in new where chance.below(3) > 0 {
                    bench.session.respond(stream, status: 200, fields: [HeaderField("apns-id", "\(stream)")], body: [1])
                }
                if chance.below(50) == 0 { bench.session.announce(maxConcurrentStreams: UInt32(chance.below(12))) }
                if chance.below(80) == 0 { bench.session.goAway() }
                events += new
                written += bench.session.takeOutput()?.readableBytes ?? 0
            }
            Self.check(number, closed: bench.session.isClosed, bytes: bytes.count, events: events.count, written)
            if bench.session.openStreams > 20 { Issue.record("case \(number): \(bench.session.openStreams) streams") }
        }
    }

    @Test func `leave a client in order, or end its connection`() {
        Fuzz.run("HTTP/2 bytes for a client", short: 3_000, long: 200_000) { number in
            var chance = Chance(seed: UInt64(number) | 1 << 40)
            var configuration = ClientSession.Configuration()
            configuration.bodyLimit = 100
            var bench = ClientBench(configuration, settings: chance.below(10) == 0 ? nil : [(4, 50)])
            let bytes = Self.bytes(&chance, forServer: false)
            var next: StreamID = 1
            var written = 0
            var events: [ClientSession.Event] = []
            for part in [[]] + Self.parts(of: bytes, &chance) + [Self.zeros[...]] {
                for _ in 0..<3 where next < 40 && (try? bench.open(next, chance.below(90))) != nil { next += 2 }
                if chance.below(10) == 0 { bench.session.reset(StreamID(chance.below(20)), .cancel) }
                let wasClosed = bench.session.isClosed
                let new = bench.receive(Array(part))
                if wasClosed, !new.isEmpty { Issue.record("case \(number): events after the end") }
                events += new
                written += bench.session.takeOutput()?.readableBytes ?? 0
            }
            Self.check(number, closed: bench.session.isClosed, bytes: bytes.count, events: events.count, written)
            let open = bench.session.unsentStreams
            if open.count > bench.session.openStreams || bench.session.openStreams > 20 {
                Issue.record("case \(number): \(open) of \(bench.session.openStreams) streams")
            }
        }
    }

    private static func check(_ number: Int, closed: Bool, bytes: Int, events: Int, _ written: Int) {
        if !closed { Issue.record("case \(number): neither progress nor an error") }
        if events > bytes / 4 + 40 { Issue.record("case \(number): \(events) events of \(bytes) bytes") }
        if written > bytes * 8 + 6_000 { Issue.record("case \(number): \(written) bytes written for \(bytes)") }
    }

    // MARK: What is sent

    private static func bytes(_ chance: inout Chance, forServer: Bool) -> [UInt8] {
        var bytes = forServer && chance.below(10) == 0 ? Wire.preface + Wire.settings() : []
        var next: StreamID = 1
        for _ in 0..<(1 + chance.below(14)) { bytes += Self.frame(&chance, forServer: forServer, &next) }
        for _ in 0..<[0, 1, 1, 2, 4][chance.below(5)] { chance.mutate(&bytes) }
        return bytes
    }

    private static func frame(_ chance: inout Chance, forServer: Bool, _ next: inout StreamID) -> [UInt8] {
        let end = chance.below(2) == 0
        let known = StreamID(chance.below(12))
        switch chance.below(15) {
        case 0...4:
            if forServer {
                defer { next += 2 }
                return Wire.request(
                    next, chance.below(3) == 0 ? [("content-length", "\(chance.below(30))")] : [], end: end)
            }
            return Wire.response(known | 1, ["200", "400", "103"][chance.below(3)], end: end)
        case 5...6: return Wire.data(known, chance.below(120), end: end)
        case 7: return Wire.settings([(UInt16(chance.below(8)), UInt32(truncatingIfNeeded: chance.next() >> 40))])
        case 8: return Wire.windowUpdate(known, UInt32(truncatingIfNeeded: chance.next() >> (32 + chance.below(32))))
        case 9: return Wire.reset(known, .cancel)
        case 10: return Wire.ping(1, ack: end)
        case 11: return Wire.goAway(known, .noError, "x")
        case 12: return Wire.settingsAck
        case 13:
            let block = (0..<chance.below(40)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            return Wire.frame(.headers, UInt8(truncatingIfNeeded: chance.next()), stream: known, block)
        default:
            let payload = (0..<chance.below(20)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            return Wire.frame(
                number: UInt8(chance.below(11)), UInt8(truncatingIfNeeded: chance.next()), stream: known, payload)
        }
    }

    private static func parts(of bytes: [UInt8], _ chance: inout Chance) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(chance.below(2) == 0 ? rest.count : 1 + chance.below(60))
            parts.append(part)
            rest = rest.dropFirst(part.count)
        }
        return parts
    }
}
