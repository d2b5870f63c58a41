package import PhoneCore
package import TidingsModel

// Callbacks and their answers as JSON: `{"name": …, …arguments}`.

extension LaunchOptions {
    /// The options as members of an object; null for what is not there.
    package var members: [(String, JSONValue)] {
        [
            ("remote_notification", self.remoteNotification.map { .object($0) } ?? .null),
            ("local_notification", self.localNotification?.json ?? .null),
        ]
    }

    /// Reads the options; throws `InvalidField` naming the member that is wrong.
    package init(_ fields: Fields) throws(InvalidField) {
        self.init(
            remoteNotification: try fields["remote_notification"] == nil ? nil : fields.members("remote_notification"),
            localNotification: try fields["local_notification"].map { value throws(InvalidField) in
                try NotificationRequest(json: value)
            })
    }
}

/// The callbacks as words.
private enum CallbackName: String, CaseIterable {
    case willFinishLaunching, didFinishLaunching, applicationWillEnterForeground, applicationDidBecomeActive
    case applicationWillResignActive, applicationDidEnterBackground, applicationWillTerminate
    case applicationDidReceiveMemoryWarning, sceneConfiguration, sceneWillConnect, sceneWillEnterForeground
    case sceneDidBecomeActive, sceneWillResignActive, sceneDidEnterBackground, sceneDidDisconnect, receiveRemote
    case receiveRemoteFetch, receiveLocal, handleActionRemote, handleActionLocal, willPresent, receiveResponse
    case registeredForRemoteNotifications, failedToRegisterForRemoteNotifications, backgroundTaskExpired,
        serviceExtensionReceive, expiringActivityExpired
    case serviceExtensionTimeWillExpire, openSettings, registeredUserNotificationSettings, performFetch
    case refreshTaskLaunched, refreshTaskExpired, backgroundRefreshStatusChanged, voipTokenUpdated, voipPushReceived
    case voipTokenInvalidated, activityTokenUpdated, pushToStartTokenUpdated, activityUpdated
    case protectedDataDidBecomeAvailable, protectedDataWillBecomeUnavailable
}

