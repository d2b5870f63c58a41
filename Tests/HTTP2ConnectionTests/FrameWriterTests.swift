import HTTP2Connection
import NIOCore
import Testing

@Suite struct `Frames that are written (RFC 9113 §6)` {
    private static func written(_ write: (inout FrameWriter) -> Void) -> [UInt8] {
        var writer = FrameWriter()
        write(&writer)
        return writer.takeOutput().map { Array($0.readableBytesView) } ?? []
    }

    @Test func `have the bytes of the specification`() {
        #expect(Self.written { $0.settings([(3, 1_000)]) } == [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0xe8])
        #expect(Self.written { $0.settingsAck() } == [0, 0, 0, 4, 1, 0, 0, 0, 0])
        #expect(
            Self.written { $0.ping(0x0102_0304_0506_0708, ack: true) }
                == [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(Self.written { $0.windowUpdate(5, by: 32_768) } == [0, 0, 4, 8, 0, 0, 0, 0, 5, 0, 0, 0x80, 0])
        #expect(Self.written { $0.reset(3, .cancel) } == [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8])
        #expect(Self.written { $0.data(1, [7, 8], endStream: true) } == [0, 0, 2, 0, 1, 0, 0, 0, 1, 7, 8])
        #expect(
            Self.written { $0.goAway(lastStream: 9, .enhanceYourCalm, debugData: "no".utf8) }
                == [0, 0, 10, 7, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0xb] + Array("no".utf8))
    }

    @Test func `are given out once, and the next ones do not change what was given`() {
        var writer = FrameWriter()
        #expect(writer.takeOutput() == nil)
        writer.settingsAck()
        let first = writer.takeOutput()
        #expect(writer.takeOutput() == nil)
        writer.ping(1, ack: false)
        #expect(Wire.describe(first) == ["settings ack"])
        #expect(Wire.describe(writer.takeOutput()) == ["ping 1"])
    }

    @Test func `cut debug data to what fits a frame of any peer`() {
        let bytes = Self.written { $0.goAway(lastStream: 0, .noError, debugData: [UInt8](repeating: 1, count: 20_000)) }
        #expect(bytes.count == 9 + 8 + 16_000)
    }
}
