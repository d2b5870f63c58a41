import APNsModel
package import TidingsModel

extension FaultPlan {
    /// Reads the operator's JSON: `seed` and `rules`; `{}` ends all faults.
    ///
    /// - Throws: `InvalidField` naming the member, as `rules[2].status`, and the rule; an unknown member is refused.
    package init(json: JSONValue) throws(InvalidField) {
        self.init()
        let reader = try JSONFields(json, root: "body")
        try reader.only(["seed", "rules"])
        self.seed = UInt64(try reader.number("seed", in: 0...Int64.max) ?? 0)
        guard reader.object["rules"] != nil else { return }
        let rules = try reader.list("rules")
        try InvalidField.check(rules.count <= Self.rulesMax, "rules", "must be at most \(Self.rulesMax) rules")
        for rule in rules { self.rules.append(try FaultRule(rule)) }
    }
}

extension FaultRule {
    fileprivate init(_ reader: JSONFields) throws(InvalidField) {
        guard let name = try reader.text("fault"), let kind = FaultKind(rawValue: name) else {
            let kinds = FaultKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw reader.problem("fault", "must be one of \(kinds)")
        }
        try reader.only(["fault"] + kind.members + kind.limits)
        self.init(try kind.fault(reader))
        self.perMille = Int(try reader.number("per_mille", in: 1...1_000) ?? 1_000)
        self.after = Int(try reader.number("after", in: 0...1_000_000_000) ?? 0)
        self.count = try reader.number("count", in: 1...1_000_000_000).map { Int($0) }
        self.topic = try reader.text("topic")
        self.token = try reader.text("token").map { PushToken($0.lowercased()) }
    }
}

private enum FaultKind: String, CaseIterable {
    case respond, delay
    case loseAnswer = "lose_answer"
    case blackHole = "black_hole"
    case resetStream = "reset_stream"
    case refuseStream = "refuse_stream"
    case goAway = "goaway"
    case cut
    case tlsAlert = "tls_alert"
    case refuseConnect = "refuse_connect"
    case streamLimit = "stream_limit"
    case clockSkew = "clock_skew"
    case outage

    var members: [String] {
        switch self {
        case .respond: ["status", "reason", "retry_after"]
        case .delay: ["ms"]
        case .resetStream: ["code"]
        case .goAway: ["reason", "text", "last_stream"]
        case .tlsAlert: ["alert"]
        case .streamLimit: ["limit", "for"]
        case .clockSkew: ["seconds"]
        case .loseAnswer, .blackHole, .refuseStream, .cut, .refuseConnect, .outage: []
        }
    }

    /// The members that say whom it hits: connections have no topic, and an outage hits everybody.
    var limits: [String] {
        switch self {
        case .outage: ["count"]
        case .tlsAlert, .refuseConnect, .clockSkew: ["per_mille", "after", "count"]
        case .respond, .delay, .loseAnswer, .blackHole, .resetStream, .refuseStream, .goAway, .cut, .streamLimit:
            ["per_mille", "after", "count", "topic", "token"]
        }
    }

    func fault(_ reader: JSONFields) throws(InvalidField) -> Fault {
        switch self {
        case .respond: return try Self.respond(reader)
        case .delay: return .delay(milliseconds: try reader.needed("ms", in: 1...600_000))
        case .loseAnswer: return .loseAnswer
        case .blackHole: return .blackHole
        case .resetStream: return .resetStream(code: UInt32(try reader.needed("code", in: 0...0xffff_ffff)))
        case .refuseStream: return .refuseStream
        case .goAway: return try Self.goAway(reader)
        case .cut: return .cut
        case .tlsAlert: return .tlsAlert(try reader.given("alert") ?? .handshakeFailure)
        case .refuseConnect: return .refuseConnect
        case .streamLimit:
            return .streamLimit(
                Int(try reader.needed("limit", in: 0...1_000_000)),
                requests: try reader.number("for", in: 1...1_000_000).map { Int($0) })
        case .clockSkew: return .clockSkew(seconds: try reader.needed("seconds", in: -31_536_000...31_536_000))
        case .outage: return .outage
        }
    }

    private static func respond(_ reader: JSONFields) throws(InvalidField) -> Fault {
        let status = try reader.number("status", in: 400...599).map { Int($0) }
        let retryAfter = try reader.number("retry_after", in: 0...86_400)
        guard let word = try reader.text("reason") else {
            guard let status else { throw reader.problem("status", "must be given, or a reason") }
            guard let usual = Self.usualReason(status: status) else {
                throw reader.problem("reason", "must be given with a status Apple does not document")
            }
            return .respond(status: status, usual, retryAfter: retryAfter)
        }
        let reason = APNsReason(name: word)
        guard let status = status ?? reason.status else {
            throw reader.problem("status", "must be given with a reason Apple does not document")
        }
        return .respond(status: status, reason, retryAfter: retryAfter)
    }

    /// Returns the reason that Apple documents for a status of pushes (APNs reference, section 8); nil for another status.
    private static func usualReason(status: Int) -> APNsReason? {
        switch status {
        case 400: .badDeviceToken
        case 403: .forbidden
        case 404: .badPath
        case 405: .methodNotAllowed
        case 410: .unregistered
        case 413: .payloadTooLarge
        case 429: .tooManyRequests
        case 500: .internalServerError
        case 503: .serviceUnavailable
        default: nil
        }
    }

    private static func goAway(_ reader: JSONFields) throws(InvalidField) -> Fault {
        let stream: Fault.GoAwayStream = try reader.given("last_stream") ?? .current
        let reason = try reader.text("reason")
        let text = try reader.text("text")
        switch (reason, text) {
        case (let reason?, nil): return .goAway(debug: .reason(APNsReason(name: reason)), lastStream: stream)
        case (nil, let text?): return .goAway(debug: .text(text), lastStream: stream)
        case (nil, nil): return .goAway(debug: .empty, lastStream: stream)
        case (_?, _?): throw reader.problem("text", "must not stand beside reason")
        }
    }
}

extension JSONFields {
    fileprivate func number(_ name: String, in range: ClosedRange<Int64>) throws(InvalidField) -> Int64? {
        self.object[name] == nil ? nil : try self.needed(name, in: range)
    }

    fileprivate func needed(_ name: String, in range: ClosedRange<Int64>) throws(InvalidField) -> Int64 {
        guard let number = self.object[name]?.intValue, range.contains(number) else {
            throw self.problem(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    fileprivate func text(_ name: String) throws(InvalidField) -> String? {
        let text: String? = try self.given(name)
        guard text?.isEmpty != true else { throw self.problem(name, "must not be empty") }
        return text
    }
}
