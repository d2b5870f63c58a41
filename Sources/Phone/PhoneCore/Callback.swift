public import TidingsModel

/// Numbers the calls of a phone into its processes: 1, 2, … Each is answered at most once.
public typealias CallbackNumber = UInt64
/// Numbers what a process asks; chosen by the process.
public typealias QueryNumber = UInt64
/// Numbers a background task; chosen by the process, as `UIBackgroundTaskIdentifier` is.
public typealias BackgroundTaskNumber = UInt64

/// `UIApplicationState` (ios-delivery.md §2.1). Raw values as Apple's.
public enum ApplicationState: Int, Hashable, Sendable, Codable, CaseIterable {
    case active = 0
    case inactive = 1
    case background = 2
}

/// The launch options that matter for notifications; both nil is an icon launch (ios-delivery.md §6.1 rule 3).
public struct LaunchOptions: Hashable, Sendable, Codable {
    /// `UIApplication.LaunchOptionsKey.remoteNotification`: the payload.
    public var remoteNotification: JSONObject?
    /// `UIApplication.LaunchOptionsKey.localNotification`.
    public var localNotification: NotificationRequest?

    /// Options with the given values.
    public init(remoteNotification: JSONObject? = nil, localNotification: NotificationRequest? = nil) {
        self.remoteNotification = remoteNotification
        self.localNotification = localNotification
    }

    /// The keys that have a value, for traces.
    public var keys: [String] {
        (self.remoteNotification == nil ? [] : ["remoteNotification"])
            + (self.localNotification == nil ? [] : ["localNotification"])
    }
}

/// One call of the system into an app or its extension. Each is answered with a `CallbackResult` by number:
/// methods with a completion handler when it is called, the others when they return.
///
/// Large values are `indirect`: a call waits in lists and is passed on several times.
public enum Callback: Hashable, Sendable, JSONTagged {
    // Launch.
    indirect case willFinishLaunching(LaunchOptions)
    /// Later calls wait for its answer: what the app set up until it returned counts (ios-delivery.md §6.1 rule 4).
    indirect case didFinishLaunching(LaunchOptions)

    // Life-cycle without scenes.
    case applicationWillEnterForeground
    case applicationDidBecomeActive
    case applicationWillResignActive
    case applicationDidEnterBackground
    case applicationWillTerminate
    case applicationDidReceiveMemoryWarning

    // Life-cycle with scenes.
    /// The response that `scene(_:willConnectTo:options:)` will get.
    indirect case sceneConfiguration(UserResponse?)
    /// The response only if a tap or foreground action connects the scene.
    indirect case sceneWillConnect(UserResponse?)
    case sceneWillEnterForeground
    case sceneDidBecomeActive
    case sceneWillResignActive
    case sceneDidEnterBackground
    case sceneDidDisconnect

    // Notifications.
    case receiveRemote(JSONObject)
    /// Answered with `.fetch`.
    case receiveRemoteFetch(JSONObject)
    indirect case receiveLocal(NotificationRequest)
    /// The text is there in the form with `withResponseInfo:` (iOS 8–9; ios-delivery.md §6.4).
    indirect case handleActionRemote(identifier: String, JSONObject, text: String?)
    indirect case handleActionLocal(identifier: String, NotificationRequest, text: String?)
    /// Answered with `.presentation`.
    indirect case willPresent(DeliveredNotification)
    indirect case receiveResponse(UserResponse)
    /// nil if the person came from Settings (ios-delivery.md §6.5).
    indirect case openSettings(DeliveredNotification?)

    // Registration.
    /// Lowercase hexadecimal.
    case registeredForRemoteNotifications(PushToken)
    case failedToRegisterForRemoteNotifications(reason: String)
    /// The types that the person allowed (iOS 8–9).
    case registeredUserNotificationSettings(AuthorizationOptions)

