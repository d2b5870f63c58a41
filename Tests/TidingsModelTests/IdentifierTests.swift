import Testing
import TidingsModel

@Suite struct `An id from outside` {
    @Test func `is taken if it has 1 to 64 bytes without spaces and control characters`() throws {
        // A name of Hebrew, one of several marks, a flag, a digit as an emoji.
        let names = ["\u{5d3}\u{5d5}\u{5e8}\u{5d4}", "e\u{301}\u{323}", "\u{1f1e9}\u{1f1ea}", "1\u{fe0f}\u{20e3}"]
        for text in ["a", String(repeating: "x", count: 64), "héllo", "a/b:c@d", "\u{1f600}"] + names {
            #expect(try UserID.validated(text, field: "user").rawValue == text)
        }
    }

    @Test(arguments: [
        ("", "must not be empty"),
        (String(repeating: "x", count: 65), "must be at most 64 bytes, got 65"),
        (String(repeating: "é", count: 33), "must be at most 64 bytes, got 66"),
        ("two words", "must not contain spaces or control characters"),
        ("tab\t", "must not contain spaces or control characters"),
        ("nul\0", "must not contain spaces or control characters"),
        ("del\u{7f}", "must not contain spaces or control characters"),
        ("csi\u{9b}31m", "must not contain characters that cannot be seen or turn text, got U+009B"),
        ("nel\u{85}", "must not contain characters that cannot be seen or turn text, got U+0085"),
        ("soft\u{ad}", "must not contain characters that cannot be seen or turn text, got U+00AD"),
        ("rtl\u{202e}", "must not contain characters that cannot be seen or turn text, got U+202E"),
        ("line\u{2028}", "must not contain characters that cannot be seen or turn text, got U+2028"),
        ("paragraph\u{2029}", "must not contain characters that cannot be seen or turn text, got U+2029"),
        ("\u{feff}dora", "must not contain characters that cannot be seen or turn text, got U+FEFF"),
        ("\u{1f468}\u{200d}\u{1f469}", "must not contain characters that cannot be seen or turn text, got U+200D"),
        ("tag\u{e0041}", "must not contain characters that cannot be seen or turn text, got U+E0041"),
    ])
    func `is refused with its field and the rule it breaks`(text: String, rule: String) {
        #expect(throws: InvalidField(field: "user", rule: rule)) { try UserID.validated(text, field: "user") }
    }

    @Test func `may be longer where it is a push token`() throws {
        #expect(try PushToken.validated(String(repeating: "a", count: 200), field: "token").rawValue.utf8.count == 200)
        #expect(throws: InvalidField(field: "token", rule: "must be at most 200 bytes, got 201")) {
            try PushToken.validated(String(repeating: "a", count: 201), field: "token")
        }
    }

    @Test func `is ordered by its bytes`() {
        #expect((["b", "a", "B", "é", "ab"] as [UserID]).sorted() == ["B", "a", "ab", "b", "é"])
    }
}

@Suite struct `Two ids that look alike` {
    // The same character in two forms; and two marks in two orders, which has the same number of bytes.
    @Test(arguments: [("\u{e9}", "e\u{301}"), ("a\u{323}\u{302}", "a\u{302}\u{323}")])
    func `are two ids if their bytes differ`(one: String, other: String) {
        #expect(one == other)
        #expect(UserID(one) != UserID(other))
        #expect(Set([UserID(one), UserID(other), UserID(one)]).count == 2)
        #expect((UserID(one) < UserID(other)) != (UserID(other) < UserID(one)))
        let conversations = [one, other].map { ConversationID(type: .direct, target: $0) }
        #expect(conversations[0] != conversations[1])
        #expect(Set(conversations).count == 2)
    }

    @Test func `are one id if their bytes are the same`() {
        let long = String(repeating: "é", count: 30)
        #expect(UserID(long) == UserID(String(decoding: Array(long.utf8), as: UTF8.self)))
        #expect(UserID("ada") != UserID("bo"))
    }
}

@Suite struct `Keys of people, devices and legs` {
    private let key = UserKey(app: "shop", user: "ada")

    @Test func `are ordered by app, person and device`() {
        let keys = [
            UserKey(app: "b", user: "a"), UserKey(app: "a", user: "b"), UserKey(app: "a", user: "a"),
        ]
        #expect(keys.sorted() == [keys[2], keys[1], keys[0]])
        let devices = [DeviceKey(user: keys[1], device: "1"), DeviceKey(user: keys[2], device: "2")]
        #expect(devices.sorted() == [devices[1], devices[0]])
    }

    @Test func `put a person without devices before their devices`() {
        let id = MessageID(rawValue: 2)
        let legs = [
            LegID(message: id, user: self.key, device: "phone"), LegID(message: id, user: self.key, device: nil),
            LegID(message: MessageID(rawValue: 1), user: self.key, device: "phone"),
        ]
        #expect(legs.sorted() == [legs[2], legs[1], legs[0]])
    }

