import SwiftProtobuf
import TidingsModel

/// Bytes that are no frame. If they show all the same whose fault that is, a request by its number or a send by its id, that one alone is
/// refused and the connection goes on.
struct BrokenFrame {
    let bytes: [UInt8]
    let format: WireFormat
    let why: String

    /// The frame's members that are answered by a mark of their own: their names in JSON and number, and those of the mark.
    private static let kinds: [(names: [String], number: UInt64, mark: [String], markNumber: UInt64)] = [
        (["send"], 2, ["clientMessageId", "client_message_id"], 1),
        (["registerPush", "register_push"], 5, ["number"], 4),
        (["request"], 12, ["number"], 1),
    ]

    var error: FrameError {
        let json = self.format == .json ? try? JSONValue(parsing: self.bytes) : nil
        for kind in Self.kinds {
            if let name = kind.names.first(where: { json?[$0] != nil }), let body = json?[name] {
                let mark = kind.mark.lazy.compactMap { body[$0] }.first
                let number = mark?.stringValue.flatMap { UInt64($0) } ?? mark?.intValue.flatMap { UInt64(exactly: $0) }
                var path = Self.fault(in: body, at: [name])
                // Fields are named without the frame's own name and the request's.
                path.removeFirst(min(path.count - 1, name == "request" ? 2 : 1))
                return self.refusal(path.joined(separator: "."), number, mark?.stringValue, isSend: kind.number == 2)
            }
            guard self.format == .protobuf, let body = Self.field(kind.number, of: self.bytes[...]) else { continue }
            var mark = Self.field(kind.markNumber, of: body) ?? []
            let id = String(decoding: mark, as: UTF8.self)
            return self.refusal(
                kind.names.last ?? "frame", Self.readVarint(&mark), id, isSend: kind.number == 2)
        }
        return .malformed(self.why)
    }

    private func refusal(_ field: String, _ number: UInt64?, _ id: String?, isSend: Bool) -> FrameError {
        let fault = InvalidField(field: field, rule: "must have the form that the protocol gives it: \(self.why)")
        if isSend, let id, (1...ClientMessageID.bytesMax).contains(id.utf8.count) {
            return .invalid(fault, send: ClientMessageID(id))
        }
        guard !isSend, let number, number > 0 else { return .malformed(self.why) }
        return .invalidRequest(fault, number)
    }

    /// The path of the innermost member that is at fault by itself.
    private static func fault(in value: JSONValue, at path: [String]) -> [String] {
        // More than any message has: looking at each would cost more than it tells.
        guard value.members.count <= 64 else { return path }
        for (name, member) in value.members {
            let frame = (path + [name]).reversed().reduce(member) { .members([($1, $0)]) }
            if (try? FrameCodec.parseJSON(WireClientFrame.self, Array(frame.text.utf8))) == nil {
                return Self.fault(in: member, at: path + [name])
            }
        }
        return path
    }

    /// Returns the first field of that number, in a message of protobuf that may be broken behind it.
    private static func field(_ number: UInt64, of message: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = message
        while let key = Self.readVarint(&rest) {
            var content = rest
            switch key & 7 {
            case 0: guard Self.readVarint(&rest) != nil else { return nil }
            case 1: rest = rest.dropFirst(8)
            case 2:
                guard let length = Self.readVarint(&rest), length <= rest.count else { return nil }
                content = rest.prefix(Int(length))
                rest = rest.dropFirst(Int(length))
            case 5: rest = rest.dropFirst(4)
            default: return nil
            }
            if key >> 3 == number { return content }
        }
        return nil
    }

    private static func readVarint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
