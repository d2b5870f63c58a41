/// Sends only the rows that changed.
struct Drawing: Sendable {
    private let hasColours: Bool
    private var shown: Frame?

    init(hasColours: Bool) { self.hasColours = hasColours }

    mutating func forget() { self.shown = nil }

    /// Empty if the terminal shows the frame already.
    mutating func update(to frame: Frame) -> String {
        guard frame != self.shown else { return "" }
        let isNew = self.shown?.size != frame.size
        var text = Self.beginUpdate + Self.hideCursor + (isNew ? Self.clear : "")
        for (row, pieces) in frame.rows.enumerated() where isNew || self.shown?.rows[row] != pieces {
            text += self.row(pieces, at: row)
        }
        if let cursor = frame.cursor { text += Self.move(column: cursor.column, row: cursor.row) + Self.showCursor }
        self.shown = frame
        return text + Self.endUpdate
    }

    private func row(_ pieces: [Frame.Piece], at row: Int) -> String {
        var text = pieces.isEmpty ? Self.move(column: 0, row: row) : ""
        for piece in pieces {
            text += Self.move(column: piece.column, row: row)
            for span in piece.line.spans {
                text += self.hasColours ? "\u{1b}[\(span.style.rendition)m\(span.text)" : span.text
            }
        }
        if self.hasColours { text += "\u{1b}[0m" }
        return pieces.isEmpty ? text + "\u{1b}[K" : text
    }

    // Control sequences of ECMA-48 and, with `?`, xterm's private modes (xterm "Control Sequences").
    private static func move(column: Int, row: Int) -> String { "\u{1b}[\(row + 1);\(column + 1)H" }
    private static let clear = "\u{1b}[2J"
    private static let hideCursor = "\u{1b}[?25l"
    private static let showCursor = "\u{1b}[?25h"
    /// Synchronized output: a terminal that knows it shows the update as a whole.
    private static let beginUpdate = "\u{1b}[?2026h"
    private static let endUpdate = "\u{1b}[?2026l"

    /// The alternate screen, no wrapping at the last column, pasted text in brackets.
    static let enter = "\u{1b}[?1049h\u{1b}[?7l\u{1b}[?2004h"
    static let leave = "\u{1b}[?2026l\u{1b}[?2004l\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
}