extension ActivityUpdate {
    /// The value as members of an object.
    package var members: [(String, JSONValue)] {
        [
            ("activity", .string(self.activity)), ("change", .string(self.change.rawValue)),
            ("content_state", self.contentState),
        ]
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(_ fields: Fields) throws(InvalidField) {
        self.init(
            activity: try fields.string("activity"), change: try fields.choice("change"),
            contentState: try fields.value("content_state"))
    }
}

extension Callback {
    // tidy: long because it is one case per callback.
    private var encoded: (CallbackName, [(String, JSONValue)]) {
        switch self {
        case .willFinishLaunching(let options): (.willFinishLaunching, options.members)
        case .didFinishLaunching(let options): (.didFinishLaunching, options.members)
        case .applicationWillEnterForeground: (.applicationWillEnterForeground, [])
        case .applicationDidBecomeActive: (.applicationDidBecomeActive, [])
        case .applicationWillResignActive: (.applicationWillResignActive, [])
        case .applicationDidEnterBackground: (.applicationDidEnterBackground, [])
        case .applicationWillTerminate: (.applicationWillTerminate, [])
        case .applicationDidReceiveMemoryWarning: (.applicationDidReceiveMemoryWarning, [])
        case .sceneConfiguration(let response): (.sceneConfiguration, [("response", response?.json ?? .null)])
        case .sceneWillConnect(let response): (.sceneWillConnect, [("response", response?.json ?? .null)])
        case .sceneWillEnterForeground: (.sceneWillEnterForeground, [])
        case .sceneDidBecomeActive: (.sceneDidBecomeActive, [])
        case .sceneWillResignActive: (.sceneWillResignActive, [])
        case .sceneDidEnterBackground: (.sceneDidEnterBackground, [])
        case .sceneDidDisconnect: (.sceneDidDisconnect, [])
        case .receiveRemote(let payload): (.receiveRemote, [("payload", .object(payload))])
        case .receiveRemoteFetch(let payload): (.receiveRemoteFetch, [("payload", .object(payload))])
        case .receiveLocal(let request): (.receiveLocal, [("request", request.json)])
        case .handleActionRemote(let identifier, let payload, let text):
            (
                .handleActionRemote,
                [("identifier", .string(identifier)), ("payload", .object(payload)), ("text", .optional(text))]
            )
        case .handleActionLocal(let identifier, let request, let text):
            (
                .handleActionLocal,
                [("identifier", .string(identifier)), ("request", request.json), ("text", .optional(text))]
            )
        case .willPresent(let notification): (.willPresent, [("notification", notification.json)])
        case .receiveResponse(let response): (.receiveResponse, [("response", response.json)])
        case .registeredForRemoteNotifications(let token):
            (.registeredForRemoteNotifications, [("token", .string(token.rawValue))])
        case .failedToRegisterForRemoteNotifications(let reason):
            (.failedToRegisterForRemoteNotifications, [("reason", .string(reason))])
        case .backgroundTaskExpired(let task): (.backgroundTaskExpired, [("task", .int(task))])
        case .expiringActivityExpired(let activity): (.expiringActivityExpired, [("activity", .int(activity))])
        case .serviceExtensionReceive(let request): (.serviceExtensionReceive, [("request", request.json)])
        case .serviceExtensionTimeWillExpire(let identifier, let call):
            (.serviceExtensionTimeWillExpire, [("identifier", .string(identifier)), ("call", .int(call))])
        case .openSettings(let notification): (.openSettings, [("notification", notification?.json ?? .null)])
        case .registeredUserNotificationSettings(let types):
            (.registeredUserNotificationSettings, [("types", .int(types.rawValue))])
        case .performFetch: (.performFetch, [])
        case .refreshTaskLaunched(let identifier): (.refreshTaskLaunched, [("identifier", .string(identifier))])
        case .refreshTaskExpired(let identifier): (.refreshTaskExpired, [("identifier", .string(identifier))])
        case .backgroundRefreshStatusChanged(let status):
            (.backgroundRefreshStatusChanged, [("status", .int(status.rawValue))])
        case .protectedDataDidBecomeAvailable: (.protectedDataDidBecomeAvailable, [])
        case .protectedDataWillBecomeUnavailable: (.protectedDataWillBecomeUnavailable, [])
        case .voipTokenUpdated(let token): (.voipTokenUpdated, [("token", .string(token.rawValue))])
        case .voipPushReceived(let payload): (.voipPushReceived, [("payload", .object(payload))])
        case .voipTokenInvalidated: (.voipTokenInvalidated, [])
        case .activityTokenUpdated(let activity, let token):
            (.activityTokenUpdated, [("activity", .string(activity)), ("token", .string(token.rawValue))])
        case .pushToStartTokenUpdated(let token): (.pushToStartTokenUpdated, [("token", .string(token.rawValue))])
        case .activityUpdated(let update): (.activityUpdated, update.members)
        }
    }

    /// The value as one JSON object.
    package var json: JSONValue {
        let (name, arguments) = self.encoded
        return .members([("name", .string(name.rawValue))] + arguments)
    }

