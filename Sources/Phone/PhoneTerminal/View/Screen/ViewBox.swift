import PhoneCore

/// An alert or a menu: a box in the middle, over what is below.
struct ViewBox {
    let node: ViewNode
    let columns: Int

    private static let columnsMax = 44

    func lay(over lines: inout [[Span]]) {
        let box = self.lines
        let first = max(0, (lines.count - box.count) / 2)
        for (offset, line) in box.enumerated() where lines.indices.contains(first + offset) {
            lines[first + offset] = line
        }
    }

    private var lines: [[Span]] {
        let width = max(10, min(Self.columnsMax, self.columns - 4))
        let inside = width - 4
        let margin = Span(String(repeating: " ", count: max(0, (self.columns - width) / 2)))
        func framed(_ spans: [Span]) -> [Span] {
            [margin, Span("│ ")] + Line(spans, columns: inside).spans + [Span(" │")]
        }
        let bar = String(repeating: "─", count: width - 2)
        return [[margin, Span("┌\(bar)┐")]] + self.content(inside).map(framed) + [[margin, Span("└\(bar)┘")]]
    }

    private func content(_ columns: Int) -> [[Span]] {
        var lines: [[Span]] = []
        if let title = self.node.text, !self.texts.contains(title) { lines += self.wrapped(title, columns, .strong) }
        for (index, text) in self.texts.enumerated() {
            lines += self.wrapped(text, columns, index == 0 ? .strong : .plain)
        }
        for field in self.leaves.filter({ $0.role == .textField }) {
            lines.append(InlineDrawing.field(field, columns: columns))
        }
        let buttons = self.leaves.filter { $0.role != .text && $0.role != .textField && $0.role != .header }
            .map(InlineDrawing.span(of:))
        guard self.node.role == .alert, buttons.width + buttons.count <= columns else {
            return lines + buttons.map { [$0] }
        }
        let spaces = String(repeating: " ", count: max(0, (columns - buttons.width - buttons.count + 1) / 2))
        return lines + [[Span(spaces)] + buttons.flatMap { [$0, Span(" ")] }.dropLast()]
    }

    private func wrapped(_ text: String, _ columns: Int, _ style: Style) -> [[Span]] {
        VisibleText.of(text).wrapped(to: columns).map { [Span($0, style)] }
    }

    private var texts: [String] { self.leaves.filter { $0.role == .text || $0.role == .header }.compactMap(\.text) }

    /// The views that say or do something, without those that only hold them.
    private var leaves: [ViewNode] {
        func leaves(_ node: ViewNode) -> [ViewNode] {
            switch node.role {
            case .group, .window, .table, .navigationBar, .tabBar, .alert, .menu: node.children.flatMap(leaves)
            case .row, .header, .text, .image, .button, .control, .textField, .switch: [node]
            }
        }
        return self.node.children.flatMap(leaves)
    }
}
