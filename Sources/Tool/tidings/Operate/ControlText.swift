import TidingsModel

/// Apps, keys and operators as lines for people, from the API's JSON.
enum ControlText {
    static func list(_ apps: [JSONValue]) -> [String] {
        let rows = apps.map { app in
            [
                self.text(app, "id"), app["settings"]?["name"]?.stringValue ?? "", self.state(app),
                "\(app["api_keys"]?.arrayValue?.count ?? 0)", "\(app["revision"]?.intValue ?? 0)",
                TextTable.time(app["created_at"]),
            ]
        }
        return TextTable.list(
            ["app", "name", "state", "API keys", "revision", "since"], rows, nothing: "there are no apps",
            numbers: [3, 4])
    }

    static func app(_ app: JSONValue) -> [String] {
        let name = app["settings"]?["name"]?.stringValue ?? ""
        let title = self.text(app, "id") + (name.isEmpty ? "" : " \"\(name)\"")
        let origin = app["imported"]?.boolValue == true ? ", from the configuration file" : ""
        let time = TextTable.time(app["created_at"])
        let revision = app["revision"]?.intValue ?? 0
        var lines = ["\(title), \(self.state(app)), revision \(revision), since \(time)\(origin)", "settings:"]
        lines += AppFile.yaml(of: app["settings"] ?? .null).map { "  \($0)" }
        lines += ["token secrets:"] + self.secrets(app)
        lines += ["API keys:"] + self.keys(app)
        lines += ["client keys:"]
        lines += self.clientKeys(app["client_keys"] ?? .null, nothing: "none", indent: "  ")
        return lines
    }

    static func clientKeys(_ keys: JSONValue, nothing: String, indent: String = "") -> [String] {
        let rows = (keys.arrayValue ?? []).map { key in
            let end = key["revoked_at"]?.intValue.map { _ in "revoked \(TextTable.time(key["revoked_at"]))" }
            return [self.text(key, "name"), self.text(key, "key"), TextTable.time(key["created_at"]), end ?? "good"]
        }
        return TextTable.list(["name", "key", "since", "state"], rows, nothing: nothing, indent: indent)
    }

    /// The header of `uses`.
    static let useHeader = ["since", "last used", "the one before is good until"]

    /// Returns since when there is a key or an operator, when it was last used, to the minute, and until when the one before is good.
    static func uses(_ key: JSONValue) -> [String] {
        func time(_ member: String) -> String? { key[member]?.intValue.map { _ in TextTable.time(key[member]) } }
        return [TextTable.time(key["created_at"]), time("last_used_at") ?? "never", time("previous_ends_at") ?? ""]
    }

    private static func secrets(_ app: JSONValue) -> [String] {
        let rows = (app["secrets"]?.arrayValue ?? []).enumerated().map { index, secret in
            let end = secret["ends_at"]?.intValue.map { _ in "good until \(TextTable.time(secret["ends_at"]))" }
            return [
                self.text(secret, "id"), TextTable.time(secret["created_at"]),
                index == 0 ? "signs" : end ?? "good without end",
            ]
        }
        return TextTable.list(["id", "since", "state"], rows, nothing: "none", indent: "  ")
    }

    private static func keys(_ app: JSONValue) -> [String] {
        let rows = (app["api_keys"]?.arrayValue ?? []).map { key in
            let scopes = (key["scopes"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
            return [self.text(key, "name"), scopes] + self.uses(key)
        }
        return TextTable.list(["name", "scopes"] + self.useHeader, rows, nothing: "none", indent: "  ")
    }

    private static func state(_ app: JSONValue) -> String {
        app["suspended"]?.boolValue == true ? "suspended" : "active"
    }

    private static func text(_ value: JSONValue, _ member: String) -> String { value[member]?.stringValue ?? "?" }
}
