import Testing

@testable import TidingsModel

/// A device as a test writes it.
private struct Gadget: JSONCodable, Equatable {
    struct Setting: Codable, Equatable {
        var name: String
        var isOn: Bool?
    }
    enum Colour: String, Codable, CaseIterable { case red, green }
    enum Size: Int, Codable { case small = 1, large = 3 }

    var serialNumber: UInt64 = 1
    var owner: UserID = "alice"
    var colour = Colour.red
    var size: Size?
    var volume = 0.5
    var settings: [Setting] = []
    var counts: [String: Int8] = [:]
    var pairs: [[Int?]] = []
    var anything: JSONValue = .null
    var extras = JSONObject()
    var apnsID: String?

    static let leftOutMembers = ["apns_id"]
}

private enum Order: JSONTagged, Equatable {
    case stop
    case goThere(Place, speed: Int?)
    case say(String)
    case carry(what: String, String)

    struct Place: Codable, Equatable, JSONChecked {
        var street: String
        var number: Int
        func check() throws(InvalidField) {
            guard self.number > 0 else { throw InvalidField(field: "number", rule: "must be 1 or more") }
        }
    }
    static let tag = JSONTag(
        "order", meaning: "an order",
        names: [
            "goThere": ["_0": "", "speed": "pace"], "stop": ["": "halt"], "carry": ["what": "thing", "_1": "where"],
        ])
}

private func fault<Value: Decodable>(
    _ type: Value.Type, _ json: JSONValue, _ decoder: JSONValueDecoder = JSONValueDecoder()
) -> String? {
    do throws(InvalidField) {
        _ = try decoder.decode(type, from: json)
        return nil
    } catch {
        return error.description
    }
}

@Suite struct `The coder of JSON values` {
    private let gadget = Gadget(
        serialNumber: .max, owner: "bob", colour: .green, size: .large, volume: 1.25,
        settings: [.init(name: "sound", isOn: true), .init(name: "light")], counts: ["b": -128, "aB": 127],
        pairs: [[1, nil], []], anything: ["Big": 1], extras: JSONObject([("someKey", .null)]), apnsID: "x")

    @Test func `writes members in order and in snake case, nil as null, dictionaries by key`() {
        #expect(
            self.gadget.json.text
                == #"{"serial_number":18446744073709551615,"owner":"bob","colour":"green","size":3,"volume":1.25,"#
                + #""settings":[{"name":"sound","is_on":true},{"name":"light","is_on":null}],"#
                + #""counts":{"aB":127,"b":-128},"pairs":[[1,null],[]],"anything":{"Big":1},"extras":{"someKey":null},"#
                + #""apns_id":"x"}"#)
        #expect(
            Gadget().json.text
                == #"{"serial_number":1,"owner":"alice","colour":"red","size":null,"volume":0.5,"settings":[],"counts":{},"#
                + #""pairs":[],"anything":null,"extras":{}}"#)
    }

    @Test func `reads what it has written`() throws {
        for gadget in [self.gadget, Gadget()] {
            #expect(try Gadget(json: gadget.json) == gadget)
            #expect(try Gadget(line: gadget.line.dropLast()) == gadget)
        }
    }

