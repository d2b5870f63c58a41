import Testing
import TidingsModel

@Suite struct `A text that shows nothing` {
    @Test(arguments: [
        "", " ", "\t\n", "\u{a0}", "\u{2003}\u{3000}", "\u{200b}", "\u{feff}", "\u{ad}", "\u{2060}", "\u{3164}",
        "\u{115f}\u{1160}",
        "\u{ffa0}", "\u{2800}", "\u{34f}", "\u{180e}", "\u{fe0f}", "\u{e0100}", "\u{e0041}", "\u{202e}", "\u{0}",
        "\u{17b4}",
    ])
    func `is all blanks and invisible characters`(text: String) {
        #expect(text.isInvisible && (text + " \u{200d}").isInvisible)
        #expect(!(text + "x").isInvisible && !("é" + text).isInvisible)
    }

    @Test(arguments: ["x", "0", ".", "\u{1f600}", "\u{1f468}\u{200d}\u{1f469}", "你", "\u{301}", "\u{fffd}", "￼", "-"])
    func `is no other one`(text: String) { #expect(!text.isInvisible) }
}

@Suite struct `A text that is printed` {
    @Test func `has in place of what steers a terminal its number`() {
        for (text, printed) in [
            ("hello, héllo \u{1f600}", "hello, héllo \u{1f600}"),
            ("\u{1b}]0;title\u{7}\r\n2026 signed in", "\\u{1b}]0;title\\u{7}\\u{d}\\u{a}2026 signed in"),
            ("\u{9b}31mred", "\\u{9b}31mred"), ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("a\u{85}b\u{2028}c\u{2029}", "a\\u{85}b\\u{2028}c\\u{2029}"), ("tag\u{e0041}", "tag\\u{e0041}"),
            (
                "\u{1f469}\u{200d}\u{2764}\u{fe0f}\u{200d}\u{1f469}",
                "\u{1f469}\u{200d}\u{2764}\u{fe0f}\u{200d}\u{1f469}"
            ),
            ("a\u{200d}b \u{200d} 1\u{200d}", "a\\u{200d}b \\u{200d} 1\\u{200d}"),
            ("\u{0}\t\u{7f}\u{feff}", "\\u{0}\\u{9}\\u{7f}\\u{feff}"), ("", ""),
        ] { #expect(text.printable == printed) }
    }

    @Test func `is the same JSON where it is JSON`() throws {
        let value: JSONValue = ["\u{1b}[2J\u{9b}": "\u{202e}\u{2028}\u{e0041}\\\u{85}\u{feff}\u{7f}\n\u{1f600}"]
        #expect(
            value.text.printableJSON
                == #"{"\u001b[2J\u009b":"\u202e\u2028\udb40\udc41\\\u0085\ufeff\u007f\n\#u{1f600}"}"#)
        #expect(try JSONValue(parsing: value.text.printableJSON) == value)
    }

    @Test func `holds nothing unprintable, whatever scalar comes, and loses none in JSON`() throws {
        let scalars = (0...0x10ffff as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        let hidden = scalars.filter(\.isUnprintable)
        #expect(hidden.count > 200)
        let others = stride(from: 0, to: scalars.count, by: 61).map { scalars[$0] }
        let text = String(String.UnicodeScalarView(hidden + others + hidden.reversed()))
        #expect(!text.printable.unicodeScalars.contains { $0.isUnprintable })
        let json = JSONValue.string(text)
        #expect(!json.text.printableJSON.unicodeScalars.contains { $0.isUnprintable })
        #expect(try JSONValue(parsing: json.text.printableJSON) == json)
    }
}
