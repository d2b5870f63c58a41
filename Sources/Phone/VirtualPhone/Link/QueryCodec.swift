package import PhoneCore
package import TidingsModel

// What a process reports and asks, and the answers, as JSON.

extension Query {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .requestAuthorization(let options):
            .members([("query", "request_authorization"), ("options", .int(options.rawValue))])
        case .settings: .members([("query", "settings")])
        case .add(let request): .members([("query", "add"), ("request", request.json)])
        case .pendingRequests: .members([("query", "pending_requests")])
        case .deliveredNotifications: .members([("query", "delivered_notifications")])
        case .categories: .members([("query", "categories")])
        case .setBadgeCount(let count): .members([("query", "set_badge_count"), ("count", .int(count))])
        case .badgeCount: .members([("query", "badge_count")])
        case .backgroundTimeRemaining: .members([("query", "background_time_remaining")])
        case .remoteRegistration: .members([("query", "remote_registration")])
        case .backgroundRefreshStatus: .members([("query", "background_refresh_status")])
        case .submitRefreshTask(let request): .members([("query", "submit_refresh_task")] + request.members)
        case .pendingRefreshTasks: .members([("query", "pending_refresh_tasks")])
        case .lowPowerMode: .members([("query", "low_power_mode")])
        case .protectedDataAvailable: .members([("query", "protected_data")])
        }
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("query") {
        case "request_authorization":
            self = .requestAuthorization(AuthorizationOptions(rawValue: try fields.int("options")))
        case "settings": self = .settings
        case "add": self = .add(try NotificationRequest(json: try fields.value("request")))
        case "pending_requests": self = .pendingRequests
        case "delivered_notifications": self = .deliveredNotifications
        case "categories": self = .categories
        case "set_badge_count": self = .setBadgeCount(try fields.int("count"))
        case "badge_count": self = .badgeCount
        case "background_time_remaining": self = .backgroundTimeRemaining
        case "remote_registration": self = .remoteRegistration
        case "background_refresh_status": self = .backgroundRefreshStatus
        case "submit_refresh_task": self = .submitRefreshTask(try RefreshTaskRequest(json: json))
        case "pending_refresh_tasks": self = .pendingRefreshTasks
        case "low_power_mode": self = .lowPowerMode
        case "protected_data": self = .protectedDataAvailable
        case let other: throw InvalidField(field: "query", rule: "is not a question of a process: \(other)")
        }
    }
}

extension QueryAnswer {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .granted(let isGranted): .members([("answer", "granted"), ("granted", .bool(isGranted))])
        case .settings(let settings): .members([("answer", "settings"), ("settings", settings.json)])
        case .added: .members([("answer", "added")])
        case .done: .members([("answer", "done")])
        case .refused(let error): .members([("answer", "refused"), ("code", .int(error.rawValue))])
        case .pending(let requests):
            .members([("answer", "pending"), ("requests", .array(requests.map(\.json)))])
        case .delivered(let notifications):
            .members([("answer", "delivered"), ("notifications", .array(notifications.map(\.json)))])
        case .categories(let categories):
            .members([("answer", "categories"), ("categories", .array(categories.map(\.json)))])
        case .badge(let count): .members([("answer", "badge"), ("count", .int(count))])
        case .backgroundTime(let milliseconds):
            .members([("answer", "background_time"), ("milliseconds", .optional(milliseconds))])
        case .registered(let isRegistered): .members([("answer", "registered"), ("registered", .bool(isRegistered))])
        case .backgroundRefreshStatus(let status):
            .members([("answer", "background_refresh_status"), ("status", .int(status.rawValue))])
        case .taskRefused(let error): .members([("answer", "task_refused"), ("code", .int(error.rawValue))])
        case .refreshTasks(let requests):
            .members([
                ("answer", "refresh_tasks"), ("requests", .array(requests.map { .members($0.members) })),
            ])
        case .protectedData(let isAvailable):
            .members([("answer", "protected_data"), ("available", .bool(isAvailable))])
        case .lowPowerMode(let isOn): .members([("answer", "low_power_mode"), ("on", .bool(isOn))])
        }
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("answer") {
        case "granted": self = .granted(try fields.bool("granted"))
        case "settings": self = .settings(try NotificationSettings(json: try fields.value("settings")))
        case "added": self = .added
        case "done": self = .done
        case "refused": self = .refused(try fields.number("code"))
        case "pending": self = .pending(try fields.list("requests", NotificationRequest.init(json:)))
        case "delivered": self = .delivered(try fields.list("notifications", DeliveredNotification.init(json:)))
        case "categories": self = .categories(try fields.list("categories", NotificationCategory.init(json:)))
        case "badge": self = .badge(try fields.int("count"))
        case "background_time":
            self = .backgroundTime(try fields["milliseconds"] == nil ? nil : fields.int("milliseconds"))
        case "registered": self = .registered(try fields.bool("registered"))
        case "background_refresh_status": self = .backgroundRefreshStatus(try fields.number("status"))
        case "task_refused": self = .taskRefused(try fields.number("code"))
        case "refresh_tasks": self = .refreshTasks(try fields.list("requests", RefreshTaskRequest.init(json:)))
        case "protected_data": self = .protectedData(isAvailable: try fields.bool("available"))
        case "low_power_mode": self = .lowPowerMode(try fields.bool("on"))
        case let other: throw InvalidField(field: "answer", rule: "is not an answer of a phone: \(other)")
        }
    }
}

extension RefreshTaskRequest {
    /// The value as members of an object.
    package var members: [(String, JSONValue)] {
        [("identifier", .string(self.identifier)), ("earliest_begin", .optional(self.earliestBegin))]
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            identifier: try fields.string("identifier"),
            earliestBegin: try fields["earliest_begin"] == nil ? nil : fields.int("earliest_begin"))
    }
}