    @Test func `name legs of one message that differ in person, app or device`() {
        let id = MessageID(rawValue: 2)
        let other = UserKey(app: "mart", user: "ada")
        let legs = [
            LegID(message: id, user: self.key, device: "phone"), LegID(message: id, user: self.key, device: "pad"),
            LegID(message: id, user: self.key, device: nil), LegID(message: id, user: other, device: "phone"),
        ]
        #expect(Set(legs + legs).count == 4)
    }

    @Test func `are written with slashes`() {
        let device = DeviceKey(user: self.key, device: "phone")
        #expect("\(device)" == "shop/ada/phone")
        #expect("\(LegID(message: MessageID(rawValue: 0), user: self.key, device: nil))" == "0000000000000→shop/ada/-")
    }
}

@Suite struct `A message id` {
    @Test func `is printed in 13 characters and read back from them`() {
        for number in [0, 1, 31, 32, 1 << 40, UInt64.max] {
            let id = MessageID(rawValue: number)
            #expect(id.description.utf8.count == 13)
            #expect(MessageID(id.description) == id)
            #expect(MessageID(id.description.uppercased()) == id)
        }
        #expect(MessageID(rawValue: 0).description == "0000000000000")
        #expect(MessageID(rawValue: .max).description == "fzzzzzzzzzzzz")
    }

    @Test(arguments: [
        "", "000000000000", "00000000000000", "g000000000000", "000000000000u", "000000000000l", "000000000000I",
        "000000000000O",
        "000000000000{", "@000000000000", "00000 0000000",
        "00000000000é",
    ])
    func `is nothing else`(text: String) {
        #expect(MessageID(text) == nil)
    }

    @Test func `orders as text as it orders by time`() {
        let start = MessageID.epochMilliseconds
        let ids = [
            MessageID(wallMilliseconds: start, node: 0, counter: 1),
            MessageID(wallMilliseconds: start, node: 1, counter: 0),
            MessageID(wallMilliseconds: start + 1, node: 0, counter: 0),
            MessageID(wallMilliseconds: start + 1_000_000_000_000, node: 63, counter: 65_535),
        ]
        #expect(ids.sorted() == ids)
        #expect(ids.map(\.description).sorted() == ids.map(\.description))
    }

    @Test func `holds time, node and counter`() {
        let id = MessageID(wallMilliseconds: MessageID.epochMilliseconds + 5, node: 3, counter: 7)
        #expect(id.rawValue == 5 << 22 | 3 << 16 | 7)
        #expect(id.wallMilliseconds == MessageID.epochMilliseconds + 5)
        #expect(MessageID(wallMilliseconds: 0, node: 64, counter: 65_536).rawValue == 0)
    }
}

@Suite struct `A message id generator` {
    private let start = MessageID.epochMilliseconds + 1000

    @Test func `follows the clock`() {
        var generator = MessageIDGenerator(node: 2)
        let first = generator.next(wallMilliseconds: self.start)
        #expect(first == MessageID(wallMilliseconds: self.start, node: 2, counter: 0))
        let later = generator.next(wallMilliseconds: self.start + 5)
        #expect(later == MessageID(wallMilliseconds: self.start + 5, node: 2, counter: 0))
    }

    @Test func `counts within a millisecond, and when the clock steps back`() {
        var generator = MessageIDGenerator(node: 2)
        let ids = [self.start, self.start, self.start - 500, self.start - 1_000_000].map {
            generator.next(wallMilliseconds: $0)
        }
        #expect(ids == (0...3).map { MessageID(wallMilliseconds: self.start, node: 2, counter: $0) })
    }

    @Test func `borrows the next millisecond when the counter is used up`() {
        let last = MessageID(wallMilliseconds: self.start, node: 2, counter: 65_535)
        var generator = MessageIDGenerator(node: 2, last: last)
        #expect(
            generator.next(wallMilliseconds: self.start)
                == MessageID(wallMilliseconds: self.start + 1, node: 2, counter: 0))
    }

    @Test func `stays above the last id stored, also another node's, and keeps its own node's number`() {
        let stored = MessageID(wallMilliseconds: self.start, node: 9, counter: 4)
        var generator = MessageIDGenerator(node: 2, last: stored)
        let id = generator.next(wallMilliseconds: self.start)
        #expect(id == MessageID(wallMilliseconds: self.start + 1, node: 2, counter: 0))
        #expect(id > stored)
    }

    @Test func `never repeats itself, whatever the clock does`() {
        var generator = MessageIDGenerator(node: 1)
        var last = MessageID(rawValue: 0)
        var clock: UInt64 = 1
        for _ in 0..<10_000 {
            clock = clock &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let id = generator.next(wallMilliseconds: self.start + Int64(clock >> 60) - 8)
            #expect(id > last)
            last = id
        }
    }
}
