/// A moment that a caller names: milliseconds since 1970, from 2020 on, and no more than every reader of JSON reads exactly (RFC 7493
/// §2.2). Numbers of seconds lie before 2020. Or the same moment as a text of RFC 3339.
package enum GivenTime {
    /// The rule that anything else breaks.
    package static let rule = "must be milliseconds since 1970, or a time such as 2026-12-01T09:00:00+01:00 (RFC 3339)"

    package static let range: ClosedRange<Int64> = 1_577_836_800_000...9_007_199_254_740_991

    /// Returns the rule that a time outside the range breaks.
    package static func fault(of time: Int64) -> String? {
        guard !Self.range.contains(time) else { return nil }
        let rule =
            "must be milliseconds since 1970, from \(Self.range.lowerBound) to \(Self.range.upperBound), got \(time)"
        // Seconds from 2001 to 5138.
        return (1_000_000_000..<100_000_000_000).contains(time) ? rule + ", which looks like seconds" : rule
    }

    /// Reads a date and time of RFC 3339 §5.6, to the millisecond; nil for any other text.
    package static func read(_ text: String) -> Int64? {
        var rest = Substring(text).utf8
        func number(_ digits: Int) -> Int64? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return part.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        func sign(_ signs: String) -> UInt8? {
            guard let first = rest.first, signs.utf8.contains(first) else { return nil }
            rest = rest.dropFirst()
            return first
        }
        guard let year = number(4), sign("-") != nil, let month = number(2), sign("-") != nil, let day = number(2),
            sign("Tt ") != nil, let hour = number(2), sign(":") != nil, let minute = number(2), sign(":") != nil,
            let second = number(2), (1...12).contains(month), day > 0, hour < 24, minute < 60, second < 61
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        // A day that the month does not have lies in the next one.
        let (nextYear, next) = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard days < Self.days(year: nextYear, month: next, day: 1) else { return nil }
        var milliseconds = second * 1_000
        if sign(".") != nil {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            for (digit, worth) in zip(digits, [100, 10, 1] as [Int64]) { milliseconds += Int64(digit - 0x30) * worth }
            rest = rest.dropFirst(digits.count)
        }
        var ahead: Int64 = 0
        switch sign("Zz+-") {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): break
        case let direction?:
            guard let hours = number(2), sign(":") != nil, let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            ahead = (hours * 60 + minutes) * (direction == UInt8(ascii: "+") ? 1 : -1)
        case nil: return nil
        }
        return rest.isEmpty ? ((days * 24 + hour) * 60 + minute - ahead) * 60_000 + milliseconds : nil
    }

    /// Days since 1970-01-01. Years begin in March here, so that the day that comes every four years is the last one.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package static func check(_ time: Int64?, _ field: String) throws(InvalidField) {
        if let time, let rule = Self.fault(of: time) { throw InvalidField(field: field, rule: rule) }
    }
}
