import Testing
import TidingsModel

/// Europe/Berlin in 2026, by hand: summer time from 29 March 01:00 UTC to 25 October 01:00 UTC.
enum Berlin {
    static let facts = TimeZoneFacts(
        offsets: [
            .init(from: Self.utc(2026, 1, 1), seconds: 3_600), .init(from: Self.utc(2026, 3, 29, 1), seconds: 7_200),
            .init(from: Self.utc(2026, 10, 25, 1), seconds: 3_600),
        ], until: Self.utc(2027, 12, 31))

    /// Wall milliseconds of a date in UTC (Howard Hinnant's "days_from_civil").
    static func utc(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return ((Int64(days) * 24 + Int64(hour)) * 60 + Int64(minute)) * 60_000
    }
}

@Suite struct `Quiet hours` {
    static func hours(_ start: Int, _ end: Int, _ weekdays: [Int] = []) -> QuietHours {
        QuietHours(start: start, end: end, weekdays: weekdays, timeZone: "Europe/Berlin")
    }

    @Test func `hold from their first minute to before their last, by the person's clock`() {
        let hours = Self.hours(13 * 60, 14 * 60)
        // 15 January, in winter: 13:00 is 12:00 UTC.
        let end = Berlin.utc(2026, 1, 15, 13)
        #expect(hours.end(at: Berlin.utc(2026, 1, 15, 12) - 1, in: Berlin.facts) == nil)
        #expect(hours.end(at: Berlin.utc(2026, 1, 15, 12), in: Berlin.facts) == end)
        #expect(hours.end(at: end - 1, in: Berlin.facts) == end)
        #expect(hours.end(at: end, in: Berlin.facts) == nil)
        // In summer 13:00 is 11:00 UTC.
        #expect(hours.end(at: Berlin.utc(2026, 7, 15, 11), in: Berlin.facts) == Berlin.utc(2026, 7, 15, 12))
    }

    @Test func `run over midnight`() {
        let hours = Self.hours(22 * 60, 7 * 60)
        let end = Berlin.utc(2026, 1, 16, 6)
        #expect(hours.end(at: Berlin.utc(2026, 1, 15, 21), in: Berlin.facts) == end)
        #expect(hours.end(at: Berlin.utc(2026, 1, 16, 3), in: Berlin.facts) == end)
        #expect(hours.end(at: Berlin.utc(2026, 1, 16, 6), in: Berlin.facts) == nil)
        #expect(hours.end(at: Berlin.utc(2026, 1, 15, 20, 59), in: Berlin.facts) == nil)
    }

    @Test func `hold on the days they begin on, and until their end on the next`() {
        // 16 January 2026 is a Friday.
        let hours = Self.hours(22 * 60, 7 * 60, [5])
        #expect(hours.end(at: Berlin.utc(2026, 1, 15, 22), in: Berlin.facts) == nil)
        #expect(hours.end(at: Berlin.utc(2026, 1, 16, 22), in: Berlin.facts) == Berlin.utc(2026, 1, 17, 6))
        #expect(hours.end(at: Berlin.utc(2026, 1, 17, 5, 59), in: Berlin.facts) == Berlin.utc(2026, 1, 17, 6))
        #expect(hours.end(at: Berlin.utc(2026, 1, 17, 22), in: Berlin.facts) == nil)
    }

    @Test func `of a whole day end when the next one begins`() {
        let hours = Self.hours(480, 480, [6, 7])
        // 17 January 2026 is a Saturday; 08:00 is 07:00 UTC.
        #expect(hours.end(at: Berlin.utc(2026, 1, 17, 6, 59), in: Berlin.facts) == nil)
        #expect(hours.end(at: Berlin.utc(2026, 1, 17, 7), in: Berlin.facts) == Berlin.utc(2026, 1, 18, 7))
        #expect(hours.end(at: Berlin.utc(2026, 1, 18, 7), in: Berlin.facts) == Berlin.utc(2026, 1, 19, 7))
        #expect(hours.end(at: Berlin.utc(2026, 1, 19, 7), in: Berlin.facts) == nil)
    }

