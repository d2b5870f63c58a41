import TidingsModel

/// Apps, keys and operators as lines for people, from the API's JSON.
enum ControlText {
    static func list(_ apps: [JSONValue]) -> [String] {
        let rows = apps.map { app in
            [
                self.text(app, "id"), app["settings"]?["name"]?.stringValue ?? "", self.state(app),
                self.count(app["api_keys"], "API key"), "revision \(app["revision"]?.intValue ?? 0)",
                "since \(TextTable.time(app["created_at"]))",
            ]
        }
        return rows.isEmpty ? ["there are no apps"] : TextTable.lines(rows)
    }

    static func app(_ app: JSONValue) -> [String] {
        let name = app["settings"]?["name"]?.stringValue ?? ""
        let title = self.text(app, "id") + (name.isEmpty ? "" : " \"\(name)\"")
        let origin = app["imported"]?.boolValue == true ? ", from the configuration file" : ""
        let time = TextTable.time(app["created_at"])
        return ["\(title), \(self.state(app)), revision \(app["revision"]?.intValue ?? 0), since \(time)\(origin)"]
            + self.section("settings", AppFile.yaml(of: app["settings"] ?? .null).map { "  \($0)" })
            + self.section("token secrets", TextTable.lines(self.secrets(app), indent: "  "))
            + self.section("API keys", TextTable.lines(self.keys(app), indent: "  "))
            + self.section("client keys", self.clientKeys(app["client_keys"] ?? .null, indent: "  "))
    }

    static func clientKeys(_ keys: JSONValue, indent: String = "") -> [String] {
        let rows = (keys.arrayValue ?? []).map { key in
            let end = key["revoked_at"]?.intValue.map { _ in "revoked \(TextTable.time(key["revoked_at"]))" }
            return [
                self.text(key, "name"), self.text(key, "key"), "since \(TextTable.time(key["created_at"]))",
                end ?? "good",
            ]
        }
        return TextTable.lines(rows, indent: indent)
    }

    /// `used …` to the minute, of a key or an operator.
    static func lastUse(_ key: JSONValue) -> String {
        key["last_used_at"]?.intValue == nil ? "never used" : "used \(TextTable.time(key["last_used_at"]))"
    }

    /// Empty if it has taken no other's place, or that one is good no more.
    static func previousKey(_ key: JSONValue) -> String {
        key["previous_ends_at"]?.intValue == nil
            ? "" : "the one before is good until \(TextTable.time(key["previous_ends_at"]))"
    }

    private static func secrets(_ app: JSONValue) -> [[String]] {
        (app["secrets"]?.arrayValue ?? []).enumerated().map { index, secret in
            let end = secret["ends_at"]?.intValue.map { _ in "good until \(TextTable.time(secret["ends_at"]))" }
            return [
                self.text(secret, "id"), "since \(TextTable.time(secret["created_at"]))",
                index == 0 ? "signs" : end ?? "good without end",
            ]
        }
    }

    private static func keys(_ app: JSONValue) -> [[String]] {
        (app["api_keys"]?.arrayValue ?? []).map { key in
            let scopes = (key["scopes"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
            return [
                self.text(key, "name"), scopes, "since \(TextTable.time(key["created_at"]))", self.lastUse(key),
                self.previousKey(key),
            ]
        }
    }

    private static func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? ["\(title): none"] : ["\(title):"] + lines
    }

    private static func state(_ app: JSONValue) -> String {
        app["suspended"]?.boolValue == true ? "suspended" : "active"
    }

    private static func count(_ list: JSONValue?, _ what: String) -> String {
        let count = list?.arrayValue?.count ?? 0
        return "\(count) \(what)\(count == 1 ? "" : "s")"
    }

    private static func text(_ value: JSONValue, _ member: String) -> String { value[member]?.stringValue ?? "?" }
}
