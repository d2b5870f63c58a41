import TidingsModel

/// Describes the steps of each leg of a message, a line for each in the order of time: waits with their cause, what the device did, pushes,
/// answers of APNs, readings, receipts, and the end.
enum LegStepLines {
    /// - Returns: nothing for legs that have no steps: the table says all of them.
    static func lines(_ trace: JSONValue) -> [String] {
        let legs = (trace["ended_legs"]?.arrayValue ?? []) + (trace["open_legs"]?.arrayValue ?? [])
        let receipts = trace["receipts"]?.arrayValue ?? []
        return legs.filter { !($0["steps"]?.arrayValue ?? []).isEmpty }.sorted { Self.party($0) < Self.party($1) }
            .flatMap { leg in
                let own = receipts.filter { $0["user"] == leg["user"] && $0["device"] == leg["device"] }
                return ["", "\(Self.party(leg)), step by step:"] + Self.lines(of: leg, own).map { "  \($0)" }
            }
    }

    private static func lines(of leg: JSONValue, _ receipts: [JSONValue]) -> [String] {
        let user = leg["user"]?.stringValue ?? "?"
        var lines = (leg["steps"]?.arrayValue ?? []).map { (at: $0["at"]?.intValue ?? 0, text: Self.text($0, user)) }
        if let end = leg["end"]?.stringValue {
            let detail = leg["detail"]?.stringValue.map { " (\($0))" } ?? ""
            lines.append((leg["at"]?.intValue ?? 0, "ended: \(end)\(detail)"))
        }
        for receipt in receipts {
            let name = receipt["receipt"]?.stringValue ?? "?"
            lines.append((receipt["at"]?.intValue ?? 0, "the phone says: \(name)"))
        }
        // Those of one time stay in the order in which they were told.
        let inOrder = lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return inOrder.map { "\(TextTable.time(.int($0.element.at)))  \($0.element.text)" }
    }

    private static func text(_ step: JSONValue, _ user: String) -> String {
        switch step["step"]?.stringValue {
        case "waiting": Self.wait(step)
        case "device": Self.turn(step["turn"]?.stringValue ?? "?")
        case "pushed": Self.push(step["request"] ?? .null)
        case "answered": Self.answer(step)
        case "read":
            "\(user) read it\(step["device"]?.stringValue.map { " on \($0)" } ?? ", on which device is not known")"
        case .some, nil: step["step"]?.stringValue ?? "?"
        }
    }

    private static func wait(_ step: JSONValue) -> String {
        let wait = step["wait"]?.stringValue ?? "?"
        let until = step["until"]?.intValue == nil ? "" : " until \(TextTable.time(step["until"]))"
        return "waits\(until): \(wait)"
    }

    private static func turn(_ turn: String) -> String {
        switch turn {
        case "returned": "the device came back"
        case "suspended": "the app said that it is about to be frozen"
        case "connection_lost": "the device lost its connection"
        case "deadline_missed": "the device had not settled it in time"
        case "silent": "nothing was heard of the device"
        case "time_over": "the time was over in which the device could have come back"
        default: "the device: \(turn)"
        }
    }

    private static func push(_ request: JSONValue) -> String {
        let topic = request["topic"]?.stringValue ?? "?"
        let environment = request["environment"]?.stringValue ?? "?"
        let id = request["apns_id"]?.stringValue ?? "?"
        let attempt = request["attempt"]?.intValue ?? 0
        let again = attempt > 0 ? ", again (\(attempt))" : ""
        let counted = request["counted_by"]?.stringValue.map { ", counted by the push of \($0)" } ?? ""
        return "pushed to \(topic) (\(environment)) as \(id)\(again)\(counted)"
    }

    private static func answer(_ step: JSONValue) -> String {
        let words = [step["status"]?.intValue.map { "\($0)" }, step["reason"]?.stringValue].compactMap(\.self)
        let said = words.isEmpty ? "" : ": \(words.joined(separator: " "))"
        return switch step["outcome"]?.stringValue {
        case "refused": "APNs refused the push\(said)"
        case "unknown": "the push was sent, and its answer never came\(said)"
        case "not_sent": "the push was not sent\(said)"
        case "no_credential": "there was no push credential for it\(said)"
        case .some(let outcome): "\(outcome)\(said)"
        case nil: "?\(said)"
        }
    }

    private static func party(_ leg: JSONValue) -> String {
        "\(leg["user"]?.stringValue ?? "?")/\(leg["device"]?.stringValue ?? "-")"
    }
}
