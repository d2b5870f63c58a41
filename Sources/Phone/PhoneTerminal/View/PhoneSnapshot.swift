package import PhoneCore
import TidingsModel

/// The content of a phone's screen, as its `screen` command answers (docs/testing/phone-control.md). Texts are unchanged.
package struct PhoneSnapshot: Equatable, Sendable {
    package struct Notice: Equatable, Sendable {
        package var identifier: String
        package var app: String
        package var title = ""
        package var subtitle = ""
        package var body = ""
        package var actions: [Action] = []

        package var words: String {
            [self.title, self.subtitle, self.body].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }

    package struct Action: Equatable, Sendable {
        package var identifier: String
        package var title: String
        package var takesText = false
    }

    package struct App: Equatable, Sendable {
        package var bundle: String
        /// The state as in the trace, such as `suspended`.
        package var state: String
        package var processIdentifier: Int64?
        package var badge: Int64 = 0
        /// From the root to the visible screen.
        package var stack: [String] = []
        /// Other facts that the app reported about its screen.
        package var details: [String] = []

        /// The part after the last dot, with a capital.
        package var name: String {
            let last = self.bundle.split(separator: ".").last.map(String.init) ?? self.bundle
            return last.prefix(1).uppercased() + last.dropFirst()
        }
    }

    package struct Call: Equatable, Sendable {
        package var caller: String
        package var isAnswered: Bool

        package var words: String { "call from \(self.caller)\(self.isAnswered ? ", answered" : "")" }
    }

    package var isLocked = false
    package var isBeforeFirstUnlock = false
    package var airplaneMode = false
    package var lowPowerMode = false
    package var focus = false
    package var foregroundApp: String?
    /// Newest first.
    package var banners: [Notice] = []
    /// Newest first.
    package var list: [Notice] = []
    package var apps: [App] = []
    package var permissionPrompt: String?
    /// The notification whose action waits until the phone is unlocked.
    package var unlockFor: String?
    /// iOS 3–9.
    package var alertPanel: Notice?
    package var calls: [Call] = []
    /// The windows of the app in the foreground, back to front; empty if it tells nothing of them.
    package var views: [ViewNode] = []

    package var front: App? { self.apps.first { $0.bundle == self.foregroundApp } }

    func canTouch(_ view: String?) -> Bool {
        guard self.front?.state == AppState.foregroundActive.rawValue else { return false }
        return view.map { name in self.views.contains { $0.first(name) != nil } } ?? !self.views.isEmpty
    }

    /// The texts on the screen and those that VoiceOver speaks, each as it stands; an empty field gives its placeholder.
    package var screenTexts: [String] { self.views.flatMap(Self.texts(of:)) }

    private static func texts(of node: ViewNode) -> [String] {
        let spoken = [node.label, node.value].compactMap(\.self)
        let all = [node.text, Self.hint(of: node)].compactMap(\.self) + spoken
        return all + (spoken.count > 1 ? [spoken.joined(separator: ", ")] : [])
            + node.children.flatMap(Self.texts(of:))
    }

    private static func hint(of node: ViewNode) -> String? {
        node.role == .textField && node.text == nil ? node.hint : nil
    }

    /// Nothing shortened: what a script searches.
    var lines: [String] {
        var lines: [String] = []
        lines.append(
            self.isLocked
                ? "locked"
                : self.foregroundApp == nil ? "home screen" : "in the foreground: \(self.foregroundApp ?? "")")
        if self.isBeforeFirstUnlock { lines.append("before first unlock") }
        lines += self.signs
        lines += self.calls.map(\.words)
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
        lines += self.views.flatMap(Self.lines(of:))
        return lines.map(VisibleText.of)
    }

    /// Returns the text of a view and, where it differs, the one that VoiceOver speaks.
    private static func lines(of node: ViewNode) -> [String] {
        let spoken = [node.label, node.value].compactMap(\.self).joined(separator: ", ")
        return [node.text, Self.hint(of: node)].compactMap { $0.map { "shown: \($0)" } }
            + (spoken.isEmpty || spoken == node.text ? [] : ["spoken: \(spoken)"])
            + node.children.flatMap(Self.lines(of:))
    }

    var signs: [String] {
        (self.airplaneMode ? ["airplane mode"] : []) + (self.lowPowerMode ? ["low power"] : [])
            + (self.focus ? ["focus"] : [])
    }
}

extension PhoneSnapshot {
    /// Unknown members are passed over.
    init(screen json: JSONValue) {
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
        self.calls = (json["calls"]?.arrayValue ?? []).map {
            Call(caller: $0["caller"]?.stringValue ?? "", isAnswered: $0["answered"]?.boolValue ?? false)
        }
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

    /// A list line by line, anything else in one line with its name.
    private static func details(_ screen: JSONValue?) -> [String] {
        (screen?.objectValue?.members ?? []).flatMap { name, value -> [String] in
            guard name != "stack" else { return [] }
            if let elements = value.arrayValue { return elements.map { $0.stringValue ?? $0.text } }
            return ["\(name): \(value.stringValue ?? value.text)"]
        }
    }
}

extension PhoneSnapshot.Notice {
    fileprivate init(json: JSONValue) {
        // What the person sees: hidden previews replace the text.
        let shown = json["shown"]?.objectValue == nil ? json : json["shown"] ?? json
        self.init(
            identifier: json["notification"]?.stringValue ?? "", app: json["app"]?.stringValue ?? "",
            title: shown["title"]?.stringValue ?? "", subtitle: shown["subtitle"]?.stringValue ?? "",
            body: shown["body"]?.stringValue ?? "",
            actions: (json["actions"]?.arrayValue ?? []).map {
                PhoneSnapshot.Action(
                    identifier: $0["action"]?.stringValue ?? "", title: $0["title"]?.stringValue ?? "",
                    takesText: $0["text"]?.boolValue ?? false)
            })
    }
}
