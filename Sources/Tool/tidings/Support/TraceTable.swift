import Foundation
import TidingsModel

/// The life of one message as a person reads it, from the API's JSON.
struct TraceTable {
    let lines: [String]

    init(_ trace: JSONValue) {
        var lines = [
            "message \(trace["message_id"]?.stringValue ?? "?") from \(trace["sender"]?.stringValue ?? "?") to "
                + "\(trace["conversation"]?["type"]?.stringValue ?? "?"):\(trace["conversation"]?["target"]?.stringValue ?? "?")"
                + ", accepted \(Self.time(trace["sent_at"]))"
        ]
        var rows: [[String]] = []
        for leg in trace["ended_legs"]?.arrayValue ?? [] {
            rows.append([
                Self.party(leg), "ended", leg["end"]?.stringValue ?? "?", leg["detail"]?.stringValue ?? "",
                Self.time(leg["at"]),
            ])
        }
        for leg in trace["open_legs"]?.arrayValue ?? [] {
            let attempts = leg["attempts"]?.intValue ?? 0
            rows.append([
                Self.party(leg), "open", leg["wait"]?.stringValue ?? "?", attempts > 0 ? "\(attempts) attempts" : "",
                leg["not_before"]?.intValue == nil ? "" : "not before \(Self.time(leg["not_before"]))",
            ])
        }
        for receipt in trace["receipts"]?.arrayValue ?? [] {
            rows.append([
                Self.party(receipt), "receipt", receipt["receipt"]?.stringValue ?? "?", "", Self.time(receipt["at"]),
            ])
        }
        if rows.isEmpty { lines.append("no leg yet: the message has just been accepted") }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            lines.append("  " + cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces))
        }
        self.lines = lines
    }

    private static func party(_ leg: JSONValue) -> String {
        "\(leg["user"]?.stringValue ?? "?")/\(leg["device"]?.stringValue ?? "-")"
    }

    /// Wall milliseconds as a time of day in UTC.
    private static func time(_ value: JSONValue?) -> String {
        guard let milliseconds = value?.intValue else { return "?" }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000)) + " UTC"
    }
}
