package import PhoneCore
package import TidingsModel

// Categories and settings as JSON.

extension NotificationCategory {
    /// The value as one JSON object.
    package var json: JSONValue {
        let actions = self.actions.map { action in
            JSONValue.members([
                ("identifier", .string(action.identifier)), ("title", .string(action.title)),
                ("options", .int(action.options.rawValue)), ("takes_text", .bool(action.takesText)),
                ("text_button", .string(action.textButtonTitle)),
                ("text_hint", .string(action.textHint)),
            ])
        }
        return .members([
            ("identifier", .string(self.identifier)), ("actions", .array(actions)),
            ("options", .int(self.options.rawValue)),
            ("hidden_body", .string(self.hiddenPreviewsBodyPlaceholder)),
            ("summary_format", .string(self.categorySummaryFormat)),
            ("intents", .array(self.intentIdentifiers.map { .string($0) })),
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
                    takesText: try action.bool("takes_text"), textButtonTitle: try action.string("text_button"),
                    textHint: try action.string("text_hint")))
        }
        self.init(
            identifier: try fields.string("identifier"), actions: actions,
            options: NotificationCategory.Options(rawValue: try fields.int("options")),
            hiddenPreviewsBodyPlaceholder: try fields.string("hidden_body"),
            categorySummaryFormat: try fields.string("summary_format"),
            intentIdentifiers: try fields.strings("intents") ?? [])
    }
}

extension NotificationSettings {
    /// The value as one JSON object.
    package var json: JSONValue {
        .members([
            ("status", .int(self.authorizationStatus.rawValue)), ("alert", .bool(self.alert)),
            ("sound", .bool(self.sound)), ("badge", .bool(self.badge)),
            ("notification_center", .bool(self.notificationCenter)), ("lock_screen", .bool(self.lockScreen)),
            ("background_refresh", .bool(self.backgroundRefresh)), ("alert_style", .int(self.alertStyle.rawValue)),
            ("show_previews", .int(self.showPreviews.rawValue)), ("critical_alert", .bool(self.criticalAlert)),
            ("announcement", .bool(self.announcement)), ("time_sensitive", .bool(self.timeSensitive)),
            ("scheduled_delivery", .bool(self.scheduledDelivery)), ("direct_messages", .bool(self.directMessages)),
            ("app_settings", .bool(self.providesAppNotificationSettings)),
        ])
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        self.init(
            authorizationStatus: try fields.number("status"), alert: try fields.bool("alert"),
            sound: try fields.bool("sound"), badge: try fields.bool("badge"),
            notificationCenter: try fields.bool("notification_center"), lockScreen: try fields.bool("lock_screen"),
            backgroundRefresh: try fields.bool("background_refresh"), alertStyle: try fields.number("alert_style"),
            showPreviews: try fields.number("show_previews"), criticalAlert: try fields.bool("critical_alert"),
            announcement: try fields.bool("announcement"), timeSensitive: try fields.bool("time_sensitive"),
            scheduledDelivery: try fields.bool("scheduled_delivery"),
            directMessages: try fields.bool("direct_messages"),
            providesAppNotificationSettings: try fields.bool("app_settings"))
    }
}
