import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import TidingsModel
import TidingsWire

struct BenchServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Measure a server: delivered messages per second, CPU per message, memory per idle connection.",
        discussion: """
            Starts a server of its own on fresh temporary state, connects idle connections, then pairs of people who each \
            keep one message in flight: delivered means that the recipient has the frame and has acknowledged it. Every ack \
            a sender counts was synced to disk before. With --rate, the pairs send that many messages a second in all instead, \
            whether or not the ones before are acknowledged, and the time from the moment each was due to its ack is printed. \
            Only a release build measures anything.
            """)

    @Option(help: "Pairs of people, each with one message in flight per direction.") var pairs = 500
    @Option(help: "How long to measure, in seconds, after two seconds of warming up.") var seconds = 10
    @Option(help: "Idle connections for the memory figure; 0 leaves it out.") var idle = 5_000
    @Option(help: "Bytes of text in a message.") var text = 100
    @Option(help: "Messages a second of all pairs together; without it, as many as are acknowledged.") var rate: Int?

    @Option(
        help: ArgumentHelp(
            "A file to write when the load runs, as JSON: the API's address, the database, the server's process id.",
            valueName: "file")) var readyFile: String?

    func validate() throws {
        try check("--pairs", self.pairs, in: 1...10_000)
        try check("--seconds", self.seconds, in: 1...3_600)
        try check("--idle", self.idle, in: 0...20_000)
        try check("--text", self.text, in: 1...16_384)
        try check("--rate", self.rate ?? 1, in: 1...100_000)
    }

    func run() async throws {
        #if DEBUG
            print("This is a debug build: the figures say nothing about the product.")
        #endif
        let site = try await LocalServer.start(
            name: "bench", withAPNs: false, settings: ["limits.mode": "none"])
        defer { site.remove() }
        try await withCleanUp({ await site.stop() }) {
            let load = try await LoadGenerator(site: site)
            try await withCleanUp({ await load.shutDown() }) { try await self.measure(site, load) }
        }
    }

    private func measure(_ site: LocalServer, _ load: LoadGenerator) async throws {
        if self.idle > 0 {
            let before = try site.figures()
            try await load.connect(count: self.idle, prefix: "idle")
            let after = try site.figures()
            let bytes = (after.residentBytes - before.residentBytes) / self.idle
            print("idle connections: \(self.idle), resident bytes per connection: \(bytes)")
        }
        try await load.connect(count: self.pairs * 2, prefix: "pair")
        let text = String(repeating: "x", count: self.text)
        try await load.startPairs(count: self.pairs, text: text, rate: self.rate)
        try await Task.sleep(for: .seconds(2))
        try self.writeReadyFile(site)
        if self.rate != nil { _ = try await load.latencies() }
        let before = (figures: try site.figures(), counts: try await load.counts(), time: ContinuousClock.now)
        try await Task.sleep(for: .seconds(self.seconds))
        let after = (figures: try site.figures(), counts: try await load.counts(), time: ContinuousClock.now)
        try await load.stopPairs()
        let elapsed = before.time.duration(to: after.time)
        let seconds = elapsed / .seconds(1)
        let delivered = after.counts.delivered - before.counts.delivered
        let accepted = after.counts.accepted - before.counts.accepted
        let cpu = after.figures.cpuMicroseconds - before.figures.cpuMicroseconds
        guard delivered > 0 else { throw ToolFailure("nothing was delivered in \(self.seconds) s") }
        print("pairs: \(self.pairs), text: \(self.text) bytes, measured: \(Self.format(seconds)) s")
        print("acked (synced) messages per second: \(Int(Double(accepted) / seconds))")
        print("delivered messages per second:      \(Int(Double(delivered) / seconds))")
        print("server CPU per delivered message:   \(Self.format(cpu / Double(delivered))) µs")
        print("server cores used:                  \(Self.format(cpu / seconds / 1_000_000))")
        if self.rate != nil { self.printLatencies(try await load.latencies()) }
    }

    /// For who looks at the server meanwhile, as `make prove-console` does.
    private func writeReadyFile(_ site: LocalServer) throws {
        guard let path = self.readyFile, let server = site.server else { return }
        let ready = Ready(api: site.apiAddress, database: site.database, server: server.pid)
        try JSONEncoder().encode(ready).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private struct Ready: Encodable {
        let api: String
        let database: String
        let server: Int32
    }

    private func printLatencies(_ microseconds: [Int]) {
        let sorted = microseconds.sorted()
        guard let longest = sorted.last else { return print("no message was acknowledged") }
        let marks = [("median", 500), ("p99", 990), ("p99.9", 999)].map { name, part in
            "\(name) \(Self.format(Double(sorted[(sorted.count - 1) * part / 1_000]) / 1_000))"
        }
        print(
            "from due to acked, in ms:           \(marks.joined(separator: ", ")), longest \(Self.format(Double(longest) / 1_000))"
        )
    }

    private static func format(_ value: Double) -> String { String(format: "%.2f", value) }
}

