import TidingsModel

struct TraceTable {
    let lines: [String]

    init(_ trace: JSONValue) {
        var lines = [Self.title(trace)]
        var rows: [[String]] = []
        for leg in trace["ended_legs"]?.arrayValue ?? [] {
            rows.append([
                Self.party(leg), "ended", leg["end"]?.stringValue ?? "?", leg["detail"]?.stringValue ?? "",
                TextTable.time(leg["at"]),
            ])
        }
        for leg in trace["open_legs"]?.arrayValue ?? [] {
            let attempts = leg["attempts"]?.intValue ?? 0
            rows.append([
                Self.party(leg), "open", leg["wait"]?.stringValue ?? "?",
                attempts > 0 ? counted(attempts, "attempt") : "",
                leg["not_before"]?.intValue == nil ? "" : "not before \(TextTable.time(leg["not_before"]))",
            ])
        }
        for receipt in trace["receipts"]?.arrayValue ?? [] {
            rows.append([
                Self.party(receipt), "receipt", receipt["receipt"]?.stringValue ?? "?", "",
                TextTable.time(receipt["at"]),
            ])
        }
        for device in trace["devices"]?.arrayValue ?? [] {
            guard let status = device["status"] else { continue }
            rows.append([
                Self.party(device), "allows", StatusLine.authorization(status), StatusLine.off(status) ?? "",
                TextTable.time(status["at"]),
            ])
        }
        if rows.isEmpty { lines.append(Self.nothing(trace)) }
        self.lines =
            lines + TextTable.lines(rows.sorted { $0.lexicographicallyPrecedes($1) }, indent: "  ")
            + LegStepLines.lines(trace)
    }

    private static func nothing(_ trace: JSONValue) -> String {
        switch trace["kind"]?.stringValue {
        case "recall": "no leg: no phone has to be told by a push"
        case "custom": "no leg: a custom message is never pushed"
        case .some, nil: "no leg yet: the message has just been accepted"
        }
    }

    private static func title(_ trace: JSONValue) -> String {
        let id = trace["message_id"]?.stringValue ?? "?"
        let sender = trace["sender"]?.stringValue ?? "?"
        let place = trace["conversation"]
        let conversation = "\(place?["type"]?.stringValue ?? "?"):\(place?["target"]?.stringValue ?? "?")"
        let time = "accepted \(TextTable.time(trace["sent_at"]))"
        switch trace["kind"]?.stringValue {
        case "recall":
            let message = trace["recalls"]?.stringValue ?? "?"
            return "recall \(id) of message \(message) by \(sender) in \(conversation), \(time)"
        case "custom":
            let count = trace["deliveries"]?.arrayValue?.count ?? 0
            return "custom message \(id) for \(counted(count, "person", "people")), \(time)"
        case .some, nil:
            let recall = trace["recall"]?.stringValue.map { ", recalled by \($0)" } ?? ""
            let author = trace["author"]?.stringValue.map { " (written by \($0))" } ?? ""
            return "message \(id) from \(sender)\(author) to \(conversation), \(time)\(recall)"
        }
    }

    private static func party(_ leg: JSONValue) -> String {
        "\(leg["user"]?.stringValue ?? "?")/\(leg["device"]?.stringValue ?? "-")"
    }
}
