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
            ("launch_image", .string(self.launchImageName)), ("summary_argument", .string(self.summaryArgument)),
            ("summary_count", .int(self.summaryArgumentCount)),
            (
                "attachments",
                .array(
                    self.attachments.map {
                        .members([("identifier", .string($0.identifier)), ("url", .string($0.url))])
                    })
            ),
            ("filter_criteria", .optional(self.filterCriteria)), ("communication", .bool(self.isCommunication)),
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
            launchImageName: try fields.string("launch_image"),
            summaryArgument: try fields.string("summary_argument"),
            summaryArgumentCount: try fields.int("summary_count"),
            attachments: try fields.list("attachments") { value throws(InvalidField) in
                let file = Fields(value)
                return NotificationAttachment(
                    identifier: try file.string("identifier"), url: try file.string("url"))
            }, filterCriteria: try fields.optionalString("filter_criteria"),
            isCommunication: try fields.bool("communication"))
    }
}

extension NotificationRequest {
    /// The value as one JSON object.
    package var json: JSONValue {
        .members([
            ("identifier", .string(self.identifier)), ("content", self.content.json),
            ("trigger", self.trigger?.json ?? .null),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            identifier: try fields.string("identifier"),
            content: try NotificationContent(json: try fields.value("content")),
            trigger: try fields["trigger"].map { value throws(InvalidField) in try NotificationTrigger(json: value) })
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

extension UserResponse {
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
