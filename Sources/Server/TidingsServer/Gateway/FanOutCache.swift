import NIOCore
import TidingsModel
import TidingsWire

/// Remembers encoded frames that go to many connections, each encoded once for each format: a chat room's message, a group's entry (with a
/// position for each member), typing, presence. They are written one after the other, so the last one of each kind is enough.
struct FanOutCache {
    /// A frame as it is written: what is one connection's own, then what others get, too.
    struct Encoded {
        var head: [UInt8]
        var shared: ByteBuffer?

        var count: Int { self.head.count + (self.shared?.readableBytes ?? 0) }
    }

    private struct Last {
        var signal: (signal: Signal, bytes: ByteBuffer)?
        var entry: (body: LogEntry.Body, encoded: EncodedEntry, bytes: ByteBuffer)?
    }

    private(set) var encodings = 0
    private var protobuf = Last()
    private var json = Last()

    mutating func encode(_ frame: ServerFrame, as format: WireFormat) -> Encoded {
        switch format {
        case .protobuf: Self.encode(frame, as: format, &self.protobuf, &self.encodings)
        case .json: Self.encode(frame, as: format, &self.json, &self.encodings)
        }
    }

    private static func encode(
        _ frame: ServerFrame, as format: WireFormat, _ last: inout Last, _ encodings: inout Int
    ) -> Encoded {
        switch frame {
        case .signal(let signal):
            if let known = last.signal, known.signal == signal { return Encoded(head: [], shared: known.bytes) }
            encodings += 1
            let bytes = ByteBuffer(bytes: FrameCodec.encode(frame, as: format))
            last.signal = (signal, bytes)
            return Encoded(head: [], shared: bytes)
        case .entry(let entry):
            // Two people's texts are compared only if the messages have one id, and then they lie in the same place.
            if let known = last.entry, known.body == entry.body {
                return Encoded(head: known.encoded.head(at: entry.position), shared: known.bytes)
            }
            guard let encoded = EncodedEntry(entry.body, as: format) else { break }
            encodings += 1
            let bytes = ByteBuffer(bytes: encoded.body)
            last.entry = (entry.body, encoded, bytes)
            return Encoded(head: encoded.head(at: entry.position), shared: bytes)
        case .welcome, .sendAccepted, .sendRefused, .page, .pong, .problem, .reconnect, .answer, .tokenExpiring: break
        }
        encodings += 1
        return Encoded(head: FrameCodec.encode(frame, as: format))
    }
}
