import Foundation
import NIOCore
import NIOPosix
import TidingsModel

/// The tool's side of a phone's control channel: commands out, answers and trace records in (docs/virtual-phone.md).
actor ControlClient {
    let name: String
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private let commands: AsyncStream<ByteBuffer>.Continuation
    private var task: Task<Void, Never>?
    private var nextID = 1
    private var waiting: [Int64: CheckedContinuation<JSONValue, any Error>] = [:]
    private(set) var events: [JSONValue] = []
    private var isClosed = false

    static func connect(name: String, port: Int, process: ManagedProcess) async throws -> ControlClient {
        for _ in 0..<600 {
            let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(LineDecoder()))
                        return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            if let channel {
                let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
                let client = ControlClient(name: name, channel: channel, commands: continuation)
                await client.start(stream)
                try await client.command("subscribe")
                return client
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ToolFailure("\(name) does not listen on its control port. Its last lines:\n\(process.logTail())")
    }

    private init(
        name: String, channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>, commands: AsyncStream<ByteBuffer>.Continuation
    ) {
        self.name = name
        self.channel = channel
        self.commands = commands
    }

    private func start(_ stream: AsyncStream<ByteBuffer>) {
        let channel = self.channel
        self.task = Task { [weak self] in
            try? await channel.executeThenClose { inbound, outbound in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for await line in stream { try await outbound.write(line) } }
                    group.addTask { for try await line in inbound { await self?.received(line) } }
                    _ = try await group.next()
                    group.cancelAll()
                }
            }
            await self?.closed()
        }
    }

    private func received(_ line: ByteBuffer) {
        guard let value = try? JSONValue(parsing: line.readableBytesView) else { return }
        if let id = value["id"]?.intValue, let waiter = self.waiting.removeValue(forKey: id) {
            if value["ok"]?.boolValue == true {
                waiter.resume(returning: value["result"] ?? .null)
            } else {
                let field = value["field"]?.stringValue ?? ""
                waiter.resume(
                    throwing: ToolFailure("\(self.name): \(field) \(value["rule"]?.stringValue ?? "refused")"))
            }
        } else if value["event"] != nil {
            self.events.append(value)
        }
    }

    private func closed() {
        self.isClosed = true
        for waiter in self.waiting.values { waiter.resume(throwing: ToolFailure("\(self.name) has gone away")) }
        self.waiting = [:]
    }

    /// - Throws: `ToolFailure` with the phone's own words if it refuses, or if it is gone.
    @discardableResult
    func command(_ verb: String, _ members: [(String, JSONValue)] = []) async throws -> JSONValue {
        guard !self.isClosed else { throw ToolFailure("\(self.name) has gone away") }
        let id = self.nextID
        self.nextID += 1
        let line = JSONValue.members([("id", .int(id)), ("do", .string(verb))] + members)
        return try await withCheckedThrowingContinuation { continuation in
            self.waiting[Int64(id)] = continuation
            self.commands.yield(ByteBuffer(bytes: line.serialized + [0x0a]))
        }
    }

    var mark: Int { self.events.count }

    func event(
        after mark: Int, withinSeconds seconds: Double, _ fits: @Sendable (JSONValue) -> Bool
    ) async throws -> JSONValue? {
        let deadline = ContinuousClock.now + .milliseconds(Int(seconds * 1_000))
        while true {
            if let event = self.events.dropFirst(mark).first(where: fits) { return event }
            guard ContinuousClock.now < deadline, !self.isClosed else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func close() {
        self.commands.finish()
        self.task?.cancel()
    }
}

private struct LineDecoder: ByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) -> DecodingState {
        guard let end = buffer.readableBytesView.firstIndex(of: 0x0a),
            let line = buffer.readSlice(length: end - buffer.readerIndex)
        else { return .needMoreData }
        buffer.moveReaderIndex(forwardBy: 1)
        context.fireChannelRead(NIOAny(line))
        return .continue
    }
}
