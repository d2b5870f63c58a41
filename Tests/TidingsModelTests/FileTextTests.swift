import Testing

@testable import TidingsModel

@Suite struct `The text of a file` {
    @Test func `is without the mark that Windows writes, and in UTF-8 alone`() throws {
        #expect(try FileText.read(Array("\u{feff}é".utf8), field: "file") == "é")
        #expect(try FileText.read([], field: "file").isEmpty)
        #expect(try FileText.read(Array("\u{feff}".utf8), field: "file").isEmpty)
        // One mark is dropped; a second one is a letter.
        #expect(try FileText.read(Array("\u{feff}\u{feff}a".utf8), field: "file").utf8.elementsEqual("\u{feff}a".utf8))
        for (bytes, rule) in [
            ([0xff, 0xfe, 0x61, 0], "must be in UTF-8, and this is UTF-16; save it in UTF-8"),
            ([0xfe, 0xff, 0, 0x61], "must be in UTF-8, and this is UTF-16; save it in UTF-8"),
            ([0x61, 0, 0x62, 0], "must be in UTF-8, and this is UTF-16; save it in UTF-8"),
            ([0x61, 0xe9], "must be in UTF-8; save it in UTF-8"),
        ] as [([UInt8], String)] {
            let fault = #expect(throws: InvalidField.self) { try FileText.read(bytes, field: "file") }
            #expect(fault == InvalidField(field: "file", rule: rule))
        }
    }

    @Test(arguments: [
        ("key\n", "key"), ("key\r\n", "key"), ("key\n\n", "key"), ("a\nb\n", "a\nb"), ("\n", ""), ("", ""),
        (" key ", " key "),
    ])
    func `has a key without the end of its line`(text: String, key: String) {
        #expect(FileText.line(text) == key)
    }
}
