import PhoneCore

/// Buttons, switches and fields that follow each other in one line; a field takes the room that is left.
struct InlineDrawing {
    private let columns: Int
    private let isForm: Bool
    private var nodes: [ViewNode] = []

    /// The least width of a field.
    private static let fieldColumns = 12

    init(columns: Int, isForm: Bool = false) {
        self.columns = columns
        self.isForm = isForm
    }

    var isEmpty: Bool { self.nodes.isEmpty }

    func takes(_ node: ViewNode) -> Bool {
        switch node.role {
        case .button: node.text != nil || node.texts.isEmpty
        case .control, .image: node.children.isEmpty && !node.words.isEmpty
        case .textField, .switch: true
        case .window, .group, .text, .table, .row, .header, .navigationBar, .tabBar, .alert, .menu: false
        }
    }

    /// In a form, with several fields, each has a line of its own.
    func hasRoom(for node: ViewNode) -> Bool {
        guard !self.nodes.isEmpty else { return true }
        if self.isForm, (self.nodes + [node]).contains(where: { $0.role == .textField }) { return false }
        let used = (self.nodes + [node]).reduce(0) { sum, node in
            sum + 1 + (node.role == .textField ? Self.fieldColumns : CharacterWidth.of(Self.span(of: node).text))
        }
        return used <= self.columns - 1
    }

    mutating func append(_ node: ViewNode) { self.nodes.append(node) }

    var line: [Span] {
        let others = self.nodes.reduce(2) { sum, node in
            sum + 1 + (node.role == .textField ? 0 : CharacterWidth.of(Self.span(of: node).text))
        }
        let room = max(Self.fieldColumns, self.columns - others)
        return self.nodes.flatMap { node in
            [Span(" ")] + (node.role == .textField ? Self.field(node, columns: room) : [Self.span(of: node)])
        }
    }

    /// The end of what is typed stays visible.
    static func field(_ node: ViewNode, columns: Int) -> [Span] {
        let room = max(1, columns - 2)
        let text = VisibleText.of(node.text ?? "").ending(inColumns: room)
        let shown =
            text.isEmpty
            ? Span(VisibleText.of(node.hint ?? node.label ?? "").shortened(to: room), .faint) : Span(text)
        let rest = String(repeating: "_", count: max(0, room - CharacterWidth.of(shown.text)))
        return [Span("⟨", .faint), shown, Span(rest + "⟩", .faint)]
    }

    static func span(of node: ViewNode) -> Span {
        switch node.role {
        case .switch: return Span(node.value == "1" ? "[on]" : "[off]", node.value == "1" ? .good : .faint)
        case .textField: return Span("⟨\(VisibleText.of(node.text ?? node.hint ?? ""))⟩")
        case .image: return Span(node.words, .faint)
        case .button, .control, .window, .group, .text, .table, .row, .header, .navigationBar, .tabBar, .alert, .menu:
            let words = node.words.isEmpty ? node.texts.map(VisibleText.of).joined(separator: " ") : node.words
            let name = words.isEmpty ? VisibleText.of(node.identifier ?? "") : words
            let value = node.role == .button ? nil : node.value.map { " " + VisibleText.of($0) }
            return Span("[\(name)\(value ?? "")]", node.actions.isEmpty ? .faint : node.isSelected ? .selected : .plain)
        }
    }
}

/// The bars at the upper and the lower end.
enum BarDrawing {
    /// Back and what else is at the left, the title in the middle, the rest at the right.
    static func navigation(_ bar: ViewNode, columns: Int) -> [[Span]] {
        let place = bar.children.firstIndex { !InlineDrawing(columns: columns).takes($0) }
        let title = place.map { bar.children[$0].title } ?? bar.words
        var left = Array(bar.children.prefix(place ?? 0))
        var right = Array(bar.children.dropFirst(place.map { $0 + 1 } ?? 0))
        if place == nil, right.first?.identifier == "back" { left.append(right.removeFirst()) }
        let before = left.map { $0.identifier == "back" ? Span("‹ \($0.words)") : InlineDrawing.span(of: $0) }
        let after = right.flatMap { [Span(" "), InlineDrawing.span(of: $0)] }
        let start = before.flatMap { [Span(" "), $0] }
        let room = max(1, columns - start.width - after.width - 3)
        let shown = title.shortened(to: room)
        // In the middle of the bar, or as near to it as there is room.
        let middle = (columns - CharacterWidth.of(shown)) / 2
        let gap = max(1, min(middle - start.width, columns - 1 - after.width - CharacterWidth.of(shown) - start.width))
        let line = start + [Span(String(repeating: " ", count: gap)), Span(shown, .strong)]
        let fill = max(0, columns - 1 - line.width - after.width)
        return [line + [Span(String(repeating: " ", count: fill))] + after, [self.rule(columns)]]
    }

    static func tabs(_ bar: ViewNode, columns: Int) -> [[Span]] {
        let tabs = bar.children.map { tab -> Span in
            let texts = ([tab.text ?? tab.label, tab.value] + tab.children.flatMap(\.texts)).compactMap(\.self)
            let words = VisibleText.of(
                texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " "))
            return tab.isSelected ? Span("[\(words)]", .strong) : Span(" \(words) ")
        }
        guard !tabs.isEmpty else { return [] }
        let gap = max(1, (columns - tabs.width) / (tabs.count + 1))
        return [[self.rule(columns)], tabs.flatMap { [Span(String(repeating: " ", count: gap)), $0] }]
    }

    static func rule(_ columns: Int) -> Span { Span(String(repeating: "─", count: columns), .faint) }
}

extension ViewNode {
    fileprivate var title: String {
        self.words.isEmpty ? self.texts.map(VisibleText.of).joined(separator: " ") : self.words
    }
}
