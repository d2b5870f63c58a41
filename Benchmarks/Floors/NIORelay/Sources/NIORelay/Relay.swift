import Foundation
import NIOCore
import NIOPosix

// The floor of a message between two people on SwiftNIO: what Benchmarks/Floors/relay.c does, with one event loop, own framing and no
// channel handler but one. A turn is one round of the loop: what was readable is read, the log is written and synced once, and
// each connection gets one write.
//
// Usage: NIORelay PORT LOG

/// What all connections share; lives on the event loop.
final class Relay {
    private let loop: any EventLoop
    private let log: Int32
    fileprivate var people: [[UInt8]: Connection] = [:]
    private var record = ByteBuffer()
    private var dirty: [Connection] = []
    private var isCommitting = false
    private var lastID: UInt64 = 0

    init(loop: any EventLoop, log: Int32) {
        self.loop = loop
        self.log = log
    }

    fileprivate func send(_ frame: ByteBuffer, from: Connection) {
        let fields = Fields(frame)
        let conversation = Fields(fields[2])
        self.lastID += 1
        let id = ByteBuffer(string: String(repeating: "0", count: 13 - String(self.lastID).count) + String(self.lastID))
        from.position += 1
        var accepted = ByteBuffer()
        accepted.write(field: 1, fields[1])
        accepted.write(field: 2, id)
        accepted.write(field: 3, self.lastID)
        accepted.write(field: 4, from.position)
        self.queue(accepted, 2, to: from)

        var seen = ByteBuffer()
        seen.write(field: 1, conversation[1])
        seen.write(field: 2, from.name)
        var message = ByteBuffer()
        message.reserveCapacity(frame.readableBytes + 96)
        message.write(field: 1, id)
        message.write(field: 2, from.name)
        message.write(field: 3, seen)
        message.write(field: 4, fields[1])
        message.write(field: 5, fields[3])
        message.write(field: 6, fields[4])
        message.write(field: 11, self.lastID)
        message.write(field: 12, ByteBuffer(string: "demo"))
        self.record.writeImmutableBuffer(message)
        guard let to = self.people[Array(conversation[2].readableBytesView)] else { return }
        to.position += 1
        var entry = ByteBuffer()
        entry.reserveCapacity(message.readableBytes + 16)
        entry.write(field: 1, to.position)
        entry.write(field: 2, message)
        self.queue(entry, 4, to: to)
    }

    /// Queues one frame as a WebSocket message, until the end of the turn.
    fileprivate func queue(_ body: ByteBuffer, _ field: UInt8, to connection: Connection) {
        let size = 1 + varintLength(UInt64(body.readableBytes)) + body.readableBytes
        connection.output.writeInteger(UInt8(0x82))
        if size < 126 {
            connection.output.writeInteger(UInt8(size))
        } else {
            connection.output.writeInteger(UInt8(126))
            connection.output.writeInteger(UInt16(size))
        }
        connection.output.write(field: field, body)
        self.touch(connection)
    }

    fileprivate func touch(_ connection: Connection) {
        if !connection.isDirty {
            connection.isDirty = true
            self.dirty.append(connection)
        }
        guard !self.isCommitting else { return }
        self.isCommitting = true
        let relay = NIOLoopBound(self, eventLoop: self.loop)
        // Tasks run when all that was readable has been read.
        self.loop.execute { relay.value.commit() }
    }

    private func commit() {
        self.isCommitting = false
        if self.record.readableBytes > 0 {
            let count = self.record.withUnsafeReadableBytes { write(self.log, $0.baseAddress, $0.count) }
            guard count == self.record.readableBytes, fdatasync(self.log) == 0 else {
                fatalError("the log cannot be written")
            }
            self.record.clear()
        }
        for connection in self.dirty { connection.flush() }
        self.dirty.removeAll(keepingCapacity: true)
    }
}

