import Requirements
import Testing

@testable import TidingsWire

/// What comes over an open WebSocket, in both forms: from clients to the server, and from a server to the SDK.
@Suite struct `A frame of any bytes` {
    private static let binary = Vector.all.map(\.bytes) + Corpus.inputs(of: "wire")
    private static let text = Vector.all.map { Array($0.json.utf8) } + Corpus.inputs(of: "json")

    /// Reads it as both sides would. What is a frame is the same frame when it is written in either form and read again.
    private func visit(_ bytes: [UInt8], _ format: WireFormat, _ what: String) {
        if let frame = try? FrameCodec.decodeClientFrame(bytes, as: format) {
            for other in WireFormat.allCases {
                let again = try? FrameCodec.decodeClientFrame(
                    FrameCodec.encode(frame, as: other), as: other, bytesMax: 4 * FrameCodec.frameBytesMax)
                #expect(again == frame, "\(what), written as \(other)")
            }
        }
        if let frame = try? FrameCodec.decodeServerFrame(bytes, as: format) {
            for other in WireFormat.allCases {
                let again = try? FrameCodec.decodeServerFrame(FrameCodec.encode(frame, as: other), as: other)
                #expect(again == frame, "\(what), written as \(other)")
            }
        }
    }

    private func run(_ kind: String, _ seeds: [[UInt8]], _ format: WireFormat, short: Int, long: Int) {
        for (index, seed) in seeds.enumerated() { self.visit(seed, format, "kept input \(index)") }
        Fuzz.run(kind, short: short, long: long) { number in
            var chance = Chance(seed: UInt64(number))
            var bytes = chance.below(20) == 0 ? chance.bytes(chance.below(60)) : chance.pick(seeds)
            // Two frames in one: fields come twice.
            if chance.below(10) == 0 { bytes += chance.pick(seeds) }
            for _ in 0..<chance.below(5) { chance.mutate(&bytes) }
            self.visit(bytes, format, "\(kind), seed \(number)")
        }
    }

    @Test func `is a frame or is refused, in protobuf`() {
        self.run("frames in protobuf", Self.binary, .protobuf, short: 6_000, long: 300_000)
    }

    @Test func `is a frame or is refused, in JSON`() {
        self.run("frames in JSON", Self.text, .json, short: 4_000, long: 200_000)
    }
}
