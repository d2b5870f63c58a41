import Foundation
import TidingsModel

extension TimeZoneFacts {
    /// Reads a zone such as `Europe/Berlin` from the phone's time-zone database, as the server does from its own: the
    /// current offset and its changes within two years.
    init?(named name: String, at wall: Int64) {
        guard TimeZoneNames.has(name, TimeZone.knownTimeZoneIdentifiers), let zone = TimeZone(identifier: name) else {
            return nil
        }
        // From a week back: quiet hours that are active now may have begun before a change.
        let start = wall - 7 * 86_400_000
        let end = wall + 2 * 366 * 86_400_000
        func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
        var offsets = [Offset(from: start, seconds: zone.secondsFromGMT(for: date(start)))]
        var at = date(start)
        while let next = zone.nextDaylightSavingTimeTransition(after: at), next > at, next < date(end) {
            let from = Int64((next.timeIntervalSince1970 * 1_000).rounded())
            let seconds = zone.secondsFromGMT(for: date(from))
            if seconds != offsets.last?.seconds { offsets.append(Offset(from: from, seconds: seconds)) }
            at = next
        }
        self.init(offsets: offsets, until: end)
    }
}
