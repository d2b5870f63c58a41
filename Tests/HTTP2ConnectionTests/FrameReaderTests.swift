import HTTP2Connection
import NIOCore
import Testing

@Suite struct `Frames in a stream of bytes (RFC 9113 §4.1)` {
    private static let three =
        Wire.settings([(3, 1_000)]) + Wire.data(5, 70_000 % 16_384, end: true) + Wire.ping(7)

    private static func frames(_ parts: [[UInt8]]) throws -> [HTTP2Frame] {
        var reader = HTTP2FrameReader()
        var frames: [HTTP2Frame] = []
        for part in parts {
            reader.append(ByteBuffer(bytes: part))
            while let frame = try reader.next() { frames.append(frame) }
            reader.settle()
        }
        return frames
    }

    @Test func `are cut where they end`() throws {
        let frames = try Self.frames([Self.three])
        #expect(frames.map(\.type) == [4, 0, 6])
        #expect(frames.map(\.stream) == [0, 5, 0])
        #expect(frames.map(\.flags) == [0, FrameFlags.endStream, 0])
        #expect(frames.map(\.payload.readableBytes) == [6, 70_000 % 16_384, 8])
    }

    @Test func `are the same however the bytes are split`() throws {
        let whole = try Self.frames([Self.three])
        #expect(try Self.frames(Self.three.map { [$0] }) == whole)
        for at in [1, 8, 9, 10, 14, 15, 16, 23, 24, 100, Self.three.count - 1] {
            let parts = [Array(Self.three[..<at]), Array(Self.three[at...])]
            #expect(try Self.frames(parts) == whole, "split at \(at)")
        }
    }

    @Test func `have no reserved bit`() throws {
        var bytes = Wire.data(1, 0)
        bytes[5] |= 0x80
        #expect(try Self.frames([bytes]).map(\.stream) == [1])
    }

    @Test func `longer than was announced are refused by their head`() throws {
        var reader = HTTP2FrameReader(maxFrameSize: 16_384)
        reader.append(ByteBuffer(bytes: [0, 0x40, 0x01, 0, 0, 0, 0, 0, 1]))
        #expect(throws: ConnectionFault.self) { try reader.next() }
        var largest = HTTP2FrameReader(maxFrameSize: 16_384)
        largest.append(ByteBuffer(bytes: Wire.data(1, 16_384)))
        #expect(try largest.next()?.payload.readableBytes == 16_384)
    }
}
