import PhoneCore
import TidingsModel

extension Callback {
    /// The name in ios-delivery.md §0.3 with the arguments that matter.
    func short(_ state: ApplicationState) -> String {
        switch self {
        case .willFinishLaunching: "WF"
        case .didFinishLaunching(let options):
            options.keys.isEmpty ? "DF" : "DF(\(options.keys.joined(separator: ",")))"
        case .applicationWillEnterForeground: "WEF"
        case .applicationDidBecomeActive: "DBA"
        case .applicationWillResignActive: "WRA"
        case .applicationDidEnterBackground: "DEB"
        case .applicationWillTerminate: "WT"
        case .applicationDidReceiveMemoryWarning: "memory"
        case .sceneConfiguration: "configuration"
        case .sceneWillConnect(let response): response == nil ? "SC" : "SC(response)"
        case .sceneWillEnterForeground: "sceneWEF"
        case .sceneDidBecomeActive: "sceneDBA"
        case .sceneWillResignActive: "sceneWRA"
        case .sceneDidEnterBackground: "sceneDEB"
        case .sceneDidDisconnect: "sceneDisconnect"
        case .receiveRemote: "R0(\(state))"
        case .receiveRemoteFetch: "RF(\(state))"
        case .receiveLocal: "L0(\(state))"
        case .handleActionRemote(_, _, let text): text == nil ? "AR" : "AR9"
        case .handleActionLocal(_, _, let text): text == nil ? "AL" : "AL9"
        case .willPresent: "WP"
        case .receiveResponse(let response):
            response.actionIdentifier == UserResponse.defaultAction
                ? "DR" : "DR(\(response.actionIdentifier.split(separator: ".").last ?? ""))"
        case .registeredForRemoteNotifications(let token): "token(\(token))"
        case .failedToRegisterForRemoteNotifications: "noToken"
        case .backgroundTaskExpired(let task): "expired(\(task))"
        case .openSettings(let notification): notification == nil ? "OPS" : "OPS(notification)"
        case .registeredUserNotificationSettings(let types): "settings(\(types.rawValue))"
        case .performFetch: "PF"
        case .refreshTaskLaunched(let identifier): "task(\(identifier))"
        case .refreshTaskExpired(let identifier): "taskExpired(\(identifier))"
        case .backgroundRefreshStatusChanged(let status): "refresh(\(status))"
        case .protectedDataDidBecomeAvailable: "protectedData(available)"
        case .protectedDataWillBecomeUnavailable: "protectedData(unavailable)"
        case .voipTokenUpdated(let token): "voipToken(\(token))"
        case .voipPushReceived: "VOIP(\(state))"
        case .voipTokenInvalidated: "noVoipToken"
        case .callAnswered(let call): "answered(\(call))"
        case .callDeclined(let call): "declined(\(call))"
        case .activityTokenUpdated(let activity, let token): "activityToken(\(activity),\(token))"
        case .pushToStartTokenUpdated(let token): "startToken(\(token))"
        case .activityUpdated(let update): "activity(\(update.activity),\(update.change))"
        case .serviceExtensionReceive: "NSE"
        case .serviceExtensionTimeWillExpire: "EXP"
        case .expiringActivityExpired(let activity): "activityExpired(\(activity))"
        }
    }
}

/// Payloads of the classes of ios-delivery.md §3.1.
enum Payload {
    static let alert: JSONValue = ["aps": ["alert": ["body": "hello"], "sound": "default", "badge": 3]]
    static let alertAndContent: JSONValue = [
        "aps": ["alert": ["body": "hello"], "sound": "default", "content-available": 1]
    ]
    static let content: JSONValue = ["aps": ["content-available": 1]]
    static let mutable: JSONValue = [
        "aps": ["alert": ["body": "hello"], "sound": "default", "badge": 1, "mutable-content": 1]
    ]
}
