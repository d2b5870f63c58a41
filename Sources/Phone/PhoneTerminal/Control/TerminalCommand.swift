package import PhoneCore
package import TidingsModel

package enum TerminalCommand: Hashable, Sendable {
    package enum Choice: Hashable, Sendable {
        /// The newest unless another was chosen.
        case selected
        /// Counted from the newest, which is 1.
        case position(Int)
        case identifier(String)
    }

    package enum Switch: String, Hashable, Sendable {
        case on
        case off
        case toggle
    }

    case home
    case lock
    case unlock
    case lockOrUnlock
    /// nil if there is only one app.
    case open(String?)
    case kill(String?)
    case forceQuit(String?)
    case freeze(String?)
    case select(Choice)
    case tap(Choice)
    case dismiss(Choice)
    /// By its identifier or title.
    case action(String)
    /// For the first button that takes text.
    case reply(String)
    case allow
    case deny
    case airplane(Switch)
    case lowPower(Switch)
    case focus(Switch)
    case cover(Switch)
    case memory
    /// Answers the alert panel of iOS 3–9.
    case panel(opens: Bool)
    case answerCall
    case declineCall
    case alertStyle(AlertStyle, app: String?)
    case restart
    /// For the app in the foreground; without a name with the view in front that takes it.
    case touch(view: String?, ViewAction)
    /// For the app's own interface.
    case input(JSONValue)
    /// Without APNs.
    case push(JSONObject)
    case help
    case quit
}

/// One table for keys, scripts and help.
package struct TerminalWord: Sendable {
    package let word: String
    /// For help; empty if nothing follows.
    package let form: String
    package let key: Character?
    package let meaning: String
    let read: @Sendable (_ rest: String) throws(InvalidField) -> TerminalCommand

    init(
        _ word: String, _ form: String = "", key: Character? = nil, _ meaning: String,
        _ read: @escaping @Sendable (String) throws(InvalidField) -> TerminalCommand
    ) {
        self.word = word
        self.form = form
        self.key = key
        self.meaning = meaning
        self.read = read
    }

    init(_ word: String, key: Character? = nil, _ meaning: String, _ command: TerminalCommand) {
        self.init(word, key: key, meaning) { rest throws(InvalidField) in
            guard rest.isEmpty else { throw InvalidField(field: word, rule: "takes nothing after it, got \"\(rest)\"") }
            return command
        }
    }

    /// In the order of help.
    package static let all: [TerminalWord] = [
        TerminalWord("home", key: "h", "go to the home screen", .home),
        TerminalWord("lock", key: "l", "lock; the key unlocks a locked phone", .lock),
        TerminalWord("unlock", "unlock", .unlock),
        TerminalWord("open", "[APP]", key: "o", "open the app by its icon", Self.app { .open($0) }),
        TerminalWord("tap", "[N|ID]", key: "t", "tap the notification chosen, or the newest", Self.choice { .tap($0) }),
        TerminalWord("select", "N|ID", "choose a notification; 1 is the newest", Self.selection),
        TerminalWord("dismiss", "[N|ID]", key: "d", "clear the notification", Self.choice { .dismiss($0) }),
        TerminalWord("action", "NAME", key: "a", "press a button of it", Self.text("action", "button") { .action($0) }),
        TerminalWord("reply", "TEXT", key: "r", "answer it with a text", Self.text("reply", "text") { .reply($0) }),
        TerminalWord("press", "NAME", key: "P", "tap a view of the app, by what is written on it", Self.press),
        TerminalWord(
            "enter", "TEXT [into NAME]", key: "e", "type into a field; \"TEXT\" is taken as it is", Self.enter),
        TerminalWord("submit", "[NAME]", key: "s", "the return key in a field", Self.submit),
        TerminalWord("hold", "NAME", "press long: opens a menu", Self.hold),
        TerminalWord("scroll", "up|down [NAME]", "scroll the table by half a screen", Self.scroll),
        TerminalWord("swipe", "NAME left|right|up|down", "a short swipe on a view", Self.swipe),
        TerminalWord("kill", "[APP]", key: "k", "kill the app without a word", Self.app { .kill($0) }),
        TerminalWord("force-quit", "[APP]", key: "x", "swipe the app away", Self.app { .forceQuit($0) }),
        TerminalWord("freeze", "[APP]", key: "z", "suspend the app at once", Self.app { .freeze($0) }),
        TerminalWord("airplane", "[on|off]", key: "p", "airplane mode", Self.toggle("airplane") { .airplane($0) }),
        TerminalWord("focus", "[on|off]", key: "f", "a Focus", Self.toggle("focus") { .focus($0) }),
        TerminalWord("low-power", "[on|off]", key: "w", "Low Power Mode", Self.toggle("low-power") { .lowPower($0) }),
        TerminalWord("cover", "on|off", "cover the app, as a call does", Self.switched("cover") { .cover($0) }),
        TerminalWord("memory", key: "m", "a memory warning", .memory),
        TerminalWord("allow", key: "y", "answer yes to a permission prompt", .allow),
        TerminalWord("deny", key: "n", "answer no", .deny),
        TerminalWord("view", key: "v", "answer an alert panel by opening the app", .panel(opens: true)),
        TerminalWord("close", key: "c", "close an alert panel", .panel(opens: false)),
        TerminalWord("answer-call", key: "A", "answer the call that rings", .answerCall),
        TerminalWord("decline-call", key: "D", "decline it, or hang up", .declineCall),
        TerminalWord("alert-style", "STYLE [APP]", "none, banner or alert (a panel, iOS 5–9)", Self.alertStyle),
        TerminalWord("input", "JSON", "hand a value to the app's own interface", Self.json("input") { .input($0) }),
        TerminalWord("push", "TEXT|JSON", "a push without APNs; JSON is the payload", Self.push),
        TerminalWord("restart", key: "R", "restart the phone", .restart),
        TerminalWord("help", key: "?", "all keys and words", .help),
        TerminalWord("quit", key: "q", "switch the phone off", .quit),
    ]
}