/// One person's connection.
final class Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let relay: Relay
    private var channel: (any Channel)?
    private var input = ByteBuffer()
    private var isOpen = false
    fileprivate var output = ByteBuffer()
    fileprivate var isDirty = false
    fileprivate var name = ByteBuffer()
    fileprivate var position: UInt64 = 0

    init(_ relay: Relay) { self.relay = relay }

    func channelActive(context: ChannelHandlerContext) { self.channel = context.channel }

    func channelInactive(context: ChannelHandlerContext) {
        self.channel = nil
        self.relay.people[Array(self.name.readableBytesView)] = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var read = self.unwrapInboundIn(data)
        if self.input.readableBytes == 0 { self.input = read } else { self.input.writeBuffer(&read) }
        if !self.isOpen {
            guard let end = self.input.readableBytesView.firstRange(of: [13, 10, 13, 10])?.upperBound else { return }
            self.input.moveReaderIndex(to: end)
            self.isOpen = true
            // The key of the generator is the sample of RFC 6455 §1.3.
            self.output.writeString(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: tidings.v1.protobuf\r\n\r\n"
            )
            self.relay.touch(self)
        }
        while self.nextFrame() {}
        if self.input.readableBytes == 0 { self.input.clear() }
    }

    private func nextFrame() -> Bool {
        let start = self.input.readerIndex
        guard let first: UInt8 = self.input.getInteger(at: start),
            let second: UInt8 = self.input.getInteger(at: start + 1)
        else { return false }
        var (size, head) = (Int(second & 0x7f), 2)
        if size == 126 {
            guard let long: UInt16 = self.input.getInteger(at: start + 2) else { return false }
            (size, head) = (Int(long), 4)
        }
        guard self.input.readableBytes >= head + 4 + size else { return false }
        self.input.withUnsafeMutableReadableBytes { bytes in
            for index in 0..<size { bytes[head + 4 + index] ^= bytes[head + (index & 3)] }
        }
        self.input.moveReaderIndex(forwardBy: head + 4)
        if let frame = self.input.readSlice(length: size), first & 0xf == 2 { self.receive(frame) }
        return true
    }

    private func receive(_ frame: ByteBuffer) {
        var frame = frame
        guard let tag: UInt8 = frame.readInteger(), let size = frame.readVarint(), size == frame.readableBytes else {
            return
        }
        switch tag >> 3 {
        case 1:
            self.name = Fields(frame)[3]
            self.relay.people[Array(self.name.readableBytesView)] = self
            var welcome = ByteBuffer()
            welcome.write(field: 1, UInt64(1))
            self.relay.queue(welcome, 1, to: self)
        case 2: self.relay.send(frame, from: self)
        // An ack, whose log nobody reads here.
        default: break
        }
    }

    fileprivate func flush() {
        self.isDirty = false
        guard let channel = self.channel else { return }
        channel.writeAndFlush(self.output, promise: nil)
        self.output = ByteBuffer()
    }
}

/// The fields with a length, up to number 4: all that a relay looks at.
private struct Fields {
    private var slices = (ByteBuffer(), ByteBuffer(), ByteBuffer(), ByteBuffer())

    init(_ frame: ByteBuffer) {
        var frame = frame
        while let tag = frame.readVarint(), let value = frame.readVarint() {
            guard tag & 7 == 2, let slice = frame.readSlice(length: Int(value)) else { continue }
            switch tag >> 3 {
            case 1: self.slices.0 = slice
            case 2: self.slices.1 = slice
            case 3: self.slices.2 = slice
            case 4: self.slices.3 = slice
            default: break
            }
        }
    }

    subscript(_ number: Int) -> ByteBuffer {
        switch number {
        case 1: self.slices.0
        case 2: self.slices.1
        case 3: self.slices.2
        default: self.slices.3
        }
    }
}

private func varintLength(_ value: UInt64) -> Int { max(1, (64 - value.leadingZeroBitCount + 6) / 7) }

extension ByteBuffer {
    fileprivate mutating func readVarint() -> UInt64? {
        var (value, shift) = (UInt64(0), UInt64(0))
        while shift < 64, let byte: UInt8 = self.readInteger() {
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    private mutating func writeVarint(_ value: UInt64) {
        var rest = value
        while rest > 0x7f {
            self.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.writeInteger(UInt8(rest))
    }

    fileprivate mutating func write(field: UInt8, _ bytes: ByteBuffer) {
        self.writeInteger(field << 3 | 2)
        self.writeVarint(UInt64(bytes.readableBytes))
        self.writeImmutableBuffer(bytes)
    }

    fileprivate mutating func write(field: UInt8, _ value: UInt64) {
        self.writeInteger(field << 3)
        self.writeVarint(value)
    }
}

@main
enum Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[1]) else { fatalError("usage: NIORelay PORT LOG") }
        let log = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard log >= 0 else { fatalError("\(arguments[2]) cannot be opened") }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.any()
        let relay = try loop.submit { NIOLoopBound(Relay(loop: loop, log: log), eventLoop: loop) }.wait()
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 4_096)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2_048))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(relay.value))
                }
            }
            .bind(host: "127.0.0.1", port: port).wait()
        try channel.closeFuture.wait()
    }
}
