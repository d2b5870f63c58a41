/// One of the things that wait for an app's process, in order.
enum AppStep: Equatable, Sendable {
    case call(Callback)
    case moveToFront
    case moveToBackground
    case moveToInactive
    /// It arrived in the foreground.
    indirect case deliver(Arrival)
    indirect case respond(UserResponse, foreground: Bool, launched: Bool)
    case refreshTask(String)
    indirect case openSettings(DeliveredNotification?)
}

/// A call that a process has not answered.
struct OpenCall: Equatable, Sendable, Due {
    var number: CallbackNumber
    var kind: Kind
    /// Monotonic; moved back while the app is suspended.
    var deadline: Int64

    enum Kind: Equatable, Sendable {
        case launch(isLast: Bool)
        case method
        case enterBackground
        case fetch
        case performFetch
        /// iOS 13.
        case voip(mustReport: Bool)
        indirect case present(DeliveredNotification, wasRemote: Bool)
        case response
        case expiration

        func fits(_ result: CallbackResult) -> Bool {
            switch self {
            case .fetch, .performFetch: if case .fetch = result { true } else { false }
            case .present: if case .presentation = result { true } else { false }
            case .launch, .method, .enterBackground, .response, .voip, .expiration: result == .returned
            }
        }

        /// nil for the launch, whose calls share one.
        func limit(_ settings: PhoneSettings) -> Int64? {
            switch self {
            case .launch: nil
            case .method, .expiration: settings.methodLimit
            case .enterBackground: settings.enterBackgroundLimit
            case .fetch: settings.fetchLimit
            case .performFetch: settings.performFetchLimit
            case .voip: settings.voipLimit
            case .present: settings.presentLimit
            case .response: settings.responseLimit
            }
        }

        init(_ callback: Callback) {
            self =
                switch callback {
                case .willFinishLaunching: .launch(isLast: false)
                case .didFinishLaunching: .launch(isLast: true)
                case .applicationDidEnterBackground, .sceneDidEnterBackground: .enterBackground
                case .receiveRemoteFetch: .fetch
                case .performFetch: .performFetch
                case .voipPushReceived: .voip(mustReport: true)
                case .receiveResponse, .handleActionRemote, .handleActionLocal: .response
                case .backgroundTaskExpired, .expiringActivityExpired: .expiration
                case .willPresent(let notification):
                    .present(notification, wasRemote: notification.request.isRemote)
                case .applicationWillEnterForeground, .applicationDidBecomeActive, .applicationWillResignActive,
                    .applicationWillTerminate, .applicationDidReceiveMemoryWarning, .sceneConfiguration,
                    .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
                    .sceneDidDisconnect, .receiveRemote, .receiveLocal, .registeredForRemoteNotifications,
                    .failedToRegisterForRemoteNotifications, .serviceExtensionReceive,
                    .serviceExtensionTimeWillExpire, .openSettings, .registeredUserNotificationSettings,
                    .refreshTaskLaunched, .refreshTaskExpired, .backgroundRefreshStatusChanged,
                    .protectedDataDidBecomeAvailable, .protectedDataWillBecomeUnavailable, .voipTokenUpdated,
                    .voipTokenInvalidated, .callAnswered, .callDeclined, .activityTokenUpdated,
                    .pushToStartTokenUpdated, .activityUpdated:
                    .method
                }
        }
    }
}

extension Callback {
    static let registrationFailedOffline = failedToRegisterForRemoteNotifications(reason: "the phone is offline")

    /// True if a process that has not been told the older one yet needs this one alone.
    func supersedes(_ older: Callback) -> Bool {
        switch (self, older) {
        case (.backgroundRefreshStatusChanged, .backgroundRefreshStatusChanged),
            (.voipTokenUpdated, .voipTokenUpdated), (.pushToStartTokenUpdated, .pushToStartTokenUpdated):
            true
        case (.activityTokenUpdated(let activity, _), .activityTokenUpdated(let other, _)): activity == other
        case (.activityUpdated(let update), .activityUpdated(let other)): update.activity == other.activity
        default: false
        }
    }
}
