import HTTP2Connection
import NIOCore
import Testing

@Suite struct `GOAWAY (RFC 9113 §6.8)` {
    @Test func `ends the streams above its last one, and those up to it are still answered`() throws {
        var bench = ClientBench()
        for stream in [1, 3, 5] as [StreamID] { try bench.open(stream) }
        _ = bench.session.takeOutput()
        let debug = #"{"reason":"Shutdown"}"#
        #expect(
            bench.receive(Wire.goAway(3, .noError, debug)) == [
                .goAway(lastStream: 3, .noError, debugData: Array(debug.utf8))
            ])
        #expect(bench.session.openStreams == 2)
        #expect(throws: ClientSession.OpenRefusal.goingAway) { try bench.open(7) }
        #expect(
            bench.receive(Wire.response(3) + Wire.response(5) + Wire.response(1)) == [
                .response(3, ClientBench.response(200)), .response(1, ClientBench.response(200)),
            ])
        #expect(bench.output() == [])
    }

    @Test func `may come again, and never takes streams back`() throws {
        var bench = ClientBench()
        for stream in [1, 3, 5] as [StreamID] { try bench.open(stream) }
        let events = bench.receive(
            Wire.goAway(0x7fff_ffff) + Wire.goAway(3, .refusedStream) + Wire.goAway(5) + Wire.goAway(0))
        #expect(
            events == [
                .goAway(lastStream: 0x7fff_ffff, .noError, debugData: []),
                .goAway(lastStream: 3, .refusedStream, debugData: []),
                .goAway(lastStream: 3, .noError, debugData: []), .goAway(lastStream: 0, .noError, debugData: []),
            ])
        #expect(bench.session.openStreams == 0)
    }

    @Test func `of the client says that it opens no more`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.session.takeOutput()
        bench.session.goAway(.noError, debugData: Array("bye".utf8))
        #expect(bench.output() == ["goaway 0 noError bye"])
        #expect(throws: ClientSession.OpenRefusal.goingAway) { try bench.open(3) }
        #expect(bench.receive(Wire.response(1)) == [.response(1, ClientBench.response(200))])
    }

    @Test func `of the server names the highest stream, and later ones are dropped`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1, end: true) + Wire.request(3, end: true))
        bench.session.goAway(.enhanceYourCalm, debugData: Array("no".utf8))
        #expect(bench.output() == ["goaway 3 enhanceYourCalm no"])
        #expect(bench.receive(Wire.request(5) + Wire.data(5, 1, end: true)) == [.streamRefused(5)])
        #expect(bench.output() == [])
        #expect(bench.session.respond(3, status: 200) == true)
    }

    @Test func `of the server may name a lower stream, whose followers are forgotten`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1, end: true) + Wire.request(3) + Wire.request(5, end: true))
        bench.session.goAway(lastStream: 1)
        bench.session.goAway(lastStream: 5)
        #expect(bench.output() == ["goaway 1 noError ", "goaway 1 noError "])
        #expect(bench.session.openStreams == 1)
        #expect(bench.session.respond(5, status: 200) == false)
        #expect(bench.receive(Wire.data(3, 1, end: true)) == [])
    }

    @Test func `from the client is reported`() {
        var bench = ServerBench()
        #expect(
            bench.receive(Wire.goAway(0, .noError, "x")) == [
                .goAway(lastStream: 0, .noError, debugData: [0x78])
            ])
        #expect(bench.receive(Wire.request(1, end: true)) == [.request(1, ServerBench.request())])
    }
}

@Suite struct `PING (RFC 9113 §6.7)` {
    @Test func `is answered with the same number`() {
        var client = ClientBench()
        #expect(client.receive(Wire.ping(9)) == [])
        #expect(client.output() == ["ping ack 9"])
        var server = ServerBench()
        #expect(server.receive(Wire.ping(9)) == [.ping(9)])
        #expect(server.output() == ["ping ack 9"])
    }

    @Test func `of ours is reported when it is answered`() {
        var client = ClientBench()
        client.session.ping(7)
        #expect(client.output() == ["ping 7"])
        #expect(client.receive(Wire.ping(7, ack: true)) == [.pingAcknowledged(7)])
        var server = ServerBench()
        server.session.ping(7)
        #expect(server.output() == ["ping 7"])
        #expect(server.receive(Wire.ping(7, ack: true)) == [.pingAcknowledged(7)])
    }
}

@Suite struct `A peer that sends frames without use (RFC 9113 §10.5)` {
    private static let flood: [[UInt8]] = [
        Wire.ping(1), Wire.ping(1, ack: true), Wire.settings(), Wire.windowUpdate(0, 1), Wire.windowUpdate(1, 1),
        Wire.frame(.priority, stream: 1, [0, 0, 0, 0, 0]), Wire.frame(number: 0xee), Wire.data(1, 0),
        Wire.goAway(0x7fff_ffff),
    ]

    private static let calm = "too many frames that carry nothing"

    @Test(arguments: Self.flood)
    func `is ended`(frame: [UInt8]) throws {
        var client = ClientBench()
        try client.open(1)
        _ = client.receive(Wire.response(1, end: false))
        var server = ServerBench()
        _ = server.receive(Wire.request(1))
        for _ in 0..<99 {
            let hundred = (0..<100).flatMap { _ in frame }
            _ = client.receive(hundred)
            _ = server.receive(hundred)
        }
        #expect(!client.session.isClosed && !server.session.isClosed)
        let last = (0..<101).flatMap { _ in frame }
        #expect(client.receive(last).last == .connectionError(.enhanceYourCalm, Self.calm))
        #expect(server.receive(last).last == .connectionError(.enhanceYourCalm, Self.calm))
    }

    @Test func `is ended when it opens streams only to reset them`() {
        var bench = ServerBench()
        var stream: StreamID = 1
        while !bench.session.isClosed, stream < 40_000 {
            let events = bench.receive(Wire.request(stream, end: true) + Wire.reset(stream, .cancel))
            if !bench.session.isClosed {
                #expect(events == [.request(stream, ServerBench.request()), .reset(stream, .cancel)])
            }
            stream += 2
        }
        #expect((19_000...20_010).contains(stream))
    }

    @Test func `is ended when it makes the server reset its streams`() {
        var bench = ServerBench()
        var stream: StreamID = 1
        while !bench.session.isClosed, stream < 40_000 {
            _ = bench.receive(Wire.request(stream, end: true) + Wire.windowUpdate(stream, 0))
            stream += 2
        }
        #expect(stream < 11_000)
    }

    @Test func `is ended when its interim responses do not stop`() throws {
        var bench = ClientBench()
        try bench.open(1)
        var events: [ClientSession.Event] = []
        for _ in 0..<10_000 where events.isEmpty { events = bench.receive(Wire.response(1, "103", end: false)) }
        #expect(events == [.connectionError(.enhanceYourCalm, Self.calm)])
    }

    @Test func `is borne with while its requests are answered, and when its owner says so`() {
        var bench = ServerBench()
        for stream in stride(from: StreamID(1), to: 6_001, by: 2) {
            _ = bench.receive((0..<8).flatMap { _ in Wire.ping(1) } + Wire.request(stream, end: true))
            bench.session.respond(stream, status: 200)
        }
        #expect(!bench.session.isClosed)
        for _ in 0..<3 {
            bench.session.forgive()
            for _ in 0..<90 { _ = bench.receive((0..<100).flatMap { _ in Wire.ping(1) }) }
            #expect(!bench.session.isClosed)
        }
    }
}
