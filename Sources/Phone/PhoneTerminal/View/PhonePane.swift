/// Status bar, banners, what is in the foreground, the notification list, the apps.
struct PhonePane {
    private let snapshot: PhoneSnapshot
    private let selected: Int?
    private let columns: Int
    private let rows: Int

    init(_ machine: TerminalMachine, columns: Int, rows: Int) {
        self.init(machine.snapshot, selected: machine.selectedIndex, columns: columns, rows: rows)
    }

    init(_ snapshot: PhoneSnapshot, selected: Int? = nil, columns: Int, rows: Int) {
        self.snapshot = snapshot
        self.selected = selected
        self.columns = columns
        self.rows = rows
    }

    /// At most as many lines as there are rows; what must be seen comes first.
    var lines: [[Span]] {
        guard self.rows >= 10 else { return self.compactLines }
        return self.lines(above: self.apps)
    }

    /// The view of the phone itself: without the states of its apps.
    var face: [[Span]] { self.lines(above: []) }

    private func lines(above bottom: [[Span]]) -> [[Span]] {
        let top = self.statusBar + self.prompts + self.banners
        let room = max(0, self.rows - top.count - bottom.count)
        let notices = self.notices
        if self.showsViews {
            // The list must not cut the screen of the app short.
            let list = self.cutNotices(notices, to: min(notices.count, max(2, room / 5)))
            let screen = ScreenDrawing.lines(
                of: self.snapshot.views, columns: self.columns, rows: max(0, room - list.count))
            return Array((top + screen + list + bottom).prefix(self.rows))
        }
        let front = self.front
        // The list and what is in the foreground share the room; what one does not need is the other's.
        let forNotices = min(notices.count, max(room - front.count, (room + 1) / 2))
        let forForeground = room - forNotices
        let middle = front.prefix(forForeground) + self.cutNotices(notices, to: forNotices)
        let filler = Array(repeating: [Span]() as [Span], count: max(0, room - middle.count))
        return Array((top + middle + filler + bottom).prefix(self.rows))
    }

    /// For few rows: no titles, the screens in one line, and as much of the list as fits.
    private var compactLines: [[Span]] {
        let stack = self.snapshot.isLocked ? [] : self.snapshot.front?.stack ?? []
        let screens = stack.isEmpty ? [] : [[Span(" " + VisibleText.of(stack.joined(separator: " > ")))]]
        let top = self.statusBar + self.prompts + self.banners.prefix(1) + screens
        let bottom = self.apps.dropFirst().prefix(1)
        let room = max(0, self.rows - top.count - bottom.count)
        let notices = self.cutNotices(self.notices, to: room + 1).dropFirst()
        let filler = Array(repeating: [Span]() as [Span], count: max(0, room - notices.count))
        return Array((top + notices + filler + bottom).prefix(self.rows))
    }

    private var showsViews: Bool { !self.snapshot.isLocked && ScreenDrawing.hasContent(self.snapshot.views) }

    /// Two lines if the signs do not fit beside the title.
    private var statusBar: [[Span]] {
        let place =
            self.snapshot.isLocked
            ? self.snapshot.isBeforeFirstUnlock ? "locked since restart" : "locked"
            : self.snapshot.front.map { "\($0.name)" } ?? "home screen"
        let title = Span(" \(VisibleText.of(place))", .strong)
        let signs = Span(self.snapshot.signs.map { " [\($0)]" }.joined(), .notice)
        let width = CharacterWidth.of(title.text) + CharacterWidth.of(signs.text)
        return width <= self.columns ? [[title, signs]] : [[title], [signs]]
    }

    private var prompts: [[Span]] {
        var lines: [[Span]] = []
        for call in self.snapshot.calls {
            lines.append([Span(" ☎ ", .notice), Span(VisibleText.of(call.words), .strong)])
            lines.append([Span(call.isAnswered ? "   [D Hang up]" : "   [A Answer] [D Decline]", .notice)])
        }
        if let app = self.snapshot.permissionPrompt {
            lines.append([Span(" \(VisibleText.of(app)) would like to send notifications (y/n)", .notice)])
        }
        if self.snapshot.unlockFor != nil {
            lines.append([Span(" Unlock to go on (l), or :lock to leave it", .notice)])
        }
        if let panel = self.snapshot.alertPanel {
            lines.append([Span(" ! ", .notice), Span(VisibleText.of(panel.words), .strong)])
            lines.append([Span("   [v View] [c Close]", .notice)])
        }
        return lines
    }

    /// At most three; older ones are still in the list.
    private var banners: [[Span]] {
        self.snapshot.banners.prefix(3).map { banner in
            [Span(" ▼ ", .good), Span(VisibleText.of(banner.words), .good)]
        }
    }

    /// The app in the foreground with its screens, or the icons of the home screen.
    private var front: [[Span]] {
        guard !self.snapshot.isLocked else { return [] }
        guard let app = self.snapshot.front else {
            return [self.rule("icons")]
                + self.snapshot.apps.map { app in
                    [Span("  \(VisibleText.of(app.name))"), Span(app.badge > 0 ? " (\(app.badge))" : "", .good)]
                }
        }
        let stack = app.stack.enumerated().map { index, screen in
            let isTop = index == app.stack.count - 1
            return [
                Span("  " + String(repeating: "  ", count: min(index, 8)) + (index == 0 ? "" : "└ "), .faint),
                Span(VisibleText.of(screen), isTop ? .strong : .plain),
            ]
        }
        return [self.rule("screens")] + stack + app.details.map { [Span("  " + VisibleText.of($0))] }
    }

    private var notices: [[Span]] {
        guard !self.snapshot.list.isEmpty else { return [] }
        return [self.rule("notifications (\(self.snapshot.list.count))")]
            + self.snapshot.list.enumerated().map { index, notice in
                let isSelected = index == self.selected
                return [
                    Span(isSelected ? " > " : "   ", .strong),
                    Span("\(index + 1) \(VisibleText.of(notice.words))", isSelected ? .selected : .plain),
                ]
            }
    }

    /// Around the selected entry, under the title.
    private func cutNotices(_ lines: [[Span]], to count: Int) -> [[Span]] {
        guard count > 0, lines.count > count else { return Array(lines.prefix(count)) }
        guard count > 1 else { return [lines[(self.selected ?? 0) + 1]] }
        let entries = lines.dropFirst()
        let first = max(0, min((self.selected ?? 0) - (count - 2), entries.count - (count - 1)))
        return [lines[0]] + entries.dropFirst(first).prefix(count - 1)
    }

    private var apps: [[Span]] {
        [self.rule("apps")]
            + self.snapshot.apps.prefix(4).map { app in
                let process = app.processIdentifier.map { " pid \($0)" } ?? ""
                return [
                    Span(" \(VisibleText.of(app.name)) "), Span(VisibleText.of(app.state), Self.style(of: app.state)),
                    Span(" badge \(app.badge)", app.badge > 0 ? .good : .faint), Span(process, .faint),
                ]
            }
    }

    private static func style(of state: String) -> Style {
        switch state {
        case "foregroundActive", "foregroundInactive": .good
        case "backgroundRunning": .notice
        case "suspended": .faint
        default: .bad
        }
    }

    private func rule(_ title: String) -> [Span] { [Span.rule(title, columns: self.columns)] }
}
