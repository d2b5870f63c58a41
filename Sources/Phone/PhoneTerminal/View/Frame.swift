/// The size of a terminal in columns and rows.
package struct TerminalSize: Hashable, Sendable {
    /// Columns.
    package var columns: Int
    /// Rows.
    package var rows: Int

    /// A size.
    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// The smallest a phone can be drawn on.
    package static let smallest = TerminalSize(columns: 40, rows: 12)

    /// Whether a phone can be drawn on it.
    package var isEnough: Bool { self.columns >= Self.smallest.columns && self.rows >= Self.smallest.rows }

    /// What a person is told whose terminal is too small.
    package var refusal: String {
        "the terminal has \(self.columns)×\(self.rows) characters; "
            + "the phone needs \(Self.smallest.columns)×\(Self.smallest.rows) or more"
    }
}

/// How a piece of text is set off from others.
package enum Style: Hashable, Sendable, CaseIterable {
    case plain
    /// Titles and what matters most.
    case strong
    /// What matters least.
    case faint
    /// A person's choice.
    case selected
    /// Bars at the top and the bottom.
    case bar
    /// Something good, such as a ring.
    case good
    /// Something to notice.
    case notice
    /// Something wrong.
    case bad

    /// What a terminal understands by it: the numbers of "Select Graphic Rendition" (ECMA-48 §8.3.117).
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

/// Text of one style.
package struct Span: Hashable, Sendable {
    /// The text, made visible.
    package var text: String
    /// Its style.
    package var style: Style

    /// Text of a style.
    package init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }
}

/// One line of a pane: spans that take exactly the pane's columns.
package struct Line: Hashable, Sendable {
    /// From left to right.
    package private(set) var spans: [Span]

    /// The spans in exactly so many columns: shortened or filled up.
    package init(_ spans: [Span], columns: Int) {
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

    /// Without the styles.
    package var text: String { self.spans.map(\.text).joined() }
}

/// What stands on a terminal: for each row, panes from left to right, each at its own column.
///
/// A pane is drawn at its column whatever stands before it: terminals do not agree on the width of every character, and
/// a disagreement must not push the panes to the right of it.
package struct Frame: Hashable, Sendable {
    /// A line at a column, which counts from 0.
    package struct Piece: Hashable, Sendable {
        /// The first column.
        package var column: Int
        /// What stands there.
        package var line: Line
    }

    /// Its size.
    package let size: TerminalSize
    /// From top to bottom.
    package private(set) var rows: [[Piece]]
    /// Where the cursor blinks; nil hides it.
    package var cursor: (column: Int, row: Int)? {
        get { self.cursorAt.map { ($0.column, $0.row) } }
        set { self.cursorAt = newValue.map { Cursor(column: $0.column, row: $0.row) } }
    }
    private var cursorAt: Cursor?

    private struct Cursor: Hashable, Sendable {
        var column: Int
        var row: Int
    }

    /// An empty frame.
    package init(size: TerminalSize) {
        self.size = size
        self.rows = Array(repeating: [], count: size.rows)
    }

    /// Puts a line at a place; below the last row there is no place.
    mutating func put(_ line: Line, column: Int = 0, row: Int) {
        guard self.rows.indices.contains(row) else { return }
        let index = self.rows[row].firstIndex { $0.column > column } ?? self.rows[row].endIndex
        self.rows[row].insert(Piece(column: column, line: line), at: index)
    }

    /// The rows as text, without spaces at their ends.
    package var lines: [String] {
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
