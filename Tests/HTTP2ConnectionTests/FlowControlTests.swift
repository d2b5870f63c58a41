import HTTP2Connection
import NIOCore
import Testing

@Suite struct `Send windows (RFC 9113 §5.2, §6.9)` {
    @Test func `let a body through as far as they reach, and the rest when they open`() throws {
        var bench = ClientBench()
        try bench.open(1, 65_535)
        #expect(
            bench.output() == ["headers 1", "data 1 16384", "data 1 16384", "data 1 16384", "data 1 16383 end"])
        #expect(bench.session.freeSendWindow == 0)
        try bench.open(3, 100)
        try bench.open(5, 10)
        #expect(bench.output() == ["headers 3", "headers 5"])
        #expect(bench.session.freeSendWindow == -110)
        #expect(bench.session.unsentStreams == [3, 5])
        #expect(bench.receive(Wire.windowUpdate(0, 60)) == [.windowOpened(by: 60)])
        #expect(bench.output() == ["data 3 60"])
        #expect(bench.receive(Wire.windowUpdate(0, 45)) == [.windowOpened(by: 45), .bodySent(3)])
        #expect(bench.output() == ["data 3 40 end", "data 5 5"])
        #expect(bench.session.unsentStreams == [5])
        #expect(bench.session.isUnsent(5) && !bench.session.isUnsent(3))
        #expect(bench.receive(Wire.windowUpdate(0, 1_000)) == [.windowOpened(by: 1_000), .bodySent(5)])
        #expect(bench.session.freeSendWindow == 995)
    }

    @Test func `of a stream hold back that stream alone`() throws {
        var bench = ClientBench(settings: [(4, 10)])
        try bench.open(1, 30)
        try bench.open(3, 10)
        #expect(bench.output() == ["headers 1", "data 1 10", "headers 3", "data 3 10 end"])
        #expect(bench.receive(Wire.windowUpdate(1, 5)) == [])
        #expect(bench.output() == ["data 1 5"])
        #expect(bench.receive(Wire.windowUpdate(1, 15)) == [.bodySent(1)])
        #expect(bench.output() == ["data 1 15 end"])
    }

    @Test func `become negative when INITIAL_WINDOW_SIZE is lowered, and count up from there (§6.9.2)`() throws {
        var bench = ClientBench(settings: [(4, 100)])
        try bench.open(1, 200)
        #expect(bench.output() == ["headers 1", "data 1 100"])
        // 0 becomes −60.
        _ = bench.receive(Wire.settings([(4, 40)]))
        #expect(bench.receive(Wire.windowUpdate(1, 60)) == [])
        #expect(bench.output() == ["settings ack"])
        #expect(bench.receive(Wire.windowUpdate(1, 1)) == [])
        #expect(bench.output() == ["data 1 1"])
        // Raised by 60: those are sent at once, behind the acknowledgement, for the server may go by it (§6.5.3).
        _ = bench.receive(Wire.settings([(4, 100)]))
        #expect(bench.output() == ["settings ack", "data 1 60"])
        let peer = bench.session.peer
        var raised = peer
        raised.initialWindowSize = 1_000
        #expect(bench.receive(Wire.settings([(4, 1_000)])) == [.settings(raised), .bodySent(1)])
        #expect(bench.output() == ["settings ack", "data 1 39 end"])
    }

    @Test func `that are lowered below what was sent let nothing of a new stream through when they are 0`() throws {
        var bench = ClientBench(settings: [(4, 0)])
        try bench.open(1, 5)
        #expect(bench.output() == ["headers 1"])
        try bench.open(3, 0)
        #expect(bench.output() == ["headers 3 end"])
        #expect(bench.receive(Wire.windowUpdate(1, 5)) == [.bodySent(1)])
    }

    @Test func `may reach 2³¹−1 and no more`() throws {
        var bench = ClientBench()
        #expect(bench.receive(Wire.windowUpdate(0, 0x7fff_ffff - 65_535)) == [.windowOpened(by: 2_147_418_112)])
        #expect(
            bench.receive(Wire.windowUpdate(0, 1)) == [
                .connectionError(.flowControlError, "the connection's window passes 2^31-1")
            ])
    }

    @Test func `of a stream above 2³¹−1 end that stream`() throws {
        var bench = ClientBench()
        try bench.open(1, 10)
        _ = bench.session.takeOutput()
        let events = bench.receive(Wire.windowUpdate(1, 0x7fff_ffff))
        #expect(events == [.streamFailed(1, .flowControlError, "the stream's window passes 2^31-1")])
        #expect(bench.output() == ["reset 1 flowControlError"])
        #expect(bench.session.openStreams == 0)
    }

    @Test func `pushed above 2³¹−1 by INITIAL_WINDOW_SIZE end the connection (§6.9.2)`() throws {
        var bench = ClientBench()
        try bench.open(1, 10)
        _ = bench.receive(Wire.windowUpdate(1, 0x7fff_0000))
        let events = bench.receive(Wire.settings([(4, 65_600)]))
        #expect(
            events == [.connectionError(.flowControlError, "INITIAL_WINDOW_SIZE takes a window past 2^31-1")])
    }

    @Test func `opened by 0 end the stream`() throws {
        var bench = ClientBench()
        try bench.open(1, 10)
        #expect(bench.receive(Wire.windowUpdate(1, 0)) == [.streamFailed(1, .protocolError, "WINDOW_UPDATE by 0")])
    }

    @Test func `of a stream that is over do not matter`() throws {
        var bench = ClientBench()
        try bench.open(1, 10)
        _ = bench.receive(Wire.response(1))
        #expect(bench.receive(Wire.windowUpdate(1, 0x7fff_ffff) + Wire.windowUpdate(1, 0)) == [])
    }

    @Test func `are free again when a stream that waited is given up`() throws {
        var bench = ClientBench()
        try bench.open(1, 70_000)
        _ = bench.session.takeOutput()
        #expect(bench.session.freeSendWindow == 65_535 - 70_000)
        bench.session.reset(1, .cancel)
        #expect(bench.session.freeSendWindow == 0)
        #expect(bench.receive(Wire.windowUpdate(0, 10_000)) == [.windowOpened(by: 10_000)])
        #expect(bench.output() == ["reset 1 cancel"])
        #expect(bench.session.freeSendWindow == 10_000)
    }

    @Test func `serve those that wait in turn, however many were given up meanwhile`() throws {
        var bench = ClientBench()
        try bench.open(1, 65_535)
        for stream in stride(from: StreamID(3), to: 2_003, by: 2) {
            try bench.open(stream, 10)
            if stream % 100 != 1 { bench.session.reset(stream, .cancel) }
        }
        _ = bench.session.takeOutput()
        let waiting = bench.session.unsentStreams
        #expect(waiting.count == 20)
        #expect(
            bench.receive(Wire.windowUpdate(0, 65_535))
                == [.windowOpened(by: 65_535)] + waiting.map { .bodySent($0) })
    }
}

