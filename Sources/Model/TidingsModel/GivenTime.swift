/// A moment that a caller names: milliseconds since 1970, from 2020 on, and no more than every reader of JSON reads exactly (RFC 7493
/// §2.2). Numbers of seconds lie before 2020.
package enum GivenTime {
    package static let range: ClosedRange<Int64> = 1_577_836_800_000...9_007_199_254_740_991

    /// Returns the rule that a time outside the range breaks.
    package static func fault(of time: Int64) -> String? {
        guard !Self.range.contains(time) else { return nil }
        let rule =
            "must be milliseconds since 1970, from \(Self.range.lowerBound) to \(Self.range.upperBound), got \(time)"
        // Seconds from 2001 to 5138.
        return (1_000_000_000..<100_000_000_000).contains(time) ? rule + ", which looks like seconds" : rule
    }

    package static func check(_ time: Int64?, _ field: String) throws(InvalidField) {
        if let time, let rule = Self.fault(of: time) { throw InvalidField(field: field, rule: rule) }
    }
}
