package import PhoneCore
package import TidingsModel

// What a process reports, as JSON.

extension ProcessEvent {
    // tidy: long because it is one case per event.
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
        case .expiringActivityBegan(let activity):
            .members([("event", "expiring_activity_began"), ("activity", .int(activity))])
        case .expiringActivityEnded(let activity):
            .members([("event", "expiring_activity_ended"), ("activity", .int(activity))])
        case .iconBadgeNumberSet(let count): .members([("event", "icon_badge_number_set"), ("count", .int(count))])
        case .categoriesSet(let categories):
            .members([("event", "categories_set"), ("categories", .array(categories.map(\.json)))])
        case .pendingRemoved(let identifiers):
            .members([("event", "pending_removed"), ("identifiers", Self.list(identifiers))])
        case .deliveredRemoved(let identifiers):
            .members([("event", "delivered_removed"), ("identifiers", Self.list(identifiers))])
        case .remoteTypesRequested(let types):
            .members([("event", "remote_types_requested"), ("types", .int(types.rawValue))])
        case .userNotificationSettingsRegistered(let types, let categories):
            .members([
                ("event", "user_notification_settings_registered"), ("types", .int(types.rawValue)),
                ("categories", .array(categories.map(\.json))),
            ])
        case .localNotificationScheduled(let request):
            .members([("event", "local_notification_scheduled"), ("request", request.json)])
        case .localNotificationCancelled(let identifier):
            .members([("event", "local_notification_cancelled"), ("identifier", .optional(identifier))])
        case .minimumFetchIntervalSet(let interval):
            .members([("event", "minimum_fetch_interval_set"), ("milliseconds", .optional(interval))])
        case .refreshTaskRegistered(let identifier):
            .members([("event", "refresh_task_registered"), ("identifier", .string(identifier))])
        case .refreshTaskCompleted(let identifier, let success):
            .members([
                ("event", "refresh_task_completed"), ("identifier", .string(identifier)), ("success", .bool(success)),
            ])
        case .refreshTaskCancelled(let identifier):
            .members([("event", "refresh_task_cancelled"), ("identifier", .optional(identifier))])
        case .voipRegistrationChanged(let isOn):
            .members([("event", "voip_registration_changed"), ("on", .bool(isOn))])
        case .incomingCallReported: .members([("event", "incoming_call_reported")])
        case .callEnded: .members([("event", "call_ended")])
        case .activityStarted(let activity, let pushType, let contentState):
            .members([
                ("event", "activity_started"), ("activity", .string(activity)),
                ("wants_token", .bool(pushType == .token)), ("channel", .optional(pushType?.channel)),
                ("content_state", contentState),
            ])
        case .activityContentChanged(let activity, let contentState):
            .members([
                ("event", "activity_content_changed"), ("activity", .string(activity)),
                ("content_state", contentState),
            ])
        case .activityEnded(let activity):
            .members([("event", "activity_ended"), ("activity", .string(activity))])
        case .pushToStartRequested: .members([("event", "push_to_start_requested")])
        case .appGroupLockTaken(let name):
            .members([("event", "app_group_lock_taken"), ("lock", .string(name))])
        case .appGroupLockReleased(let name):
            .members([("event", "app_group_lock_released"), ("lock", .string(name))])
        case .memoryUseChanged(let bytes): .members([("event", "memory_use_changed"), ("bytes", .int(bytes))])
        case .systemSoundPlayed(let sound):
            .members([
                ("event", "system_sound_played"), ("sound", .int(sound.number)), ("alert", .bool(sound.isAlert)),
            ])
        case .screenChanged(let text): .members([("event", "screen_changed"), ("screen", .string(text))])
        case .query(let number, let query):
            .members([("event", "query"), ("number", .int(number)), ("value", query.json)])
        }
    }

    private static func list(_ identifiers: [String]?) -> JSONValue {
        identifiers.map { .array($0.map { .string($0) }) } ?? .null
    }

    // tidy: long because it is one case per event.
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
        case "expiring_activity_began": self = .expiringActivityBegan(try fields.int("activity"))
        case "expiring_activity_ended": self = .expiringActivityEnded(try fields.int("activity"))
        case "icon_badge_number_set": self = .iconBadgeNumberSet(try fields.int("count"))
        case "categories_set":
            self = .categoriesSet(try fields.list("categories", NotificationCategory.init(json:)))
        case "pending_removed": self = .pendingRemoved(identifiers: try fields.strings("identifiers"))
        case "delivered_removed": self = .deliveredRemoved(identifiers: try fields.strings("identifiers"))
        case "remote_types_requested":
            self = .remoteTypesRequested(AuthorizationOptions(rawValue: try fields.int("types")))
        case "user_notification_settings_registered":
            self = .userNotificationSettingsRegistered(
                AuthorizationOptions(rawValue: try fields.int("types")),
                try fields.list("categories", NotificationCategory.init(json:)))
        case "local_notification_scheduled":
            self = .localNotificationScheduled(try NotificationRequest(json: try fields.value("request")))
        case "local_notification_cancelled":
            self = .localNotificationCancelled(identifier: try fields.optionalString("identifier"))
        case "minimum_fetch_interval_set":
            self = .minimumFetchIntervalSet(try fields["milliseconds"] == nil ? nil : fields.int("milliseconds"))
        case "refresh_task_registered": self = .refreshTaskRegistered(identifier: try fields.string("identifier"))
        case "refresh_task_completed":
            self = .refreshTaskCompleted(
                identifier: try fields.string("identifier"), success: try fields.bool("success"))
        case "refresh_task_cancelled":
            self = .refreshTaskCancelled(identifier: try fields.optionalString("identifier"))
        case "voip_registration_changed": self = .voipRegistrationChanged(isOn: try fields.bool("on"))
        case "incoming_call_reported": self = .incomingCallReported
        case "call_ended": self = .callEnded
        case "activity_started":
            self = .activityStarted(
                activity: try fields.string("activity"),
                pushType: ActivityPushType(
                    channel: try fields.optionalString("channel"), hasToken: try fields.bool("wants_token")),
                contentState: try fields.value("content_state"))
        case "activity_content_changed":
            self = .activityContentChanged(
                activity: try fields.string("activity"), contentState: try fields.value("content_state"))
        case "activity_ended": self = .activityEnded(activity: try fields.string("activity"))
        case "push_to_start_requested": self = .pushToStartRequested
        case "app_group_lock_taken": self = .appGroupLockTaken(try fields.string("lock"))
        case "app_group_lock_released": self = .appGroupLockReleased(try fields.string("lock"))
        case "system_sound_played":
            self = .systemSoundPlayed(
                SystemSound(number: try fields.int("sound"), isAlert: try fields.bool("alert")))
        case "memory_use_changed": self = .memoryUseChanged(bytes: try fields.int("bytes"))
        case "screen_changed": self = .screenChanged(try fields.string("screen"))
        case "query": self = .query(try fields.int("number"), try Query(json: try fields.value("value")))
        case let other: throw InvalidField(field: "event", rule: "is not an event of a process: \(other)")
        }
    }
}

extension ActivityPushType {
    fileprivate init?(channel: String?, hasToken: Bool) {
        if let channel {
            self = .channel(channel)
        } else if hasToken {
            self = .token
        } else {
            return nil
        }
    }

    /// The channel, if it is one.
    fileprivate var channel: String? {
        switch self {
        case .token: nil
        case .channel(let channel): channel
        }
    }
}
