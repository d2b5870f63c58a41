package import APNsModel
package import TidingsModel

/// What the operator makes go wrong. It applies to requests that would have been accepted, after every check (apns.md
/// §20, step 7).
package struct FaultPlan: Hashable, Sendable {
    /// Answer with this reason and status instead of accepting.
    package var refusal: Injected?
    /// Accept and deliver, then cut the connection instead of answering.
    package var losesAnswer: Bool
    /// Answer this many milliseconds late, 0 or more.
    package var delayMilliseconds: Int64
    /// How many requests are still to suffer; nil for all until the plan changes.
    package var count: Int?
    /// Providers cannot connect, and their connections are cut.
    package var outage: Bool

    /// An answer that is made up.
    package struct Injected: Hashable, Sendable {
        /// 400 to 599.
        package var status: Int
        /// The word in the body.
        package var reason: APNsReason

        /// An answer.
        package init(status: Int, reason: APNsReason) {
            self.status = status
            self.reason = reason
        }
    }

    /// A plan; without arguments nothing goes wrong.
    package init(
        refusal: Injected? = nil, losesAnswer: Bool = false, delayMilliseconds: Int64 = 0, count: Int? = nil,
        outage: Bool = false
    ) {
        self.refusal = refusal
        self.losesAnswer = losesAnswer
        self.delayMilliseconds = delayMilliseconds
        self.count = count
        self.outage = outage
    }

    /// Reads the operator's JSON: `status`, `reason`, `count`, `delay_ms`, `lost_answer`, `outage`; `{}` ends all
    /// faults.
    ///
    /// - Throws: `InvalidField` naming the member and the rule; an unknown member is refused.
    package init(json: JSONValue) throws(InvalidField) {
        guard let object = json.objectValue else { throw InvalidField(field: "body", rule: "must be a JSON object") }
        self.init()
        let names: [String] = ["status", "reason", "count", "delay_ms", "lost_answer", "outage"]
        for (name, _) in object.members where !names.contains(name) {
            throw InvalidField(field: name, rule: "is not one of \(names.joined(separator: ", "))")
        }
        self.count = try Self.number(object, "count", in: 1...1_000_000_000).map { Int($0) }
        self.delayMilliseconds = try Self.number(object, "delay_ms", in: 0...600_000) ?? 0
        self.losesAnswer = try Self.flag(object, "lost_answer")
        self.outage = try Self.flag(object, "outage")
        self.refusal = try Self.refusal(object)
    }

    private static func refusal(_ object: JSONObject) throws(InvalidField) -> Injected? {
        let status = try Self.number(object, "status", in: 400...599)
        guard let word = object["reason"] else {
            return status.map { Injected(status: Int($0), reason: Self.usualReason(status: Int($0))) }
        }
        guard let text = word.stringValue, !text.isEmpty else {
            throw InvalidField(field: "reason", rule: "must be one of Apple's reasons, as text")
        }
        let reason = APNsReason(name: text)
        guard let status = status.map({ Int($0) }) ?? reason.status else {
            throw InvalidField(field: "status", rule: "must be given with a reason Apple does not document")
        }
        return Injected(status: status, reason: reason)
    }

    private static func usualReason(status: Int) -> APNsReason {
        switch status {
        case 403: .forbidden
        case 404: .badPath
        case 405: .methodNotAllowed
        case 410: .unregistered
        case 413: .payloadTooLarge
        case 429: .tooManyRequests
        case 503: .serviceUnavailable
        case 500...: .internalServerError
        default: .badDeviceToken
        }
    }

    private static func number(
        _ object: JSONObject, _ name: String, in range: ClosedRange<Int64>
    ) throws(InvalidField) -> Int64? {
        guard let value = object[name] else { return nil }
        guard let number = value.intValue, range.contains(number) else {
            throw InvalidField(
                field: name, rule: "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func flag(_ object: JSONObject, _ name: String) throws(InvalidField) -> Bool {
        guard let value = object[name] else { return false }
        guard let flag = value.boolValue else { throw InvalidField(field: name, rule: "must be true or false") }
        return flag
    }

    /// Takes the faults of one request; ends the plan when its count is used up. An outage does not count requests.
    mutating func take() -> FaultPlan {
        let plan = self
        guard let count = self.count, self.refusal != nil || self.losesAnswer || self.delayMilliseconds > 0 else {
            return plan
        }
        self = count > 1 ? plan : FaultPlan(outage: plan.outage)
        if count > 1 { self.count = count - 1 }
        return plan
    }
}
