import NIOCore
import NIOPosix

/// A load lives on one event loop, and says which connections it has.
protocol BenchLoad: AnyObject, SendableMetatype {
    var crowd: BenchCrowd { get }
}

/// The one event loop of the generator, with its load.
final class BenchLoop<Load: BenchLoad>: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let load: NIOLoopBound<Load>

    /// Makes the load, runs `body`, and closes every connection.
    static func with(
        _ make: @escaping @Sendable (BenchCrowd) -> Load, _ body: (BenchLoop) async throws -> Void
    ) async throws {
        let loop = try await BenchLoop(make)
        try await withCleanUp({ try? await loop.group.shutdownGracefully() }) { try await body(loop) }
    }

    private init(_ make: @escaping @Sendable (BenchCrowd) -> Load) async throws {
        let loop = self.group.any()
        self.load = try await loop.submit { NIOLoopBound(make(BenchCrowd(loop)), eventLoop: loop) }.get()
    }

    /// - Throws: `ToolFailure` if a connection has failed.
    func run<Value: Sendable>(_ body: @escaping @Sendable (Load) throws -> Value) async throws -> Value {
        let load = self.load
        return try await self.group.any().submit {
            if let failure = load.value.crowd.failure { throw ToolFailure("a connection failed: \(failure)") }
            return try body(load.value)
        }.get()
    }

    /// The same for what takes its time.
    func wait<Value: Sendable>(_ body: @escaping @Sendable (Load) -> EventLoopFuture<Value>) async throws -> Value {
        let load = self.load
        return try await self.group.any().flatSubmit { body(load.value) }.get()
    }

    /// Waits until it holds, at most so many seconds; returns whether it does.
    func wait(seconds: Int, until holds: @escaping @Sendable (Load) -> Bool) async throws -> Bool {
        for _ in 0..<(seconds * 200) {
            if try await self.run({ holds($0) }) { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}

/// The connections of a load.
final class BenchCrowd {
    /// So many are being opened at a time.
    private static let opening = 100

    let loop: any EventLoop
    private(set) var connections: [BenchConnection] = []
    private(set) var failure: String?
    /// Takes what connections signal; nil for what is not heard.
    var heard: ((BenchConnection, BenchConnection.Signal) -> Void)?

    private var waiting: ArraySlice<BenchConnection.Opening> = []
    private var underWay = 0
    private var done: EventLoopPromise<Void>?

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Connects them, and waits for every welcome.
    func connect(_ openings: [BenchConnection.Opening]) -> EventLoopFuture<Void> {
        let done = self.loop.makePromise(of: Void.self)
        self.done = done
        self.waiting = openings[...]
        self.connectMore()
        return done.futureResult
    }

    /// Calls `send` with the number of each message, from 0, and when it was due, until it returns false. It looks each millisecond which
    /// are due: a look that comes late makes up for it.
    func send(atRate rate: Int, _ send: @escaping (Int, NIODeadline) -> Bool) {
        let start = NIODeadline.now()
        let state = NIOLoopBoundBox((sent: 0, send: send), eventLoop: self.loop)
        self.loop.scheduleRepeatedTask(initialDelay: .milliseconds(1), delay: .milliseconds(1)) { task in
            let wanted = Int((NIODeadline.now() - start).nanoseconds) / 1_000 * rate / 1_000_000
            while state.value.sent < wanted {
                let due = start + .nanoseconds(Int64(state.value.sent + 1) * 1_000_000_000 / Int64(rate))
                guard state.value.send(state.value.sent, due) else { return task.cancel() }
                state.value.sent += 1
            }
        }
    }

    private func connectMore() {
        while self.underWay < Self.opening, let opening = self.waiting.popFirst() {
            self.underWay += 1
            let connection = BenchConnection(index: self.connections.count, opening) { self.handle($1, of: $0) }
            self.connections.append(connection)
            connection.open(on: self.loop)
        }
        if self.underWay == 0 { self.finish(nil) }
    }

    private func handle(_ signal: BenchConnection.Signal, of connection: BenchConnection) {
        switch signal {
        case .welcomed:
            self.underWay -= 1
            self.connectMore()
        case .failed(let why):
            if self.failure == nil { self.failure = why }
            self.finish(why)
        case .accepted, .delivered, .told: break
        }
        self.heard?(connection, signal)
    }

    private func finish(_ failure: String?) {
        let done = self.done
        self.done = nil
        if let failure { done?.fail(ToolFailure("a connection failed: \(failure)")) } else { done?.succeed() }
    }
}
