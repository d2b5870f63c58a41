import HTTP2Connection
import NIOCore
import Requirements
import Testing

/// A client and a server with a pipe each way, through which the bytes come in parts of any length.
private struct Pipes {
    enum End: Equatable { case answered(Int), reset(HTTP2ErrorCode), cancelled, unprocessed }

    var chance: Chance
    var client: ClientSession
    var server: ServerSession
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private var next: StreamID = 1
    /// What was sent, and how it ended.
    private(set) var bodies: [StreamID: [UInt8]] = [:]
    private(set) var ends: [StreamID: End] = [:]
    /// Requests the server has and has not answered.
    private var waiting: [StreamID] = []
    private(set) var faults: [String] = []
    private var clientEvents: [ClientSession.Event] = []
    private var serverEvents: [ServerSession.Event] = []

    init(seed: UInt64) {
        self.chance = Chance(seed: seed)
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = [nil, 1, 20, 1_000][self.chance.below(4)]
        configuration.initialWindowSize = [65_535, 100, 1_000_000][self.chance.below(3)]
        configuration.headerTableSize = [4_096, 0, 100, 10_000][self.chance.below(4)]
        configuration.maxFrameSize = [16_384, 40_000][self.chance.below(2)]
        configuration.bodyLimit = 200_000
        var wishes = ClientSession.Configuration()
        wishes.bodyLimit = 200_000
        wishes.headerTableSize = [4_096, 0, 100, 10_000][self.chance.below(4)]
        self.client = ClientSession(wishes)
        self.server = ServerSession(configuration)
    }

    mutating func step() {
        switch self.chance.below(16) {
        case 0...4: self.open()
        case 5...7: self.carry(self.chance.below(3) == 0 ? 100_000 : 1 + self.chance.below(40))
        case 8...12: self.answer()
        case 13 where self.next > 1:
            let stream = StreamID(self.chance.below(Int(self.next) / 2)) * 2 + 1
            if self.ends[stream] == nil, self.bodies[stream] != nil {
                self.client.reset(stream, .cancel)
                self.ends[stream] = .cancelled
            }
        case 14 where self.chance.below(4) == 0:
            self.server.announce(maxConcurrentStreams: [nil, 1, 3, 500][self.chance.below(4)])
        default: self.server.withholdsWindow = self.chance.below(3) == 0
        }
    }

    mutating func open() {
        let count = self.chance.below(20) == 0 ? 30_000 + self.chance.below(80_000) : self.chance.below(3_000)
        let seed = UInt8(truncatingIfNeeded: self.chance.next())
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ seed }
        var fields = [HeaderField("apns-topic", "app\(self.chance.below(3))"), HeaderField("apns-id", "\(self.next)")]
        if self.chance.below(4) == 0 {
            fields.append(HeaderField("x-long", String(repeating: "v", count: self.chance.below(6_000))))
        }
        if self.chance.below(2) == 0 { fields.append(HeaderField("content-length", "\(count)")) }
        do {
            try self.client.open(
                self.next, RequestHead(authority: "a", path: "/\(self.next)", fields: fields), body: body)
            self.bodies[self.next] = body
            self.next += 2
        } catch .streamLimit {
        } catch {
            self.faults.append("open: \(error)")
        }
    }

    private mutating func answer() {
        guard !self.waiting.isEmpty else { return }
        let stream = self.waiting.remove(at: self.chance.below(self.waiting.count))
        if self.chance.below(10) == 0 { return self.server.reset(stream, .refusedStream) }
        // The body says what was received, after any number of other bytes.
        let body = [UInt8](repeating: 7, count: self.chance.below(8) == 0 ? 70_000 : self.chance.below(100))
        self.server.respond(stream, status: 200, fields: [HeaderField("apns-id", "\(stream)")], body: body)
    }

    /// Moves at most `limit` bytes each way.
    mutating func carry(_ limit: Int) {
        if let output = self.client.takeOutput() { self.toServer += Array(output.readableBytesView) }
        let request = self.toServer.prefix(limit)
        self.toServer.removeFirst(request.count)
        self.server.receive(ByteBuffer(bytes: request), into: &self.serverEvents)
        for event in self.serverEvents { self.took(event) }
        self.serverEvents.removeAll(keepingCapacity: true)
        if let output = self.server.takeOutput() { self.toClient += Array(output.readableBytesView) }
        let response = self.toClient.prefix(limit)
        self.toClient.removeFirst(response.count)
        self.client.receive(ByteBuffer(bytes: response), into: &self.clientEvents)
        for event in self.clientEvents { self.took(event) }
        self.clientEvents.removeAll(keepingCapacity: true)
    }

    private mutating func took(_ event: ServerSession.Event) {
        switch event {
        case .request(let stream, let request):
            if request.body != self.bodies[stream] { self.faults.append("the body of \(stream) differs") }
            if request.headers.first(name: ":path") != "/\(stream)" { self.faults.append("the path of \(stream)") }
            self.waiting.append(stream)
        case .reset(let stream, _): self.waiting.removeAll { $0 == stream }
        case .settings, .settingsAcknowledged, .bodySent, .streamRefused: break
        case .headersTooLong, .streamFailed, .ping, .pingAcknowledged, .goAway, .connectionError:
            self.faults.append("server: \(event)")
        }
    }

    private mutating func took(_ event: ClientSession.Event) {
        switch event {
        case .response(let stream, let response):
            if response.headers.first(name: "apns-id") != "\(stream)" { self.faults.append("the id of \(stream)") }
            if !response.body.allSatisfy({ $0 == 7 }) { self.faults.append("the answer to \(stream)") }
            self.ended(stream, .answered(response.status))
        case .streamReset(let stream, let code): self.ended(stream, .reset(code))
        case .settings, .windowOpened, .bodySent: break
        case .streamFailed, .streamNotSent, .goAway, .pingAcknowledged, .connectionError:
            self.faults.append("client: \(event)")
        }
    }

    private mutating func ended(_ stream: StreamID, _ end: End) {
        if let before = self.ends[stream] { self.faults.append("\(stream) ends twice: \(before), \(end)") }
        self.ends[stream] = end
    }

    /// Answers everything and moves everything.
    mutating func finish() {
        self.server.withholdsWindow = false
        for _ in 0..<4_000 where self.client.openStreams > 0 {
            self.carry(100_000)
            self.answer()
        }
    }
}

@Suite struct `A client and a server` {
    @Test(arguments: UInt64(1)...24)
    func `lose nothing and double nothing, however the bytes are split`(seed: UInt64) {
        var pipes = Pipes(seed: seed)
        for _ in 0..<600 { pipes.step() }
        pipes.finish()
        #expect(pipes.faults == [])
        #expect(pipes.client.openStreams == 0)
        #expect(pipes.server.openStreams == 0)
        #expect(pipes.client.unsentStreams == [])
        #expect(Set(pipes.ends.keys) == Set(pipes.bodies.keys))
        #expect(pipes.ends.values.contains(.answered(200)))
    }

    @Test func `understand each other byte by byte`() throws {
        var pipes = Pipes(seed: 99)
        for _ in 0..<20 { pipes.open() }
        for _ in 0..<3_000 { pipes.carry(1) }
        pipes.finish()
        #expect(pipes.faults == [])
        #expect(pipes.client.openStreams == 0)
    }
}
