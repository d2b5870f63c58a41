package import PhoneCore
import TidingsModel

package enum CallWords {
    /// Each word with what Apple calls it.
    package static let names: [(word: String, apple: String)] = Table.rows(
        of: """
            willFinishLaunching | application(_:willFinishLaunchingWithOptions:)
            didFinishLaunching | application(_:didFinishLaunchingWithOptions:)
            willEnterForeground | applicationWillEnterForeground(_:)
            didBecomeActive | applicationDidBecomeActive(_:)
            willResignActive | applicationWillResignActive(_:)
            didEnterBackground | applicationDidEnterBackground(_:)
            willTerminate | applicationWillTerminate(_:)
            didReceiveMemoryWarning | applicationDidReceiveMemoryWarning(_:)
            configurationForConnecting | application(_:configurationForConnecting:options:)
            sceneWillConnect | scene(_:willConnectTo:options:)
            sceneWillEnterForeground | sceneWillEnterForeground(_:)
            sceneDidBecomeActive | sceneDidBecomeActive(_:)
            sceneWillResignActive | sceneWillResignActive(_:)
            sceneDidEnterBackground | sceneDidEnterBackground(_:)
            sceneDidDisconnect | sceneDidDisconnect(_:)
            didReceiveRemoteNotification | application(_:didReceiveRemoteNotification:)
            didReceiveRemoteNotificationFetch | application(_:didReceiveRemoteNotification:fetchCompletionHandler:)
            didReceiveLocalNotification | application(_:didReceive: UILocalNotification)
            handleRemoteAction | application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)
            handleLocalAction | application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)
            willPresent | userNotificationCenter(_:willPresent:withCompletionHandler:)
            didReceive | userNotificationCenter(_:didReceive:withCompletionHandler:)
            didRegisterForRemoteNotifications | application(_:didRegisterForRemoteNotificationsWithDeviceToken:)
            didFailToRegisterForRemoteNotifications | application(_:didFailToRegisterForRemoteNotificationsWithError:)
            openSettings | userNotificationCenter(_:openSettingsFor:)
            performFetch | application(_:performFetchWithCompletionHandler:)
            didRegisterUserNotificationSettings | application(_:didRegister:)
            refreshTask | the launch handler of a BGAppRefreshTask
            refreshTaskExpired | the expirationHandler of a BGAppRefreshTask
            backgroundRefreshStatusDidChange | UIApplication.backgroundRefreshStatusDidChangeNotification
            protectedDataDidBecomeAvailable | applicationProtectedDataDidBecomeAvailable(_:)
            protectedDataWillBecomeUnavailable | applicationProtectedDataWillBecomeUnavailable(_:)
            callAnswered | provider(_:perform:) with CXAnswerCallAction
            callDeclined | provider(_:perform:) with CXEndCallAction
            didUpdatePushCredentials | pushRegistry(_:didUpdate:for:)
            didInvalidatePushToken | pushRegistry(_:didInvalidatePushTokenFor:)
            didReceiveIncomingPush | pushRegistry(_:didReceiveIncomingPushWith:for:completion:)
            backgroundTaskExpired | the expiration handler of beginBackgroundTask
            expiringActivityExpired | the block of performExpiringActivity, called again with expired true
            activityToken | a value of an Activity's pushTokenUpdates
            pushToStartToken | a value of Activity.pushToStartTokenUpdates
            activityUpdated | a value of an Activity's contentUpdates or activityStateUpdates, or of Activity.activityUpdates
            serviceExtension | UNNotificationServiceExtension.didReceive(_:withContentHandler:)
            serviceExtensionTimeWillExpire | UNNotificationServiceExtension.serviceExtensionTimeWillExpire()
            """
    ).map { ($0[0], $0[1]) }

    package static let words = Self.names.map(\.word)

    /// Calls whose `applicationState` an expectation must name, because an app decides by it.
    static let stateMatters = [
        "didReceiveRemoteNotification", "didReceiveRemoteNotificationFetch", "didReceiveLocalNotification",
    ]

    /// Returns the words allowed in the brackets of a call beside its `applicationState`; nil for any word.
    static func arguments(of name: String) -> [String]? {
        switch name {
        case "didReceive", "handleRemoteAction", "handleLocalAction": nil
        case "willFinishLaunching", "didFinishLaunching": ["remoteNotification", "localNotification"]
        case "sceneWillConnect": ["notificationResponse"]
        case "activityUpdated": ActivityUpdate.Change.allCases.map(\.rawValue)
        default: []
        }
    }

    static func observed(_ callback: Callback) -> (name: String, arguments: [String], subject: Subject?) {
        switch callback {
        case .willFinishLaunching(let options): ("willFinishLaunching", options.keys, nil)
        case .didFinishLaunching(let options): ("didFinishLaunching", options.keys, nil)
        case .applicationWillEnterForeground: ("willEnterForeground", [], nil)
        case .applicationDidBecomeActive: ("didBecomeActive", [], nil)
        case .applicationWillResignActive: ("willResignActive", [], nil)
        case .applicationDidEnterBackground: ("didEnterBackground", [], nil)
        case .applicationWillTerminate: ("willTerminate", [], nil)
        case .applicationDidReceiveMemoryWarning: ("didReceiveMemoryWarning", [], nil)
        case .sceneConfiguration: ("configurationForConnecting", [], nil)
        case .sceneWillConnect(let response?):
            ("sceneWillConnect", ["notificationResponse"], .request(response.notification.request.identifier))
        case .sceneWillConnect(nil): ("sceneWillConnect", [], nil)
        case .sceneWillEnterForeground: ("sceneWillEnterForeground", [], nil)
        case .sceneDidBecomeActive: ("sceneDidBecomeActive", [], nil)
        case .sceneWillResignActive: ("sceneWillResignActive", [], nil)
        case .sceneDidEnterBackground: ("sceneDidEnterBackground", [], nil)
        case .sceneDidDisconnect: ("sceneDidDisconnect", [], nil)
        case .receiveRemote(let payload): ("didReceiveRemoteNotification", [], .payload(payload))
        case .receiveRemoteFetch(let payload): ("didReceiveRemoteNotificationFetch", [], .payload(payload))
        case .receiveLocal(let request): ("didReceiveLocalNotification", [], .request(request.identifier))
        case .handleActionRemote(let action, let payload, let text):
            ("handleRemoteAction", [action] + Self.quoted(text), .payload(payload))
        case .handleActionLocal(let action, let request, let text):
            ("handleLocalAction", [action] + Self.quoted(text), .request(request.identifier))
        case .willPresent(let notification): ("willPresent", [], .request(notification.request.identifier))
        case .receiveResponse(let response):
            (
                "didReceive", [Self.action(response.actionIdentifier)] + Self.quoted(response.userText),
                .request(response.notification.request.identifier)
            )
        case .registeredForRemoteNotifications: ("didRegisterForRemoteNotifications", [], nil)
        case .failedToRegisterForRemoteNotifications: ("didFailToRegisterForRemoteNotifications", [], nil)
        case .openSettings(let notification):
            ("openSettings", [], notification.map { .request($0.request.identifier) })
        case .performFetch: ("performFetch", [], nil)
        case .registeredUserNotificationSettings: ("didRegisterUserNotificationSettings", [], nil)
        case .refreshTaskLaunched: ("refreshTask", [], nil)
        case .refreshTaskExpired: ("refreshTaskExpired", [], nil)
        case .backgroundRefreshStatusChanged: ("backgroundRefreshStatusDidChange", [], nil)
        case .protectedDataDidBecomeAvailable: ("protectedDataDidBecomeAvailable", [], nil)
        case .protectedDataWillBecomeUnavailable: ("protectedDataWillBecomeUnavailable", [], nil)
        case .voipPushReceived(let payload): ("didReceiveIncomingPush", [], .payload(payload))
        case .voipTokenUpdated: ("didUpdatePushCredentials", [], nil)
        case .voipTokenInvalidated: ("didInvalidatePushToken", [], nil)
        case .callAnswered: ("callAnswered", [], nil)
        case .callDeclined: ("callDeclined", [], nil)
        case .backgroundTaskExpired: ("backgroundTaskExpired", [], nil)
        case .expiringActivityExpired: ("expiringActivityExpired", [], nil)
        case .activityTokenUpdated(let activity, _): ("activityToken", [], .activity(activity))
        case .pushToStartTokenUpdated: ("pushToStartToken", [], nil)
        case .activityUpdated(let update): ("activityUpdated", [update.change.rawValue], .activity(update.activity))
        case .serviceExtensionReceive(let request): ("serviceExtension", [], .request(request.identifier))
        case .serviceExtensionTimeWillExpire: ("serviceExtensionTimeWillExpire", [], nil)
        }
    }

    private static func action(_ identifier: String) -> String {
        switch identifier {
        case UserResponse.defaultAction: "default"
        case UserResponse.dismissAction: "dismiss"
        default: identifier
        }
    }

    private static func quoted(_ text: String?) -> [String] { text.map { ["\"\($0)\""] } ?? [] }
}

enum Subject: Hashable, Sendable {
    case request(String)
    case payload(JSONObject)
    case activity(String)
}

extension ApplicationState {
    var word: String { "\(self)" }

    init?(word: String) {
        guard let state = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = state
    }
}

extension AppState {
    package var word: String {
        switch self {
        case .foregroundActive: StartState.foregroundActive.rawValue
        case .foregroundInactive: StartState.foregroundInactive.rawValue
        case .backgroundRunning: StartState.background.rawValue
        case .suspended: StartState.suspended.rawValue
        case .notRunning: StartState.notRunning.rawValue
        case .forceQuit: StartState.forceQuit.rawValue
        }
    }
}
