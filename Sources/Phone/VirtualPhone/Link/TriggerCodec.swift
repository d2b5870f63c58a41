package import PhoneCore
package import TidingsModel

// Triggers as JSON: `{"type": …, …arguments}`.

extension NotificationTrigger {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .push: .members([("type", "push")])
        case .timeInterval(let milliseconds, let repeats):
            .members([("type", "time_interval"), ("milliseconds", .int(milliseconds)), ("repeats", .bool(repeats))])
        case .calendar(let components, let repeats):
            .members([("type", "calendar"), ("repeats", .bool(repeats))] + components.members)
        case .location(let region, let repeats):
            .members([
                ("type", "location"), ("region", .string(region.identifier)),
                ("on_entry", .bool(region.notifiesOnEntry)), ("on_exit", .bool(region.notifiesOnExit)),
                ("repeats", .bool(repeats)),
            ])
        case .fireDate(let date, let repeatInterval):
            .members([
                ("type", "fire_date"), ("date", .int(date)), ("interval", .optional(repeatInterval?.rawValue)),
            ])
        }
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("type") {
        case "push": self = .push
        case "time_interval":
            self = .timeInterval(
                milliseconds: try fields.int("milliseconds"), repeats: try fields.bool("repeats"))
        case "calendar": self = .calendar(try CalendarComponents(fields), repeats: try fields.bool("repeats"))
        case "location":
            self = .location(
                NotificationRegion(
                    identifier: try fields.string("region"), notifiesOnEntry: try fields.bool("on_entry"),
                    notifiesOnExit: try fields.bool("on_exit")), repeats: try fields.bool("repeats"))
        case "fire_date":
            let interval: RepeatInterval? = try fields["interval"] == nil ? nil : fields.choice("interval")
            self = .fireDate(try fields.int("date"), repeatInterval: interval)
        case let other: throw InvalidField(field: "trigger.type", rule: "is not a trigger: \(other)")
        }
        if let rule = self.outOfRange {
            throw InvalidField(field: "trigger", rule: "has a number out of range: \(rule)")
        }
    }
}

extension CalendarComponents {
    /// The components as members of an object; null for what is left out.
    package var members: [(String, JSONValue)] {
        [
            ("year", .optional(self.year)), ("month", .optional(self.month)), ("day", .optional(self.day)),
            ("hour", .optional(self.hour)), ("minute", .optional(self.minute)),
            ("second", .optional(self.second)), ("weekday", .optional(self.weekday)),
        ]
    }

    /// Reads the value; throws `InvalidField` naming the member that is wrong.
    package init(_ fields: Fields) throws(InvalidField) {
        self.init(
            year: try fields.optionalInt("year"), month: try fields.optionalInt("month"),
            day: try fields.optionalInt("day"), hour: try fields.optionalInt("hour"),
            minute: try fields.optionalInt("minute"), second: try fields.optionalInt("second"),
            weekday: try fields.optionalInt("weekday"))
    }
}
