import TidingsModel
import VirtualPhone

enum TerminalEvent: Equatable, Sendable {
    case key(Key)
    case resized(TerminalSize)
    case refreshed(PhoneSnapshot)
    case traced(PhoneTraceLine)
    case refused(String)
    case ended
}

enum TerminalEffect: Equatable, Sendable {
    case send(PhoneCommand)
    case redraw
    case quit
}

//           ?, :help               :, P, e, r
//   help ◀──────────── phone ────────────────▶ typing
//    │  any other key   ▲ │ │ ▲                  │  ▲
//    └──────────────────┘ │ │ └──────────────────┘  │
//    ?, pgdn, down: next  │ │   enter, esc,         │ a button that takes text
//    page                 │ │   empty backspace     │
//                         │ └────────▶ choosing ────┘
//                         │      a        └─ any other key: phone
//                         └──────────▶ leaving ─ q, y, enter: quit; any other key: phone
//                                q
/// Pure; `PhoneView` draws it.
struct TerminalMachine: Equatable, Sendable {
    enum Mode: Equatable, Sendable {
        case phone
        /// The page of help, from 0.
        case help(Int)
        case choosing(notification: String, [PhoneSnapshot.Action])
        case typing(Typing)
        case leaving
    }

    struct Typing: Equatable, Sendable {
        enum Target: Equatable, Sendable {
            case command
            case action(notification: String, PhoneSnapshot.Action)
        }

        var target: Target
        var text = ""
    }

    /// At least so many lines are kept.
    static let traceMax = 500

    private(set) var size: TerminalSize
    private(set) var snapshot = PhoneSnapshot()
    /// Oldest first.
    private(set) var trace: [PhoneTraceLine] = []
    private(set) var mode = Mode.phone
    /// The identifier of the chosen notification; nil means the newest.
    private(set) var selection: String?
    private(set) var scrolled = 0
    /// Shown until the next key.
    private(set) var notice: String?

    init(size: TerminalSize) { self.size = size }

    /// nil if the list is empty.
    var selectedIndex: Int? {
        guard !self.snapshot.list.isEmpty else { return nil }
        return self.snapshot.list.firstIndex { $0.identifier == self.selection } ?? 0
    }

    mutating func handle(_ event: TerminalEvent) -> [TerminalEffect] {
        var effects: [TerminalEffect] = []
        switch event {
        case .key(let key): self.handleKey(key, &effects)
        case .resized(let size):
            self.size = size
            effects.append(.redraw)
        case .refreshed(let snapshot):
            self.snapshot = snapshot
            if !snapshot.list.contains(where: { $0.identifier == self.selection }) { self.selection = nil }
        case .traced(let line): self.appendTrace(line)
        case .refused(let text): self.notice = VisibleText.of(text)
        case .ended: effects.append(.quit)
        }
        return effects
    }

    private mutating func appendTrace(_ line: PhoneTraceLine) {
        // An app reports its screen often; only a change of the stack matters.
        if line.kind == "screen", let last = self.trace.last, last.kind == "screen", last.short == line.short { return }
        self.trace.append(line)
        if self.trace.count > 2 * Self.traceMax { self.trace.removeFirst(self.trace.count - Self.traceMax) }
        // The lines a person scrolled to stay in place.
        if self.scrolled > 0 { self.scrolled = min(self.scrolled + 1, self.trace.count - 1) }
    }

    // MARK: Keys

    private mutating func handleKey(_ key: Key, _ effects: inout [TerminalEffect]) {
        self.notice = nil
        switch key {
        case .interrupt: return effects.append(.quit)
        case .redraw: return effects.append(.redraw)
        default: break
        }
        switch self.mode {
        case .phone: self.handlePhoneKey(key, &effects)
        case .help(let page):
            self.mode = key == .character("?") || key == .pageDown || key == .down ? .help(page + 1) : .phone
        case .choosing(let notification, let actions): self.handleChoiceKey(key, notification, actions, &effects)
        case .typing(let typing): self.handleTypingKey(key, typing, &effects)
        case .leaving:
            self.mode = .phone
            if key == .character("q") || key == .character("y") || key == .enter { effects.append(.quit) }
        }
    }

