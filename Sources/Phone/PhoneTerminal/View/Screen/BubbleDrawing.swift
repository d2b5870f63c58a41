import PhoneCore

/// A row of a conversation: an own message at the right, another person's at the left, what is no message in the middle.
struct BubbleDrawing {
    private let row: ViewNode
    private let columns: Int

    init(_ row: ViewNode, columns: Int) {
        self.row = row
        self.columns = columns
    }

    var lines: [[Span]] {
        let content = RowContent(self.row)
        guard let side = RowDrawing.side(of: self.row) else { return self.centred(content) }
        // A message leaves a part of the other side free.
        let room = max(8, self.columns * 3 / 4)
        let (texts, marks) = Self.parts(content)
        var bubble = texts.enumerated().flatMap { index, text in
            let isFirst = index == 0 && texts.count > 1
            return text.wrapped(to: room - 3).map { Span($0, isFirst ? .faint : .plain) }
        }
        if bubble.isEmpty { bubble = [Span("")] }
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

    /// Texts above each other, and the time with what follows it as one.
    private static func parts(_ content: RowContent) -> (texts: [String], marks: String) {
        var texts: [String] = []
        var marks: [String] = []
        let time = content.items.lastIndex { if case .text(let text) = $0 { Self.isTime(text) } else { false } }
        for (index, item) in content.items.enumerated() {
            let isMark = (time.map { index >= $0 } ?? false) && !texts.isEmpty
            switch item {
            case .text(let text): isMark ? marks.append(text) : texts.append(text)
            case .thing(let span): isMark ? marks.append(span.text) : texts.append(span.text)
            }
        }
        return (texts, marks.joined(separator: " "))
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
