import SwiftProtobuf
package import TidingsModel

/// An entry for many people: the body is encoded once, and the position of each is written before it.
package struct EncodedEntry: Hashable, Sendable {
    /// The end of the frame, the same for everybody.
    package let body: [UInt8]
    private let format: WireFormat

    /// nil for a body without content, of which a frame has only the position.
    package init?(_ body: LogEntry.Body, as format: WireFormat) {
        if case .unknown = body { return nil }
        let entry = WireEntry(LogEntry(position: 0, body: body))
        self.format = format
        // Neither form can fail, as in `FrameCodec`.
        switch format {
        case .protobuf:
            self.body = (try? entry.serializedBytes()) ?? []
        case .json:
            // Without the opening brace, which is in the head, and with the one that closes the frame.
            let bytes: [UInt8] = (try? entry.jsonUTF8Bytes()) ?? [0x7b, 0x7d]
            self.body = Array(bytes.dropFirst()) + [0x7d]
        }
    }

    /// Returns the bytes before the body; both together are what `FrameCodec.encode` gives.
    package func head(at position: LogPosition) -> [UInt8] {
        switch self.format {
        case .protobuf:
            // ServerFrame.entry is field 4, Entry.position field 1: the lowest, so that it comes first.
            var field: [UInt8] = []
            if position > 0 {
                field.append(1 << 3 | 0)
                Self.append(position, to: &field)
            }
            var head: [UInt8] = [4 << 3 | 2]
            Self.append(UInt64(field.count + self.body.count), to: &head)
            return head + field
        case .json:
            return Array((position > 0 ? #"{"entry":{"position":"\#(position)","# : #"{"entry":{"#).utf8)
        }
    }

    /// Seven bits a byte, the lowest first.
    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
