import PhoneCore

/// The content of a row, in its order.
struct RowContent {
    enum Item {
        case text(String)
        /// The message that a message answers.
        case quote(String)
        /// Its words, or the name of its symbol; empty for a photo.
        case image(String)
        /// Buttons, switches: what stands at the right of the line.
        case thing(Span)
    }

    private(set) var items: [Item] = []
    /// An image stands before all else.
    private(set) var hasPortrait = false

    init(_ row: ViewNode) {
        self.add(row.children)
        if self.items.isEmpty, !row.words.isEmpty { self.items = [.text(row.words)] }
    }

    private mutating func add(_ nodes: [ViewNode]) {
        for node in nodes {
            switch node.role {
            case .image:
                if self.items.isEmpty, !self.hasPortrait {
                    self.hasPortrait = true
                } else {
                    self.items.append(.image(node.words.isEmpty ? VisibleText.of(node.identifier ?? "") : node.words))
                }
            case .button, .control, .switch, .textField:
                if node.children.isEmpty || node.role == .button {
                    self.items.append(.thing(InlineDrawing.span(of: node)))
                } else {
                    self.add(node.children)
                }
            case .text:
                guard !node.words.isEmpty else { continue }
                self.items.append(node.identifier == "quote" ? .quote(node.words) : .text(node.words))
            case .window, .group, .table, .row, .header, .navigationBar, .tabBar, .alert, .menu:
                if node.children.isEmpty, !node.words.isEmpty { self.items.append(.text(node.words)) }
                self.add(node.children)
            }
        }
    }

    var hasImage: Bool { self.items.contains { if case .image = $0 { true } else { false } } }
    var texts: [String] { self.items.compactMap { if case .text(let text) = $0 { text } else { nil } } }
}

/// A row of a list: a text at the left and, at the right of its line, the short one that follows it.
struct RowDrawing {
    /// A longer text has a line of its own.
    static let noteColumns = 10
    /// The width of a title's value, which nothing else follows.
    static let valueColumns = 20

    let row: ViewNode
    let columns: Int

    var lines: [[Span]] {
        if self.row.role == .header {
            return self.row.words.wrapped(to: self.columns - 2).map { [Span(" " + $0, .faint)] }
        }
        let content = RowContent(self.row)
        let isTitleAndValue = content.texts.count == 2 && !content.hasPortrait
        let room = isTitleAndValue ? Self.valueColumns : Self.noteColumns
        var lines: [(text: String, right: [Span], hasNote: Bool)] = []
        for item in content.items {
            let last = lines.count - 1
            switch item {
            case .quote(let text): lines.append((text, [], false))
            case .image(let words):
                guard !words.isEmpty else { continue }
                if last < 0 {
                    lines.append((words, [], false))
                } else {
                    lines[last].right.append(Span(words, .faint))
                }
            case .thing(let span):
                if last < 0 { lines.append(("", [span], false)) } else { lines[last].right.append(span) }
            case .text(let text):
                let isNote = last >= 0 && !lines[last].hasNote && CharacterWidth.of(text) <= room
                if isNote {
                    lines[last].right.append(Span(text, Self.style(ofNote: text)))
                    lines[last].hasNote = true
                } else {
                    lines.append((text, [], false))
                }
            }
        }
        return lines.enumerated().map { index, line in
            let mark = self.row.isSelected ? "✓" : " "
            let lead = content.hasPortrait ? index == 0 ? mark + "○ " : "   " : index == 0 ? mark : "  "
            let style: Style = index == 0 && lines.count > 1 ? .strong : .plain
            return Self.spread([Span(lead), Span(line.text, style)], line.right, columns: self.columns - 1)
        }
    }

    /// Spreads a line: the right part keeps its place; the left part is shortened.
    static func spread(_ left: [Span], _ right: [Span], columns: Int) -> [Span] {
        let notes = right.flatMap { [Span(" "), $0] }
        guard !notes.isEmpty else { return left }
        return Line(left, columns: max(1, columns - notes.width)).spans + notes
    }

    private static func style(ofNote text: String) -> Style {
        text.allSatisfy { $0.isNumber || $0 == "+" } ? .good : .faint
    }

    enum Side {
        case left
        case right
    }

    /// Returns the side of a message: the identifiers that code gives its views begin like this.
    static func side(of row: ViewNode) -> Side? {
        if row.identifier?.hasPrefix("outgoing") == true { return .right }
        if row.identifier?.hasPrefix("incoming") == true { return .left }
        return row.children.lazy.compactMap { self.side(of: $0) }.first
    }
}
