import Requirements
import Testing
import TidingsModel

@testable import APNsCore

/// Random JSON, valid and broken.
private struct Texts {
    var dice: SplitMix64
    private static let pieces: [String] = [
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\":", "\"é\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\q\"", "true", "false", "null", "tru", "0", "-0", "01", "1.5", "1.", "-", "1e5", "1e", " ", "\n", "\u{1}",
        "{\"a\":1}", "[1,2]", "{}", "[]", "\"\\\"\"",
    ]

    mutating func value(_ depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &self.dice) {
        case 0: return ["true", "false", "null"].randomElement(using: &self.dice) ?? "null"
        case 1: return ["0", "-1", "1.25", "2E+3", "12e-1"].randomElement(using: &self.dice) ?? "0"
        case 2, 3, 4:
            return ["\"x\"", "\"\\n\\u0041\"", "\"ü😀\"", "\"\""].randomElement(using: &self.dice) ?? "\"\""
        case 5:
            let count = Int.random(in: 0..<4, using: &self.dice)
            return "[" + (0..<count).map { _ in self.value(depth + 1) }.joined(separator: ", ") + "]"
        default:
            let count = Int.random(in: 0..<4, using: &self.dice)
            return "{"
                + (0..<count).map { _ in
                    let key = ["a", "b", "aps", "alert", "ä", "\\u0061"].randomElement(using: &self.dice) ?? "a"
                    return "\"\(key)\" :" + self.value(depth + 1)
                }.joined(separator: ",") + "}"
        }
    }

    mutating func next() -> [UInt8] {
        switch Int.random(in: 0..<4, using: &self.dice) {
        case 0:
            return (0..<Int.random(in: 0..<12, using: &self.dice)).flatMap { _ in
                Array((Self.pieces.randomElement(using: &self.dice) ?? "").utf8)
            }
        case 1:
            // One byte of a good text is changed, taken out or put in.
            var bytes = Array(self.value(0).utf8)
            let place = Int.random(in: 0..<bytes.count, using: &self.dice)
            switch Int.random(in: 0..<3, using: &self.dice) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &self.dice)
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &self.dice), at: place)
            }
            return bytes
        default: return Array(self.value(0).utf8)
        }
    }
}

@Suite struct `The quick look at a payload` {
    @Test func `says object only of what the parser takes for one, and of nearly all of those`() {
        var texts = Texts(dice: SplitMix64(seed: 4))
        var objects = 0
        var found = 0
        Fuzz.run("payload JSON", short: 6_000, long: 200_000) { _ in
            let bytes = texts.next()
            let isObject = (try? JSONValue(parsing: bytes))?.objectValue != nil
            let isSure = JSONScanner.isSurelyObject(bytes)
            if isSure, !isObject { Issue.record("not an object: \(String(decoding: bytes, as: UTF8.self))") }
            let hasPlainKeys = !bytes.contains(UInt8(ascii: "\\")) && bytes.allSatisfy { $0 < 0x80 }
            if isObject, hasPlainKeys {
                objects += 1
                if !isSure { Issue.record("not seen: \(String(decoding: bytes, as: UTF8.self))") }
            }
            if isSure { found += 1 }
        }
        #expect(objects > Fuzz.enough(long: 10_000, short: 300))
        #expect(found > objects)
    }

    @Test(arguments: [
        (
            #"{"aps":{"alert":{"title":"Grüße","body":"\"hi\" \ud83d\ude00 😀"},"badge":-1.5e3},"a":[{},[],null,true]}"#,
            true
        ),
        (" {\n} ", true), (#"{"a":1,"a":2}"#, false), (#"{"a":1}{"#, false), (#"{"a":"\ud83d"}"#, false), ("[]", false),
        (#"{"a":01}"#, false), (#"{"a":1,}"#, false), (#"{,}"#, false), ("", false), ("{", false),
        (String(repeating: #"{"a":"#, count: 63) + "{}" + String(repeating: "}", count: 63), true),
        (String(repeating: #"{"a":"#, count: 64) + "{}" + String(repeating: "}", count: 64), false),
    ])
    func `tells these apart as the parser does`(text: String, isObject: Bool) {
        #expect(JSONScanner.isSurelyObject(Array(text.utf8)) == isObject)
        #expect(((try? JSONValue(parsing: text))?.objectValue != nil) == isObject)
    }
}