extension TerminalWord {
    private typealias Reading = @Sendable (String) throws(InvalidField) -> TerminalCommand

    private static func app(_ make: @escaping @Sendable (String?) -> TerminalCommand) -> Reading {
        { rest throws(InvalidField) in make(rest.isEmpty ? nil : rest) }
    }

    private static func choice(_ make: @escaping @Sendable (TerminalCommand.Choice) -> TerminalCommand) -> Reading {
        { rest throws(InvalidField) in make(Self.chosen(rest)) }
    }

    private static let selection: Reading = { rest throws(InvalidField) in
        guard !rest.isEmpty else { throw InvalidField(field: "select", rule: "needs a number or an identifier") }
        return .select(Self.chosen(rest))
    }

    /// A number of up to two digits counts from the newest; anything else names a notification.
    private static func chosen(_ rest: String) -> TerminalCommand.Choice {
        guard !rest.isEmpty, rest != "newest" else { return rest.isEmpty ? .selected : .position(1) }
        if rest.count <= 2, let number = Int(rest), number >= 1 { return .position(number) }
        return .identifier(rest)
    }

    private static func text(
        _ word: String, _ what: String, _ make: @escaping @Sendable (String) -> TerminalCommand
    ) -> Reading {
        { rest throws(InvalidField) in
            guard !rest.isEmpty else { throw InvalidField(field: word, rule: "needs a \(what) after it") }
            return make(rest)
        }
    }

    private static func toggle(
        _ word: String, _ make: @escaping @Sendable (TerminalCommand.Switch) -> TerminalCommand
    ) -> Reading {
        { rest throws(InvalidField) in rest.isEmpty ? make(.toggle) : try Self.switched(word, make)(rest) }
    }

    /// For what the phone does not tell, such as whether something covers the app: the word must.
    private static func switched(
        _ word: String, _ make: @escaping @Sendable (TerminalCommand.Switch) -> TerminalCommand
    ) -> Reading {
        { rest throws(InvalidField) in
            guard let state = TerminalCommand.Switch(rawValue: rest), state != .toggle else {
                throw InvalidField(field: word, rule: "must be on or off, got \"\(rest)\"")
            }
            return make(state)
        }
    }

    private static let alertStyle: Reading = { rest throws(InvalidField) in
        let (word, app) = TerminalCommand.split(rest)
        guard let style = AlertStyle.allCases.first(where: { "\($0)" == word }) else {
            let allowed = AlertStyle.allCases.map { "\($0)" }.joined(separator: ", ")
            throw InvalidField(field: "alert-style", rule: "must be one of \(allowed), got \"\(word)\"")
        }
        return .alertStyle(style, app: app.isEmpty ? nil : app)
    }

    private static func json(_ word: String, _ make: @escaping @Sendable (JSONValue) -> TerminalCommand) -> Reading {
        { rest throws(InvalidField) in
            guard let value = try? JSONValue(parsing: Array(rest.utf8)) else {
                throw InvalidField(field: word, rule: "needs one JSON value after it, got \"\(rest)\"")
            }
            return make(value)
        }
    }

    private static let push: Reading = { rest throws(InvalidField) in
        guard !rest.isEmpty else { throw InvalidField(field: "push", rule: "needs a text or a payload after it") }
        guard rest.first == "{" else {
            return .push(JSONObject([("aps", ["alert": .string(rest), "sound": "default"])]))
        }
        guard let payload = (try? JSONValue(parsing: Array(rest.utf8)))?.objectValue else {
            throw InvalidField(field: "push", rule: "must be a JSON object, got \"\(rest)\"")
        }
        return .push(payload)
    }
}

extension TerminalCommand {
    init(line: String) throws(InvalidField) {
        let (word, rest) = Self.split(line)
        guard let known = TerminalWord.all.first(where: { $0.word == word }) else {
            let allowed = TerminalWord.all.map(\.word).joined(separator: ", ")
            throw InvalidField(field: "command", rule: "must be one of \(allowed), got \"\(word)\"")
        }
        self = try known.read(rest)
    }

    /// Without the spaces between and around.
    static func split(_ line: String) -> (word: String, rest: String) {
        let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let word = parts.first else { return ("", "") }
        var rest = parts.count == 2 ? parts[1] : ""
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return (String(word), String(rest))
    }
}
