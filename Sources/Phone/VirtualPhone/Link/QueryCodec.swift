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
        case let other: throw InvalidField(field: "answer", rule: "is not an answer of a phone: \(other)")
        }
    }
}

extension ProcessEvent {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .started: .members([("event", "started")])
        case .exited(let crashed): .members([("event", "exited"), ("crashed", .bool(crashed))])
        case .callbackCompleted(let number, let result):
            .members([("event", "callback_completed"), ("number", .int(number)), ("value", result.json)])
        case .delegateChanged(let isSet): .members([("event", "delegate_changed"), ("is_set", .bool(isSet))])
        case .remoteRegistrationRequested: .members([("event", "remote_registration_requested")])
        case .remoteRegistrationEnded: .members([("event", "remote_registration_ended")])
        case .backgroundTaskBegan(let task): .members([("event", "background_task_began"), ("task", .int(task))])
        case .backgroundTaskEnded(let task): .members([("event", "background_task_ended"), ("task", .int(task))])
        case .iconBadgeNumberSet(let count): .members([("event", "icon_badge_number_set"), ("count", .int(count))])
        case .categoriesSet(let categories):
            .members([("event", "categories_set"), ("categories", .array(categories.map(\.json)))])
        case .pendingRemoved(let identifiers):
            .members([("event", "pending_removed"), ("identifiers", Self.list(identifiers))])
        case .deliveredRemoved(let identifiers):
            .members([("event", "delivered_removed"), ("identifiers", Self.list(identifiers))])
        case .screenChanged(let text): .members([("event", "screen_changed"), ("screen", .string(text))])
        case .query(let number, let query):
            .members([("event", "query"), ("number", .int(number)), ("value", query.json)])
        }
    }

    private static func list(_ identifiers: [String]?) -> JSONValue {
        identifiers.map { .array($0.map { .string($0) }) } ?? .null
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("event") {
        case "started": self = .started
        case "exited": self = .exited(crashed: try fields.bool("crashed"))
        case "callback_completed":
            self = .callbackCompleted(try fields.int("number"), try CallbackResult(json: try fields.value("value")))
        case "delegate_changed": self = .delegateChanged(isSet: try fields.bool("is_set"))
        case "remote_registration_requested": self = .remoteRegistrationRequested
        case "remote_registration_ended": self = .remoteRegistrationEnded
        case "background_task_began": self = .backgroundTaskBegan(try fields.int("task"))
        case "background_task_ended": self = .backgroundTaskEnded(try fields.int("task"))
        case "icon_badge_number_set": self = .iconBadgeNumberSet(try fields.int("count"))
        case "categories_set":
            self = .categoriesSet(try fields.list("categories", NotificationCategory.init(json:)))
        case "pending_removed": self = .pendingRemoved(identifiers: try fields.strings("identifiers"))
        case "delivered_removed": self = .deliveredRemoved(identifiers: try fields.strings("identifiers"))
        case "screen_changed": self = .screenChanged(try fields.string("screen"))
        case "query": self = .query(try fields.int("number"), try Query(json: try fields.value("value")))
        case let other: throw InvalidField(field: "event", rule: "is not an event of a process: \(other)")
        }
    }
}
