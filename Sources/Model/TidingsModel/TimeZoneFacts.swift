/// Offsets of a time zone from UTC, from the time-zone database, which a core cannot read.
package struct TimeZoneFacts: Hashable, Sendable {
    package struct Offset: Hashable, Sendable {
        /// Wall milliseconds since 1970; until the next one's.
        package var from: Int64
        /// Local time minus UTC: −50,400 to 50,400.
        package var seconds: Int

        package init(from: Int64, seconds: Int) {
            self.from = from
            self.seconds = seconds
        }
    }

    /// Ascending, at least one; the first holds before its time, too.
    package var offsets: [Offset]
    /// Wall milliseconds up to which all changes are known.
    package var until: Int64

    package init(offsets: [Offset], until: Int64) {
        self.offsets = offsets
        self.until = until
    }
}

extension QuietHours {
    private static let day: Int64 = 86_400_000
    private static let minute: Int64 = 60_000

    /// The end of quiet hours that hold at a time, both in wall milliseconds since 1970; nil if it is not quiet. They
    /// begin and end by local time. When the clock is put forward over `start` or `end`, that moment counts; when it
    /// shows a time twice, they begin at the first and end at the second.
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

    /// Days since 1970-01-01, a Thursday.
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
    /// Milliseconds.
    fileprivate func offset(at wall: Int64) -> Int64 {
        let offset = self.offsets.last { $0.from <= wall } ?? self.offsets.first
        return Int64(offset?.seconds ?? 0) * 1_000
    }

    /// The first and the last moment at which the local clock shows a time, in milliseconds since 1970. A time it
    /// skips is the moment it was put forward.
    fileprivate func instants(local: Int64) -> ClosedRange<Int64> {
        var found: [Int64] = []
        for index in self.offsets.indices {
            let from = index == 0 ? Int64.min : self.offsets[index].from
            let until = index + 1 < self.offsets.count ? self.offsets[index + 1].from : .max
            let instant = local - Int64(self.offsets[index].seconds) * 1_000
            if from <= instant, instant < until { found.append(instant) }
            // The change skips this time.
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
