/// Gregorian calendar arithmetic on wall milliseconds since 1970, for triggers (ios-delivery.md §9).
enum CalendarMath {
    static let second: Int64 = 1_000
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000

    struct CivilDate: Equatable {
        var year: Int
        var month: Int
        var day: Int
    }

    static func days(of date: CivilDate) -> Int64 {
        // Years begin in March, so that the leap day is the last one.
        let year = Int64(date.month <= 2 ? date.year - 1 : date.year)
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let month = Int64(date.month > 2 ? date.month - 3 : date.month + 9)
        let dayOfYear = (153 * month + 2) / 5 + Int64(date.day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func date(ofDays days: Int64) -> CivilDate {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return CivilDate(
            year: Int(yearOfEra + era * 400 + (isNextYear ? 1 : 0)), month: Int(isNextYear ? month - 9 : month + 3),
            day: Int(dayOfYear - (153 * month + 2) / 5 + 1))
    }

    static func daysInMonth(year: Int, month: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// nil if nothing matches within 40 years. Units below the smallest one asked for are at their start, those above
    /// it any.
    static func next(_ components: CalendarComponents, after wall: Int64, utcOffset minutes: Int) -> Int64? {
        guard let smallest = components.smallestUnit else { return nil }
        let offset = Int64(minutes) * self.minute
        let start = wall + offset + self.second
        let firstDay = self.floorDivide(start, by: self.day)
        for days in firstDay...(firstDay + 14_700) {
            let date = self.date(ofDays: days)
            if let year = components.year, date.year > year { return nil }
            guard self.matches(date, days: days, components, smallest: smallest) else { continue }
            let from = days == firstDay ? start - days * self.day : 0
            if let time = self.time(components, smallest: smallest, from: from) {
                return days * self.day + time - offset
            }
        }
        return nil
    }

    private static func matches(
        _ date: CivilDate, days: Int64, _ components: CalendarComponents, smallest: CalendarComponents.Unit
    ) -> Bool {
        if let year = components.year, year != date.year { return false }
        if let month = components.month ?? (smallest < .month ? 1 : nil), month != date.month { return false }
        if let day = components.day ?? (smallest < .day ? 1 : nil), day != date.day { return false }
        // 1970-01-01 was a Thursday, the fifth day.
        if let weekday = components.weekday, weekday != Int((((days + 4) % 7) + 7) % 7) + 1 { return false }
        return true
    }

    private static func time(
        _ components: CalendarComponents, smallest: CalendarComponents.Unit, from: Int64
    ) -> Int64? {
        let second = components.second ?? (smallest < .second ? 0 : nil)
        let minute = components.minute ?? (smallest < .minute ? 0 : nil)
        let hour = components.hour ?? (smallest < .hour ? 0 : nil)
        let start = from / self.second
        for candidate in hour.map({ $0...$0 }) ?? Int(start / 3_600)...23 {
            for minuteOfHour in minute.map({ $0...$0 }) ?? 0...59 {
                let whole = Int64(candidate * 3_600 + minuteOfHour * 60)
                if whole + 59 < start { continue }
                for secondOfMinute in second.map({ $0...$0 }) ?? 0...59 where whole + Int64(secondOfMinute) >= start {
                    return (whole + Int64(secondOfMinute)) * self.second
                }
            }
        }
        return nil
    }

    static func next(
        _ fireDate: Int64, every interval: RepeatInterval?, after wall: Int64, utcOffset minutes: Int
    ) -> Int64? {
        if fireDate > wall { return fireDate }
        guard let interval else { return nil }
        if let step = interval.milliseconds { return fireDate + ((wall - fireDate) / step + 1) * step }
        let offset = Int64(minutes) * self.minute
        let local = fireDate + offset
        let days = self.floorDivide(local, by: self.day)
        let first = self.date(ofDays: days)
        let now = self.date(ofDays: self.floorDivide(wall + offset, by: self.day))
        let step = interval.months
        var months = ((now.year - first.year) * 12 + now.month - first.month) / step * step
        while true {
            let index = first.month - 1 + months
            let year = first.year + index / 12
            let month = index % 12 + 1
            let day = min(first.day, self.daysInMonth(year: year, month: month))
            let moment =
                self.days(of: CivilDate(year: year, month: month, day: day)) * self.day + local - days * self.day
            if moment - offset > wall { return moment - offset }
            months += step
        }
    }

    static func next(minutesOfDay: [Int], after wall: Int64, utcOffset minutes: Int) -> Int64? {
        minutesOfDay.compactMap {
            self.next(CalendarComponents(hour: $0 / 60, minute: $0 % 60), after: wall, utcOffset: minutes)
        }.min()
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}

extension CalendarComponents {
    enum Unit: Int, Comparable {
        case year, month, day, hour, minute, second

        static func < (left: Unit, right: Unit) -> Bool { left.rawValue < right.rawValue }
    }

    var smallestUnit: Unit? {
        if self.second != nil { return .second }
        if self.minute != nil { return .minute }
        if self.hour != nil { return .hour }
        if self.day != nil || self.weekday != nil { return .day }
        if self.month != nil { return .month }
        return self.year == nil ? nil : .year
    }

    var isValid: Bool {
        func fits(_ value: Int?, _ range: ClosedRange<Int>) -> Bool { value.map { range.contains($0) } ?? true }
        return fits(self.month, 1...12) && fits(self.day, 1...31) && fits(self.hour, 0...23)
            && fits(self.minute, 0...59) && fits(self.second, 0...59) && fits(self.weekday, 1...7)
    }
}

extension RepeatInterval {
    var milliseconds: Int64? {
        switch self {
        case .minute: CalendarMath.minute
        case .hour: CalendarMath.hour
        case .day: CalendarMath.day
        case .week: 7 * CalendarMath.day
        case .month, .quarter, .year: nil
        }
    }

    var months: Int {
        switch self {
        case .minute, .hour, .day, .week: 0
        case .month: 1
        case .quarter: 3
        case .year: 12
        }
    }
}
