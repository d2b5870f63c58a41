public import PhoneCore
public import TidingsModel

/// An act of a person or the system on a hosted phone, or a question to it.
public enum PhoneCommand: Equatable, Sendable {
    case launch(BundleID)
    case home
    case lock
    case unlock
    /// SIGSTOP.
    case freeze(BundleID)
    /// SIGKILL.
    case kill(BundleID)
    case forceQuit(BundleID)
    case evict(BundleID)
    case tap(String)
    case dismiss(String)
    case action(notification: String, action: String, text: String?)
    /// The permission prompt that is there and those to come.
    case answerPrompts(allowed: Bool)
    /// Shows the notification large; answers whether a content extension handles its category.
    case expand(String)
    case collapse
    case setting(BundleID, SettingSwitch, isOn: Bool)
    case airplane(isOn: Bool)
    case lowPower(isOn: Bool)
    /// Lets only time-sensitive and critical notifications through (iOS 15).
    case focus(isOn: Bool)
    case overlay(isOn: Bool)
    case memoryLow
    case restart
    /// For the app's own interface (`PhoneInput`).
    case input(BundleID, JSONValue)
    /// Answers what the person sees, with each app's state and screens.
    case screen
    case trace(after: Int)
    /// Answers what the app shows; nothing if it is not in the foreground.
    case views(BundleID)
    /// Something a person does with a view, named by its words or identifier; without a name with the view in the foreground
    /// that takes it. Refused unless the app is active and something takes it.
    case touch(BundleID, view: String?, ViewAction)
    /// Answers what the person sees as text.
    case picture(columns: Int, rows: Int)
    /// Without APNs: its delivery number is not used.
    case push(Push)
    case change(PhoneChange)
    case quit

    private enum Word: String, CaseIterable {
        case launch, home, lock, unlock, freeze, kill, evict, tap, dismiss, action, airplane, overlay, restart, input
        case screen, trace, views, touch, picture, quit, setting, focus, push, expand, collapse
        case forceQuit = "force_quit"
        case allowNotifications = "allow_notifications"
        case denyNotifications = "deny_notifications"
        case lowPower = "low_power"
        case memoryLow = "memory_low"
    }

    /// Reads a command of the control channel.
    ///
    /// - Parameters:
    ///   - json: the command; `do` names it.
    ///   - apps: the installed apps; `app` may be left out if there is only one.
    /// - Throws: `InvalidField` naming the member that is missing or wrong.
    public init(json: JSONValue, apps: [BundleID]) throws(InvalidField) {
        let fields = try JSONFields(json)
        let text: String = try fields.get("do")
        if let change = PhoneChange.Word(rawValue: text) {
            self = .change(try PhoneChange(change, fields, apps))
            return
        }
        guard let word = Word(rawValue: text) else {
            let allowed = Word.allCases.map(\.rawValue) + PhoneChange.Word.allCases.map(\.rawValue)
            throw InvalidField(
                field: "do", rule: "must be one of \(allowed.sorted().joined(separator: ", ")), got \(text)")
        }
        switch word {
        case .launch: self = .launch(try Self.app(fields, apps))
        case .home: self = .home
        case .lock: self = .lock
        case .unlock: self = .unlock
        case .freeze: self = .freeze(try Self.app(fields, apps))
        case .kill: self = .kill(try Self.app(fields, apps))
        case .forceQuit: self = .forceQuit(try Self.app(fields, apps))
        case .evict: self = .evict(try Self.app(fields, apps))
        case .tap: self = .tap(try fields.get("notification"))
        case .dismiss: self = .dismiss(try fields.get("notification"))
        case .action:
            self = .action(
                notification: try fields.get("notification"), action: try fields.get("action"),
                text: try fields.optional("text"))
        case .expand: self = .expand(try fields.get("notification"))
        case .collapse: self = .collapse
        case .allowNotifications: self = .answerPrompts(allowed: true)
        case .denyNotifications: self = .answerPrompts(allowed: false)
        case .setting:
            self = .setting(try Self.app(fields, apps), try fields.get("setting"), isOn: try fields.get("on"))
        case .airplane: self = .airplane(isOn: try fields.get("on"))
        case .lowPower: self = .lowPower(isOn: try fields.get("on"))
        case .focus: self = .focus(isOn: try fields.get("on"))
        case .push: self = .push(try Self.push(fields, apps))
        case .overlay: self = .overlay(isOn: try fields.get("on"))
        case .memoryLow: self = .memoryLow
        case .restart: self = .restart
        case .input: self = .input(try Self.app(fields, apps), try fields.get("value"))
        case .screen: self = .screen
        case .trace: self = .trace(after: try fields.optional("after") ?? 0)
        case .views: self = .views(try Self.app(fields, apps))
        case .touch:
            self = .touch(try Self.app(fields, apps), view: try fields.optional("view"), try Self.viewAction(fields))
        case .picture:
            self = .picture(
                columns: try Self.length(fields, "columns", Self.pictureColumnsRange) ?? Self.pictureColumns,
                rows: try Self.length(fields, "rows", Self.pictureRowsRange) ?? Self.pictureRows)
        case .quit: self = .quit
        }
    }

    /// The columns of the phone in a terminal of 120×40.
    package static let pictureColumns = 54
    package static let pictureRows = 38
    package static let pictureColumnsRange = 40...250
    package static let pictureRowsRange = 10...200

    /// A tap unless told otherwise; what belongs to the action stands beside its word.
    private static func viewAction(_ fields: JSONFields) throws(InvalidField) -> ViewAction {
        var object = fields.object
        object["type"] = .string(try fields.optional("action") ?? "tap")
        do throws(InvalidField) { return try ViewAction(json: .object(object)) } catch {
            throw InvalidField(field: error.field == "type" ? "action" : error.field, rule: error.rule)
        }
    }

    private static func length(
        _ fields: JSONFields, _ key: String, _ range: ClosedRange<Int>
    ) throws(InvalidField) -> Int? {
        let length: Int? = try fields.optional(key)
        guard let length, !range.contains(length) else { return length }
        throw InvalidField(
            field: key, rule: "must be a whole number from \(range.lowerBound) to \(range.upperBound), got \(length)")
    }

    static func app(_ fields: JSONFields, _ apps: [BundleID]) throws(InvalidField) -> BundleID {
        let known = apps.map(\.rawValue).joined(separator: ", ")
        guard fields.has("app") else {
            guard let only = apps.first, apps.count == 1 else {
                throw InvalidField(field: "app", rule: "is missing; installed are \(known)")
            }
            return only
        }
        let app: BundleID = try fields.get("app")
        guard apps.contains(app) else {
            throw InvalidField(field: "app", rule: "is not installed: \(app); installed are \(known)")
        }
        return app
    }

    private static func push(_ fields: JSONFields, _ apps: [BundleID]) throws(InvalidField) -> Push {
        Push(
            delivery: 0, topic: try Self.app(fields, apps).rawValue, payload: try fields.get("payload"),
            pushType: try fields.optional("push_type"), collapseID: try fields.optional("collapse_id"))
    }
}
