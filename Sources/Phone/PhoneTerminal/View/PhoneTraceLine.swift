import TidingsModel

package struct PhoneTraceLine: Hashable, Sendable {
    /// The time of the day in UTC, with milliseconds.
    package let time: String
    package let kind: String
    /// The members that matter, made visible.
    package let words: String
    /// For a narrow pane.
    package let short: String

    init(_ event: JSONValue) {
        self.time = Self.time(of: event["wall"]?.intValue ?? 0)
        self.kind = VisibleText.of(event["event"]?.stringValue ?? "?")
        let skipped: Set<String> = ["event", "wall", "app", "n"]
        let members = event.objectValue?.members.filter { !skipped.contains($0.key) && $0.value != .null } ?? []
        let words = members.map { "\($0.key)=\($0.value.stringValue ?? $0.value.text)" }.joined(separator: " ")
        self.words = VisibleText.of(words)
        self.short = VisibleText.of(Self.short(event) ?? words)
    }

    var text: String { "\(self.time)  \(self.kind.fitted(to: max(15, self.kind.count)))  \(self.words)" }

    var style: Style {
        switch self.kind {
        case "callback": .strong
        case "presentation", "badge": .good
        case "state", "push", "arrival", "wake": .notice
        case "fault", "process_died": .bad
        default: .faint
        }
    }

    private static func time(of wall: Int64) -> String {
        let second = wall / 1_000 % 86_400
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { self.padded($0, to: 2) }
        return clock.joined(separator: ":") + "." + self.padded(wall % 1_000, to: 3)
    }

    private static func padded(_ number: Int64, to digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// For kinds that come often; nil shows all members.
    private static func short(_ event: JSONValue) -> String? {
        func word(_ name: String) -> String? { event[name].flatMap { $0 == .null ? nil : $0.stringValue ?? $0.text } }
        switch event["event"]?.stringValue {
        case "callback": return self.callback(event)
        case "completion": return "call \(word("number") ?? "?") answered \(self.result(event["result"]))"
        case "state", "fault": return word(event["event"] == "state" ? "state" : "text")
        case "badge": return word("badge")
        case "log": return word("text")
        case "presentation":
            let parts = ["banner", "panel", "list", "sound"].filter { event[$0]?.boolValue == true }
            return "\(parts.isEmpty ? "nothing" : parts.joined(separator: "+")) (\(word("reason") ?? "?")) "
                + (word("notification") ?? "")
        case "arrival": return "\(word("class") ?? "?") while \(word("state") ?? "?") \(word("notification") ?? "")"
        case "wake": return "\(word("outcome") ?? "?") \(word("notification") ?? "")"
        case "process_ended": return "\(word("role") ?? "?"): \(word("reason") ?? "?")"
        case "process_started": return word("role")
        case "process_died": return word("how")
        case "screen": return event["screen"].map { ($0["stack"] ?? $0).text }
        case "token": return word("token")
        case "courier": return [word("state"), word("text")].compactMap(\.self).joined(separator: " ")
        default: return nil
        }
    }

    /// State, name and launch options: `bg sceneDidEnterBackground`. What Apple's names share says nothing in a
    /// narrow pane.
    private static func callback(_ event: JSONValue) -> String {
        let isApp = event["role"]?.stringValue == "app"
        var name = event["name"]?.stringValue ?? "?"
        for prefix in ["application(_:", "userNotificationCenter(_:", "scene(_:"] where name.hasPrefix(prefix) {
            name = String(name.dropFirst(prefix.count).dropLast())
            if prefix.hasPrefix("user") { name = "center " + name }
        }
        if name.hasSuffix("(_:)") { name = String(name.dropLast(4)) }
        let options = ["remote_notification", "local_notification"].filter {
            event["arguments"]?[$0].map { $0 != .null } ?? false
        }
        let state = isApp ? event["state"]?.stringValue.map { $0 == "background" ? "bg" : $0 } ?? "?" : "extension"
        return "\(state) \(name)" + (options.isEmpty ? "" : " [\(options.joined(separator: ", "))]")
    }

    private static func result(_ json: JSONValue?) -> String {
        guard let json else { return "" }
        return json["result"]?.stringValue ?? json.stringValue ?? json.text
    }
}