    // Background.
    case backgroundTaskExpired(BackgroundTaskNumber)
    /// The block is called again with `expired` true (ios-delivery.md §8).
    case expiringActivityExpired(BackgroundTaskNumber)
    /// Answered with `.fetch`.
    case performFetch
    /// Ends with `ProcessEvent.refreshTaskCompleted`.
    case refreshTaskLaunched(identifier: String)
    case refreshTaskExpired(identifier: String)
    case backgroundRefreshStatusChanged(BackgroundRefreshStatus)
    case protectedDataDidBecomeAvailable
    case protectedDataWillBecomeUnavailable

    // PushKit (ios-delivery.md §12).
    case voipTokenUpdated(PushToken)
    case voipPushReceived(JSONObject)
    case voipTokenInvalidated

    // CallKit: what the person does with a call, by its UUID.
    case callAnswered(String)
    case callDeclined(String)

    // ActivityKit (ios-delivery.md §12).
    case activityTokenUpdated(activity: String, PushToken)
    case pushToStartTokenUpdated(PushToken)
    /// Also for an activity that a push started.
    indirect case activityUpdated(ActivityUpdate)

    // In the extension's process.
    /// Answered with `.content`.
    indirect case serviceExtensionReceive(NotificationRequest)
    /// On the instance whose `didReceive` has this number: identifiers repeat, so they do not tell instances apart.
    case serviceExtensionTimeWillExpire(identifier: String, call: CallbackNumber)

    package static let tag = JSONTag(
        "name", meaning: "a callback", keepsCaseNames: true,
        names: [
            "willFinishLaunching": ["_0": ""], "didFinishLaunching": ["_0": ""], "activityUpdated": ["_0": ""],
            "sceneConfiguration": ["_0": "response"], "sceneWillConnect": ["_0": "response"],
            "receiveResponse": ["_0": "response"], "receiveRemote": ["_0": "payload"],
            "receiveRemoteFetch": ["_0": "payload"], "voipPushReceived": ["_0": "payload"],
            "handleActionRemote": ["_1": "payload"], "handleActionLocal": ["_1": "request"],
            "receiveLocal": ["_0": "request"], "serviceExtensionReceive": ["_0": "request"],
            "willPresent": ["_0": "notification"], "openSettings": ["_0": "notification"],
            "registeredForRemoteNotifications": ["_0": "token"], "voipTokenUpdated": ["_0": "token"],
            "callAnswered": ["_0": "call"], "callDeclined": ["_0": "call"],
            "pushToStartTokenUpdated": ["_0": "token"], "activityTokenUpdated": ["_1": "token"],
            "registeredUserNotificationSettings": ["_0": "types"], "backgroundRefreshStatusChanged": ["_0": "status"],
            "backgroundTaskExpired": ["_0": "task"], "expiringActivityExpired": ["_0": "activity"],
        ])

