import Foundation
import TidingsModel

extension TimeZoneFacts {
    /// Two years, in milliseconds.
    static let span: Int64 = 2 * 366 * 86_400_000

    /// Reads a zone from the machine's time-zone database: the offset that holds and its changes within `span`.
    /// - Parameter name: such as `Europe/Berlin`; abbreviations and offsets such as `GMT+2` are refused (`TimeZoneNames`).
    init?(named name: String, at wall: Int64) {
        guard TimeZoneNames.has(name, TimeZone.knownTimeZoneIdentifiers), let zone = TimeZone(identifier: name) else {
            return nil
        }
        // From a week back: what is quiet now may have begun before a change.
        let start = wall - 7 * 86_400_000
        let end = wall + Self.span
        func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
        var offsets = [Offset(from: start, seconds: zone.secondsFromGMT(for: date(start)))]
        var at = date(start)
        while let next = zone.nextDaylightSavingTimeTransition(after: at), next > at, next < date(end) {
            let from = Int64((next.timeIntervalSince1970 * 1_000).rounded())
            let seconds = zone.secondsFromGMT(for: date(from))
            if seconds != offsets[offsets.count - 1].seconds { offsets.append(Offset(from: from, seconds: seconds)) }
            at = next
        }
        self.init(offsets: offsets, until: end)
    }
}
