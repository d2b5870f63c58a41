import Testing
import TidingsModel

@Suite struct `A percent-encoded text` {
    @Test(arguments: [
        ("a", "a"), ("%61", "a"), ("", ""), ("%EF%BB%BFa", "\u{feff}a"), ("%ef%bb%bf%ef%bb%bf", "\u{feff}\u{feff}"),
        ("a%EF%BB%BF", "a\u{feff}"), ("\u{feff}a", "\u{feff}a"), ("%00", "\0"), ("%2F%2e%2E%3b", "/..;"),
        ("%2561", "%61"), ("+", "+"), ("%2B", "+"), ("%F0%9F%98%80", "\u{1f600}"), ("e%CC%81", "e\u{301}"),
        ("%C3%A9", "\u{e9}"), ("%E2%80%A8", "\u{2028}"),
    ])
    func `is what its bytes are, and nothing is dropped or made tidy`(coded: String, text: String) {
        #expect(PercentEncoding.decode(coded).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(arguments: [
        "%", "%6", "a%", "%%61", "%G1", "%1G", "%+1", "% 1", "%\u{ff11}1", "%FF", "%C3", "%C0%80", "%ED%A0%80",
        "%F4%90%80%80", "%EF%BB", "a%80",
    ])
    func `is refused when a percent sign lacks its digits, or the bytes are no UTF-8`(coded: String) {
        #expect(PercentEncoding.decode(coded) == nil)
        #expect(PercentEncoding.members(of: "a=b&user=\(coded)") == nil)
        #expect(PercentEncoding.members(of: "\(coded)=1") == nil)
    }

    @Test func `makes the members of a query, in their order`() throws {
        let members = try #require(PercentEncoding.members(of: "a=1&b&c=&=d&e=f=g&%61=%EF%BB%BFx&&a=+"))
        #expect(members.map(\.name) == ["a", "b", "c", "", "e", "a", "a"])
        #expect(members.map(\.value) == ["1", "", "", "d", "f=g", "\u{feff}x", "+"])
    }
}

@Suite struct `An id that addresses leave out` {
    @Test(arguments: [".", ".."]) func `is none`(text: String) {
        let fault = InvalidField(field: "user", rule: "must not be . or ..")
        #expect(throws: fault) { try UserID.validated(text, field: "user") }
        #expect(throws: Never.self) { try UserID.validated("..." + text, field: "user") }
    }
}

@Suite struct `A number in a header or a query` {
    @Test func `is digits alone`() {
        #expect(["0", "7", "007", "9223372036854775807"].map { Int64(digits: $0) } == [0, 7, 7, .max])
        let others = [
            "", "+5", "-5", "-0", "+", " 5", "5 ", "5.0", "0x10", "1e3", "1_000", "\u{665}", "\u{ff15}", "5\0",
            "9223372036854775808",
        ]
        for text in others { #expect(Int64(digits: text) == nil, "\(text)") }
        #expect(UInt8(digits: "256") == nil)
    }
}