@Suite struct `Receive windows (RFC 9113 §5.2, §6.9)` {
    private static func whole(_ stream: StreamID, _ bytes: Int) -> [UInt8] {
        Wire.request(stream) + Wire.data(stream, bytes, end: true)
    }

    @Test func `of the connection are opened again when half is used`() {
        var bench = ServerBench()
        _ = bench.receive(Self.whole(1, 16_384) + Self.whole(3, 16_383))
        #expect(bench.output() == [])
        _ = bench.receive(Self.whole(5, 1))
        #expect(bench.output() == ["window 0 32768"])
    }

    @Test func `count padding, and what is dropped`() {
        var bench = ServerBench()
        let padded = Wire.frame(
            .data, FrameFlags.padded, stream: 1, [255] + [UInt8](repeating: 0, count: 256))
        _ = bench.receive(Wire.request(1) + (0..<128).flatMap { _ in padded })
        // 128 × 257 bytes, one of each kept: the stream's window is opened as well.
        #expect(bench.output() == ["window 0 32896", "window 1 32896"])
        bench.session.reset(1, .cancel)
        _ = bench.receive(Wire.data(1, 16_384) + Wire.data(1, 16_384))
        #expect(bench.output() == ["reset 1 cancel", "window 0 32768"])
    }

    @Test func `may not be passed on a connection`() {
        var bench = ServerBench()
        bench.session.withholdsWindow = true
        _ = bench.receive((0..<3).flatMap { Self.whole(StreamID($0 * 2 + 1), 16_384) } + Self.whole(7, 16_383))
        #expect(bench.output() == [])
        #expect(
            bench.receive(Self.whole(9, 1)) == [
                .connectionError(.flowControlError, "1 bytes of DATA; the window is 0")
            ])
    }

    @Test func `may not be passed on a stream`() {
        var configuration = ServerSession.Configuration()
        configuration.initialWindowSize = 100
        var bench = ServerBench(configuration)
        bench.session.withholdsWindow = true
        _ = bench.receive(Wire.request(1) + Wire.data(1, 100))
        #expect(
            bench.receive(Wire.data(1, 1)) == [
                .streamFailed(1, .flowControlError, "1 bytes of DATA for a smaller window")
            ])
        #expect(bench.output() == ["reset 1 flowControlError"])
    }

    @Test func `of a stream start as announced once the client has acknowledged that`() {
        var configuration = ServerSession.Configuration()
        configuration.initialWindowSize = 100
        var bench = ServerBench(configuration, isStarted: false)
        _ = bench.receive(Wire.preface + Wire.settings() + Wire.request(1) + Wire.data(1, 1_000))
        // 65,535 − 1,000 becomes 100 − 1,000, opened again to 100.
        _ = bench.session.takeOutput()
        #expect(bench.receive(Wire.settingsAck) == [.settingsAcknowledged])
        #expect(bench.output() == ["window 1 1000"])
        #expect(bench.receive(Wire.data(1, 40)) == [])
        #expect(
            bench.receive(Wire.data(1, 61)) == [
                .streamFailed(1, .flowControlError, "61 bytes of DATA for a smaller window")
            ])
    }

    @Test func `that are withheld are opened when they are given free`() {
        var bench = ServerBench()
        bench.session.withholdsWindow = true
        _ = bench.receive(
            Self.whole(1, 16_384) + Self.whole(3, 16_384) + Wire.request(5) + Wire.data(5, 3_000))
        #expect(bench.output() == [])
        bench.session.withholdsWindow = false
        #expect(bench.output() == ["window 0 35768"])
    }

    @Test func `of a response are opened again too, so that one of any length ends`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.session.takeOutput()
        var windows: [String] = []
        _ = bench.receive(Wire.response(1, end: false))
        for _ in 0..<40 {
            #expect(bench.receive(Wire.data(1, 10_000)) == [])
            windows += bench.output()
        }
        #expect(windows == (0..<10).flatMap { _ in ["window 0 40000", "window 1 40000"] })
        let kept = String(repeating: "x", count: 4_096)
        #expect(
            bench.receive(Wire.data(1, 0, end: true)) == [
                .response(1, ClientBench.response(200, [], kept, isCut: true))
            ])
    }
}
