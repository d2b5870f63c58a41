public import Foundation
import PhoneCore
import TidingsModel
import UserNotifications
import VirtualPhone

/// A local notification of iOS 4–9. Deprecated by Apple from iOS 10 and still understood by it.
public final class UILocalNotification: Hashable {
    /// When; nil is now.
    public var fireDate: Date?
    /// The zone the date is told in; nil is an absolute moment. A virtual phone does not travel, so both are the same.
    public var timeZone: TimeZone?
    /// How often it comes again; empty is never. Kept to the largest unit of the set.
    public var repeatInterval: NSCalendar.Unit = []
    /// The calendar it comes again by; kept.
    public var repeatCalendar: Calendar?
    /// The text.
    public var alertBody: String?
    /// True if there is a button, or a slider on the lock screen.
    public var hasAction = true
    /// The title of the button; nil is the system's word.
    public var alertAction: String?
    /// The image shown while the app starts.
    public var alertLaunchImage: String?
    /// The title (iOS 8.2).
    public var alertTitle: String?
    /// The sound's file name, or `UILocalNotificationDefaultSoundName`; nil is silence.
    public var soundName: String?
    /// The number for the icon; 0 changes nothing.
    public var applicationIconBadgeNumber = 0
    /// The category, which gives the actions (iOS 8).
    public var category: String?
    /// The app's own data; values a property list holds.
    public var userInfo: [AnyHashable: Any]?
    private(set) var identifier = ""

    /// A local notification that says nothing yet.
    public init() {}

    /// With the same properties.
    public static func == (left: UILocalNotification, right: UILocalNotification) -> Bool {
        left.value(identifier: "", isNow: false) == right.value(identifier: "", isNow: false)
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.alertBody) }

    /// Another one of the same parts. Apple's returns `Any`; so does this.
    public func copy() -> Any {
        let copy = UILocalNotification()
        copy.fireDate = self.fireDate
        copy.timeZone = self.timeZone
        copy.repeatInterval = self.repeatInterval
        copy.repeatCalendar = self.repeatCalendar
        copy.alertBody = self.alertBody
        copy.hasAction = self.hasAction
        copy.alertAction = self.alertAction
        copy.alertLaunchImage = self.alertLaunchImage
        copy.alertTitle = self.alertTitle
        copy.soundName = self.soundName
        copy.applicationIconBadgeNumber = self.applicationIconBadgeNumber
        copy.category = self.category
        copy.userInfo = self.userInfo
        copy.identifier = self.identifier
        return copy
    }
}

/// The system's sound.
public let UILocalNotificationDefaultSoundName = "UILocalNotificationDefaultSoundName"

// To the phone and back. What a request has no part for travels in its data, under a key the app does not see.
extension UILocalNotification {
    convenience init(_ request: NotificationRequest) {
        self.init()
        let content = request.content
        self.identifier = request.identifier
        self.alertBody = content.body.isEmpty ? nil : content.body
        self.alertTitle = content.title.isEmpty ? nil : content.title
        self.applicationIconBadgeNumber = content.badge ?? 0
        self.category = content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier
        self.alertLaunchImage = content.launchImageName.isEmpty ? nil : content.launchImageName
        let info = UNNotificationContent(parts: content).userInfo
        self.userInfo = info.isEmpty ? nil : info
        if case .fireDate(let wall, let interval) = request.trigger {
            self.fireDate = Date(timeIntervalSince1970: Double(wall) / 1_000)
            self.repeatInterval = interval?.unit ?? []
        }
        let legacy = content.userInfo[legacyPartsKey]
        self.alertAction = legacy?["alertAction"]?.stringValue
        self.hasAction = legacy?["hasAction"]?.boolValue ?? true
        self.timeZone = legacy?["timeZone"]?.stringValue.flatMap { TimeZone(identifier: $0) }
        if let date = legacy?["fireDate"]?.intValue {
            self.fireDate = Date(timeIntervalSince1970: Double(date) / 1_000)
        }
        switch content.sound {
        case nil: self.soundName = nil
        case .standard, .critical: self.soundName = UILocalNotificationDefaultSoundName
        case .named(let name): self.soundName = name
        }
    }

    /// Remembers the identifier, so that the notification can be cancelled.
    func request(identifier: String, isNow: Bool) -> NotificationRequest {
        self.identifier = identifier
        return self.value(identifier: identifier, isNow: isNow)
    }

    private func value(identifier: String, isNow: Bool) -> NotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = self.alertTitle ?? ""
        content.body = self.alertBody ?? ""
        content.badge = self.applicationIconBadgeNumber == 0 ? nil : NSNumber(value: self.applicationIconBadgeNumber)
        content.categoryIdentifier = self.category ?? ""
        content.launchImageName = self.alertLaunchImage ?? ""
        content.userInfo = self.userInfo ?? [:]
        if let name = self.soundName {
            content.sound =
                name == UILocalNotificationDefaultSoundName
                ? .default : UNNotificationSound(named: UNNotificationSoundName(name))
        }
        var parts = content.parts
        if let legacy = self.legacyParts(isNow: isNow) { parts.userInfo[legacyPartsKey] = legacy }
        let moment = isNow ? nil : self.fireDate.map { wholeMilliseconds($0.timeIntervalSince1970) }
        return NotificationRequest(
            identifier: identifier, content: parts,
            trigger: moment.map { .fireDate($0, repeatInterval: RepeatInterval(self.repeatInterval)) })
    }

    private func legacyParts(isNow: Bool) -> JSONValue? {
        var members: [(String, JSONValue)] = []
        if let alertAction = self.alertAction { members.append(("alertAction", .string(alertAction))) }
        if !self.hasAction { members.append(("hasAction", false)) }
        if let timeZone = self.timeZone { members.append(("timeZone", .string(timeZone.identifier))) }
        if isNow, let date = self.fireDate {
            members.append(("fireDate", .int(wholeMilliseconds(date.timeIntervalSince1970))))
        }
        return members.isEmpty ? nil : .members(members)
    }
}

extension RepeatInterval {
    /// The largest unit of a set; nil for none that repeats.
    fileprivate init?(_ unit: NSCalendar.Unit) {
        let known: [(NSCalendar.Unit, RepeatInterval)] = [
            (.year, .year), (.quarter, .quarter), (.month, .month), (.weekOfYear, .week), (.weekOfMonth, .week),
            (.day, .day), (.weekday, .day), (.hour, .hour), (.minute, .minute),
        ]
        guard let match = known.first(where: { unit.contains($0.0) }) else { return nil }
        self = match.1
    }

    fileprivate var unit: NSCalendar.Unit {
        switch self {
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        case .week: .weekOfYear
        case .month: .month
        case .quarter: .quarter
        case .year: .year
        }
    }
}
