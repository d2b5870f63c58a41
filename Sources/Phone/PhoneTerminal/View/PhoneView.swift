/// The phone at the left and its trace at the right, or one above the other where the terminal is narrow. Pure: the
/// same state gives the same frame.
struct PhoneView: Sendable {
    var title: String

    init(title: String) { self.title = VisibleText.of(title) }

    /// From this width on, phone and trace stand side by side.
    static let wideColumns = 80

    func frame(of machine: TerminalMachine) -> Frame {
        guard machine.size.isEnough else { return Self.refusal(machine.size) }
        var frame = Frame(size: machine.size)
        let size = machine.size
        let help = " ? help "
        let room = size.columns - help.count
        frame.place(
            Line([Span(" \(self.title)".fitted(to: room), .bar), Span(help, .bar)], columns: size.columns), row: 0)
        if case .help(let page) = machine.mode {
            self.draw(Self.help(size, page: page), 0, 1, columns: size.columns, rows: size.rows - 2, in: &frame)
        } else if size.columns >= Self.wideColumns {
            self.drawSideBySide(machine, in: &frame)
        } else {
            self.drawStacked(machine, in: &frame)
        }
        Self.drawBottom(machine, in: &frame)
        return frame
    }

    private static func refusal(_ size: TerminalSize) -> Frame {
        var frame = Frame(size: size)
        for (row, text) in size.refusal.wrapped(to: size.columns).enumerated() {
            frame.place(Line([Span(text, .bad)], columns: size.columns), row: row)
        }
        return frame
    }

    // MARK: Panes

    private func drawSideBySide(_ machine: TerminalMachine, in frame: inout Frame) {
        let size = machine.size
        let left = max(40, min(56, size.columns * 9 / 20))
        let right = size.columns - left - 1
        let rows = size.rows - 2
        for row in 0..<rows { frame.place(Line([Span("│", .faint)], columns: 1), column: left, row: row + 1) }
        self.draw(PhonePane(machine, columns: left, rows: rows).lines, 0, 1, columns: left, rows: rows, in: &frame)
        self.draw(
            Self.trace(machine, columns: right, rows: rows), left + 1, 1, columns: right, rows: rows, in: &frame)
    }

    private func drawStacked(_ machine: TerminalMachine, in frame: inout Frame) {
        let size = machine.size
        let rows = size.rows - 2
        let below = max(3, rows / 3)
        let above = rows - below
        self.draw(
            PhonePane(machine, columns: size.columns, rows: above).lines, 0, 1, columns: size.columns, rows: above,
            in: &frame)
        self.draw(
            Self.trace(machine, columns: size.columns, rows: below), 0, 1 + above, columns: size.columns, rows: below,
            in: &frame)
    }

    private func draw(_ lines: [[Span]], _ column: Int, _ row: Int, columns: Int, rows: Int, in frame: inout Frame) {
        for index in 0..<rows {
            let spans = lines.indices.contains(index) ? lines[index] : []
            frame.place(Line(spans, columns: columns), column: column, row: row + index)
        }
    }

    /// The newest lines that fit, under a title.
    private static func trace(_ machine: TerminalMachine, columns: Int, rows: Int) -> [[Span]] {
        let back = machine.scrolled > 0 ? " \(machine.scrolled) lines back, esc returns" : ""
        let end = machine.trace.count - machine.scrolled
        let shown = machine.trace[max(0, end - (rows - 1))..<end]
        let hasTime = columns >= 36
        return [[Span.rule("trace\(back)", columns: columns)]]
            + shown.map { line in
                let time = hasTime ? [Span(" " + line.time.dropFirst(6) + " ", .faint)] : []
                return time + [Span(line.kind == "callback" ? line.short : "\(line.kind): \(line.short)", line.style)]
            }
    }

    // MARK: The last row

    private static func drawBottom(_ machine: TerminalMachine, in frame: inout Frame) {
        let columns = machine.size.columns
        let row = machine.size.rows - 1
        let spans: [Span]
        switch machine.mode {
        case .typing(let typing):
            let prompt = Self.prompt(typing)
            // The end of the typed text stays visible.
            let text = VisibleText.of(typing.text).ending(inColumns: max(1, columns - CharacterWidth.of(prompt) - 1))
            spans = [Span(prompt, .strong), Span(text)]
            frame.cursor = Frame.Cursor(column: CharacterWidth.of(prompt + text), row: row)
        case .choosing(_, let actions):
            let names = actions.enumerated().map { "\($0.offset + 1) \(VisibleText.of($0.element.title))" }
            spans = [Span(" button: ", .strong), Span(names.joined(separator: "  "))]
        case .leaving: spans = [Span(" q again switches the phone off; any other key stays", .notice)]
        case .phone, .help:
            spans = [machine.notice.map { Span(" " + $0, .bad) } ?? Span(Self.keys(machine, columns: columns), .bar)]
        }
        frame.place(Line(spans, columns: columns), row: row)
    }

    private static func prompt(_ typing: TerminalMachine.Typing) -> String {
        switch typing.target {
        case .command: ":"
        case .action(_, let action): VisibleText.of(action.title).shortened(to: 16) + ": "
        }
    }

    /// Returns the keys that matter now, as many as fit.
    private static func keys(_ machine: TerminalMachine, columns: Int) -> String {
        let snapshot = machine.snapshot
        if snapshot.permissionPrompt != nil {
            return Self.row(["y allow", "n deny", "? help", "q quit"], columns: columns)
        }
        let isLocked = snapshot.isLocked
        if snapshot.alertPanel != nil {
            let others = isLocked ? ["l unlock"] : ["l lock", "h home"]
            return Self.row(["v view", "c close"] + others + ["? help", "q quit"], columns: columns)
        }
        let all =
            (isLocked ? ["l unlock"] : ["o open", "h home", "l lock"])
            + (snapshot.views.isEmpty || isLocked ? [] : ["P press", "e enter", "s return"])
            + (snapshot.list.isEmpty ? [] : ["t tap", "d dismiss", "a button", "r reply"])
            + ["k kill", "x quit app", "p airplane", "f focus", "w power", "R restart", "q quit"]
        return Self.row(all, columns: columns)
    }

    private static func row(_ keys: [String], columns: Int) -> String {
        var text = ""
        for key in keys {
            guard text.count + key.count + 2 <= columns else { break }
            text += (text.isEmpty ? " " : "  ") + key
        }
        return text
    }

    // MARK: Help

    /// Pages follow each other in a circle.
    static func help(_ size: TerminalSize, page: Int) -> [[Span]] {
        let rows = size.rows - 2
        let entries =
            TerminalWord.all.map { word in
                let key = word.key.map(String.init) ?? " "
                return [
                    Span(" \(key)  ", .strong),
                    Span("\(word.word) \(word.form)".fitted(to: size.columns >= Self.wideColumns ? 29 : 20) + " "),
                    Span(word.meaning, .faint),
                ]
            } + [
                [Span(" ↑↓ ", .strong), Span("choose a notification".fitted(to: 21)), Span("enter taps it", .faint)],
                [
                    Span(" :  ", .strong), Span("type any word".fitted(to: 21)),
                    Span("pgup/pgdn scroll the trace", .faint),
                ],
            ]
        let perPage = max(1, rows - 1)
        let pages = (entries.count + perPage - 1) / perPage
        let first = page % pages * perPage
        let more = pages > 1 ? "page \(page % pages + 1) of \(pages), ? for the next; " : ""
        return [[Span(" \(more)any other key returns", .notice)]]
            + entries[first..<min(entries.count, first + perPage)].map { $0 }
    }
}
