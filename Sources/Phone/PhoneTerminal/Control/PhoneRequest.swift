package import TidingsModel

extension TerminalCommand {
    /// The line of the control channel that does it (docs/virtual-phone.md).
    ///
    /// - Parameters:
    ///   - picture: what the phone shows now; says which way a switch goes and which notification is meant.
    ///   - selection: the identifier of the selected notification; nil is the newest.
    /// - Returns: nil for what concerns the terminal alone.
    /// - Throws: `InvalidField` naming what is not there.
    package func request(on picture: PhonePicture, selection: String?) throws(InvalidField) -> JSONValue? {
        switch self {
        case .home: Self.plain("home")
        case .lock: Self.plain("lock")
        case .unlock: Self.plain("unlock")
        case .lockOrUnlock: Self.plain(picture.isLocked ? "unlock" : "lock")
        case .open(let app): Self.app("launch", try Self.bundle(app, picture))
        case .kill(let app): Self.app("kill", try Self.bundle(app, picture))
        case .forceQuit(let app): Self.app("force_quit", try Self.bundle(app, picture))
        case .freeze(let app): Self.app("freeze", try Self.bundle(app, picture))
        case .tap(let choice): Self.on("tap", try Self.notice(choice, picture, selection))
        case .dismiss(let choice): Self.on("dismiss", try Self.notice(choice, picture, selection))
        case .action(let name): try Self.press(name, try Self.notice(.selected, picture, selection))
        case .reply(let text): try Self.reply(text, try Self.notice(.selected, picture, selection))
        case .allow: Self.plain("allow_notifications")
        case .deny: Self.plain("deny_notifications")
        case .airplane(let state): Self.turn("airplane", state, picture.airplaneMode)
        case .lowPower(let state): Self.turn("low_power", state, picture.lowPowerMode)
        case .cover(let state): Self.turn("overlay", state, false)
        case .focus(let state): Self.turn("focus", state, picture.focus)
        case .memory: Self.plain("memory_low")
        case .panel(let opens): try Self.panel(opens, picture)
        case .alertStyle(let style, let app):
            .members([
                ("do", "alert_style"), ("app", .string(try Self.bundle(app, picture))),
                ("style", .string(style.rawValue)),
            ])
        case .restart: Self.plain("restart")
        case .input(let value):
            .members([
                ("do", "input"), ("app", .string(try Self.bundle(picture.foregroundApp, picture))), ("value", value),
            ])
        case .push(let payload):
            .members([("do", "push"), ("app", .string(try Self.bundle(nil, picture))), ("payload", payload)])
        case .select, .help, .quit: nil
        }
    }

    /// The notification that is meant.
    static func notice(
        _ choice: Choice, _ picture: PhonePicture, _ selection: String?
    ) throws(InvalidField) -> PhonePicture.Notice {
        let list = picture.list
        guard !list.isEmpty else { throw InvalidField(field: "notification", rule: "is missing: the list is empty") }
        switch choice {
        case .selected: return list.first { $0.identifier == selection } ?? list[0]
        case .position(let number):
            guard number <= list.count else {
                throw InvalidField(field: "notification", rule: "must be 1 to \(list.count), got \(number)")
            }
            return list[number - 1]
        case .identifier(let identifier):
            guard let notice = list.first(where: { $0.identifier == identifier }) else {
                throw InvalidField(field: "notification", rule: "is not in the list: \(identifier)")
            }
            return notice
        }
    }

    private static func plain(_ word: String) -> JSONValue { .members([("do", .string(word))]) }

    private static func app(_ word: String, _ bundle: String) -> JSONValue {
        .members([("do", .string(word)), ("app", .string(bundle))])
    }

    private static func on(_ word: String, _ notice: PhonePicture.Notice) -> JSONValue {
        .members([("do", .string(word)), ("notification", .string(notice.identifier))])
    }

    private static func panel(_ opens: Bool, _ picture: PhonePicture) throws(InvalidField) -> JSONValue {
        guard picture.alertPanel != nil else {
            throw InvalidField(field: "alert panel", rule: "is missing: nothing on the screen asks")
        }
        return .members([("do", "alert_panel"), ("open", .bool(opens))])
    }

    private static func turn(_ word: String, _ state: Switch, _ isOn: Bool) -> JSONValue {
        let value = state == .toggle ? !isOn : state == .on
        return .members([("do", .string(word)), ("on", .bool(value))])
    }

    /// An app by its bundle identifier or its short name.
    private static func bundle(_ name: String?, _ picture: PhonePicture) throws(InvalidField) -> String {
        let known = picture.apps.map { "\($0.bundle)" }.joined(separator: ", ")
        guard let name else {
            if let front = picture.foregroundApp { return front }
            guard let only = picture.apps.first, picture.apps.count == 1 else {
                throw InvalidField(field: "app", rule: "is missing; installed are \(known)")
            }
            return only.bundle
        }
        guard let app = picture.apps.first(where: { $0.bundle == name || $0.name.lowercased() == name.lowercased() })
        else { throw InvalidField(field: "app", rule: "must be one of \(known), got \"\(name)\"") }
        return app.bundle
    }

    private static func press(_ name: String, _ notice: PhonePicture.Notice) throws(InvalidField) -> JSONValue {
        guard let action = notice.actions.first(where: { $0.identifier == name || $0.title == name }) else {
            throw InvalidField(field: "action", rule: "must be one of \(Self.names(notice)), got \"\(name)\"")
        }
        return Self.action(action, notice, text: nil)
    }

    private static func reply(_ text: String, _ notice: PhonePicture.Notice) throws(InvalidField) -> JSONValue {
        guard let action = notice.actions.first(where: \.takesText) else {
            throw InvalidField(field: "reply", rule: "is not offered: the notification has \(Self.names(notice))")
        }
        return Self.action(action, notice, text: text)
    }

    private static func action(
        _ action: PhonePicture.Action, _ notice: PhonePicture.Notice, text: String?
    ) -> JSONValue {
        .members(
            [
                ("do", "action"), ("notification", .string(notice.identifier)),
                ("action", .string(action.identifier)),
            ] + (text.map { [("text", .string($0))] } ?? []))
    }

    private static func names(_ notice: PhonePicture.Notice) -> String {
        notice.actions.isEmpty ? "no buttons" : notice.actions.map(\.identifier).joined(separator: ", ")
    }
}
