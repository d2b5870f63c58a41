package import PhoneCore
package import TidingsModel

// What a notification is made of, as JSON: for the link between a phone and its processes, the control channel and
// traces. Reading names the member that is missing or wrong.

extension NotificationSound {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .standard: .members([("name", .null), ("critical", false)])
        case .named(let name): .members([("name", .string(name)), ("critical", false)])
        case .critical(let name, let volume):
            .members([
                ("name", .optional(name)), ("critical", true),
                ("volume", JSONNumber(volume).map { .number($0) } ?? .int(1)),
            ])
        }
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        let name = try fields["name"] == nil ? nil : fields.string("name")
        if try fields.bool("critical") {
            self = .critical(name: name, volume: try fields.double("volume"))
        } else {
            self = name.map { .named($0) } ?? .standard
        }
    }
}

extension NotificationContent {
    /// The value as one JSON object.
    package var json: JSONValue {
        .members([
            ("title", .string(self.title)), ("subtitle", .string(self.subtitle)), ("body", .string(self.body)),
            ("badge", .optional(self.badge)), ("sound", self.sound?.json ?? .null),
            ("user_info", .object(self.userInfo)), ("category", .string(self.categoryIdentifier)),
            ("thread", .string(self.threadIdentifier)), ("target_content", .optional(self.targetContentIdentifier)),
            ("interruption_level", .int(self.interruptionLevel.rawValue)),
            ("relevance", JSONNumber(self.relevanceScore).map { .number($0) } ?? .int(0)),
            ("launch_image", .string(self.launchImageName)),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            title: try fields.string("title"), subtitle: try fields.string("subtitle"), body: try fields.string("body"),
            badge: try fields["badge"] == nil ? nil : fields.int("badge"),
            sound: try fields["sound"].map { value throws(InvalidField) in try NotificationSound(json: value) },
            userInfo: try fields.members("user_info"), categoryIdentifier: try fields.string("category"),
            threadIdentifier: try fields.string("thread"),
            targetContentIdentifier: try fields["target_content"] == nil ? nil : fields.string("target_content"),
            interruptionLevel: try fields.number("interruption_level"), relevanceScore: try fields.double("relevance"),
            launchImageName: try fields.string("launch_image"))
    }
}

extension NotificationRequest {
    /// The value as one JSON object.
    package var json: JSONValue {
        let trigger: JSONValue =
            switch self.trigger {
            case nil: .null
            case .push: .members([("type", "push")])
            case .timeInterval(let milliseconds, let repeats):
                .members([
                    ("type", "time_interval"), ("milliseconds", .int(milliseconds)), ("repeats", .bool(repeats)),
                ])
            }
        return .members([
            ("identifier", .string(self.identifier)), ("content", self.content.json), ("trigger", trigger),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        var trigger: NotificationTrigger?
        if let value = fields["trigger"] {
            let part = Fields(value)
            switch try part.string("type") {
            case "push": trigger = .push
            case "time_interval":
                trigger = .timeInterval(milliseconds: try part.int("milliseconds"), repeats: try part.bool("repeats"))
            case let other: throw InvalidField(field: "trigger.type", rule: "is not a trigger: \(other)")
            }
        }
        self.init(
            identifier: try fields.string("identifier"),
            content: try NotificationContent(json: try fields.value("content")), trigger: trigger)
    }
}

extension DeliveredNotification {
    /// The value as one JSON object.
    package var json: JSONValue { .members([("request", self.request.json), ("date", .int(self.date))]) }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            request: try NotificationRequest(json: try fields.value("request")), date: try fields.int("date"))
    }
}

extension NotificationResponse {
    /// The value as one JSON object.
    package var json: JSONValue {
        .members([
            ("notification", self.notification.json), ("action", .string(self.actionIdentifier)),
            ("text", .optional(self.userText)),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            notification: try DeliveredNotification(json: try fields.value("notification")),
            actionIdentifier: try fields.string("action"),
            userText: try fields["text"] == nil ? nil : fields.string("text"))
    }
}

extension NotificationCategory {
    /// The value as one JSON object.
    package var json: JSONValue {
        let actions = self.actions.map { action in
            JSONValue.members([
                ("identifier", .string(action.identifier)), ("title", .string(action.title)),
                ("options", .int(action.options.rawValue)), ("takes_text", .bool(action.takesText)),
            ])
        }
        return .members([
            ("identifier", .string(self.identifier)), ("actions", .array(actions)),
            ("reports_dismissal", .bool(self.reportsDismissal)),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        var actions: [NotificationAction] = []
        for element in try fields.array("actions") {
            let action = Fields(element)
            actions.append(
                NotificationAction(
                    identifier: try action.string("identifier"), title: try action.string("title"),
                    options: NotificationAction.Options(rawValue: try action.int("options")),
                    takesText: try action.bool("takes_text")))
        }
        self.init(
            identifier: try fields.string("identifier"), actions: actions,
            reportsDismissal: try fields.bool("reports_dismissal"))
    }
}

extension NotificationSettings {
    /// The value as one JSON object.
    package var json: JSONValue {
        .members([
            ("status", .int(self.authorizationStatus.rawValue)), ("alert", .bool(self.alert)),
            ("sound", .bool(self.sound)), ("badge", .bool(self.badge)),
            ("notification_center", .bool(self.notificationCenter)), ("lock_screen", .bool(self.lockScreen)),
            ("background_refresh", .bool(self.backgroundRefresh)),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            authorizationStatus: try fields.number("status"), alert: try fields.bool("alert"),
            sound: try fields.bool("sound"), badge: try fields.bool("badge"),
            notificationCenter: try fields.bool("notification_center"), lockScreen: try fields.bool("lock_screen"),
            backgroundRefresh: try fields.bool("background_refresh"))
    }
}

extension Fields {
    /// An array of things that are read one by one.
    package func list<Element>(
        _ key: String, _ read: (JSONValue) throws(InvalidField) -> Element
    ) throws(InvalidField) -> [Element] {
        var elements: [Element] = []
        for value in try self.array(key) { elements.append(try read(value)) }
        return elements
    }
}
