import PhoneCore
import TidingsModel
import VirtualPhone

extension TerminalCommand {
    /// nil for what concerns the terminal alone. The snapshot says which way a switch goes; without a selection the newest
    /// notification is meant.
    func command(on snapshot: PhoneSnapshot, selection: String?) throws(InvalidField) -> PhoneCommand? {
        switch self {
        case .home: .home
        case .lock: .lock
        case .unlock: .unlock
        case .lockOrUnlock: snapshot.isLocked ? .unlock : .lock
        case .open(let app): .launch(try Self.bundle(app, snapshot))
        case .kill(let app): .kill(try Self.bundle(app, snapshot))
        case .forceQuit(let app): .forceQuit(try Self.bundle(app, snapshot))
        case .freeze(let app): .freeze(try Self.bundle(app, snapshot))
        case .tap(let choice): .tap(try Self.notice(choice, snapshot, selection).identifier)
        case .dismiss(let choice): .dismiss(try Self.notice(choice, snapshot, selection).identifier)
        case .action(let name): try Self.press(name, try Self.notice(.selected, snapshot, selection))
        case .reply(let text): try Self.reply(text, try Self.notice(.selected, snapshot, selection))
        case .allow: .answerPrompts(allowed: true)
        case .deny: .answerPrompts(allowed: false)
        case .airplane(let state): .airplane(isOn: state.value(now: snapshot.airplaneMode))
        case .lowPower(let state): .lowPower(isOn: state.value(now: snapshot.lowPowerMode))
        case .cover(let state): .overlay(isOn: state.value(now: false))
        case .focus(let state): .focus(isOn: state.value(now: snapshot.focus))
        case .memory: .memoryLow
        case .panel(let opens): try Self.panel(opens, snapshot)
        case .answerCall: try Self.call(.answerCall, snapshot)
        case .declineCall: try Self.call(.declineCall, snapshot)
        case .alertStyle(let style, let app): .change(.alertStyle(try Self.bundle(app, snapshot), style))
        case .restart: .restart
        case .touch(let view, let action): .touch(try Self.bundle(snapshot.foregroundApp, snapshot), view: view, action)
        case .input(let value): .input(try Self.bundle(snapshot.foregroundApp, snapshot), value)
        case .push(let payload):
            .push(
                Push(
                    delivery: 0, topic: try Self.bundle(nil, snapshot).rawValue, payload: payload, pushType: nil))
        case .select, .help, .quit: nil
        }
    }

    static func notice(
        _ choice: Choice, _ snapshot: PhoneSnapshot, _ selection: String?
    ) throws(InvalidField) -> PhoneSnapshot.Notice {
        let list = snapshot.list
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

    private static func panel(_ opens: Bool, _ snapshot: PhoneSnapshot) throws(InvalidField) -> PhoneCommand {
        guard snapshot.alertPanel != nil else {
            throw InvalidField(field: "alert panel", rule: "is missing: nothing on the screen asks")
        }
        return .change(.alertPanel(opens: opens))
    }

    private static func call(_ change: PhoneChange, _ snapshot: PhoneSnapshot) throws(InvalidField) -> PhoneCommand {
        guard !snapshot.calls.isEmpty else {
            throw InvalidField(field: "call", rule: "is missing: nothing rings on the screen")
        }
        return .change(change)
    }

    /// By its bundle identifier or its short name.
    private static func bundle(_ name: String?, _ snapshot: PhoneSnapshot) throws(InvalidField) -> BundleID {
        let known = snapshot.apps.map(\.bundle).joined(separator: ", ")
        guard let name else {
            if let front = snapshot.foregroundApp { return BundleID(front) }
            guard let only = snapshot.apps.first, snapshot.apps.count == 1 else {
                throw InvalidField(field: "app", rule: "is missing; installed are \(known)")
            }
            return BundleID(only.bundle)
        }
        guard let app = snapshot.apps.first(where: { $0.bundle == name || $0.name.lowercased() == name.lowercased() })
        else { throw InvalidField(field: "app", rule: "must be one of \(known), got \"\(name)\"") }
        return BundleID(app.bundle)
    }

    private static func press(_ name: String, _ notice: PhoneSnapshot.Notice) throws(InvalidField) -> PhoneCommand {
        guard let action = notice.actions.first(where: { $0.identifier == name || $0.title == name }) else {
            throw InvalidField(field: "action", rule: "must be one of \(Self.names(notice)), got \"\(name)\"")
        }
        return .action(notification: notice.identifier, action: action.identifier, text: nil)
    }

    private static func reply(_ text: String, _ notice: PhoneSnapshot.Notice) throws(InvalidField) -> PhoneCommand {
        guard let action = notice.actions.first(where: \.takesText) else {
            throw InvalidField(field: "reply", rule: "is not offered: the notification has \(Self.names(notice))")
        }
        return .action(notification: notice.identifier, action: action.identifier, text: text)
    }

    private static func names(_ notice: PhoneSnapshot.Notice) -> String {
        notice.actions.isEmpty ? "no buttons" : notice.actions.map(\.identifier).joined(separator: ", ")
    }
}

extension TerminalCommand.Switch {
    fileprivate func value(now isOn: Bool) -> Bool { self == .toggle ? !isOn : self == .on }
}