final class LoadGenerator {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let site: LocalServer
    private let driver: NIOLoopBound<Driver>

    init(site: LocalServer) async throws {
        self.site = site
        let loop = self.group.any()
        self.driver = try await loop.submit { NIOLoopBound(Driver(loop: loop), eventLoop: loop) }.get()
    }

    func shutDown() async { try? await self.group.shutdownGracefully() }

    /// Connects at most 100 people at the same time, and waits for every welcome.
    func connect(count: Int, prefix: String) async throws {
        let driver = self.driver
        let tokens = try (0..<count).map { try self.site.userToken("\(prefix)\($0)") }
        let port = self.site.gatewayPort
        try await self.group.any().flatSubmit { driver.value.connect(tokens: tokens, prefix: prefix, port: port) }.get()
    }

    /// - Parameter rate: messages a second of all pairs together; nil for one in flight per person.
    func startPairs(count: Int, text: String, rate: Int?) async throws {
        try await self.onLoop { $0.startPairs(count: count, text: text, rate: rate) }
    }

    func latencies() async throws -> [Int] {
        try await self.onLoop { driver in
            defer { driver.latencies.removeAll(keepingCapacity: true) }
            return driver.latencies
        }
    }

    func stopPairs() async throws { try await self.onLoop { $0.isRunning = false } }

    func counts() async throws -> (accepted: Int, delivered: Int) {
        try await self.onLoop { driver in
            if let failure = driver.failure { throw ToolFailure("a connection failed: \(failure)") }
            return (driver.accepted, driver.delivered)
        }
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (Driver) throws -> Value) async throws -> Value {
        let driver = self.driver
        return try await self.group.any().submit { try body(driver.value) }.get()
    }

    final class Driver {
        var accepted = 0
        var delivered = 0
        var isRunning = false
        var failure: String?
        private var connections: [BenchConnection] = []
        private var tokens: [String] = []
        private var started = 0
        private var connected = 0
        private var port = 0
        private var done: EventLoopPromise<Void>?
        private var sent: [Int] = []
        /// With a constant rate: when each message in flight was due, by connection.
        private var due: [[NIODeadline]] = []
        private var rated = 0
        var latencies: [Int] = []
        private var text = ""
        private var firstOfPairs = 0
        private let loop: any EventLoop

        init(loop: any EventLoop) { self.loop = loop }

        func connect(tokens: [String], prefix: String, port: Int) -> EventLoopFuture<Void> {
            if prefix == "pair" { self.firstOfPairs = self.connections.count }
            self.tokens = tokens
            self.connected = 0
            self.started = 0
            self.port = port
            let done = self.loop.makePromise(of: Void.self)
            self.done = done
            self.connectMore()
            return done.futureResult
        }

