import Testing

@testable import TidingsModel

@Suite struct `A JSON text` {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "12", "-1.50", "1e9", "1.0E-3", "123456789012345678901234567890", "\"\"",
        "\"h\u{e9}llo \u{1f600}\"", "[]", "{}", "[1,[2,{}],\"x\"]", "{\"b\":1,\"a\":{\"c\":[true,null]}}",
    ])
    func `in compact form comes back byte for byte`(text: String) throws {
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test(arguments: [
        (" \t\r\n{ \"a\" : [ 1 , 2 ] } ", "{\"a\":[1,2]}"),
        ("\"\\u0041\\/\\ud83d\\ude00\"", "\"A/\u{1f600}\""),
        ("\"\\b\\f\\n\\r\\t\\\"\\\\\\u0001\\u001F\"", "\"\\b\\f\\n\\r\\t\\\"\\\\\\u0001\\u001f\""),
    ])
    func `in another form becomes compact`(text: String, compact: String) throws {
        #expect(try JSONValue(parsing: text).text == compact)
    }

    @Test(arguments: [
        ("", JSONError.Fault.unexpectedEnd, 0),
        ("{\"a\":", .unexpectedEnd, 5),
        ("[1", .unexpectedEnd, 2),
        ("\"abc", .unexpectedEnd, 4),
        ("nul", .unexpectedEnd, 3),
        ("-", .unexpectedEnd, 1),
        ("1.", .unexpectedEnd, 2),
        ("\"\\u00", .unexpectedEnd, 5),
        ("nil", .unexpectedByte(0x69), 1),
        ("'a'", .unexpectedByte(0x27), 0),
        ("+1", .unexpectedByte(0x2b), 0),
        ("[1,]", .unexpectedByte(0x5d), 3),
        ("{\"a\":1,}", .unexpectedByte(0x7d), 7),
        ("{a:1}", .unexpectedByte(0x61), 1),
        ("{\"a\" 1}", .unexpectedByte(0x31), 5),
        ("[1 2]", .unexpectedByte(0x32), 3),
        ("\"a\nb\"", .unexpectedByte(0x0a), 2),
        ("\"\\x\"", .unexpectedByte(0x78), 2),
        ("\"\\u00g0\"", .unexpectedByte(0x67), 5),
        ("\u{feff}1", .unexpectedByte(0xef), 0),
        ("1 2", .trailingBytes, 2),
        ("{}x", .trailingBytes, 2),
        ("01", .badNumber, 1),
        ("-x", .badNumber, 1),
        ("1.x", .badNumber, 2),
        ("1ex", .badNumber, 2),
        ("\"\\ud83d\"", .badText, 2),
        ("\"\\ude00\"", .badText, 2),
        ("\"\\ud83d\\u0041\"", .badText, 2),
        ("{\"a\":1,\"a\":2}", .duplicateKey("a"), 7),
    ])
    func `with a fault is refused at the byte where the fault is`(
        text: String, fault: JSONError.Fault, offset: Int
    ) {
        #expect(throws: JSONError(fault: fault, offset: offset)) { try JSONValue(parsing: text) }
    }

    @Test func `that is not UTF-8 is refused`() {
        #expect(throws: JSONError(fault: .badText, offset: 0)) { try JSONValue(parsing: [0x22, 0xff, 0x22]) }
        #expect(throws: JSONError(fault: .badText, offset: 0)) { try JSONValue(parsing: [0x22, 0xc3, 0x22]) }
    }

    @Test func `is refused when it nests deeper than allowed, not before`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONValue(parsing: nested(64)).text == nested(64))
        #expect(throws: JSONError(fault: .tooDeep(max: 64), offset: 64)) { try JSONValue(parsing: nested(65)) }
        #expect(throws: JSONError(fault: .tooDeep(max: 1), offset: 5)) {
            try JSONValue(parsing: "{\"a\":{}}", depthMax: 1)
        }
        // Depth is counted inside each other, not beside each other.
        #expect(try JSONValue(parsing: "[[],[],[]]", depthMax: 2).arrayValue?.count == 3)
    }

    @Test func `of a hundred thousand brackets is an error, not a crash`() {
        #expect(throws: JSONError(fault: .tooDeep(max: 64), offset: 64)) {
            try JSONValue(parsing: String(repeating: "[", count: 100_000))
        }
    }

    @Test func `says in words what is wrong and where`() {
        #expect("\(JSONError(fault: .duplicateKey("a"), offset: 7))" == "the key \"a\" stands twice at byte 7")
        #expect("\(JSONError(fault: .unexpectedByte(0x5d), offset: 3))" == "unexpected byte 0x5d at byte 3")
    }
}

@Suite struct `A JSON value` {
    @Test func `keeps Booleans and numbers apart`() throws {
        let values = try JSONValue(parsing: "[true,1,0,false,\"1\"]").arrayValue ?? []
        #expect(values.map(\.boolValue) == [true, nil, nil, false, nil])
        #expect(values.map(\.intValue) == [nil, 1, 0, nil, nil])
        #expect(JSONValue.bool(true) != .int(1))
    }

    @Test func `takes for whole what is written whole and fits`() throws {
        #expect(try JSONValue(parsing: "9223372036854775807").intValue == .max)
        #expect(try JSONValue(parsing: "9223372036854775808").intValue == nil)
        #expect(try JSONValue(parsing: "1.0").intValue == nil)
        #expect(try JSONValue(parsing: "1e2").intValue == nil)
        #expect(JSONNumber(1.5)?.double == 1.5)
        #expect(JSONNumber(.infinity) == nil)
        #expect(JSONNumber(.nan) == nil)
    }

    @Test func `is an object with its members in the order they came`() throws {
        var object = try #require(try JSONValue(parsing: "{\"z\":1,\"a\":2}").objectValue)
        object["m"] = 3
        object["z"] = 4
        #expect(JSONValue.object(object).text == "{\"z\":4,\"a\":2,\"m\":3}")
        object["a"] = nil
        #expect(JSONValue.object(object).text == "{\"z\":4,\"m\":3}")
        #expect(JSONValue.members([("a", 1), ("b", 2), ("a", 3)]).text == "{\"a\":3,\"b\":2}")
    }

    @Test func `is equal to an object with the same members in another order`() throws {
        let one = try JSONValue(parsing: "{\"a\":1,\"b\":[2]}")
        let other = try JSONValue(parsing: "{\"b\":[2],\"a\":1}")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(try one != JSONValue(parsing: "{\"a\":1}"))
        #expect(try one != JSONValue(parsing: "{\"a\":1,\"b\":[3]}"))
    }

    @Test func `has members only if it is an object`() throws {
        #expect(try JSONValue(parsing: "{\"a\":null}")["a"] == .null)
        #expect(try JSONValue(parsing: "{\"a\":null}")["b"] == nil)
        #expect(try JSONValue(parsing: "[1]")["a"] == nil)
    }
}
