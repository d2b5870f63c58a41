import SwiftProtobuf
package import TidingsModel

/// In a WebSocket message.
package enum WireFormat: String, Hashable, Sendable, CaseIterable {
    /// Binary messages.
    case protobuf
    /// Text messages with the canonical JSON of the same protobuf messages.
    case json

    /// The WebSocket subprotocol (RFC 6455 §1.9) names the format and the protocol's major version.
    package var subprotocol: String { "tidings.v1.\(self.rawValue)" }

    package init?(subprotocol: some StringProtocol) {
        guard let format = Self.allCases.first(where: { subprotocol == $0.subprotocol }) else { return nil }
        self = format
    }
}

package enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing was parsed.
    case tooLarge(bytes: Int, max: Int)
    case malformed(String)
    /// Without content, or with content this build does not know.
    case empty
    /// `send` names the message of a send, so that it alone can be refused.
    case invalid(InvalidField, send: ClientMessageID?)
    /// Only that request is refused, by its number.
    case invalidRequest(InvalidField, RequestNumber)

    static func broken(_ field: String, _ rule: String, send: ClientMessageID? = nil) -> FrameError {
        .invalid(InvalidField(field: field, rule: rule), send: send)
    }

    package var description: String {
        switch self {
        case .tooLarge(let bytes, let max): "the frame has \(bytes) bytes, at most \(max) are allowed"
        case .malformed(let why): "the bytes are not a frame: \(why)"
        case .empty: "the frame has no content known to protocol version \(ProtocolVersion.current)"
        case .invalid(let field, _), .invalidRequest(let field, _): field.description
        }
    }
}

/// Encoding cannot fail; decoding checks every field that has a rule of its own.
package enum FrameCodec {
    /// The default and the smallest useful limit: a message of the largest content with its ids fits.
    package static let frameBytesMax = 65_536
    /// Until the welcome has said another; older servers say none.
    package static let serverFrameBytesMax = 16 * FrameCodec.frameBytesMax
    /// A client believes no larger limit, whatever a welcome says.
    package static let serverFrameBytesCeiling = 16_777_216

    /// A server that says none cuts its pages by the limit it has for clients' frames.
    package static func serverFrameBytesMax(after welcome: ServerFrame.Welcome) -> Int {
        let told = welcome.serverFrameBytesMax > 0 ? welcome.serverFrameBytesMax : welcome.frameBytesMax
        return min(max(Self.serverFrameBytesMax, Int(clamping: told)), Self.serverFrameBytesCeiling)
    }

    package static func encode(_ frame: ClientFrame, as format: WireFormat) -> [UInt8] {
        Self.bytes(WireClientFrame(frame), as: format)
    }

    package static func encode(_ frame: ServerFrame, as format: WireFormat) -> [UInt8] {
        Self.bytes(WireServerFrame(frame), as: format)
    }

    /// Longer input is refused before parsing. Of what does not parse a request with a number, or a send with an id, is refused alone.
    package static func decodeClientFrame(
        _ bytes: [UInt8], as format: WireFormat, bytesMax: Int = FrameCodec.frameBytesMax
    ) throws(FrameError) -> ClientFrame {
        do throws(FrameError) {
            return try Self.parse(WireClientFrame.self, bytes, as: format, bytesMax: bytesMax).model()
        } catch {
            guard case .malformed(let why) = error else { throw error }
            throw BrokenFrame(bytes: bytes, format: format, why: why).error
        }
    }

    /// Longer input is refused before parsing; pages may be larger than client frames.
    package static func decodeServerFrame(
        _ bytes: [UInt8], as format: WireFormat, bytesMax: Int = FrameCodec.serverFrameBytesMax
    ) throws(FrameError) -> ServerFrame {
        try Self.parse(WireServerFrame.self, bytes, as: format, bytesMax: bytesMax).model()
    }

    private static func bytes(_ message: some SwiftProtobuf.Message, as format: WireFormat) -> [UInt8] {
        // Neither form can fail: there are no required fields, no Any, and every string is valid Unicode.
        switch format {
        case .protobuf: (try? message.serializedBytes()) ?? []
        case .json: (try? message.jsonUTF8Bytes()) ?? []
        }
    }

    private static func parse<M: SwiftProtobuf.Message>(
        _ type: M.Type, _ bytes: [UInt8], as format: WireFormat, bytesMax: Int
    ) throws(FrameError) -> M {
        guard bytes.count <= bytesMax else { throw .tooLarge(bytes: bytes.count, max: bytesMax) }
        do {
            switch format {
            case .protobuf: return try M(serializedBytes: bytes)
            case .json: return try Self.parseJSON(M.self, bytes)
            }
        } catch {
            throw .malformed(Self.reason(error, format))
        }
    }

    static func parseJSON<M: SwiftProtobuf.Message>(_ type: M.Type, _ bytes: [UInt8]) throws -> M {
        var options = JSONDecodingOptions()
        // A newer peer may say more than this build knows.
        options.ignoreUnknownFields = true
        options.messageDepthLimit = 16
        return try M(jsonUTF8Bytes: bytes, options: options)
    }

    private static func reason(_ error: any Error, _ format: WireFormat) -> String {
        switch error {
        case let error as JSONDecodingError: "JSON \(error)"
        case let error as BinaryDecodingError: "protobuf \(error)"
        default: format.rawValue
        }
    }
}
