import TidingsModel

/// Writes the server's sentences about a message's way to one device.
enum LegSentence {
    static func lines(_ legs: [JSONValue]) -> [String] {
        guard !legs.isEmpty else { return ["no message was on its way to this person then"] }
        return legs.map { leg in
            let id = leg["message_id"]?.stringValue ?? "?"
            let sender = leg["sender"]?.stringValue.map { " from \($0)" } ?? ""
            let sentences = (leg["sentences"]?.arrayValue ?? []).map { Self.text($0) }.joined(separator: " ")
            return "\(TextTable.time(leg["sent_at"]))  \(id)\(sender)  \(sentences)"
        }
    }

    /// Fills the places: `{device}` with whose it is, `{plain}` without.
    static func text(_ sentence: JSONValue) -> String {
        let places = sentence["places"] ?? .null
        let plain = places["device"]?.stringValue ?? "?"
        let party = places["user"]?.stringValue.map { "\(plain) of \($0)" } ?? plain
        let words = places.members.map { ($0, $0 == "device" ? party : Self.words($0, $1)) } + [("plain", plain)]
        return words.reduce(sentence["text"]?.stringValue ?? "?") { $0.replacing("{\($1.0)}", with: $1.1) }
    }

    private static func words(_ name: String, _ value: JSONValue) -> String {
        if let parts = value.arrayValue { return parts.map { Self.text($0) }.joined(separator: ", ") }
        guard let number = value.intValue else { return value.stringValue ?? "?" }
        return ["at", "until"].contains(name) ? TextTable.time(value) : Self.duration(number)
    }

    /// In the unit that is read at a glance, cut off behind the first decimal.
    static func duration(_ milliseconds: Int64) -> String {
        func text(_ unit: Int64, _ name: String) -> String {
            let tenths = milliseconds * 10 / unit
            return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
        }
        switch abs(milliseconds) {
        case ..<100: return "\(milliseconds) ms"
        case ..<60_000: return text(1_000, "s")
        case ..<3_600_000: return text(60_000, "min")
        default: return text(3_600_000, "h")
        }
    }
}