    /// The name in traces, as in Apple's documentation.
    public var name: String {
        switch self {
        case .willFinishLaunching: "application(_:willFinishLaunchingWithOptions:)"
        case .didFinishLaunching: "application(_:didFinishLaunchingWithOptions:)"
        case .applicationWillEnterForeground: "applicationWillEnterForeground(_:)"
        case .applicationDidBecomeActive: "applicationDidBecomeActive(_:)"
        case .applicationWillResignActive: "applicationWillResignActive(_:)"
        case .applicationDidEnterBackground: "applicationDidEnterBackground(_:)"
        case .applicationWillTerminate: "applicationWillTerminate(_:)"
        case .applicationDidReceiveMemoryWarning: "applicationDidReceiveMemoryWarning(_:)"
        case .sceneConfiguration: "application(_:configurationForConnecting:options:)"
        case .sceneWillConnect: "scene(_:willConnectTo:options:)"
        case .sceneWillEnterForeground: "sceneWillEnterForeground(_:)"
        case .sceneDidBecomeActive: "sceneDidBecomeActive(_:)"
        case .sceneWillResignActive: "sceneWillResignActive(_:)"
        case .sceneDidEnterBackground: "sceneDidEnterBackground(_:)"
        case .sceneDidDisconnect: "sceneDidDisconnect(_:)"
        case .receiveRemote: "application(_:didReceiveRemoteNotification:)"
        case .receiveRemoteFetch: "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
        case .receiveLocal: "application(_:didReceive:)"
        case .handleActionRemote(_, _, nil):
            "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)"
        case .handleActionRemote:
            "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)"
        case .handleActionLocal(_, _, nil): "application(_:handleActionWithIdentifier:for:completionHandler:)"
        case .handleActionLocal: "application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)"
        case .willPresent: "userNotificationCenter(_:willPresent:withCompletionHandler:)"
        case .receiveResponse: "userNotificationCenter(_:didReceive:withCompletionHandler:)"
        case .registeredForRemoteNotifications: "application(_:didRegisterForRemoteNotificationsWithDeviceToken:)"
        case .failedToRegisterForRemoteNotifications:
            "application(_:didFailToRegisterForRemoteNotificationsWithError:)"
        case .openSettings: "userNotificationCenter(_:openSettingsFor:)"
        case .registeredUserNotificationSettings: "application(_:didRegister:)"
        case .backgroundTaskExpired: "background task expiration handler"
        case .expiringActivityExpired: "expiring activity block"
        case .performFetch: "application(_:performFetchWithCompletionHandler:)"
        case .refreshTaskLaunched: "app refresh task launch handler"
        case .refreshTaskExpired: "app refresh task expiration handler"
        case .backgroundRefreshStatusChanged: "backgroundRefreshStatusDidChangeNotification"
        case .protectedDataDidBecomeAvailable: "applicationProtectedDataDidBecomeAvailable(_:)"
        case .protectedDataWillBecomeUnavailable: "applicationProtectedDataWillBecomeUnavailable(_:)"
        case .voipTokenUpdated: "pushRegistry(_:didUpdate:for:)"
        case .voipPushReceived: "pushRegistry(_:didReceiveIncomingPushWith:for:completion:)"
        case .voipTokenInvalidated: "pushRegistry(_:didInvalidatePushTokenFor:)"
        case .callAnswered: "provider(_:perform:) with CXAnswerCallAction"
        case .callDeclined: "provider(_:perform:) with CXEndCallAction"
        case .activityTokenUpdated: "pushTokenUpdates"
        case .pushToStartTokenUpdated: "pushToStartTokenUpdates"
        case .activityUpdated: "activityUpdates"
        case .serviceExtensionReceive: "didReceive(_:withContentHandler:)"
        case .serviceExtensionTimeWillExpire: "serviceExtensionTimeWillExpire()"
        }
    }
}

/// How a process answers a call.
public enum CallbackResult: Hashable, Sendable, JSONTagged {
    case returned
    case fetch(FetchResult)
    case presentation(WillPresentOptions)
    indirect case content(NotificationContent)

    package static let tag = JSONTag(
        "result", meaning: "an answer to a callback", names: ["presentation": ["_0": "options"]])
}

/// `UIBackgroundFetchResult`. Raw values as Apple's.
public enum FetchResult: UInt, Hashable, Sendable, CaseIterable, Codable {
    case newData = 0
    case noData = 1
    case failed = 2
}

/// `UNNotificationPresentationOptions`. Raw values as Apple's (ios-delivery.md §5.4).
public struct WillPresentOptions: OptionSet, Hashable, Sendable, Codable {
    /// The bits, as Apple's.
    public let rawValue: UInt
    /// Options of the given bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Set the content's badge.
    public static let badge = WillPresentOptions(rawValue: 1 << 0)
    /// Play the content's sound.
    public static let sound = WillPresentOptions(rawValue: 1 << 1)
    /// Banner and list; deprecated from iOS 14, still honoured.
    public static let alert = WillPresentOptions(rawValue: 1 << 2)
    /// Notification Center (iOS 14).
    public static let list = WillPresentOptions(rawValue: 1 << 3)
    /// The banner (iOS 14).
    public static let banner = WillPresentOptions(rawValue: 1 << 4)
}
