import ArgumentParser
import NIOCore
import TidingsModel
import TidingsWire

struct BenchBacklog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backlog",
        abstract: "Measure a device that has missed messages: the time from its connect until it has every one.",
        discussion: """
            One person's devices sign in and go; somebody writes to that person; then one device after another connects and reads its log, \
            page by page of 200, each asked for when the one before has come. What is missing, or not in the order of the log, ends it with \
            status 1.
            """)

    @OptionGroup var target: BenchOwnTarget
    @OptionGroup var report: BenchReportOptions
    @Option(help: "Messages that were missed.") var messages = 10_000
    @Option(help: "Devices that have missed them, one after the other.") var devices = 5
    @Option(help: "Bytes of text in a message.") var text = 100

    func validate() throws {
        try check("--messages", self.messages, in: 1...1_000_000)
        try check("--devices", self.devices, in: 1...20)
        try check("--text", self.text, in: 1...16_384)
    }

    func run() async throws {
        try await self.target.withServer { server, _ in
            let away = try (0..<self.devices).map {
                try BenchConnection.Opening("away", device: "bench-\($0)", at: server)
            }
            let writer = try BenchConnection.Opening("writer", device: "bench", at: server)
            try await BenchLoop.with(BacklogLoad.init) { loop in
                try await loop.wait { $0.crowd.connect(away) }
                try await loop.run { $0.crowd.connections.forEach { $0.close() } }
                try await loop.wait { $0.crowd.connect([writer]) }
                let (count, text) = (self.messages, String(repeating: "x", count: self.text))
                try await loop.wait { $0.write(count, text: text) }
                var times: [Int] = []
                let before = try server.figures()
                let start = ContinuousClock.now
                for device in away { times.append(try await loop.wait { $0.read(count, as: device) }) }
                let seconds = start.duration(to: .now) / .seconds(1)
                var report = BenchReport("backlog", of: server)
                report.add("messages", count)
                report.add("devices", self.devices)
                report.add("text_bytes", self.text)
                report.add("all_in", microseconds: times)
                if let before, let after = try server.figures() {
                    report.add(
                        after.used(since: before), each: "message", count: count * self.devices, seconds: seconds)
                }
                try self.report.publish(report)
            }
        }
    }
}

/// One who writes, and devices that read afterwards.
private final class BacklogLoad: BenchLoad {
    private static let pageMax: UInt32 = 200
    /// Messages under way while the backlog is written: the server stores 64 of a person at a time.
    private static let window = 50

    let crowd: BenchCrowd

    init(_ crowd: BenchCrowd) { self.crowd = crowd }

    /// Writes so many messages; done when all are acknowledged.
    func write(_ count: Int, text: String) -> EventLoopFuture<Void> {
        let done = self.crowd.loop.makePromise(of: Void.self)
        var send = BenchDialect.tidings.send(to: "away", text: text)
        var (sent, accepted) = (0, 0)
        let writer = self.crowd.connections[self.crowd.connections.count - 1]
        func write() {
            guard sent < count else { return }
            writer.write(frame: send.frame(number: sent))
            sent += 1
        }
        self.crowd.heard = { _, signal in
            switch signal {
            case .accepted:
                accepted += 1
                if accepted == count { done.succeed() } else { write() }
            case .failed(let why): done.fail(ToolFailure("a connection failed: \(why)"))
            case .welcomed, .delivered, .told: break
            }
        }
        for _ in 0..<Self.window { write() }
        writer.flush()
        return done.futureResult
    }

    /// Connects a device and reads its log; the microseconds that took.
    func read(_ count: Int, as device: BenchConnection.Opening) -> EventLoopFuture<Int> {
        let done = self.crowd.loop.makePromise(of: Int.self)
        let start = NIODeadline.now()
        var (position, taken) = (0 as LogPosition, 0)
        func askForPage(on connection: BenchConnection) {
            connection.write(FrameCodec.encode(.sync(after: position, limit: Self.pageMax), as: .protobuf))
            connection.flush()
        }
        self.crowd.heard = { connection, signal in
            switch signal {
            case .welcomed: askForPage(on: connection)
            case .told(let other):
                guard case .page(let page) = other.frame else { return }
                for entry in page.entries {
                    guard entry.position == position + 1 else {
                        return done.fail(ToolFailure("\(entry.position) came after \(position)"))
                    }
                    position += 1
                    if case .message = entry.body { taken += 1 }
                }
                guard position >= page.head || page.entries.isEmpty else { return askForPage(on: connection) }
                guard taken == count else { return done.fail(ToolFailure("\(taken) of \(count) messages came")) }
                done.succeed(Int((NIODeadline.now() - start).nanoseconds / 1_000))
                connection.close()
            case .failed(let why): done.fail(ToolFailure("a connection failed: \(why)"))
            case .accepted, .delivered: break
            }
        }
        self.crowd.connect([device]).whenFailure { done.fail($0) }
        return done.futureResult
    }
}
