import Foundation
import StoreModel
import TidingsModel

extension PushLocalTime {
    /// Looks up when it is that time in each zone that phones may name. Where it is twice, the first counts; where the clock jumps over it, the
    /// moment after the jump.
    /// - Parameters:
    ///   - text: `2026-12-01T09:00`.
    ///   - timeZone: the clock of people of whom no zone is known, such as `Europe/Berlin`.
    init(text: String, timeZone: String) throws(InvalidField) {
        guard let local = Self.milliseconds(text) else {
            throw InvalidField(
                field: "send_at_local",
                rule: "must be a date and time without a zone, as in 2026-12-01T09:00, got \"\(text.prefix(64))\"")
        }
        try InvalidField.check(timeZone.utf8.count, atMost: DeviceStatus.textBytesMax, "time_zone", unit: " bytes")
        guard TimeZoneNames.has(timeZone, TimeZone.knownTimeZoneIdentifiers) else {
            throw InvalidField(field: "time_zone", rule: "must be a zone such as Europe/Berlin, got \"\(timeZone)\"")
        }
        var names: [Int64: [String]] = [:]
        for name in TimeZoneNames.second.union(TimeZone.knownTimeZoneIdentifiers).sorted() {
            guard let zone = TimeZone(identifier: name) else { continue }
            names[zone.firstInstant(showing: local), default: []].append(name)
        }
        self.init(
            text: text, timeZone: timeZone,
            passes: names.sorted { $0.key < $1.key }.map { Pass(at: $0.key, timeZones: $0.value) })
    }

    /// Returns the time of a clock that shows UTC, in milliseconds since 1970.
    private static func milliseconds(_ text: String) -> Int64? {
        let parts = text.utf8.split(omittingEmptySubsequences: false) {
            $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9")
        }
        let numbers = parts.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard parts.map(\.count) == [4, 2, 2, 2, 2], numbers.count == 5 else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4])
        guard let date = calendar.date(from: components), Self.text(date, calendar) == text else { return nil }
        return Int64(date.timeIntervalSince1970) * 1_000
    }

    /// Another day or hour than was asked for has another text, and so has another form.
    private static func text(_ date: Date, _ calendar: Calendar) -> String {
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func digits(_ number: Int?, _ count: Int) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(parts.year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2))"
            + "T\(digits(parts.hour, 2)):\(digits(parts.minute, 2))"
    }
}

extension TimeZone {
    /// - Parameter local: milliseconds since 1970, if the zone's clock showed UTC.
    fileprivate func firstInstant(showing local: Int64) -> Int64 {
        func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
        // No zone is further ahead than 14 hours: its clock shows less than that here.
        var from = local - 26 * 3_600_000
        while true {
            let instant = local - Int64(self.secondsFromGMT(for: date(from))) * 1_000
            guard let change = self.nextDaylightSavingTimeTransition(after: date(from)) else { return instant }
            let next = Int64((change.timeIntervalSince1970 * 1_000).rounded())
            // After a jump ahead the time has passed with the jump.
            guard next > from, instant >= next else { return max(instant, from) }
            from = next
        }
    }
}
