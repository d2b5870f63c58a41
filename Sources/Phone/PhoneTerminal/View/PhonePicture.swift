package import TidingsModel

/// What a phone shows, as its `screen` command answers it (docs/virtual-phone.md). Texts are as they came.
package struct PhonePicture: Equatable, Sendable {
    /// A notification of the list, or a banner.
    package struct Notice: Equatable, Sendable {
        /// The request identifier.
        package var identifier: String
        /// The app's bundle identifier.
        package var app: String
        /// The first line; empty for none.
        package var title: String
        /// The second line; empty for none.
        package var subtitle: String
        /// The text.
        package var body: String
        /// The buttons its category offers.
        package var actions: [Action]

        /// A notification.
        package init(
            identifier: String, app: String, title: String = "", subtitle: String = "", body: String = "",
            actions: [Action] = []
        ) {
            self.identifier = identifier
            self.app = app
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.actions = actions
        }

        /// What it says in one line.
        package var words: String {
            [self.title, self.subtitle, self.body].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }

    /// A button of a notification.
    package struct Action: Equatable, Sendable {
        /// What the app is told.
        package var identifier: String
        /// What the button says.
        package var title: String
        /// Whether it asks for text.
        package var takesText: Bool

        /// A button.
        package init(identifier: String, title: String, takesText: Bool = false) {
            self.identifier = identifier
            self.title = title
            self.takesText = takesText
        }
    }

    /// An installed app.
    package struct App: Equatable, Sendable {
        /// Its bundle identifier.
        package var bundle: String
        /// Its state as in the trace, such as `suspended`.
        package var state: String
        /// The number of its process while it has one.
        package var processIdentifier: Int64?
        /// The number on its icon; 0 for none.
        package var badge: Int64
        /// Its screens from the root to the visible one, as it reported them.
        package var stack: [String]
        /// What else it said about its screen, in lines.
        package var details: [String]

        /// An app.
        package init(
            bundle: String, state: String, processIdentifier: Int64? = nil, badge: Int64 = 0, stack: [String] = [],
            details: [String] = []
        ) {
            self.bundle = bundle
            self.state = state
            self.processIdentifier = processIdentifier
            self.badge = badge
            self.stack = stack
            self.details = details
        }

        /// A short name: what follows the last dot, with a capital.
        package var name: String {
            let last = self.bundle.split(separator: ".").last.map(String.init) ?? self.bundle
            return last.prefix(1).uppercased() + last.dropFirst()
        }
    }

    /// Whether the phone is locked.
    package var isLocked = false
    /// Whether it was not unlocked since its restart.
    package var isBeforeFirstUnlock = false
    /// Whether it is cut off from the network.
    package var airplaneMode = false
    /// Whether Low Power Mode is on.
    package var lowPowerMode = false
    /// Whether a Focus is on.
    package var focus = false
    /// The bundle identifier of the app in the foreground; nil on the home and lock screen.
    package var foregroundApp: String?
    /// Banners showing now, newest first.
    package var banners: [Notice] = []
    /// The notification list, newest first.
    package var list: [Notice] = []
    /// The installed apps.
    package var apps: [App] = []
    /// The app that asks for permission.
    package var permissionPrompt: String?
    /// The identifier of the notification whose action waits until the phone is unlocked.
    package var unlockFor: String?
    /// The alert panel on the screen (iOS 3–9).
    package var alertPanel: Notice?

    /// A phone that was not looked at yet.
    package init() {}

    /// The app in the foreground.
    package var front: App? { self.apps.first { $0.bundle == self.foregroundApp } }

    /// Everything it shows as lines, nothing shortened: what a script looks into.
    package var lines: [String] {
        var lines: [String] = []
        lines.append(
            self.isLocked
                ? "locked"
                : self.foregroundApp == nil ? "home screen" : "in the foreground: \(self.foregroundApp ?? "")")
        if self.isBeforeFirstUnlock { lines.append("before first unlock") }
        lines += self.signs
        if let app = self.permissionPrompt { lines.append("permission: \(app) would like to send notifications") }
        if let identifier = self.unlockFor { lines.append("unlock to go on with \(identifier)") }
        if let panel = self.alertPanel { lines.append("alert: \(panel.words)") }
        lines += self.banners.map { "banner: \($0.words)" }
        lines += self.list.enumerated().map { "notification \($0.offset + 1): \($0.element.words)" }
        for app in self.apps {
            lines.append("app: \(app.bundle) \(app.state) badge \(app.badge)")
            if !app.stack.isEmpty { lines.append("screens: \(app.stack.joined(separator: " > "))") }
            lines += app.details
        }
        return lines.map(VisibleText.of)
    }

    /// The signs of the status bar.
    package var signs: [String] {
        (self.airplaneMode ? ["airplane mode"] : []) + (self.lowPowerMode ? ["low power"] : [])
            + (self.focus ? ["focus"] : [])
    }
}

extension PhonePicture {
    /// Reads the answer of a phone's `screen` command; members this version does not know are passed over.
    package init(screen json: JSONValue) {
        self.init()
        let lock = json["lock"]?.stringValue
        self.isLocked = lock == "locked" || lock == "beforeFirstUnlock"
        self.isBeforeFirstUnlock = lock == "beforeFirstUnlock"
        self.airplaneMode = json["airplane"]?.boolValue ?? false
        self.lowPowerMode = json["low_power"]?.boolValue ?? false
        self.focus = json["focus"]?.boolValue ?? false
        self.foregroundApp = json["front_app"]?.stringValue
        self.banners = Self.notices(json["banners"])
        self.list = Self.notices(json["list"])
        self.permissionPrompt = json["permission_prompt"]?.stringValue
        self.unlockFor = json["unlock_for"]?.stringValue
        self.alertPanel = json["alert_panel"].flatMap { $0.objectValue == nil ? nil : Notice(json: $0) }
        self.apps = (json["apps"]?.objectValue?.members ?? []).map { bundle, app in
            App(
                bundle: bundle, state: app["state"]?.stringValue ?? "unknown", processIdentifier: app["pid"]?.intValue,
                badge: json["badges"]?[bundle]?.intValue ?? 0, stack: Self.stack(app["screen"]),
                details: Self.details(app["screen"]))
        }
    }

    private static func notices(_ json: JSONValue?) -> [Notice] { (json?.arrayValue ?? []).map(Notice.init(json:)) }

    private static func stack(_ screen: JSONValue?) -> [String] {
        let stack = screen?["stack"] ?? screen
        return stack?.stringValue.map { [$0] } ?? (stack?.arrayValue ?? []).map { $0.stringValue ?? $0.text }
    }

    /// The other members of a reported object: a list line by line, anything else in one line with its name.
    private static func details(_ screen: JSONValue?) -> [String] {
        (screen?.objectValue?.members ?? []).flatMap { name, value -> [String] in
            guard name != "stack" else { return [] }
            if let elements = value.arrayValue { return elements.map { $0.stringValue ?? $0.text } }
            return ["\(name): \(value.stringValue ?? value.text)"]
        }
    }
}

extension PhonePicture.Notice {
    /// Reads an entry of `list` or `banners`.
    fileprivate init(json: JSONValue) {
        // What the person sees: hidden previews replace the text.
        let shown = json["shown"]?.objectValue == nil ? json : json["shown"] ?? json
        self.init(
            identifier: json["notification"]?.stringValue ?? "", app: json["app"]?.stringValue ?? "",
            title: shown["title"]?.stringValue ?? "", subtitle: shown["subtitle"]?.stringValue ?? "",
            body: shown["body"]?.stringValue ?? "",
            actions: (json["actions"]?.arrayValue ?? []).map {
                PhonePicture.Action(
                    identifier: $0["action"]?.stringValue ?? "", title: $0["title"]?.stringValue ?? "",
                    takesText: $0["text"]?.boolValue ?? false)
            })
    }
}
