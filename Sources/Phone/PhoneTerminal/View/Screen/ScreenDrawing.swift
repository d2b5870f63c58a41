import PhoneCore

/// An app's screen from its views. There is no layout to go by, so what a view is decides where it stands: bars at their ends, a
/// table takes the room that is left, alerts and menus lie over all, everything else follows in its order. Pure: the same views
/// and size give the same lines.
struct ScreenDrawing {
    private let columns: Int
    private let rows: Int
    private var top: [[Span]] = []
    private var bottom: [[Span]] = []
    private var body: [Part] = []
    private var boxes: [ViewNode] = []

    private enum Part {
        case lines([[Span]])
        /// Whole rows are shown, the last ones of a table that is read from its end.
        case table([[[Span]]], isReadFromEnd: Bool)
    }

    /// Exactly as many lines as there are rows, of exactly so many columns.
    static func lines(of windows: [ViewNode], columns: Int, rows: Int) -> [[Span]] {
        var drawing = ScreenDrawing(columns: columns, rows: rows)
        drawing.add(windows.first?.children ?? [])
        var lines = drawing.pile
        for window in windows.dropFirst() {
            var over = ScreenDrawing(columns: columns, rows: rows)
            over.add(window.children)
            drawing.boxes += over.boxes
            // A window in front, such as a banner's, covers the upper rows.
            let strips = (over.top + over.body.flatMap(over.all) + over.bottom).prefix(rows)
            for (row, strip) in strips.enumerated() {
                lines[row] = [Span(" ▼", .good)] + strip.map { Span($0.text, .good) }
            }
        }
        for box in drawing.boxes { ViewBox(node: box, columns: columns).lay(over: &lines) }
        return lines.map { Line($0, columns: columns).spans }
    }

    /// Returns true if there is anything to draw.
    static func hasContent(_ windows: [ViewNode]) -> Bool {
        func says(_ node: ViewNode) -> Bool {
            (node.role != .window && (node.text ?? node.label) != nil) || node.children.contains(where: says)
        }
        return windows.contains(where: says)
    }

    private init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    // MARK: Parts

    private mutating func add(_ nodes: [ViewNode]) {
        let isForm = nodes.filter { $0.role == .textField }.count > 1
        var inline = InlineDrawing(columns: self.columns, isForm: isForm)
        func end() {
            if !inline.isEmpty { self.body.append(.lines([inline.line])) }
            inline = InlineDrawing(columns: self.columns, isForm: isForm)
        }
        // An app's own label over an empty field says what the field says.
        let empty = nodes.filter { $0.role == .textField && $0.text == nil }.flatMap { [$0.label, $0.hint] }
        for node in nodes where node.role != .text || !empty.contains(node.text) {
            guard inline.takes(node) else {
                end()
                self.add(node)
                continue
            }
            if !inline.hasRoom(for: node) { end() }
            inline.append(node)
        }
        end()
    }

    private mutating func add(_ node: ViewNode) {
        switch node.role {
        case .navigationBar: self.top += BarDrawing.navigation(node, columns: self.columns)
        case .tabBar: self.bottom += BarDrawing.tabs(node, columns: self.columns)
        case .alert, .menu: self.boxes.append(node)
        case .table: self.addTable(node)
        case .row, .header: self.body.append(.lines(RowDrawing(row: node, columns: self.columns).lines))
        case .text: self.body.append(.lines(node.words.wrapped(to: self.columns - 2).map { [Span(" " + $0)] }))
        case .window, .group, .button, .control, .image, .textField, .switch:
            guard node.children.isEmpty else { return self.add(node.children) }
            guard !node.words.isEmpty else { return }
            self.body.append(.lines([[Span(" " + node.words)]]))
        }
    }

    private mutating func addTable(_ table: ViewNode) {
        let isChat = table.children.contains { RowDrawing.side(of: $0) != nil }
        let rows = table.children.map { row in
            isChat
                ? BubbleDrawing(row: row, columns: self.columns).lines
                : RowDrawing(row: row, columns: self.columns).lines
        }
        self.body.append(.table(rows.filter { !$0.isEmpty }, isReadFromEnd: isChat))
    }

    // MARK: One above the other

    private func all(_ part: Part) -> [[Span]] {
        switch part {
        case .lines(let lines): lines
        case .table(let rows, _): rows.flatMap(\.self)
        }
    }

    private var pile: [[Span]] {
        let fixed = self.body.reduce(self.top.count + self.bottom.count) { sum, part in
            if case .lines(let lines) = part { sum + lines.count } else { sum }
        }
        var room = max(0, self.rows - fixed)
        var middle: [[Span]] = []
        var tables = self.body.filter { if case .table = $0 { true } else { false } }.count
        for part in self.body {
            switch part {
            case .lines(let lines): middle += lines
            case .table(let rows, let isReadFromEnd):
                // Tables share the room; what one does not need is the next one's, and the last is filled up.
                let share = room / max(1, tables)
                let shown = Self.cut(rows, to: share, isReadFromEnd: isReadFromEnd)
                tables -= 1
                room -= tables > 0 ? shown.count : share
                middle += shown
                if tables == 0 { middle += Self.empty(share - shown.count) }
            }
        }
        let between = max(0, self.rows - self.top.count - self.bottom.count)
        middle = Array(middle.prefix(between)) + Self.empty(between - middle.count)
        return Array((self.top + middle + self.bottom).prefix(self.rows))
    }

    /// Whole rows, and a sign where others are left out.
    private static func cut(_ rows: [[[Span]]], to count: Int, isReadFromEnd: Bool) -> [[Span]] {
        guard rows.reduce(0, { $0 + $1.count }) > count else { return rows.flatMap(\.self) }
        let sign = [Span(" ⋮", .faint)]
        var kept: [[[Span]]] = []
        var left = count - 1
        for row in isReadFromEnd ? Array(rows.reversed()) : rows {
            guard row.count <= left else { break }
            left -= row.count
            kept.append(row)
        }
        guard count > 0 else { return [] }
        return isReadFromEnd
            ? [sign] + Self.empty(left) + kept.reversed().flatMap(\.self) : kept.flatMap(\.self) + [sign]
    }

    private static func empty(_ count: Int) -> [[Span]] { Array(repeating: [], count: max(0, count)) }
}

extension ViewNode {
    /// The text on it or spoken for it, made visible; empty for none.
    var words: String { VisibleText.of(self.text ?? self.label ?? "") }
}

extension [Span] {
    var width: Int { self.reduce(0) { $0 + CharacterWidth.of($1.text) } }
}