    @Test func `over the night the clocks go forward are an hour shorter`() {
        let hours = Self.hours(22 * 60, 7 * 60)
        #expect(hours.end(at: Berlin.utc(2026, 3, 28, 21), in: Berlin.facts) == Berlin.utc(2026, 3, 29, 5))
    }

    @Test func `that begin or end at a time the clock never shows do so when it is put forward`() {
        // 02:30 on 29 March does not exist.
        let ending = Self.hours(60, 150)
        #expect(ending.end(at: Berlin.utc(2026, 3, 29, 0, 59), in: Berlin.facts) == Berlin.utc(2026, 3, 29, 1))
        #expect(ending.end(at: Berlin.utc(2026, 3, 29, 1), in: Berlin.facts) == nil)
        let beginning = Self.hours(150, 240)
        #expect(beginning.end(at: Berlin.utc(2026, 3, 29, 0, 59), in: Berlin.facts) == nil)
        #expect(beginning.end(at: Berlin.utc(2026, 3, 29, 1), in: Berlin.facts) == Berlin.utc(2026, 3, 29, 2))
        // Both within the gap: no quiet at all.
        let lost = Self.hours(130, 170)
        #expect(lost.end(at: Berlin.utc(2026, 3, 29, 1), in: Berlin.facts) == nil)
    }

    @Test func `that begin or end at a time the clock shows twice hold from the first to the second`() {
        // 02:30 on 25 October is 00:30 UTC, and again 01:30 UTC.
        let ending = Self.hours(22 * 60, 150)
        #expect(ending.end(at: Berlin.utc(2026, 10, 25, 0, 45), in: Berlin.facts) == Berlin.utc(2026, 10, 25, 1, 30))
        #expect(ending.end(at: Berlin.utc(2026, 10, 25, 1, 30), in: Berlin.facts) == nil)
        let beginning = Self.hours(150, 240)
        #expect(beginning.end(at: Berlin.utc(2026, 10, 25, 0, 29), in: Berlin.facts) == nil)
        #expect(beginning.end(at: Berlin.utc(2026, 10, 25, 0, 30), in: Berlin.facts) == Berlin.utc(2026, 10, 25, 3))
        #expect(beginning.end(at: Berlin.utc(2026, 10, 25, 1, 10), in: Berlin.facts) == Berlin.utc(2026, 10, 25, 3))
    }

    /// Minute by minute through the year: on days without a change it is quiet exactly if the clock on the wall says so.
    @Test(arguments: [(1_320, 420), (0, 1), (720, 780), (600, 600)])
    func `agree with the clock on every day without a change`(start: Int, end: Int) {
        let hours = Self.hours(start, end, [1, 3, 7])
        var wall = Berlin.utc(2026, 1, 2)
        while wall < Berlin.utc(2026, 12, 30) {
            defer { wall += 7 * 60_000 }
            let isSummer = wall >= Berlin.utc(2026, 3, 29, 1) && wall < Berlin.utc(2026, 10, 25, 1)
            let local = wall + (isSummer ? 7_200_000 : 3_600_000)
            let (day, minute) = (local / 86_400_000, Int(local / 60_000 % 1_440))
            if (-1...1).contains(day - Berlin.utc(2026, 3, 29) / 86_400_000) { continue }
            if (-1...1).contains(day - Berlin.utc(2026, 10, 25) / 86_400_000) { continue }
            func begins(_ day: Int64) -> Bool { hours.weekdays.contains(Int((day + 3) % 7) + 1) }
            let expected =
                start < end
                ? begins(day) && minute >= start && minute < end
                : begins(day) && minute >= start || begins(day - 1) && minute < end
            #expect((hours.end(at: wall, in: Berlin.facts) != nil) == expected, "at \(wall)")
        }
    }
}
