/// In columns and rows of characters.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    static let smallest = TerminalSize(columns: 40, rows: 12)

    var isEnough: Bool { self.columns >= Self.smallest.columns && self.rows >= Self.smallest.rows }

    var refusal: String {
        "the terminal has \(self.columns)×\(self.rows) characters; "
            + "the phone needs \(Self.smallest.columns)×\(Self.smallest.rows) or more"
    }
}

enum Style: Hashable, Sendable, CaseIterable {
    case plain
    case strong
    case faint
    case selected
    case bar
    case good
    case notice
    case bad

    /// The numbers of "Select Graphic Rendition" (ECMA-48 §8.3.117).
    var rendition: String {
        switch self {
        case .plain: "0"
        case .strong: "0;1"
        case .faint: "0;2"
        case .selected: "0;7"
        case .bar: "0;1;7"
        case .good: "0;32"
        case .notice: "0;33"
        case .bad: "0;1;31"
        }
    }
}

struct Span: Hashable, Sendable {
    var text: String
    var style: Style

    init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    /// A title in a line that fills the columns.
    static func rule(_ title: String, columns: Int) -> Span {
        let head = "─ \(title) "
        return Span(head + String(repeating: "─", count: max(0, columns - CharacterWidth.of(head))), .faint)
    }
}

/// Spans that take exactly the pane's columns.
struct Line: Hashable, Sendable {
    private(set) var spans: [Span]

    /// Shortened or filled up.
    init(_ spans: [Span], columns: Int) {
        self.spans = []
        var left = columns
        for (index, span) in spans.enumerated() where left > 0 {
            let isLast = index == spans.count - 1
            let rest = spans[(index + 1)...].reduce(0) { $0 + CharacterWidth.of($1.text) }
            // Whether something follows decides whether the last column must tell that text is left out.
            let whole = CharacterWidth.of(span.text)
            let text =
                whole < left || (whole == left && (isLast || rest == 0)) ? span.text : span.text.shortened(to: left)
            left -= CharacterWidth.of(text)
            self.spans.append(Span(text, span.style))
        }
        if left > 0 { self.spans.append(Span(String(repeating: " ", count: left), spans.last?.style ?? .plain)) }
    }

    var text: String { self.spans.map(\.text).joined() }
}

/// For each row, panes at their own columns: terminals do not agree on the width of every character, and a
/// disagreement must not move the panes to the right of it.
struct Frame: Hashable, Sendable {
    struct Piece: Hashable, Sendable {
        var column: Int
        var line: Line
    }

    let size: TerminalSize
    private(set) var rows: [[Piece]]
    /// nil hides the cursor.
    var cursor: Cursor?

    struct Cursor: Hashable, Sendable {
        var column: Int
        var row: Int
    }

    init(size: TerminalSize) {
        self.size = size
        self.rows = Array(repeating: [], count: size.rows)
    }

    /// Ignored below the last row.
    mutating func place(_ line: Line, column: Int = 0, row: Int) {
        guard self.rows.indices.contains(row) else { return }
        let index = self.rows[row].firstIndex { $0.column > column } ?? self.rows[row].endIndex
        self.rows[row].insert(Piece(column: column, line: line), at: index)
    }

    /// Without spaces at the ends.
    var lines: [String] {
        self.rows.map { pieces in
            var text = ""
            for piece in pieces {
                text += String(repeating: " ", count: max(0, piece.column - CharacterWidth.of(text)))
                text += piece.line.text
            }
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}
