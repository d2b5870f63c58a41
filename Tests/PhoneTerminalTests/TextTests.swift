import Testing

@testable import PhoneTerminal

@Suite struct `Text on a terminal` {
    @Test(arguments: [
        ("hello", 5), ("你好", 4), ("안녕", 4), ("한", 2), ("👋", 2), ("👨‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤️", 2), ("é", 1),
        ("e\u{301}", 1), ("ＡＢ", 4), ("…", 1), ("", 0), ("❤", 1), ("1️⃣", 2), ("、", 2), ("ｱ", 1),
    ]) func `takes two columns for a wide character and a snapshot`(text: String, columns: Int) {
        #expect(CharacterWidth.of(text) == columns)
    }

    @Test(arguments: [
        ("hello", 9, "hello"), ("hello", 5, "hello"), ("hello", 3, "llo"), ("hello", 0, ""), ("a你好", 4, "你好"),
        ("a你好", 3, "好"), ("", 3, ""), ("go 👨‍👩‍👧‍👦", 3, " 👨‍👩‍👧‍👦"), ("👋", 1, ""),
    ]) func `keeps as much of its end as fits`(text: String, columns: Int, end: String) {
        #expect(text.ending(inColumns: columns) == end)
    }

    @Test func `shows what would drive the terminal as text`() {
        #expect(VisibleText.of("a\u{1b}[31mb") == "a␛[31mb")
        #expect(VisibleText.of("a\u{9b}2Jb") == "a<U+9B>2Jb")
        #expect(VisibleText.of("one\r\ntwo\ttab\u{7}\u{7f}\0") == "one␍⏎two␉tab␇␡␀")
        #expect(VisibleText.of("line\u{2028}next") == "line⏎next")
        #expect(VisibleText.of("\u{202e}evil\u{2066}") == "<U+202E>evil<U+2066>")
        #expect(VisibleText.of("plain 你好 👋") == "plain 你好 👋")
    }

    @Test func `does not let a lone mark join what stands before it`() {
        #expect(VisibleText.of("\u{301}a") == "◌\u{301}a")
        #expect(VisibleText.of("\u{fe0f}") == "◌\u{fe0f}")
    }

    @Test func `cuts a tower of marks and keeps a family whole`() {
        let tower = "a" + String(repeating: "\u{301}", count: 500)
        #expect(VisibleText.of(tower).unicodeScalars.count == VisibleText.scalarsMax)
        #expect(VisibleText.of("👨‍👩‍👧‍👦") == "👨‍👩‍👧‍👦")
    }

    @Test func `leaves nothing behind that a terminal would act on`() {
        for value in UInt32(0)...0x9f {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = VisibleText.of(String(Character(scalar)))
            #expect(
                shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) },
                "U+\(String(value, radix: 16))")
        }
    }

    @Test func `is shortened between characters and says so`() {
        #expect("hello".shortened(to: 5) == "hello")
        #expect("hello".shortened(to: 4) == "hel…")
        #expect("hello".shortened(to: 1) == "…")
        #expect("hello".shortened(to: 0) == "")
        #expect("你好吗".shortened(to: 6) == "你好吗")
        #expect("你好吗".shortened(to: 5) == "你好…")
        #expect("你好吗".shortened(to: 4) == "你…")
        #expect("a👨‍👩‍👧‍👦b".shortened(to: 3) == "a…")
        #expect("ab".shortened(to: 2) == "ab")
    }

    @Test(arguments: 0...12) func `fits any number of columns`(columns: Int) {
        for text in ["hello world", "你好吗？很好", "a👋b👋c👋d", ""] {
            #expect(CharacterWidth.of(text.fitted(to: columns)) == columns)
        }
    }

    @Test func `is wrapped between words, and within one that is too long`() {
        #expect("the quick brown fox".wrapped(to: 9) == ["the quick", "brown fox"])
        #expect("你好吗很好".wrapped(to: 5) == ["你好", "吗很", "好"])
        #expect("".wrapped(to: 5) == [""])
    }
}