    private mutating func handlePhoneKey(_ key: Key, _ effects: inout [TerminalEffect]) {
        switch key {
        case .up: self.moveSelection(by: -1)
        case .down: self.moveSelection(by: 1)
        case .pageUp: self.scrolled = min(self.scrolled + 10, max(0, self.trace.count - 1))
        case .pageDown: self.scrolled = max(0, self.scrolled - 10)
        case .escape: self.scrolled = 0
        case .enter: self.run(.tap(.selected), &effects)
        case .character(":"): self.mode = .typing(Typing(target: .command))
        case .character("q"): self.mode = .leaving
        case .character("l"): self.run(.lockOrUnlock, &effects)
        case .character("a"): self.chooseAction()
        case .character("r"): self.startReply()
        case .character("P"): self.mode = .typing(Typing(target: .command, text: "press "))
        case .character("e"): self.mode = .typing(Typing(target: .command, text: "enter "))
        case .character(let character):
            guard let word = TerminalWord.all.first(where: { $0.key == character }) else {
                return self.notice = "\(VisibleText.of(String(character))) is no key of the phone; ? shows all of them"
            }
            // Every word with a key can stand alone, except those above.
            if let command = try? word.read("") { self.run(command, &effects) }
        case .backspace, .interrupt, .redraw, .pasted: break
        }
    }

    private mutating func moveSelection(by step: Int) {
        guard let index = self.selectedIndex else { return }
        let list = self.snapshot.list
        let next = max(0, min(list.count - 1, index + step))
        // A selection of the newest follows what arrives.
        self.selection = next == 0 ? nil : list[next].identifier
    }

    mutating func select(_ choice: TerminalCommand.Choice) throws(InvalidField) {
        self.selection = try TerminalCommand.notice(choice, self.snapshot, self.selection).identifier
    }

    private mutating func run(_ command: TerminalCommand, _ effects: inout [TerminalEffect]) {
        do throws(InvalidField) {
            switch command {
            case .help: self.mode = .help(0)
            case .quit: effects.append(.quit)
            case .select(let choice): try self.select(choice)
            default:
                guard let command = try command.command(on: self.snapshot, selection: self.selection) else { return }
                effects.append(.send(command))
            }
        } catch { self.notice = VisibleText.of("\(error)") }
    }

    private mutating func chooseAction() {
        guard let index = self.selectedIndex else { return self.notice = "the list has no notification" }
        let notice = self.snapshot.list[index]
        guard !notice.actions.isEmpty else { return self.notice = "the notification has no buttons" }
        self.mode = .choosing(notification: notice.identifier, notice.actions)
    }

    private mutating func startReply() {
        guard let index = self.selectedIndex else { return self.notice = "the list has no notification" }
        let notice = self.snapshot.list[index]
        guard let action = notice.actions.first(where: \.takesText) else {
            return self.notice = "the notification has no button that takes text"
        }
        self.mode = .typing(Typing(target: .action(notification: notice.identifier, action)))
    }

    private mutating func handleChoiceKey(
        _ key: Key, _ notification: String, _ actions: [PhoneSnapshot.Action], _ effects: inout [TerminalEffect]
    ) {
        self.mode = .phone
        guard case .character(let character) = key, let number = character.wholeNumberValue,
            actions.indices.contains(number - 1)
        else { return }
        let action = actions[number - 1]
        if action.takesText {
            self.mode = .typing(Typing(target: .action(notification: notification, action)))
        } else {
            effects.append(.send(.action(notification: notification, action: action.identifier, text: nil)))
        }
    }

    private mutating func handleTypingKey(_ key: Key, _ before: Typing, _ effects: inout [TerminalEffect]) {
        var typing = before
        switch key {
        case .character(let character): typing.text.append(character)
        case .pasted(let text): typing.text += text.filter { !$0.isNewline }
        case .backspace:
            guard !typing.text.isEmpty else { return self.mode = .phone }
            typing.text.removeLast()
        case .escape: return self.mode = .phone
        case .enter: return self.submit(typing, &effects)
        case .up, .down, .pageUp, .pageDown, .interrupt, .redraw: break
        }
        self.mode = .typing(typing)
    }

    private mutating func submit(_ typing: Typing, _ effects: inout [TerminalEffect]) {
        self.mode = .phone
        guard !typing.text.isEmpty else { return }
        switch typing.target {
        case .action(let notification, let action):
            effects.append(.send(.action(notification: notification, action: action.identifier, text: typing.text)))
        case .command:
            do throws(InvalidField) {
                self.run(try TerminalCommand(line: typing.text), &effects)
            } catch {
                self.notice = VisibleText.of("\(error)")
            }
        }
    }
}