        private func connectMore() {
            while self.started - self.connected < 100, self.started < self.tokens.count {
                let index = self.connections.count
                let connection = BenchConnection(
                    index: index, host: "127.0.0.1:\(self.port)",
                    hello: ClientFrame.Hello(
                        versions: ProtocolVersion.supported, token: self.tokens[self.started],
                        device: DeviceID("bench-\(index)"), platform: "bench", runState: .foreground, after: 0)
                ) { self.handle($1, of: $0) }
                self.started += 1
                self.connections.append(connection)
                let bound = NIOLoopBound(connection, eventLoop: self.loop)
                let driver = NIOLoopBound(self, eventLoop: self.loop)
                ClientBootstrap(group: self.loop)
                    .channelOption(.maxMessagesPerRead, value: 1)
                    .channelOption(
                        .recvAllocator,
                        value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
                    )
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(bound.value)
                        }
                    }
                    .connect(host: "127.0.0.1", port: self.port)
                    .whenFailure { error in driver.value.handle(.failed("\(error)"), of: bound.value) }
            }
        }

        func startPairs(count: Int, text: String, rate: Int?) {
            self.text = text
            self.isRunning = true
            self.sent = Array(repeating: 0, count: self.connections.count)
            if let rate { return self.startSending(count: count, rate: rate) }
            for offset in 0..<(count * 2) { self.send(self.connections[self.firstOfPairs + offset]) }
            for connection in self.connections { connection.flush() }
        }

        /// Sends at a constant rate, in steps of a millisecond and spread over all people.
        private func startSending(count: Int, rate: Int) {
            self.due = Array(repeating: [], count: self.connections.count)
            let start = NIODeadline.now()
            let driver = NIOLoopBound(self, eventLoop: self.loop)
            self.loop.scheduleRepeatedTask(initialDelay: .milliseconds(1), delay: .milliseconds(1)) { task in
                let driver = driver.value
                guard driver.isRunning else { return task.cancel() }
                let wanted = Int((NIODeadline.now() - start).nanoseconds) / 1_000 * rate / 1_000_000
                while driver.rated < wanted {
                    let connection = driver.connections[driver.firstOfPairs + driver.rated % (count * 2)]
                    driver.rated += 1
                    driver.due[connection.index].append(
                        start + .nanoseconds(Int64(driver.rated) * 1_000_000_000 / Int64(rate)))
                    driver.send(connection)
                    connection.flush()
                }
            }
        }

        private func send(_ connection: BenchConnection) {
            let number = self.sent[connection.index]
            self.sent[connection.index] = number + 1
            let target = "pair\((connection.index - self.firstOfPairs) ^ 1)"
            connection.write(
                FrameCodec.encode(
                    .send(
                        MessageDraft(
                            clientMessageID: ClientMessageID("\(number)"),
                            conversation: ConversationID(type: .direct, target: target), objectName: .text,
                            content: #"{"content":"\#(self.text)"}"#)), as: .protobuf))
        }

        private func handle(_ signal: BenchConnection.Signal, of connection: BenchConnection) {
            switch signal {
            case .welcomed:
                self.connected += 1
                guard self.connected < self.tokens.count else { return self.finishConnecting(nil) }
                self.connectMore()
            case .accepted:
                self.accepted += 1
                guard self.due.isEmpty else {
                    // Acks come in the order of what was sent on a connection.
                    guard !self.due[connection.index].isEmpty else { return }
                    let elapsed = NIODeadline.now() - self.due[connection.index].removeFirst()
                    return self.latencies.append(Int(elapsed.nanoseconds / 1_000))
                }
                if self.isRunning { self.send(connection) }
                connection.flush()
            case .delivered(let position):
                self.delivered += 1
                connection.write(
                    FrameCodec.encode(.ack(ClientFrame.Ack(stored: position, settled: [])), as: .protobuf))
                connection.flush()
            // The generator asks nothing.
            case .answered: break
            case .failed(let why):
                self.finishConnecting(why)
                if self.failure == nil { self.failure = why }
            }
        }

        private func finishConnecting(_ failure: String?) {
            let done = self.done
            self.done = nil
            if let failure { done?.fail(ToolFailure(failure)) } else { done?.succeed() }
        }
    }
}
