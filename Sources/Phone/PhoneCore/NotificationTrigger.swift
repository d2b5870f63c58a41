public import TidingsModel

/// When a request is presented (ios-delivery.md §9).
public enum NotificationTrigger: Hashable, Sendable, JSONTagged, JSONChecked {
    case push
    /// At least 1; at least 60,000 if it repeats.
    case timeInterval(milliseconds: Int64, repeats: Bool)
    /// By the phone's clock and time zone.
    indirect case calendar(CalendarComponents, repeats: Bool)
    indirect case location(NotificationRegion, repeats: Bool)
    /// `UILocalNotification`: wall milliseconds since 1970.
    case fireDate(Int64, repeatInterval: RepeatInterval?)

    package static let tag = JSONTag(
        "type", meaning: "a trigger",
        names: [
            "calendar": ["_0": ""], "location": ["_0": ""], "fireDate": ["_0": "date", "repeatInterval": "interval"],
        ])

    package func check() throws(InvalidField) {
        guard let rule = self.outOfRange else { return }
        throw InvalidField(field: "", rule: "has a number out of range: \(rule)")
    }

    /// The longest interval, and the farthest date from 1970 in either direction, in milliseconds: the end of the year
    /// 9999, the last one a date can be written with (RFC 3339, section 1).
    public static let millisecondsMax: Int64 = 253_402_300_799_999

    /// The rule that its numbers break, so that no clock can count to them; nil if they keep it.
    public var outOfRange: String? {
        switch self {
        case .timeInterval(let milliseconds, _) where milliseconds > Self.millisecondsMax:
            "milliseconds must be at most \(Self.millisecondsMax), got \(milliseconds)"
        case .fireDate(let date, _) where date.magnitude > Self.millisecondsMax.magnitude:
            "date must be within \(Self.millisecondsMax) of 1970, got \(date)"
        case .push, .timeInterval, .calendar, .location, .fireDate: nil
        }
    }
}

/// The components of a calendar trigger; nil matches any value (Gregorian calendar).
public struct CalendarComponents: Hashable, Sendable, Codable {
    /// The year, such as 2026.
    public var year: Int?
    /// 1 to 12.
    public var month: Int?
    /// 1 to 31.
    public var day: Int?
    /// 0 to 23.
    public var hour: Int?
    /// 0 to 59.
    public var minute: Int?
    /// 0 to 59.
    public var second: Int?
    /// 1 is Sunday, 7 Saturday.
    public var weekday: Int?

    /// Components; what is left out matches any value.
    public init(
        year: Int? = nil, month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil,
        second: Int? = nil, weekday: Int? = nil
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.weekday = weekday
    }
}

/// A region on the map, by the name its app gave it.
public struct NotificationRegion: Hashable, Sendable, Codable {
    /// `CLRegion.identifier`.
    public var identifier: String
    /// True if entering it counts.
    public var notifiesOnEntry: Bool
    /// True if leaving it counts.
    public var notifiesOnExit: Bool

    private enum CodingKeys: String, CodingKey {
        case identifier = "region"
        case notifiesOnEntry = "on_entry"
        case notifiesOnExit = "on_exit"
    }

    /// A region.
    public init(identifier: String, notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true) {
        self.identifier = identifier
        self.notifiesOnEntry = notifiesOnEntry
        self.notifiesOnExit = notifiesOnExit
    }
}

/// `UILocalNotification.repeatInterval`.
public enum RepeatInterval: String, Hashable, Sendable, CaseIterable, Codable {
    case minute, hour, day, week, month, quarter, year
}
