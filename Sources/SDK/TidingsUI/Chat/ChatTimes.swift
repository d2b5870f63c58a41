public import Foundation

/// Writes days and times as a person reads them, in the language of the words and the phone's time zone.
public struct ChatTimes {
    let words: ChatWords
    let calendar: Calendar
    let formatters: Formatters

    /// Days and times in the language of some words.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - calendar: its time zone says when a day begins.
    ///   - locale: the person's own, which counts where it speaks the language of the words.
    @MainActor public init(
        words: InterfaceWords, calendar: Calendar = .autoupdatingCurrent, locale: Locale = .autoupdatingCurrent
    ) {
        self.words = words.chat
        self.calendar = calendar
        self.formatters = Formatters(
            locale: TimeText.locale(for: words.language, current: locale), zone: calendar.timeZone)
    }

    /// The time of day, such as `10:24`.
    ///
    /// - Parameter milliseconds: since 1970.
    public func time(_ milliseconds: Int64) -> String { self.formatters.text(milliseconds, "jmm") }

    /// The day: today and yesterday by word, others by date, with the year where it is another.
    public func day(_ milliseconds: Int64, now: Int64) -> String {
        switch TimeText(of: Self.date(milliseconds), now: Self.date(now), in: self.calendar) {
        case .time: self.words.today
        case .yesterday: self.words.yesterday
        case .weekday, .day: self.formatters.text(milliseconds, "EEEMMMd")
        case .date: self.formatters.text(milliseconds, "yMMMd")
        }
    }

    /// When the day of a moment began, in milliseconds since 1970.
    func dayStart(_ milliseconds: Int64) -> Int64 {
        let start = self.calendar.startOfDay(for: Self.date(milliseconds))
        return Int64((start.timeIntervalSince1970 * 1_000).rounded())
    }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// A formatter is slow to make, and a screen writes many times.
    final class Formatters {
        private let locale: Locale
        private let zone: TimeZone
        private var byTemplate: [String: DateFormatter] = [:]

        init(locale: Locale, zone: TimeZone) {
            self.locale = locale
            self.zone = zone
        }

        func text(_ milliseconds: Int64, _ template: String) -> String {
            let known = self.byTemplate[template]
            let formatter = known ?? DateFormatter()
            if known == nil {
                formatter.locale = self.locale
                formatter.timeZone = self.zone
                formatter.setLocalizedDateFormatFromTemplate(template)
                self.byTemplate[template] = formatter
            }
            return formatter.string(from: ChatTimes.date(milliseconds))
        }
    }
}
