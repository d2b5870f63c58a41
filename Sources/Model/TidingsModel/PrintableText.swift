extension Unicode.Scalar {
    /// Controls, formats, and separators of lines and paragraphs (Unicode's general categories Cc, Cf, Zl, Zp): they steer a terminal, turn the
    /// direction of writing, or cannot be seen.
    package var isUnprintable: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(self.properties.generalCategory)
    }

    /// Four digits or more.
    package var hexadecimal: String {
        let digits = String(self.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension InvalidField {
    /// Throws for a text of a notification that shows nothing.
    package static func checkVisible(_ text: String, _ field: String) throws(InvalidField) {
        try Self.check(!text.isInvisible, field, "must not be blanks and invisible characters alone")
    }
}

extension String {
    /// Is true if it shows nothing: blanks, controls, and characters without a shape (Unicode's `White_Space` and
    /// `Default_Ignorable_Code_Point`, such as U+200B and U+3164, and the empty pattern of Braille).
    package var isInvisible: Bool {
        self.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint || $0.isUnprintable
                || $0 == "\u{2800}"
        }
    }

    /// Returns one line for a terminal or a log, in which each unprintable character stands as `\u{1b}`.
    package var printable: String { self.escapingUnprintable { "\\u{\(String($0.value, radix: 16))}" } }

    /// Returns serialized JSON with the same value, in which each unprintable character stands as `\u001b`.
    package var printableJSON: String {
        self.escapingUnprintable { scalar in
            String(scalar).utf16.map { "\\u\(String(0x10000 + UInt32($0), radix: 16).dropFirst())" }.joined()
        }
    }

    private func escapingUnprintable(_ escape: (Unicode.Scalar) -> String) -> String {
        // Most text is plain.
        guard !self.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return self }
        var result = ""
        for character in self {
            // Emoji are joined by U+200D, which does nothing else there.
            let isEmoji = character.unicodeScalars.first.map { $0.properties.isEmoji && !$0.isASCII } ?? false
            for scalar in character.unicodeScalars {
                let isPlain = !scalar.isUnprintable || isEmoji && scalar == "\u{200d}"
                if isPlain { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
            }
        }
        return result
    }
}
