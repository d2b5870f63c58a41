/// Columns of text on a terminal: 0, 1 or 2 a character, after Unicode's East Asian Width (UAX #11: W and F are two
/// columns) and emoji presentation (UTS #51).
enum CharacterWidth {
    /// For text that `VisibleText` has made safe.
    static func of(_ text: String) -> Int { text.reduce(0) { $0 + self.of($1) } }

    /// An emoji of several scalars takes two columns; else the scalars count each.
    static func of(_ character: Character) -> Int {
        var sum = 0
        var scalars = 0
        var isEmoji = character.unicodeScalars.first?.properties.isEmojiPresentation ?? false
        for scalar in character.unicodeScalars {
            scalars += 1
            // U+FE0F asks for the emoji form; two regional indicators are a flag; U+20E3 makes a keycap.
            let isRegionalIndicator = (0x1f1e6...0x1f1ff).contains(scalar.value)
            if scalar.value == 0xfe0f || isRegionalIndicator { isEmoji = isEmoji || scalars > 1 }
            sum += self.of(scalar)
        }
        guard scalars > 1 else { return sum }
        if isEmoji { return 2 }
        // Syllables of Jamo and Indic conjuncts are drawn by the widths of their parts, at most two columns wide.
        return min(sum, 2)
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value < 0x20 ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // The vowels and finals of Jamo join the initial before them.
        if (0x1160...0x11ff).contains(scalar.value) { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks of UAX #11's W and F that are no emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0xa4cf,
        0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x1f200...0x1f265, 0x20000...0x2fffd, 0x30000...0x3fffd,
    ]
}
