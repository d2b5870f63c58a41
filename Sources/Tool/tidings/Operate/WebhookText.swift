import TidingsModel

/// Webhooks and their dead letters as lines for people, from the API's JSON.
enum WebhookText {
    static func list(_ all: [JSONValue]) -> [String] {
        let rows = all.map { webhook in
            [
                self.text(webhook, "id"), self.text(webhook, "name"), self.isEnabled(webhook),
                self.text(webhook, "url"), self.types(webhook), self.counts(webhook["state"] ?? .null),
            ]
        }
        return TextTable.list(
            ["id", "name", "state", "goes to", "is told", "deliveries"], rows, nothing: "there are no webhooks")
    }

    static func one(_ webhook: JSONValue) -> [String] {
        let state = webhook["state"] ?? .null
        var rows = [
            ["id", self.text(webhook, "id")], ["name", self.text(webhook, "name")],
            ["state", self.isEnabled(webhook)], ["goes to", self.text(webhook, "url")],
            ["is told", self.types(webhook)], ["added", TextTable.time(webhook["created_at"])],
        ]
        if webhook["previous_secret_ends_at"]?.intValue != nil {
            let end = TextTable.time(webhook["previous_secret_ends_at"])
            rows.append(["secret", "the one before signs, too, until \(end)"])
        }
        rows.append(["deliveries", self.counts(state)])
        guard state["pending"]?.intValue != nil else { return TextTable.lines(rows) }
        let isDelivered = state["last_delivered_at"]?.intValue != nil
        rows.append(["delivered", isDelivered ? "last \(TextTable.time(state["last_delivered_at"]))" : "nothing yet"])
        if let failure = state["last_failure"], failure != .null {
            rows.append(["failed", "last \(TextTable.time(failure["at"])), \(self.reason(failure))"])
        }
        return TextTable.lines(rows)
    }

    static func test(_ answer: JSONValue) -> String {
        let time = "after \(answer["milliseconds"]?.intValue ?? 0) ms"
        guard answer["delivered"]?.boolValue == true else { return "not delivered: \(self.reason(answer)), \(time)" }
        return "delivered: status \(answer["status"]?.intValue ?? 0), \(time)"
    }

    static func deadLetters(_ all: [JSONValue]) -> [String] {
        let rows = all.map { letter in
            [
                self.text(letter, "id"), self.text(letter, "type"), TextTable.time(letter["at"]),
                "\(letter["attempts"]?.intValue ?? 0)", self.reason(letter),
            ]
        }
        return TextTable.list(
            ["id", "type", "happened", "attempts", "why"], rows, nothing: "there are no dead letters", numbers: [3])
    }

    private static let unknown = "unknown: the server cannot read its file of deliveries"

    private static func isEnabled(_ webhook: JSONValue) -> String {
        webhook["enabled"]?.boolValue == true ? "enabled" : "disabled"
    }

    private static func types(_ webhook: JSONValue) -> String {
        (webhook["types"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
    }

    private static func counts(_ state: JSONValue) -> String {
        guard let pending = state["pending"]?.intValue, let letters = state["dead_letters"]?.intValue else {
            return Self.unknown
        }
        return "\(pending) pending, \(counted(letters, "dead letter"))"
    }

    /// Words in place of the API's, and the status where there was one.
    private static func reason(_ value: JSONValue) -> String {
        let word = self.text(value, "reason").replacing("_", with: " ")
        return value["status"]?.intValue.map { "\(word) \($0)" } ?? word
    }

    private static func text(_ value: JSONValue, _ member: String) -> String { value[member]?.stringValue ?? "?" }
}
