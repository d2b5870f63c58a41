import TidingsModel

/// The dates in a certificate, which are days of the Gregorian calendar in UTC (RFC 5280, section 4.1.2.5).
package enum CertificateDate {
    private static let day: Int64 = 86_400_000

    /// Milliseconds since 1970 of a UTCTime, whose years are 1950 to 2049, or a GeneralizedTime.
    static func milliseconds(_ element: BER.Element) throws(BER.Fault) -> Int64 {
        var text = Array(element.content)
        switch element.tag {
        case 0x17:
            guard text.count == 13 else { throw BER.Fault() }
            text = Array((text[0] < UInt8(ascii: "5") ? "20" : "19").utf8) + text
        case 0x18: guard text.count == 15 else { throw BER.Fault() }
        default: throw BER.Fault()
        }
        guard text[14] == UInt8(ascii: "Z"), text[..<14].allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw BER.Fault()
        }
        func number(_ place: Int, _ digits: Int = 2) -> Int64 {
            text[place..<place + digits].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        let (month, dayOfMonth) = (number(4), number(6))
        let (hour, minute, second) = (number(8), number(10), number(12))
        guard (1...12).contains(month), (1...31).contains(dayOfMonth), hour < 24, minute < 60, second < 61 else {
            throw BER.Fault()
        }
        let days = GivenTime.days(year: number(0, 4), month: month, day: dayOfMonth)
        return days * Self.day + ((hour * 60 + minute) * 60 + second) * 1_000
    }

    /// Year, month and day, for words.
    package static func text(_ milliseconds: Int64) -> String {
        let days = (milliseconds >= 0 ? milliseconds : milliseconds - (Self.day - 1)) / Self.day + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}
