/// Text for a search index, on the phone and on the server, and queries for it. Each Chinese, Japanese and Korean character is a
/// word, so that any two adjacent ones are found; other words are found by their beginning. Texts come in Unicode's form NFKC, in
/// which full-width letters are narrow: Foundation makes it (`precomposedStringWithCompatibilityMapping`), which is not here.
package enum SearchWords {
    package static func indexed(nfkc text: String) -> String {
        Self.runs(text).map { $0.isCharacters ? Self.spaced($0.text) : $0.text }.joined(separator: " ")
    }

    /// A query of FTS5 (sqlite.org/fts5.html §3) for all words in any order, with characters adjacent as typed. Nil
    /// if there is nothing to look for.
    package static func question(nfkc text: String) -> String? {
        let terms = Self.runs(text).map { $0.isCharacters ? "\"\(Self.spaced($0.text))\"" : "\"\($0.text)\"*" }
        return terms.isEmpty ? nil : terms.joined(separator: " ")
    }

    private struct Run {
        var text: String
        var isCharacters: Bool
    }

    /// Words and runs of characters; everything else separates.
    private static func runs(_ text: String) -> [Run] {
        var runs: [Run] = []
        var isOpen = false
        for scalar in text.unicodeScalars {
            let isCharacter = Self.isCharacter(scalar)
            guard isCharacter || Self.isInWord(scalar) else {
                isOpen = false
                continue
            }
            if isOpen, let last = runs.last, last.isCharacters == isCharacter {
                runs[runs.count - 1].text.unicodeScalars.append(scalar)
            } else {
                runs.append(Run(text: String(scalar), isCharacters: isCharacter))
            }
            isOpen = true
        }
        return runs
    }

    private static func spaced(_ text: String) -> String {
        text.unicodeScalars.map { String($0) }.joined(separator: " ")
    }

    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
            true
        default: false
        }
    }

    /// Han, kana, bopomofo and hangul: scripts without spaces between words, or whose words are searched in their
    /// middle.
    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        guard Self.isInWord(scalar) else { return false }
        switch scalar.value {
        case 0x2e80...0x9fff, 0xa960...0xa97f, 0xac00...0xd7ff, 0xf900...0xfaff, 0x1100...0x11ff, 0x1b000...0x1b16f,
            0x20000...0x3ffff:
            return true
        default: return false
        }
    }
}
