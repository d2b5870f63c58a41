/// The offsets of a time zone from UTC: checked facts from the time-zone database, which a core does not have.
package struct TimeZoneFacts: Hashable, Sendable {
    /// An offset and since when it holds.
    package struct Offset: Hashable, Sendable {
        /// Wall milliseconds since 1970 from which it holds, until the next one's.
        package var from: Int64
        /// Local time minus UTC, in seconds: −50,400 to 50,400.
        package var seconds: Int

        /// An offset from its parts.
        package init(from: Int64, seconds: Int) {
            self.from = from
            self.seconds = seconds
        }
    }

    /// Ascending, at least one; the first holds before its time, too.
    package var offsets: [Offset]
    /// Wall milliseconds up to which all changes are among them.
    package var until: Int64

    /// Facts from their parts.
    package init(offsets: [Offset], until: Int64) {
        self.offsets = offsets
        self.until = until
    }
}

extension QuietHours {
    private static let day: Int64 = 86_400_000
    private static let minute: Int64 = 60_000

    /// The end of the quiet hours that hold at a time.
    ///
    /// They begin and end by the clock on the person's wall. When the clock is put forward over `start` or `end`, the moment it is
    /// put forward counts; when it shows a time twice, they begin at the first and end at the second.
    ///
    /// - Parameter wall: wall milliseconds since 1970.
    /// - Returns: wall milliseconds; nil if it is not quiet.
    package func end(at wall: Int64, in zone: TimeZoneFacts) -> Int64? {
        let today = Self.floor(wall + zone.offset(at: wall), Self.day)
        var end: Int64?
        for day in (today - 2)...(today + 1) where self.begins(on: day) {
            let from = zone.instants(local: day * Self.day + Int64(self.start) * Self.minute).lowerBound
            let lastDay = self.end > self.start ? day : day + 1
            let until = zone.instants(local: lastDay * Self.day + Int64(self.end) * Self.minute).upperBound
            if from <= wall, wall < until { end = max(end ?? until, until) }
        }
        return end
    }

    /// - Parameter day: days since 1970-01-01, a Thursday.
    private func begins(on day: Int64) -> Bool {
        let weekday = Int(day + 3 - 7 * Self.floor(day + 3, 7)) + 1
        return self.weekdays.isEmpty || self.weekdays.contains(weekday)
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}

extension TimeZoneFacts {
    /// Local time minus UTC in milliseconds.
    fileprivate func offset(at wall: Int64) -> Int64 {
        let offset = self.offsets.last { $0.from <= wall } ?? self.offsets.first
        return Int64(offset?.seconds ?? 0) * 1_000
    }

    /// When the clock on the wall shows a local time: the first and the last moment. One it never shows, because it was put forward
    /// over it, is the moment it was put forward.
    ///
    /// - Parameter local: milliseconds since 1970 by that clock.
    fileprivate func instants(local: Int64) -> ClosedRange<Int64> {
        var found: [Int64] = []
        for index in self.offsets.indices {
            let from = index == 0 ? Int64.min : self.offsets[index].from
            let until = index + 1 < self.offsets.count ? self.offsets[index + 1].from : .max
            let instant = local - Int64(self.offsets[index].seconds) * 1_000
            if from <= instant, instant < until { found.append(instant) }
            // Before the change the clock has not reached it, after the change it has passed it.
            if instant >= until, index + 1 < self.offsets.count,
                local - Int64(self.offsets[index + 1].seconds) * 1_000 < until
            {
                found.append(until)
            }
        }
        guard let first = found.min(), let last = found.max() else { return local...local }
        return first...last
    }
}
