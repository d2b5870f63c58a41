package import TidingsModel

/// What happens to a phone on a terminal.
package enum TerminalEvent: Equatable, Sendable {
    case key(Key)
    case resized(TerminalSize)
    /// The phone was looked at.
    case looked(PhonePicture)
    /// The phone's trace went on.
    case traced(PhoneTraceLine)
    /// What was asked of the phone cannot be done.
    case refused(String)
    /// The phone was switched off, by another hand perhaps.
    case ended
}

/// What the surroundings of the terminal must do.
package enum TerminalEffect: Equatable, Sendable {
    /// Hand this line of the control channel to the phone.
    case ask(JSONValue)
    /// Draw everything again, whatever stands there.
    case redraw
    case quit
}

/// A phone on a terminal: what was pressed and what is shown. Pure; `PhoneView` draws it.
package struct TerminalMachine: Equatable, Sendable {
    /// What keys mean now.
    package enum Mode: Equatable, Sendable {
        case phone
        /// The page of help, from 0.
        case help(Int)
        /// A button of the notification is to be chosen by its number.
        case choosing(notification: String, [PhonePicture.Action])
        case typing(Typing)
        /// `q` was pressed: another one ends the phone.
        case leaving
    }

    /// A line that is being typed.
    package struct Typing: Equatable, Sendable {
        /// What the line is for.
        package enum Purpose: Equatable, Sendable {
            /// Any word, as in a script.
            case command
            /// The text for a button of a notification.
            case action(notification: String, PhonePicture.Action)
        }

        /// What it is for.
        package var purpose: Purpose
        /// What was typed.
        package var text = ""
    }

    /// So many lines of the trace at least are kept for drawing.
    package static let traceMax = 500

    /// The terminal's size.
    package private(set) var size: TerminalSize
    /// What the phone shows.
    package private(set) var picture = PhonePicture()
    /// The newest lines of the trace, oldest first.
    package private(set) var trace: [PhoneTraceLine] = []
    /// What keys mean now.
    package private(set) var mode = Mode.phone
    /// The identifier of the chosen notification; nil is the newest.
    package private(set) var selection: String?
    /// How many lines the trace is scrolled back.
    package private(set) var scrolled = 0
    /// What was refused last, until the next key.
    package private(set) var notice: String?

    /// A terminal with nothing on it.
    package init(size: TerminalSize) { self.size = size }

    /// The place of the chosen notification in the list; nil if the list is empty.
    package var selectedIndex: Int? {
        guard !self.picture.list.isEmpty else { return nil }
        return self.picture.list.firstIndex { $0.identifier == self.selection } ?? 0
    }

    /// Takes an event in and appends what must be done.
    package mutating func handle(_ event: TerminalEvent, into effects: inout [TerminalEffect]) {
        switch event {
        case .key(let key): self.pressed(key, &effects)
        case .resized(let size):
            self.size = size
            effects.append(.redraw)
        case .looked(let picture): self.looked(picture)
        case .traced(let line): self.traced(line)
        case .refused(let text): self.notice = VisibleText.of(text)
        case .ended: effects.append(.quit)
        }
    }

    /// Takes an event in and returns what must be done.
    package mutating func handle(_ event: TerminalEvent) -> [TerminalEffect] {
        var effects: [TerminalEffect] = []
        self.handle(event, into: &effects)
        return effects
    }

    private mutating func traced(_ line: PhoneTraceLine) {
        // An app reports its screen often; only a change of its stack is news.
        if line.kind == "screen", let last = self.trace.last, last.kind == "screen", last.short == line.short { return }
        self.trace.append(line)
        if self.trace.count > 2 * Self.traceMax { self.trace.removeFirst(self.trace.count - Self.traceMax) }
        // What a person scrolled to stays where it is.
        if self.scrolled > 0 { self.scrolled = min(self.scrolled + 1, self.trace.count - 1) }
    }

    private mutating func looked(_ picture: PhonePicture) {
        self.picture = picture
        if !picture.list.contains(where: { $0.identifier == self.selection }) { self.selection = nil }
    }

    // MARK: Keys

    private mutating func pressed(_ key: Key, _ effects: inout [TerminalEffect]) {
        self.notice = nil
        switch key {
        case .interrupt: return effects.append(.quit)
        case .redraw: return effects.append(.redraw)
        default: break
        }
        switch self.mode {
        case .phone: self.pressedOnPhone(key, &effects)
        case .help(let page):
            self.mode = key == .character("?") || key == .pageDown || key == .down ? .help(page + 1) : .phone
        case .choosing(let notification, let actions): self.chose(key, notification, actions, &effects)
        case .typing(let typing): self.typed(key, typing, &effects)
        case .leaving:
            self.mode = .phone
            if key == .character("q") || key == .character("y") || key == .enter { effects.append(.quit) }
        }
    }

    private mutating func pressedOnPhone(_ key: Key, _ effects: inout [TerminalEffect]) {
        switch key {
        case .up: self.moveSelection(by: -1)
        case .down: self.moveSelection(by: 1)
        case .pageUp: self.scrolled = min(self.scrolled + 10, max(0, self.trace.count - 1))
        case .pageDown: self.scrolled = max(0, self.scrolled - 10)
        case .escape: self.scrolled = 0
        case .enter: self.perform(.tap(.selected), &effects)
        case .character(":"): self.mode = .typing(Typing(purpose: .command))
        case .character("q"): self.mode = .leaving
        case .character("l"): self.perform(.lockOrUnlock, &effects)
        case .character("a"): self.chooseAction()
        case .character("r"): self.startReply()
        case .character(let character):
            guard let word = TerminalWord.all.first(where: { $0.key == character }) else {
                return self.notice = "\(VisibleText.of(String(character))) is no key of the phone; ? shows all of them"
            }
            // Every word with a key can stand alone, but for the two above that ask for more.
            if let command = try? word.read("") { self.perform(command, &effects) }
        case .backspace, .interrupt, .redraw, .pasted: break
        }
    }

    private mutating func moveSelection(by step: Int) {
        guard let index = self.selectedIndex else { return }
        let list = self.picture.list
        let next = max(0, min(list.count - 1, index + step))
        // The newest is followed: a selection there moves to what arrives.
        self.selection = next == 0 ? nil : list[next].identifier
    }

    /// Chooses a notification of the list.
    ///
    /// - Throws: `InvalidField` if it is not there.
    package mutating func select(_ choice: TerminalCommand.Choice) throws(InvalidField) {
        self.selection = try TerminalCommand.notice(choice, self.picture, self.selection).identifier
    }

    private mutating func perform(_ command: TerminalCommand, _ effects: inout [TerminalEffect]) {
        do throws(InvalidField) {
            switch command {
            case .help: self.mode = .help(0)
            case .quit: effects.append(.quit)
            case .select(let choice): try self.select(choice)
            default:
                guard let request = try command.request(on: self.picture, selection: self.selection) else { return }
                effects.append(.ask(request))
            }
        } catch {
            self.notice = VisibleText.of("\(error)")
        }
    }

    private mutating func chooseAction() {
        guard let index = self.selectedIndex else { return self.notice = "the list has no notification" }
        let notice = self.picture.list[index]
        guard !notice.actions.isEmpty else { return self.notice = "the notification has no buttons" }
        self.mode = .choosing(notification: notice.identifier, notice.actions)
    }

    private mutating func startReply() {
        guard let index = self.selectedIndex else { return self.notice = "the list has no notification" }
        let notice = self.picture.list[index]
        guard let action = notice.actions.first(where: \.takesText) else {
            return self.notice = "the notification has no button that takes text"
        }
        self.mode = .typing(Typing(purpose: .action(notification: notice.identifier, action)))
    }

    private mutating func chose(
        _ key: Key, _ notification: String, _ actions: [PhonePicture.Action], _ effects: inout [TerminalEffect]
    ) {
        self.mode = .phone
        guard case .character(let character) = key, let number = character.wholeNumberValue,
            actions.indices.contains(number - 1)
        else { return }
        let action = actions[number - 1]
        if action.takesText {
            self.mode = .typing(Typing(purpose: .action(notification: notification, action)))
        } else {
            effects.append(.ask(Self.press(action, notification, text: nil)))
        }
    }

    private mutating func typed(_ key: Key, _ before: Typing, _ effects: inout [TerminalEffect]) {
        var typing = before
        switch key {
        case .character(let character): typing.text.append(character)
        case .pasted(let text): typing.text += text.filter { !$0.isNewline }
        case .backspace:
            guard !typing.text.isEmpty else { return self.mode = .phone }
            typing.text.removeLast()
        case .escape: return self.mode = .phone
        case .enter: return self.finish(typing, &effects)
        case .up, .down, .pageUp, .pageDown, .interrupt, .redraw: break
        }
        self.mode = .typing(typing)
    }

    private mutating func finish(_ typing: Typing, _ effects: inout [TerminalEffect]) {
        self.mode = .phone
        guard !typing.text.isEmpty else { return }
        switch typing.purpose {
        case .action(let notification, let action):
            effects.append(.ask(Self.press(action, notification, text: typing.text)))
        case .command:
            do throws(InvalidField) {
                self.perform(try TerminalCommand(line: typing.text), &effects)
            } catch {
                self.notice = VisibleText.of("\(error)")
            }
        }
    }

    private static func press(_ action: PhonePicture.Action, _ notification: String, text: String?) -> JSONValue {
        .members(
            [
                ("do", "action"), ("notification", .string(notification)), ("action", .string(action.identifier)),
            ] + (text.map { [("text", .string($0))] } ?? []))
    }
}
