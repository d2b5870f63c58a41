// swift-format-ignore-file: NeverForceUnwrap
import Foundation
import Testing
import TidingsModel

@testable import TidingsWire

/// Nil if the frame is accepted.
private func fault(_ bytes: [UInt8], _ format: WireFormat) -> FrameError? {
    do throws(FrameError) {
        _ = try FrameCodec.decodeClientFrame(bytes, as: format)
        return nil
    } catch {
        return error
    }
}

/// A frame that is answered by a number or an id of its own, out of those that the protocol's vectors hold.
private struct Answered: CustomTestStringConvertible {
    let vector: Vector
    /// `request`, `registerPush` or `send`.
    let kind: String
    let body: JSONValue
    var mark: String { self.kind == "send" ? "clientMessageId" : "number" }
    var testDescription: String { self.vector.name }

    static let all = Vector.all.compactMap { vector -> Answered? in
        guard let frame = try? JSONValue(parsing: vector.json) else { return nil }
        for kind in ["request", "registerPush", "send"] {
            guard let body = frame[kind] else { continue }
            let isNumbered = kind != "registerPush" || body["number"] != nil
            return isNumbered ? Answered(vector: vector, kind: kind, body: body) : nil
        }
        return nil
    }

    func isAnswered(_ error: FrameError?) -> Bool {
        switch error {
        case nil: true
        case .invalid(_, send: let id?): self.kind == "send" && self.body[self.mark]?.stringValue == id.rawValue
        case .invalidRequest(_, let number): self.body[self.mark]?.stringValue == String(number)
        case .invalid(_, send: nil), .malformed, .empty, .tooLarge: false
        }
    }
}

/// What no field of that kind may hold, and what only some may.
private let odd: [JSONValue] = [
    .string(""), .string(" "), .string("a b"), .string("\u{0}"), .string("AB"), .string("abc"), .string("-1"), .int(-1),
    .int(1 << 60), .string("18446744073709551615"), .string("18446744073709551616"),
    .number(JSONNumber(1.5)!), .number(JSONNumber(1e300)!), .bool(true), .null, .array([]),
    .array([.null]), .array([.array([])]), .array([.int(7)]), .object(JSONObject()), .members([("x", .int(1))]),
]

/// Every value of a frame's body but its mark, once with each of the odd ones in its place.
private func replaced(_ value: JSONValue, sparing mark: String?) -> [JSONValue] {
    switch value {
    case .object(let object):
        var list: [JSONValue] = []
        for (name, member) in object.members where name != mark {
            for other in odd + replaced(member, sparing: nil) {
                list.append(.object(JSONObject(object.members.map { ($0.key, $0.key == name ? other : $0.value) })))
            }
        }
        return list
    case .array(let elements):
        return elements.indices.flatMap { index in
            (odd + replaced(elements[index], sparing: nil)).map { other in
                .array(elements.enumerated().map { $0 == index ? other : $1 })
            }
        }
    case .null, .bool, .number, .string: return []
    }
}

