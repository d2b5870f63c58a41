/// ios-delivery.md §7.3. Times are monotonic milliseconds.
struct WakeBudget: Equatable, Sendable {
    /// The wakes of the last hour, oldest first; missed handlers count as wakes.
    private var charges: [Int64] = []
    private var dayStart: Int64?
    private var dayCount = 0

    /// A moment in the past means at once, nil never.
    func nextFree(settings: PhoneSettings) -> Int64? {
        if settings.unlimitedWakes { return .min }
        guard settings.wakesPerHour > 0, settings.wakesPerDay > 0 else { return nil }
        var free = Int64.min
        if let start = self.dayStart, self.dayCount >= settings.wakesPerDay { free = start + CalendarMath.day }
        if self.charges.count >= settings.wakesPerHour {
            free = max(free, self.charges[self.charges.count - settings.wakesPerHour] + CalendarMath.hour)
        }
        return free
    }

    mutating func charge(at now: Int64) {
        self.charges.removeAll { $0 <= now - CalendarMath.hour }
        self.charges.append(now)
        if let start = self.dayStart, now < start + CalendarMath.day {
            self.dayCount += 1
        } else {
            self.dayStart = now
            self.dayCount = 1
        }
    }
}
