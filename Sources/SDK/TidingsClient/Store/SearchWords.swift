import Foundation

/// How text goes into the search index and how a question is asked of it. Chinese, Japanese and Korean characters are words of
/// their own, so that any two of them that stand together are found; other words are found by how they begin.
enum SearchWords {
    /// The text as the index has it.
    static func indexed(_ text: String) -> String {
        Self.runs(text).map { $0.isCharacters ? Self.spaced($0.text) : $0.text }.joined(separator: " ")
    }

    /// The question in the index's own language (sqlite.org/fts5.html §3): all of its words, in any order, where characters stand
    /// together as asked. Nil if there is nothing to look for.
    static func question(_ text: String) -> String? {
        let terms = Self.runs(text).map { $0.isCharacters ? "\"\(Self.spaced($0.text))\"" : "\"\($0.text)\"*" }
        return terms.isEmpty ? nil : terms.joined(separator: " ")
    }

    private struct Run {
        var text: String
        /// Whether each character is a word.
        var isCharacters: Bool
    }

    /// Words and stretches of characters; what is neither only separates. Full-width letters are the narrow ones here.
    private static func runs(_ text: String) -> [Run] {
        var runs: [Run] = []
        var isOpen = false
        for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars {
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

    /// Han, kana, bopomofo and hangul: scripts whose words no space divides, or whose words are looked for in their middle.
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
