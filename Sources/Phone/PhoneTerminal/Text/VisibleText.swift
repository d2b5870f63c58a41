/// Makes text from outside harmless to a terminal: nothing in it moves the cursor, changes a colour or turns the
/// direction of writing. What would is shown as a visible sign.
package enum VisibleText {
    /// The number of scalars of one character; those stacked beyond it are left out.
    static let scalarsMax = 16

    package static func of(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
        var result = ""
        for character in text {
            var count = 0
            for scalar in character.unicodeScalars {
                count += 1
                guard count <= Self.scalarsMax else { break }
                self.append(scalar, isFirst: count == 1, to: &result)
            }
        }
        return result
    }

    private static func append(_ scalar: Unicode.Scalar, isFirst: Bool, to result: inout String) {
        switch scalar.value {
        case 0x0a, 0x2028, 0x2029: result.append("⏎")
        case 0..<0x20:
            // The signs from U+2400 on are in the order of the controls.
            result.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
        case 0x7f: result.append("␡")
        case 0x80..<0xa0, 0x61c, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb:
            result.append("<U+\(String(scalar.value, radix: 16, uppercase: true))>")
        default:
            // A mark without a letter would combine with the character before it.
            if isFirst, Self.isMark(scalar) { result.append("◌") }
            result.unicodeScalars.append(scalar)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .enclosingMark, .spacingMark, .format].contains(scalar.properties.generalCategory)
    }
}

extension String {
    /// `…` stands for what is left out. Characters are never cut in two.
    func shortened(to columns: Int) -> String {
        guard columns > 0 else { return "" }
        var width = 0
        var end = self.startIndex
        var fits = self.startIndex
        while end < self.endIndex {
            let next = width + CharacterWidth.of(self[end])
            guard next <= columns else { return String(self[..<fits]) + "…" }
            width = next
            end = self.index(after: end)
            if width < columns { fits = end }
        }
        return self
    }

    /// Returns the longest end that fits.
    func ending(inColumns columns: Int) -> String {
        var width = 0
        let end = self.reversed().prefix { character in
            width += CharacterWidth.of(character)
            return width <= columns
        }
        return String(end.reversed())
    }

    func fitted(to columns: Int) -> String {
        let short = self.shortened(to: columns)
        return short + String(repeating: " ", count: max(0, columns - CharacterWidth.of(short)))
    }

    /// Broken between words where there are some.
    func wrapped(to columns: Int) -> [String] {
        guard columns > 0 else { return [] }
        var lines: [String] = []
        var line = ""
        var width = 0
        for word in self.split(separator: " ", omittingEmptySubsequences: false) {
            let wordWidth = CharacterWidth.of(String(word))
            if !line.isEmpty, width + 1 + wordWidth > columns {
                lines.append(line)
                (line, width) = ("", 0)
            }
            if !line.isEmpty { (line, width) = (line + " ", width + 1) }
            for character in word {
                let columnsOfIt = CharacterWidth.of(character)
                if width + columnsOfIt > columns {
                    lines.append(line)
                    (line, width) = ("", 0)
                }
                line.append(character)
                width += columnsOfIt
            }
        }
        lines.append(line)
        return lines
    }
}