@Suite struct `A request with a number, or a send with an id, of which a field is broken` {
    @Test func `is of every kind there is`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let proto = try String(
            contentsOf: root.appendingPathComponent("Sources/Model/TidingsWire/tidings.proto"), encoding: .utf8)
        let requests = proto.components(separatedBy: "oneof request {")[1].components(separatedBy: "}")[0]
        let fields = requests.matches(of: /(\w+) = \d+;/).map { String($0.1) }
        let known = Set(Answered.all.flatMap { $0.body.members.map(\.0) })
        #expect(fields.count >= 25)
        for field in fields {
            let words = field.split(separator: "_").map(String.init)
            #expect(known.contains(words[0] + words.dropFirst().map(\.capitalized).joined()), "\(field)")
        }
        // The places of the marks that the decoder finds by itself.
        for place in [
            "string client_message_id = 1;", "RegisterPush register_push = 5;", "uint64 number = 4;", "Send send = 2;",
            "Request request = 12;", "uint64 number = 1;",
        ] {
            #expect(proto.contains(place), "\(place)")
        }
    }

    @Test func `is refused by its number or id, in JSON`() {
        var (cases, refused) = (0, 0)
        for frame in Answered.all {
            for body in replaced(frame.body, sparing: frame.mark) {
                let json = JSONValue.members([(frame.kind, body)]).text
                let error = fault(Array(json.utf8), .json)
                #expect(frame.isAnswered(error), "\(json): \(String(describing: error))")
                cases += 1
                if error != nil { refused += 1 }
            }
        }
        #expect(cases > 4_000 && refused > cases / 2, "\(refused) of \(cases)")
    }

    @Test func `is refused by its number or id, in protobuf`() {
        var (cases, refused) = (0, 0)
        for frame in Answered.all {
            let key = frame.vector.bytes[0]
            var content = Array(frame.vector.bytes.dropFirst(frame.vector.bytes[1] < 0x80 ? 2 : 3))
            var markLength =
                frame.kind == "send" ? 2 + Int(content[1]) : 1 + content.dropFirst().prefix { $0 >= 0x80 }.count + 1
            if frame.kind == "registerPush" {
                // The mark first, as the two others have it: what stands behind a broken length cannot be read.
                content = content.suffix(2) + content.dropLast(2)
                markLength = 2
            }
            for place in markLength..<max(markLength, content.count) {
                for byte in [0xff, 0x80, 0x00, 0xc3, content[place] ^ 1] as [UInt8] {
                    var broken = content
                    broken[place] = byte
                    let length = broken.count
                    let lengthBytes = length < 128 ? [UInt8(length)] : [UInt8(length & 127) | 128, UInt8(length >> 7)]
                    let bytes = [key] + lengthBytes + broken
                    let error = fault(bytes, .protobuf)
                    #expect(
                        frame.isAnswered(error), "\(frame.vector.name), \(place), \(byte): \(String(describing: error))"
                    )
                    cases += 1
                    if error != nil { refused += 1 }
                }
            }
        }
        #expect(cases > 4_000 && refused > cases / 2, "\(refused) of \(cases)")
    }

    @Test(arguments: [
        ("AB", "token"), ("abc", "token"), ("a b", "token"), ("<00ff10>", "token"), ("", "token"), ("ａｂ", "token"),
    ]) func `may be a push token as other systems write it`(token: String, field: String) {
        let json =
            #"{"registerPush":{"token":"\#(token)","environment":"sandbox","topic":"com.example.chat","number":"2"}}"#
        guard case .invalidRequest(let invalid, 2) = fault(Array(json.utf8), .json) else {
            Issue.record("not refused by its number")
            return
        }
        #expect(invalid.field == field)
    }

    @Test(arguments: [
        (#"{"request":{"number":"7","history":{"conversation":{"type":"PR","target":"bob"},"limit":"x"}}}"#, "limit"),
        (
            #"{"request":{"history":{"conversation":{"type":5,"target":"bob"},"limit":1},"number":7}}"#,
            "conversation.type"
        ),
        (#"{"request":{"number":"7","change":{"action":{"ban":{"until":[]}}}}}"#, "action.ban.until"),
        (#"{"request":{"number":"7","history":5}}"#, "history"),
        (#"{"request":{"number":"7","settings":{},"devices":{}}}"#, "request"),
        (#"{"registerPush":{"token":7,"number":"7"}}"#, "token"),
        (#"{"register_push":{"token":true,"number":"7"}}"#, "token"),
    ]) func `names the innermost field that has another form`(json: String, field: String) {
        guard case .invalidRequest(let invalid, 7) = fault(Array(json.utf8), .json) else {
            Issue.record("not refused by its number")
            return
        }
        #expect(invalid.field == field)
        #expect(invalid.rule.hasPrefix("must have the form that the protocol gives it: "))
    }

    @Test(arguments: [
        #"{"request":{"number":"x","settings":{}}}"#, #"{"request":{"number":-1,"history":5}}"#,
        #"{"request":{"number":"0","history":5}}"#, #"{"request":[]}"#, #"{"send":{"clientMessageId":7}}"#,
        #"{"send":{"clientMessageId":"","content":7}}"#, #"{"ping":{"nonce":"x"}}"#, #"{"request":{"number":"7""#,
        #"[{"request":{"number":"7","history":5}}]"#,
    ]) func `is a broken frame as long as its number or id is not known`(json: String) {
        guard case .malformed = fault(Array(json.utf8), .json) else {
            Issue.record("\(json) is laid at the door of a request")
            return
        }
    }

    @Test func `may have thousands of fields, of which none is then named`() {
        let many = (0..<6_000).map { "\"x\($0)\":0" }.joined(separator: ",")
        let json = #"{"request":{"number":"7","history":{"limit":"x",\#(many)}}}"#
        let error = fault(Array(json.utf8), .json)
        guard case .invalidRequest(let invalid, 7) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(invalid.field == "history")
    }
}
