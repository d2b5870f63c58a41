import PhoneCore

/// A row of a conversation: an own message at the right, another person's at the left, what is no message in the middle.
struct BubbleDrawing {
    let row: ViewNode
    let columns: Int

    var lines: [[Span]] {
        let content = RowContent(self.row)
        guard let side = RowDrawing.side(of: self.row) else { return self.centred(content) }
        // A message leaves a part of the other side free.
        let room = max(8, self.columns * 3 / 4)
        let (parts, marks) = Self.parts(content)
        var bubble = parts.enumerated().flatMap { index, part -> [Span] in
            switch part {
            // The first of several is who writes.
            case .text(let text):
                text.wrapped(to: room - 3).map { Span($0, index == 0 && parts.count > 1 ? .faint : .plain) }
            case .quote(let text): text.wrapped(to: room - 5).map { Span("│ " + $0, .faint) }
            case .image(let words): Self.photo(words, columns: room - 3)
            }
        }
        if bubble.isEmpty { bubble = [Span("")] }
        if side == .right {
            // Its lines begin below each other, as another person's do.
            let width = bubble.map { CharacterWidth.of($0.text) }.max() ?? 0
            bubble = bubble.map { Span($0.text.fitted(to: width), $0.style) }
        }
        var lines = bubble.map { span -> [Span] in side == .right ? [span, Span(" ▐")] : [Span(" ▌ "), span] }
        if !marks.isEmpty {
            let mark = Span(marks, .faint)
            let last = lines[lines.count - 1]
            let isBeside = side == .left || lines.count == 1
            if isBeside, last.width + CharacterWidth.of(marks) + 2 <= self.columns - 2 {
                lines[lines.count - 1] = side == .right ? [mark, Span("  ")] + last : last + [Span("  "), mark]
            } else {
                lines.append(side == .right ? [mark, Span(" ▐")] : [Span(" ▌ "), mark])
            }
        }
        guard side == .right else { return lines }
        return lines.map { [Span(String(repeating: " ", count: max(0, self.columns - 1 - $0.width)))] + $0 }
    }

    private enum Part {
        case text(String)
        case quote(String)
        case image(String)
    }

    /// A frame in the place of what cannot be drawn.
    private static func photo(_ words: String, columns: Int) -> [Span] {
        let shown = (words.isEmpty ? "Image" : words).shortened(to: max(1, columns - 6))
        let bar = String(repeating: "─", count: CharacterWidth.of(shown) + 4)
        return ["┌\(bar)┐", "│  \(shown)  │", "└\(bar)┘"].map { Span($0, .faint) }
    }

    /// Texts and photos above each other, and the time with what follows it as one.
    private static func parts(_ content: RowContent) -> (parts: [Part], marks: String) {
        var parts: [Part] = []
        var marks: [String] = []
        // Alone it is no portrait but what the message says.
        let times = content.texts.enumerated().filter { Self.isTime($0.element) }.map(\.offset)
        if content.hasPortrait, !content.hasImage, times == [0] { parts.append(.image("")) }
        let time = content.items.lastIndex { if case .text(let text) = $0 { Self.isTime(text) } else { false } }
        for (index, item) in content.items.enumerated() {
            let isMark = (time.map { index >= $0 } ?? false) && !parts.isEmpty
            switch item {
            case .text(let text): isMark ? marks.append(text) : parts.append(.text(text))
            case .quote(let text): parts.append(.quote(text))
            case .image(let words): parts.append(.image(words))
            case .thing(let span): isMark ? marks.append(span.text) : parts.append(.text(span.text))
            }
        }
        return (parts, marks.joined(separator: " "))
    }

    /// `9:41`, `上午9:41`.
    private static func isTime(_ text: String) -> Bool {
        guard CharacterWidth.of(text) <= RowDrawing.noteColumns else { return false }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].last?.isNumber == true && parts[1].prefix(2).allSatisfy(\.isNumber)
            && parts[1].count >= 2
    }

    private func centred(_ content: RowContent) -> [[Span]] {
        let words = content.texts.isEmpty ? [self.row.words] : content.texts
        return words.filter { !$0.isEmpty }.flatMap { $0.wrapped(to: self.columns - 4) }.map { text in
            [
                Span(String(repeating: " ", count: max(0, (self.columns - CharacterWidth.of(text)) / 2))),
                Span(text, .faint),
            ]
        }
    }
}