    // tidy: long because it is one case per callback.
    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        let name: CallbackName = try fields.choice("name")
        switch name {
        case .willFinishLaunching: self = .willFinishLaunching(try LaunchOptions(fields))
        case .didFinishLaunching: self = .didFinishLaunching(try LaunchOptions(fields))
        case .applicationWillEnterForeground: self = .applicationWillEnterForeground
        case .applicationDidBecomeActive: self = .applicationDidBecomeActive
        case .applicationWillResignActive: self = .applicationWillResignActive
        case .applicationDidEnterBackground: self = .applicationDidEnterBackground
        case .applicationWillTerminate: self = .applicationWillTerminate
        case .applicationDidReceiveMemoryWarning: self = .applicationDidReceiveMemoryWarning
        case .sceneConfiguration:
            self = .sceneConfiguration(
                try fields["response"].map { value throws(InvalidField) in try UserResponse(json: value) })
        case .sceneWillConnect:
            self = .sceneWillConnect(
                try fields["response"].map { value throws(InvalidField) in try UserResponse(json: value) })
        case .sceneWillEnterForeground: self = .sceneWillEnterForeground
        case .sceneDidBecomeActive: self = .sceneDidBecomeActive
        case .sceneWillResignActive: self = .sceneWillResignActive
        case .sceneDidEnterBackground: self = .sceneDidEnterBackground
        case .sceneDidDisconnect: self = .sceneDidDisconnect
        case .receiveRemote: self = .receiveRemote(try fields.members("payload"))
        case .receiveRemoteFetch: self = .receiveRemoteFetch(try fields.members("payload"))
        case .receiveLocal: self = .receiveLocal(try NotificationRequest(json: try fields.value("request")))
        case .handleActionRemote:
            self = .handleActionRemote(
                identifier: try fields.string("identifier"), try fields.members("payload"),
                text: try fields["text"] == nil ? nil : fields.string("text"))
        case .handleActionLocal:
            self = .handleActionLocal(
                identifier: try fields.string("identifier"),
                try NotificationRequest(json: try fields.value("request")),
                text: try fields["text"] == nil ? nil : fields.string("text"))
        case .willPresent:
            self = .willPresent(try DeliveredNotification(json: try fields.value("notification")))
        case .receiveResponse:
            self = .receiveResponse(try UserResponse(json: try fields.value("response")))
        case .registeredForRemoteNotifications:
            self = .registeredForRemoteNotifications(PushToken(try fields.string("token")))
        case .failedToRegisterForRemoteNotifications:
            self = .failedToRegisterForRemoteNotifications(reason: try fields.string("reason"))
        case .backgroundTaskExpired: self = .backgroundTaskExpired(try fields.int("task"))
        case .expiringActivityExpired: self = .expiringActivityExpired(try fields.int("activity"))
        case .serviceExtensionReceive:
            self = .serviceExtensionReceive(try NotificationRequest(json: try fields.value("request")))
        case .serviceExtensionTimeWillExpire:
            self = .serviceExtensionTimeWillExpire(
                identifier: try fields.string("identifier"), call: try fields.int("call"))
        case .openSettings:
            self = .openSettings(
                try fields["notification"].map { value throws(InvalidField) in try DeliveredNotification(json: value) })
        case .registeredUserNotificationSettings:
            self = .registeredUserNotificationSettings(AuthorizationOptions(rawValue: try fields.int("types")))
        case .performFetch: self = .performFetch
        case .refreshTaskLaunched: self = .refreshTaskLaunched(identifier: try fields.string("identifier"))
        case .refreshTaskExpired: self = .refreshTaskExpired(identifier: try fields.string("identifier"))
        case .backgroundRefreshStatusChanged: self = .backgroundRefreshStatusChanged(try fields.number("status"))
        case .protectedDataDidBecomeAvailable: self = .protectedDataDidBecomeAvailable
        case .protectedDataWillBecomeUnavailable: self = .protectedDataWillBecomeUnavailable
        case .voipTokenUpdated: self = .voipTokenUpdated(PushToken(try fields.string("token")))
        case .voipPushReceived: self = .voipPushReceived(try fields.members("payload"))
        case .voipTokenInvalidated: self = .voipTokenInvalidated
        case .activityTokenUpdated:
            self = .activityTokenUpdated(
                activity: try fields.string("activity"), PushToken(try fields.string("token")))
        case .pushToStartTokenUpdated: self = .pushToStartTokenUpdated(PushToken(try fields.string("token")))
        case .activityUpdated: self = .activityUpdated(try ActivityUpdate(fields))
        }
    }
}

extension FetchResult {
    /// The word of Apple's case.
    package var word: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        }
    }
}

extension CallbackResult {
    /// The value as one JSON object.
    package var json: JSONValue {
        switch self {
        case .returned: .members([("result", "returned")])
        case .fetch(let result): .members([("result", "fetch"), ("fetch", .int(result.rawValue))])
        case .presentation(let options):
            .members([("result", "presentation"), ("options", .int(options.rawValue))])
        case .content(let content): .members([("result", "content"), ("content", content.json)])
        }
    }

    /// Reads the value; throws `InvalidField` naming the member that is missing or wrong.
    package init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("result") {
        case "returned": self = .returned
        case "fetch": self = .fetch(try fields.number("fetch"))
        case "presentation": self = .presentation(WillPresentOptions(rawValue: try fields.int("options")))
        case "content": self = .content(try NotificationContent(json: try fields.value("content")))
        case let other: throw InvalidField(field: "result", rule: "is not an answer to a callback: \(other)")
        }
    }
}
