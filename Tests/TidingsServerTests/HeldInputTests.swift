import NIOCore
import Testing

@testable import TidingsServer

@Suite struct `What a connection holds of a frame whose rest has not come` {
    /// Takes bytes from the front whenever there are `frame` of them, as the parser does.
    /// - Returns: what was taken, and how often the bytes were moved or copied.
    private func receive(
        _ pieces: some Sequence<[UInt8]>, frame: Int
    ) -> (taken: [UInt8], moves: Int, capacity: Int) {
        var input = HeldInput()
        var taken: [UInt8] = []
        var moves = 0
        var place: UInt = 0
        var capacity = 0
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            input.prependHeld(to: &bytes)
            while bytes.readableBytes >= frame { taken += bytes.readBytes(length: frame) ?? [] }
            let start = bytes.readerIndex
            let now = bytes.withVeryUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            if now != place || start == 0 && bytes.readableBytes == 0 { moves += 1 }
            place = now
            capacity = bytes.capacity
            input.hold(bytes)
        }
        return (taken, moves, capacity)
    }

    private let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }

    @Test func `is moved a few times only, however tiny the pieces are`() {
        let (taken, moves, capacity) = self.receive(self.bytes.map { [$0] }, frame: self.bytes.count)
        #expect(taken == self.bytes)
        // Each time it grows, it doubles.
        #expect(moves <= 20, "\(moves)")
        #expect(capacity <= 2 * 131_072)
    }

    @Test(arguments: [1, 2, 3, 7, 100, 1_024, 65_536])
    func `is what was received, in whatever pieces and frames`(piece: Int) {
        let pieces = stride(from: 0, to: self.bytes.count, by: piece).map {
            Array(self.bytes[$0..<min($0 + piece, self.bytes.count)])
        }
        for frame in [1, 2, 5, 64, 1_000, 50_000] {
            let taken = self.receive(pieces, frame: frame).taken
            #expect(taken == Array(self.bytes.prefix(self.bytes.count / frame * frame)))
        }
    }

    @Test func `takes no whole receive buffer for a few bytes`() {
        var input = HeldInput()
        var bytes = ByteBuffer(repeating: 7, count: 65_536)
        input.prependHeld(to: &bytes)
        bytes.moveReaderIndex(forwardBy: 65_530)
        input.hold(bytes)
        var next = ByteBuffer(bytes: [8])
        input.prependHeld(to: &next)
        #expect(Array(next.readableBytesView) == [7, 7, 7, 7, 7, 7, 8])
        #expect(next.capacity <= 64)
        // Nor for what is left of many frames.
        next.writeRepeatingByte(9, count: 60_000)
        next.moveReaderIndex(forwardBy: 60_000)
        input.hold(next)
        var last = ByteBuffer()
        input.prependHeld(to: &last)
        #expect(last.readableBytes == 7)
        #expect(last.capacity <= 64)
    }
}
