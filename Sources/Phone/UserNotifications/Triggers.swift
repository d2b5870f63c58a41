public import Foundation
import PhoneCore

/// The trigger that makes a request fire.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public class UNNotificationTrigger: @unchecked Sendable, Hashable {
    // Immutable, also in the subclasses.

    /// True if it fires again and again.
    public let repeats: Bool
    let value: NotificationTrigger?

    init(repeats: Bool, value: NotificationTrigger?) {
        self.repeats = repeats
        self.value = value
    }

    /// Due at the same times.
    public static func == (left: UNNotificationTrigger, right: UNNotificationTrigger) -> Bool {
        left.value == right.value
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }

    /// A `UILocalNotification`'s trigger has no class of its own.
    static func make(_ trigger: NotificationTrigger) -> UNNotificationTrigger {
        switch trigger {
        case .push: UNPushNotificationTrigger()
        case .timeInterval(let milliseconds, let repeats):
            UNTimeIntervalNotificationTrigger(milliseconds: milliseconds, repeats: repeats)
        case .calendar(let components, let repeats):
            UNCalendarNotificationTrigger(dateMatching: DateComponents(components), repeats: repeats)
        case .location(let region, let repeats):
            UNLocationNotificationTrigger(region: CLRegion(region), repeats: repeats)
        case .fireDate(_, let interval): UNNotificationTrigger(repeats: interval != nil, value: trigger)
        }
    }
}

/// The trigger of a notification that APNs delivered.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    package init() { super.init(repeats: false, value: .push) }
}

/// Fires after some time.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Seconds.
    public let timeInterval: TimeInterval

    /// A trigger.
    ///
    /// - Precondition: the interval is above 0, and at least 60 s if it repeats (Apple throws an exception).
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0, "timeInterval must be above 0")
        precondition(!repeats || timeInterval >= 60, "timeInterval must be at least 60 if repeating")
        self.timeInterval = timeInterval
        super.init(
            repeats: repeats, value: .timeInterval(milliseconds: wholeMilliseconds(timeInterval), repeats: repeats))
    }

    init(milliseconds: Int64, repeats: Bool) {
        self.timeInterval = Double(milliseconds) / 1_000
        super.init(repeats: repeats, value: .timeInterval(milliseconds: milliseconds, repeats: repeats))
    }

    /// When it fires next if it were added now, by the clock of the machine.
    public func nextTriggerDate() -> Date? { Date(timeIntervalSinceNow: self.timeInterval) }
}

/// Fires at the moments whose components match, by the phone's clock and time zone.
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// The components that must match; the phone looks at year, month, day, hour, minute, second and weekday.
    public let dateComponents: DateComponents

    /// A trigger.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats, value: .calendar(CalendarComponents(dateComponents), repeats: repeats))
    }

    /// When it fires next if it were added now, by the clock and the time zone of the machine.
    public func nextTriggerDate() -> Date? {
        (self.dateComponents.calendar ?? Calendar.current).nextDate(
            after: Date(), matching: self.dateComponents, matchingPolicy: .nextTime)
    }
}

/// Fires when the phone crosses a region's border (`VirtualPhone.cross`).
///
/// `@unchecked Sendable`: immutable, so nothing needs a guard; the compiler cannot see it through inheritance.
public final class UNLocationNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Where.
    public let region: CLRegion

    /// A trigger. Looks at the region's flags now.
    public init(region: CLRegion, repeats: Bool) {
        self.region = region
        super.init(repeats: repeats, value: .location(region.value, repeats: repeats))
    }
}

/// Seconds as milliseconds, rounded up. Apple takes any number, also infinity: what a phone has no date for is the farthest
/// it has.
package func wholeMilliseconds(_ seconds: TimeInterval) -> Int64 {
    let farthest = Double(NotificationTrigger.millisecondsMax)
    return Int64(min(max((seconds * 1_000).rounded(.up), -farthest), farthest))
}

extension DateComponents {
    fileprivate init(_ components: CalendarComponents) {
        self.init(
            year: components.year, month: components.month, day: components.day, hour: components.hour,
            minute: components.minute, second: components.second, weekday: components.weekday)
    }
}

extension CalendarComponents {
    fileprivate init(_ components: DateComponents) {
        self.init(
            year: components.year, month: components.month, day: components.day, hour: components.hour,
            minute: components.minute, second: components.second, weekday: components.weekday)
    }
}
