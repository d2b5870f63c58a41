import HTTP2Connection
import NIOCore
import Testing

@Suite struct `Streams of a client (RFC 9113 §5.1)` {
    @Test func `have odd numbers that rise, up to 2³¹−1`() throws {
        var bench = ClientBench()
        #expect(throws: ClientSession.OpenRefusal.streamNotRising) { try bench.open(0) }
        #expect(throws: ClientSession.OpenRefusal.streamNotRising) { try bench.open(2) }
        try bench.open(3)
        #expect(throws: ClientSession.OpenRefusal.streamNotRising) { try bench.open(3) }
        #expect(throws: ClientSession.OpenRefusal.streamNotRising) { try bench.open(1) }
        try bench.open(0x7fff_ffff)
        #expect(throws: ClientSession.OpenRefusal.streamsExhausted) { try bench.open(0x8000_0001) }
        #expect(
            bench.output() == ["preface"].dropFirst() + ["headers 3", "data 3 10 end"]
                + ["headers 2147483647", "data 2147483647 10 end"])
    }

    @Test func `that cannot be opened leave nothing behind`() throws {
        var bench = ClientBench()
        let head = RequestHead(authority: "a", path: "/", fields: [HeaderField("x\n", "1")])
        #expect(throws: ClientSession.OpenRefusal.invalidField("x\n", "has a byte in its name that no name has")) {
            try bench.session.open(1, head, body: [1])
        }
        #expect(bench.output() == [])
        #expect(bench.session.openStreams == 0)
        try bench.open(1)
        #expect(bench.output() == ["headers 1", "data 1 10 end"])
    }

    @Test func `are ended by the server with a code`() throws {
        var bench = ClientBench()
        for stream in [1, 3, 5, 7] as [StreamID] { try bench.open(stream) }
        #expect(
            bench.receive(
                Wire.reset(1, .refusedStream) + Wire.reset(5, .cancel)
                    + Wire.frame(.rstStream, stream: 7, Wire.bytes(0xffff)))
                == [.streamReset(1, .refusedStream), .streamReset(5, .cancel), .streamReset(7, .internalError)])
        #expect(bench.session.openStreams == 1)
    }

    @Test func `whose request had not been written to its end are told apart`() throws {
        var bench = ClientBench(settings: [(4, 10)])
        for stream in [1, 3, 5] as [StreamID] { try bench.open(stream, 30) }
        #expect(
            bench.receive(Wire.reset(1, .cancel) + Wire.reset(3, .refusedStream) + Wire.windowUpdate(5, 0))
                == [
                    .streamNotSent(1, "cancel"), .streamReset(3, .refusedStream),
                    .streamNotSent(5, "WINDOW_UPDATE by 0"),
                ])
        #expect(bench.session.openStreams == 0)
        // Nothing of them waits for the connection's window any more.
        #expect(bench.session.freeSendWindow == 65_535 - 30)
    }

    @Test func `that were given up are over, whatever still comes for them`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.session.takeOutput()
        bench.session.reset(1, .cancel)
        bench.session.reset(1, .cancel)
        #expect(bench.output() == ["reset 1 cancel"])
        let late = Wire.response(1, end: false) + Wire.data(1, 5, end: true) + Wire.reset(1, .noError)
        #expect(bench.receive(late) == [])
        #expect(bench.output() == [])
    }

    @Test func `whose header block came late keep the table of headers right`() throws {
        var bench = ClientBench()
        try bench.open(1)
        try bench.open(3)
        bench.session.reset(1, .cancel)
        // Put into the table by the block of a stream that is over, used by the next.
        let first = Wire.frame(.headers, 5, stream: 1, [0x88, 0x40, 1, 0x61, 1, 0x62])
        let second = Wire.frame(.headers, 5, stream: 3, [0x88, 0xbe])
        #expect(bench.receive(first + second) == [.response(3, ClientBench.response(200, [("a", "b")]))])
    }

    @Test func `that were answered take no second answer`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.receive(Wire.response(1))
        #expect(
            bench.receive(Wire.response(1)) == [
                .connectionError(.streamClosed, "a frame for stream 1, which is over")
            ])
    }

    @Test func `may have PRIORITY, which says nothing, unless its length is wrong`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.session.takeOutput()
        #expect(bench.receive(Wire.frame(.priority, stream: 1, [0, 0, 0, 0, 16])) == [])
        #expect(bench.receive(Wire.frame(.priority, stream: 8, [0, 0, 0, 0, 16])) == [])
        #expect(
            bench.receive(Wire.frame(.priority, stream: 1, [0])) == [
                .streamFailed(1, .frameSizeError, "PRIORITY of 1 bytes")
            ])
        #expect(bench.output() == ["reset 1 frameSizeError"])
    }
}

