import TidingsModel

/// What became of a message on its way to one device, in a sentence. The console has the same in its catalogues, for each language.
enum LegSentence {
    static func lines(_ legs: [JSONValue]) -> [String] {
        guard !legs.isEmpty else { return ["no message was on its way to this person then"] }
        return legs.map { leg in
            let id = leg["message_id"]?.stringValue ?? "?"
            let sender = leg["sender"]?.stringValue.map { " from \($0)" } ?? ""
            let waits = Self.waits(leg).map { " \($0)" } ?? ""
            return "\(TextTable.time(leg["sent_at"]))  \(id)\(sender)  \(Self.sentence(leg))\(waits)"
        }
    }

    static func sentence(_ leg: JSONValue) -> String {
        let user = leg["user"]?.stringValue ?? "?"
        let device = leg["device"]?.stringValue
        let phone = device.map { "\($0) of \(user)" } ?? user
        guard let end = leg["end"]?.stringValue else { return Self.wait(leg, phone, user) }
        let detail = leg["detail"]?.stringValue
        switch end {
        case "own_device": return "\(user) has sent it from \(device ?? "?"), which needs no notice."
        case "no_device": return "\(user) was signed in on no device when it was stored."
        case "signed_out": return "\(phone) was signed out before it could be told."
        case "disabled": return "\(user) was banned, and \(device ?? "?") was signed out with it."
        case "not_notifiable": return "\(phone) stayed silent: this is a message that never rings there."
        case "blocked": return "\(phone) stayed silent: \(user) has blocked the sender."
        case "settled": return Self.settled(detail ?? "", phone, Self.after(leg))
        case "read_elsewhere": return Self.reading(leg, phone)
        case "recalled": return "\(phone) stayed silent: the message was recalled before it was pushed."
        case "expired": return "\(phone) stayed silent: the message was too old before it could be pushed."
        case "muted": return "\(phone) stayed silent: \(user) has muted the conversation, or conversations of its kind."
        case "quiet_hours":
            return "\(phone) stayed silent: it was in \(user)'s quiet hours, in which pushes are dropped."
        case "no_token": return "\(phone) could not be pushed: its app has registered no push token."
        case "token_quarantined":
            return "\(phone) could not be pushed: APNs has refused its token\(detail.map { " (\($0))" } ?? "")."
        case "token_dead": return "\(phone) could not be pushed: APNs says that the app is not on it any more."
        case "accepted": return Self.accepted(leg, phone, user)
        case "rejected":
            return "\(phone) was not told: APNs has refused the push\(detail.map { " (\($0))" } ?? "")."
        default: return "The delivery to \(phone) has ended: \(end)\(detail.map { " (\($0))" } ?? "")."
        }
    }

    private static func wait(_ leg: JSONValue, _ phone: String, _ user: String) -> String {
        let until = leg["not_before"]?.intValue == nil ? "" : " until \(TextTable.time(leg["not_before"]))"
        let reason = Self.reason(ofWait: leg["wait"]?.stringValue ?? "?", user)
        return "It waits for \(phone)\(until): \(reason)."
    }

    /// A wait that is not known is told as it is.
    static func reason(ofWait wait: String, _ user: String) -> String {
        switch wait {
        case "live": "it was sent over the phone's own connection, which has not answered yet"
        case "grace": "the phone may come straight back"
        case "quiet_hours": "\(user)'s quiet hours are not over, or the time there is not known"
        case "active_elsewhere": "\(user) is just using another device"
        case "merging": "there were many alerts of the conversation, and those that wait go as one"
        case "config_fault": "there is no push credential that APNs takes for its app and environment"
        case "breaker_open":
            "APNs has refused its token, or those of many people, and it does not show yet what is at fault"
        case "throttled": "APNs said that this phone gets too many pushes"
        case "provider_down": "APNs does not answer, or fails"
        case "in_flight": "the push is sent, and APNs has not answered yet"
        default: wait
        }
    }

    private static func settled(_ detail: String, _ phone: String, _ after: String) -> String {
        switch detail {
        case "shown": "\(phone) has shown it itself, \(after) after it was stored."
        case "app_handled": "The app on \(phone) took it, \(after) after it was stored."
        case "left_to_app": "\(phone) has it, and showing it is left to the app."
        default: "\(phone) has it and showed nothing: \(detail)."
        }
    }

    private static func accepted(_ leg: JSONValue, _ phone: String, _ user: String) -> String {
        let push = "APNs took the push \(Self.after(leg)) after the message was stored"
        if leg["opened_at"]?.intValue != nil {
            return "\(user) opened it on \(phone), at \(TextTable.time(leg["opened_at"])); \(push)."
        }
        if leg["shown_at"]?.intValue != nil {
            return "\(phone) showed it at \(TextTable.time(leg["shown_at"])); \(push)."
        }
        return "\(push), for \(phone). Whether it was shown, APNs does not say, and the phone has not yet."
    }

    private static func reading(_ leg: JSONValue, _ phone: String) -> String {
        let steps = leg["steps"]?.arrayValue ?? []
        let silent = "\(phone) was not pushed: the message was read"
        guard let read = steps.last(where: { $0["step"] == "read" && $0["device"]?.stringValue != nil }),
            let reader = read["device"]?.stringValue, let readAt = read["at"]?.intValue
        else { return "\(silent) elsewhere before a push was due." }
        let deadline = steps.first { $0["turn"] == "deadline_missed" && ($0["at"]?.intValue ?? 0) >= readAt }
        guard let missedAt = deadline?["at"]?.intValue else { return "\(silent) on \(reader) before a push was due." }
        return "\(silent) on \(reader) \(Self.duration(Int64(missedAt - readAt))) before the deadline."
    }

    /// What held it up before its end; nil for nothing.
    static func waits(_ leg: JSONValue) -> String? {
        let steps = leg["steps"]?.arrayValue ?? []
        let parts = steps.indices.compactMap { index -> String? in
            let next = index + 1 < steps.count ? steps[index + 1]["at"] : leg["at"]
            guard let at = steps[index]["at"]?.intValue, let end = next?.intValue else { return nil }
            switch steps[index]["step"]?.stringValue {
            case "waiting": return "\(steps[index]["wait"]?.stringValue ?? "?") (\(Self.duration(Int64(end - at))))"
            case "answered":
                let status = steps[index]["status"]?.intValue.map { "\($0) " } ?? ""
                let reason = steps[index]["reason"]?.stringValue ?? steps[index]["outcome"]?.stringValue
                return "an answer of APNs (\(status)\(reason ?? "?"))"
            default: return nil  // tidy: the others hold nothing up
            }
        }
        return parts.isEmpty ? nil : "Before that it was held up by \(parts.joined(separator: ", "))."
    }

    private static func after(_ leg: JSONValue) -> String {
        guard let at = leg["at"]?.intValue, let sent = leg["sent_at"]?.intValue else { return "some time" }
        return Self.duration(Int64(at - sent))
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
