import HTTP2Connection
import NIOCore
import Testing

@Suite struct `SETTINGS (RFC 9113 §6.5)` {
    @Test func `of a client come behind the preface and switch pushes off`() {
        var bench = ClientBench(settings: nil)
        #expect(bench.output() == ["preface", "settings 6=16384 2=0"])
    }

    @Test func `of a server name the five of Apple's, also where they are as usual`() {
        var usual = ServerBench(isStarted: false)
        #expect(usual.output() == ["settings 6=8000 5=16384 1=4096 4=65535"])
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1
        configuration.headerTableSize = 8_192
        configuration.initialWindowSize = 1_000
        configuration.maxFrameSize = 20_000
        var bench = ServerBench(configuration, isStarted: false)
        #expect(bench.output() == ["settings 1=8192 3=1 4=1000 6=8000 5=20000"])
    }

    @Test func `are in force and acknowledged when they are reported, the last value of each`() {
        var bench = ClientBench(settings: nil)
        _ = bench.session.takeOutput()
        var peer = PeerSettings()
        peer.headerTableSize = 100
        peer.maxConcurrentStreams = 1_000
        peer.initialWindowSize = 20
        peer.maxFrameSize = 20_000
        peer.maxHeaderListSize = 8_000
        let bytes = Wire.settings([(1, 100), (3, 1), (3, 1_000), (4, 20), (5, 20_000), (6, 8_000), (0xabcd, 9)])
        #expect(bench.receive(bytes) == [.settings(peer)])
        #expect(bench.session.peer == peer)
        #expect(bench.output() == ["settings ack"])
    }

    @Test func `of the server limit the streams a client opens, from the moment they are read`() throws {
        var bench = ClientBench(settings: [(3, 1)])
        try bench.open(1)
        #expect(throws: ClientSession.OpenRefusal.streamLimit) { try bench.open(3) }
        _ = bench.receive(Wire.settings([(3, 2)]))
        try bench.open(3)
        #expect(throws: ClientSession.OpenRefusal.streamLimit) { try bench.open(5) }
        _ = bench.receive(Wire.response(1))
        try bench.open(5)
        _ = bench.receive(Wire.settings([(3, 0)]) + Wire.response(3) + Wire.response(5))
        #expect(throws: ClientSession.OpenRefusal.streamLimit) { try bench.open(7) }
    }

    @Test func `of the server limit the header list, by the count of names, values and 32 each`() throws {
        var bench = ClientBench(settings: [(6, 200)])
        func head(_ length: Int) -> RequestHead {
            RequestHead(authority: "a", path: "/" + String(repeating: "x", count: length - 1))
        }
        // 4 × 32, the names with 29 bytes, POST, https and the authority with 10.
        #expect(head(33).listSize == 200)
        #expect(throws: ClientSession.OpenRefusal.headersTooLong(limit: 200)) {
            try bench.session.open(1, head(34), body: [])
        }
        try bench.session.open(1, head(33), body: [])
    }

    @Test func `of the server limit frames, of headers too`() throws {
        var bench = ClientBench()
        let long = HeaderField("x-long", String(repeating: "v", count: 40_000))
        try bench.session.open(1, RequestHead(authority: "a", path: "/", fields: [long]), body: [1])
        #expect(
            bench.output() == ["headers 1 open", "continuation 1 open", "continuation 1", "data 1 1 end"])
        _ = bench.receive(Wire.settings([(5, 30_000)]))
        try bench.session.open(3, RequestHead(authority: "a", path: "/", fields: [long]), body: [])
        #expect(bench.output() == ["settings ack", "headers 3 open end", "continuation 3"])
        try bench.open(5, 30_001)
        #expect(bench.output() == ["headers 5", "data 5 30000", "data 5 1 end"])
    }

    @Test func `with another table size change the next header block`() throws {
        var bench = ClientBench()
        try bench.open(1)
        _ = bench.receive(Wire.settings([(1, 0), (1, 4_096)]))
        _ = bench.session.takeOutput()
        try bench.open(3)
        let output = bench.session.takeOutput()
        // Down to nothing, because the other side's table went through that, and up again.
        #expect(output?.getBytes(at: 9, length: 4) == [0x20, 0x3f, 0xe1, 0x1f])
    }

    @Test func `of a server raise its stream limit, and its client's acknowledgement is reported`() {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1
        var bench = ServerBench(configuration)
        bench.session.announce(maxConcurrentStreams: 1_000)
        #expect(bench.output() == ["settings 3=1000"])
        #expect(bench.session.unacknowledgedSettings == 1)
        #expect(bench.receive(Wire.settingsAck) == [.settingsAcknowledged])
        #expect(bench.session.unacknowledgedSettings == 0)
        bench.session.announce(maxConcurrentStreams: nil)
        #expect(bench.output() == ["settings 3=2147483647"])
    }

    @Test func `of a server let its client use a larger table once it has acknowledged them`() {
        var configuration = ServerSession.Configuration()
        configuration.headerTableSize = 8_192
        let raised = Wire.frame(.headers, 5, stream: 1, [0x3f, 0xe1, 0x3f] + Wire.block(Wire.requestHead))
        var bench = ServerBench(configuration)
        #expect(bench.receive(raised) == [.request(1, ServerBench.request())])
        var early = ServerBench(configuration, isStarted: false)
        let events = early.receive(Wire.preface + Wire.settings() + raised)
        #expect(events.last == .connectionError(.compressionError, "a header block that cannot be decoded"))
    }
}