    @Test(arguments: [
        ("serial_number", "-1", "must be a whole number from 0 to 18446744073709551615, got -1"),
        (
            "serial_number", "18446744073709551616",
            "must be a whole number from 0 to 18446744073709551615, got 18446744073709551616"
        ),
        ("serial_number", "1.0", "must be a whole number from 0 to 18446744073709551615, got 1.0"),
        ("serial_number", "true", "must be a whole number, got a Boolean"),
        ("owner", "7", "must be a string, got a number"), ("owner", "null", "must be a string, got null"),
        ("colour", #""blue""#, "must be one of red, green, got blue"), ("size", "2", "is not a known number: 2"),
        ("volume", #""loud""#, "must be a number, got a string"), ("settings", "{}", "must be an array, got an object"),
        ("settings", #"[{"name":"a"},{"name":"b"},{"name":42}]"#, "[2].name must be a string, got a number"),
        ("settings", #"[{"is_on":true}]"#, "[0].name is missing"),
        ("settings", #"[{"name":"a","is_on":0}]"#, "[0].is_on must be a Boolean, got a number"),
        ("counts", #"{"many":128}"#, ".many must be a whole number from -128 to 127, got 128"),
        ("pairs", "[[0],[1,[]]]", "[1][1] must be a whole number, got an array"),
        ("extras", "[]", "must be an object, got an array"),
    ])
    func `names what is wrong with its path`(member: String, text: String, rule: String) throws {
        var json = try #require(self.gadget.json.objectValue)
        json[member] = try JSONValue(parsing: text)
        let separator = rule.hasPrefix("[") || rule.hasPrefix(".") ? "" : " "
        #expect(fault(Gadget.self, .object(json)) == member + separator + rule)
    }

    @Test func `names a member that is missing, and calls the whole by its name`() throws {
        var json = try #require(self.gadget.json.objectValue)
        json["owner"] = nil
        json["size"] = nil
        #expect(fault(Gadget.self, .object(json)) == "owner is missing")
        json["owner"] = "carol"
        #expect(fault(Gadget.self, .object(json)) == nil)
        #expect(fault(Gadget.self, 7, JSONValueDecoder(root: "body")) == "body must be an object, got a number")
        #expect(
            throws: InvalidField(field: "line", rule: "must be one JSON object: the text ends too early at byte 1")
        ) { try Gadget(line: "{".utf8) }
    }

    @Test func `passes over members it does not know, or refuses them with their path`() throws {
        let json: JSONValue = ["name": "a", "is_on": true, "isOn": false]
        #expect(fault(Gadget.Setting.self, json) == nil)
        let strict = JSONValueDecoder(refusesUnknown: true)
        #expect(fault(Gadget.Setting.self, json, strict) == "isOn is not known here; known are is_on, name")
        #expect(
            fault([Gadget.Setting].self, [["name": "a"], json], strict)?.hasPrefix("[1].isOn is not known") == true)
        #expect(fault(Gadget.self, self.gadget.json, strict) == nil)
        let order: JSONValue = ["order": "go_there", "street": "s", "number": 1, "pace": 2]
        #expect(fault(Order.self, order, strict) == nil)
        #expect(
            fault(Order.self, ["order": "halt", "now": true], strict) == "now is not known here; known are order")
    }

    @Test func `keeps every whole number of 64 bits exact, and the text of any other`() throws {
        for text in ["9007199254740993", "-9223372036854775808", "9223372036854775807"] {
            let json = try JSONValue(parsing: text)
            #expect(try JSONValueDecoder().decode(Int64.self, from: json) == Int64(text))
            #expect(JSONValueEncoder().encode(try #require(Int64(text))).text == text)
        }
        let json = try JSONValue(parsing: #"{"a":1.50,"b":[1e3,0.1]}"#)
        #expect(try JSONValueDecoder().decode(JSONValue.self, from: json).text == json.text)
        #expect(JSONValueEncoder().encode(json).text == json.text)
        #expect(JSONValueEncoder().encode(Double.infinity) == .null)
    }

    @Test func `writes an enumeration as one flat object`() throws {
        let orders: [(Order, String)] = [
            (.stop, #"{"order":"halt"}"#), (.say("hi"), #"{"order":"say","say":"hi"}"#),
            (
                .goThere(.init(street: "s", number: 4), speed: nil),
                #"{"order":"go_there","street":"s","number":4,"pace":null}"#
            ), (.carry(what: "box", "up"), #"{"order":"carry","thing":"box","where":"up"}"#),
        ]
        for (order, text) in orders {
            #expect(order.json.text == text)
            #expect(try Order(line: text.utf8) == order)
        }
        let list = JSONValueEncoder().encode(orders.map(\.0))
        #expect(try JSONValueDecoder().decode([Order].self, from: list) == orders.map(\.0))
    }

    @Test(arguments: [
        ("{}", "order is missing"), (#"{"order":3}"#, "order must be a string, got a number"),
        (#"{"order":"dance"}"#, "order is not an order: dance"), (#"{"order":"stop"}"#, "order is not an order: stop"),
        (#"{"order":"goThere"}"#, "order is not an order: goThere"), (#"{"order":"say"}"#, "say is missing"),
        (#"{"order":"go_there","street":"s","number":0}"#, "number must be 1 or more"),
        ("[]", "value must be an object, got an array"),
    ])
    func `names what is wrong with an enumeration`(text: String, problem: String) throws {
        #expect(fault(Order.self, try JSONValue(parsing: text)) == problem)
        let nested = fault(
            [String: [Order]].self, ["all": [.members([("order", "halt")]), try JSONValue(parsing: text)]])
        #expect(nested == (text == "[]" ? "all[1] must be an object, got an array" : "all[1].\(problem)"))
    }

    @Test func `reads members one by one with the same words`() throws {
        let fields = try JSONFields(["a": ["b": [1, "x"]], "n": .null])
        #expect(try fields.optional("n", as: Int.self) == nil)
        #expect(try fields.optional("z", as: Int.self) == nil)
        #expect(throws: InvalidField(field: "a.b[1]", rule: "must be a whole number, got a string")) {
            try fields.fields("a").get("b", as: [Int].self)
        }
        #expect(throws: InvalidField(field: "z", rule: "is missing")) { try fields.get("z", as: Int.self) }
        #expect(throws: InvalidField(field: "a.b", rule: "is not one of c, d")) {
            try fields.fields("a").only(["c", "d"])
        }
        #expect(throws: InvalidField(field: "body", rule: "must be an object, got null")) {
            try JSONFields(.null, root: "body")
        }
    }

    @Test(arguments: [
        ("apnsID", "apns_id"), ("is_on", "is_on"), ("useAPNsToken", "use_ap_ns_token"), ("a", "a"), ("aB", "a_b"),
        ("wallMS", "wall_ms"),
    ])
    func `names members as JSON does`(name: String, member: String) { #expect(JSONName.snakeCase(name) == member) }
}

private struct Kept: JSONCodable, Equatable {
    var bytes: [UInt8]
    var list: [String] = []
    var count: Int64 = 0
    static let leftOutMembers = ["list", "count"]
}

@Suite struct `A record of a store` {
    @Test func `leaves out lists without elements and zeros, and is read without them`() throws {
        for (kept, text) in [
            (Kept(bytes: [0, 255]), #"{"bytes":"00ff"}"#),
            (Kept(bytes: [], list: ["a"], count: 2), #"{"bytes":"","list":["a"],"count":2}"#),
        ] {
            #expect(kept.json.text == text)
            #expect(try Kept(json: kept.json) == kept)
        }
    }

    @Test(arguments: [("{}", "is missing"), (#"{"bytes":"0"}"#, "must be pairs"), (#"{"bytes":[0]}"#, "must be pairs")])
    func `has bytes as digits`(text: String, rule: String) throws {
        let fault = try #require(throws: InvalidField.self) { try Kept(line: text.utf8) }
        #expect(fault.field == "bytes" && fault.rule.hasPrefix(rule))
    }
}

@Suite struct `Members of an object` {
    @Test func `stand in their order, with null for nil`() {
        let none: String? = nil
        let members: JSONMembers = ["b": UserID("ann"), "a": none, "list": [1, 2], "kind": ConversationType.group]
        #expect(members.json.text == #"{"b":"ann","a":null,"list":[1,2],"kind":"GRP"}"#)
        #expect((members + ["c": 1.5]).json["c"]?.text == "1.5")
    }

    @Test func `are left out without a value where that is asked for`() {
        let members: JSONMembers = .given(["a": nil, "b": true, "c": [UserID("x")].objects { ["id": $0] }])
        #expect(members.json.text == #"{"b":true,"c":[{"id":"x"}]}"#)
    }
}
