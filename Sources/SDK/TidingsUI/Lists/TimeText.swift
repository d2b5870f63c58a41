import Foundation

/// How much of a time a list shows: the time today, then the day before, the weekday, the day of this year, the date.
enum TimeText: Hashable {
    case time, yesterday, weekday, day, date

    /// Chooses the form of a time. A time ahead, by a clock that is set otherwise, is shown as today.
    init(of date: Date, now: Date, in calendar: Calendar) {
        let (day, today) = (calendar.startOfDay(for: date), calendar.startOfDay(for: now))
        switch calendar.dateComponents([.day], from: day, to: today).day ?? 0 {
        case ...0: self = .time
        case 1: self = .yesterday
        case ...6: self = .weekday
        default: self = calendar.isDate(date, equalTo: now, toGranularity: .year) ? .day : .date
        }
    }

    /// The person's own locale where it speaks the language of the words, else that of the words.
    static func locale(for tag: String, current: Locale = .autoupdatingCurrent) -> Locale {
        func language(_ tag: String) -> Substring? { tag.lowercased().split { $0 == "-" || $0 == "_" }.first }
        return language(current.identifier) == language(tag) ? current : Locale(identifier: tag)
    }
}

extension ChatTimes {
    /// A moment of the wall clock as a list shows it at another, both in milliseconds since 1970.
    func short(_ wall: Int64, now: Int64) -> String {
        switch TimeText(of: Self.date(wall), now: Self.date(now), in: self.calendar) {
        case .time: self.time(wall)
        case .yesterday: self.words.yesterday
        case .weekday: self.formatters.text(wall, "EEEE")
        case .day: self.formatters.text(wall, "MMMd")
        case .date: self.formatters.text(wall, "yMMMd")
        }
    }

    /// The same with the time of the day.
    func long(_ wall: Int64, now: Int64) -> String {
        let (short, time) = (self.short(wall, now: now), self.time(wall))
        return short == time ? time : "\(short) \(time)"
    }

    /// A time of the day, in minutes after midnight.
    func date(ofMinutes minutes: Int, now: Int64) -> Date {
        let day = self.calendar.startOfDay(for: Self.date(now))
        return self.calendar.date(bySettingHour: minutes / 60, minute: minutes % 60, second: 0, of: day) ?? day
    }

    func minutes(of date: Date) -> Int {
        self.calendar.component(.hour, from: date) * 60 + self.calendar.component(.minute, from: date)
    }
}