@Suite struct `Streams of a server (RFC 9113 §5.1)` {
    @Test func `are answered once`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1, end: true))
        #expect(bench.session.openStreams == 1)
        #expect(bench.session.respond(1, status: 200, fields: [HeaderField("apns-id", "1")], body: [1, 2, 3]) == true)
        #expect(bench.session.respond(1, status: 200) == false)
        #expect(bench.output() == ["headers 1", "data 1 3 end"])
        #expect(bench.session.openStreams == 0)
    }

    @Test func `are not answered before their request is there`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1))
        #expect(bench.session.respond(1, status: 200) == false)
        #expect(bench.session.respond(3, status: 200) == false)
        #expect(bench.output() == [])
    }

    @Test func `are reset when the answer has a field that may not be sent`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1, end: true))
        #expect(bench.session.respond(1, status: 200, fields: [HeaderField("A", "1")]) == false)
        #expect(bench.output() == ["reset 1 internalError"])
    }

    @Test func `are answered as the windows allow, and reported when the rest is out`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.settings([(4, 2)]) + Wire.request(1, end: true))
        _ = bench.session.takeOutput()
        #expect(bench.session.respond(1, status: 200, body: [1, 2, 3]) == true)
        #expect(bench.session.respond(1, status: 200) == false)
        #expect(bench.output() == ["headers 1", "data 1 2"])
        #expect(bench.session.openStreams == 1)
        #expect(bench.receive(Wire.windowUpdate(1, 1)) == [.bodySent(1)])
        #expect(bench.output() == ["data 1 1 end"])
        #expect(bench.session.openStreams == 0)
    }

    @Test func `are given up by the client`() {
        var bench = ServerBench()
        _ = bench.receive(Wire.request(1, end: true) + Wire.request(3))
        #expect(bench.receive(Wire.reset(1, .cancel) + Wire.reset(3, .cancel)) == [.reset(1, .cancel)])
        #expect(bench.session.respond(1, status: 200) == false)
        #expect(bench.session.openStreams == 0)
        #expect(bench.receive(Wire.reset(1, .cancel)) == [])
    }

    @Test func `take nothing after the request's end`() {
        for (bytes, text) in [
            (Wire.data(1, 1), "DATA after the request's end"),
            (Wire.headers(1, [("a", "b")], end: true), "HEADERS after the request's end"),
        ] {
            var bench = ServerBench()
            _ = bench.receive(Wire.request(1, end: true))
            #expect(bench.receive(bytes) == [.streamFailed(1, .streamClosed, text)])
            #expect(bench.output() == ["reset 1 streamClosed"])
        }
    }

    @Test func `that are over take nothing`() {
        for bytes in [Wire.data(1, 1), Wire.request(1)] {
            var bench = ServerBench()
            _ = bench.receive(Wire.request(1, end: true))
            bench.session.respond(1, status: 200)
            #expect(
                bench.receive(bytes) == [.connectionError(.streamClosed, "a frame for stream 1, which is over")])
        }
    }

    @Test func `above an acknowledged limit are refused, and nothing of them processed (§5.1.2)`() {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1
        var bench = ServerBench(configuration)
        _ = bench.receive(Wire.request(1, end: true))
        #expect(bench.receive(Wire.request(3) + Wire.data(3, 5, end: true)) == [.streamRefused(3)])
        #expect(bench.output() == ["reset 3 refusedStream"])
        bench.session.respond(1, status: 200)
        #expect(bench.receive(Wire.request(5, end: true)) == [.request(5, ServerBench.request())])
    }

    @Test func `above a lowered limit are taken until the client has acknowledged it`() {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1_000
        var bench = ServerBench(configuration)
        _ = bench.receive(Wire.request(1, end: true))
        bench.session.announce(maxConcurrentStreams: 1)
        #expect(bench.receive(Wire.request(3, end: true)) == [.request(3, ServerBench.request())])
        #expect(
            bench.receive(Wire.settingsAck + Wire.request(5, end: true)) == [.settingsAcknowledged, .streamRefused(5)])
    }

    @Test func `above a lowered limit are refused at once when that is wanted`() {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1_000
        configuration.refusesBeforeAcknowledged = true
        var bench = ServerBench(configuration)
        _ = bench.receive(Wire.request(1, end: true))
        bench.session.announce(maxConcurrentStreams: 1)
        #expect(bench.receive(Wire.request(3, end: true)) == [.streamRefused(3)])
    }

    @Test func `above a raised limit are taken although the acknowledgement comes behind them`() {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1
        var bench = ServerBench(configuration)
        _ = bench.receive(Wire.request(1, end: true))
        bench.session.announce(maxConcurrentStreams: 2)
        #expect(bench.receive(Wire.request(3, end: true)) == [.request(3, ServerBench.request())])
        #expect(bench.receive(Wire.request(5, end: true)) == [.streamRefused(5)])
    }
}
