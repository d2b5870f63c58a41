/// How many silent pushes may still wake an app (ios-delivery.md §7.3). Times are monotonic milliseconds.
struct WakeBudget: Equatable, Sendable {
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000

    /// The wakes of the last hour, oldest first; missed handlers are charged as wakes.
    private var charges: [Int64] = []
    private var dayStart: Int64?
    private var dayCount = 0

    /// From when on the next wake is allowed; a moment in the past is at once, nil never.
    func nextFree(settings: PhoneSettings) -> Int64? {
        if settings.unlimitedWakes { return .min }
        guard settings.wakesPerHour > 0, settings.wakesPerDay > 0 else { return nil }
        var free = Int64.min
        if let start = self.dayStart, self.dayCount >= settings.wakesPerDay { free = start + Self.day }
        if self.charges.count >= settings.wakesPerHour {
            free = max(free, self.charges[self.charges.count - settings.wakesPerHour] + Self.hour)
        }
        return free
    }

    /// Takes one wake.
    mutating func charge(at now: Int64) {
        self.charges.removeAll { $0 <= now - Self.hour }
        self.charges.append(now)
        if let start = self.dayStart, now < start + Self.day {
            self.dayCount += 1
        } else {
            self.dayStart = now
            self.dayCount = 1
        }
    }
}
