import Foundation
import PhoneCore
import TidingsModel
import UserNotifications
import VirtualPhone

@MainActor final class AppRuntime {
    private let application: UIApplication
    private let center: UNUserNotificationCenter
    private let delegate: any UIApplicationDelegate
    private let makeSceneDelegate: (@MainActor () -> any UISceneDelegate)?
    private let session = UISceneSession(persistentIdentifier: "main", role: .windowApplication)
    private var scene: UIWindowScene?

    init(
        process: PhoneProcess, delegate: any UIApplicationDelegate,
        makeSceneDelegate: (@MainActor () -> any UISceneDelegate)?
    ) {
        self.application = UIApplication.of(process)
        self.center = UNUserNotificationCenter.of(process)
        self.delegate = delegate
        self.makeSceneDelegate = makeSceneDelegate
        self.application.delegate = delegate
        process.setViews(self.application)
    }

    func handle(_ callback: Callback, _ reply: PhoneReply) {
        self.center.reportLostDelegate()
        switch callback {
        case .willFinishLaunching, .didFinishLaunching, .applicationWillEnterForeground, .applicationDidBecomeActive,
            .applicationWillResignActive, .applicationDidEnterBackground, .applicationWillTerminate,
            .applicationDidReceiveMemoryWarning:
            self.handleLifecycle(callback)
            // Before the answer: what comes next follows from it.
            self.center.reportLostDelegate()
            reply()
        case .sceneConfiguration, .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive,
            .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect:
            self.handleScene(callback)
            self.center.reportLostDelegate()
            reply()
        case .receiveRemote, .receiveRemoteFetch, .receiveLocal, .handleActionRemote, .handleActionLocal:
            self.handleArrival(callback, reply)
        case .willPresent, .receiveResponse, .openSettings: if !self.center.handle(callback, reply) { reply() }
        case .registeredForRemoteNotifications(let token):
            let bytes = Hexadecimal.bytes(token.rawValue.utf8) ?? []
            self.delegate.application(self.application, didRegisterForRemoteNotificationsWithDeviceToken: Data(bytes))
            reply()
        case .failedToRegisterForRemoteNotifications(let reason):
            self.delegate.application(
                self.application,
                didFailToRegisterForRemoteNotificationsWithError: NSError(
                    domain: NSCocoaErrorDomain, code: 3010, userInfo: [NSLocalizedDescriptionKey: reason]))
            reply()
        case .backgroundTaskExpired(let task):
            self.application.expire(task)
            reply()
        case .performFetch:
            self.delegate.application(
                self.application,
                performFetchWithCompletionHandler: { result in
                    reply(.fetch(FetchResult(rawValue: result.rawValue) ?? .failed))
                })
        case .registeredUserNotificationSettings(let types):
            self.delegate.application(
                self.application,
                didRegister: UIUserNotificationSettings(
                    types: UIUserNotificationType(rawValue: types.rawValue),
                    categories: self.application.registeredSettings?.categories))
            reply()
        case .refreshTaskLaunched, .refreshTaskExpired, .voipTokenUpdated, .voipPushReceived, .voipTokenInvalidated,
            .callAnswered, .callDeclined, .activityTokenUpdated, .pushToStartTokenUpdated, .activityUpdated,
            .expiringActivityExpired:
            // BackgroundTasks, PushKit, CallKit and ActivityKit handle theirs before this.
            PhoneProcess.current.send(.fault("\(callback.name) was called and nothing in the app takes it"))
            reply()
        case .backgroundRefreshStatusChanged:
            self.post(UIApplication.backgroundRefreshStatusDidChangeNotification)
            reply()
        case .protectedDataDidBecomeAvailable:
            self.delegate.applicationProtectedDataDidBecomeAvailable(self.application)
            self.post(UIApplication.protectedDataDidBecomeAvailableNotification)
            reply()
        case .protectedDataWillBecomeUnavailable:
            self.delegate.applicationProtectedDataWillBecomeUnavailable(self.application)
            self.post(UIApplication.protectedDataWillBecomeUnavailableNotification)
            reply()
        case .serviceExtensionReceive, .serviceExtensionTimeWillExpire:
            PhoneProcess.current.send(.fault("\(callback.name) was called in an app"))
        }
    }

    private func handleLifecycle(_ callback: Callback) {
        let application = self.application
        switch callback {
        case .willFinishLaunching(let options):
            _ = self.delegate.application(application, willFinishLaunchingWithOptions: Self.dictionary(options))
        case .didFinishLaunching(let options):
            let options = Self.dictionary(options)
            _ = self.delegate.application(application, didFinishLaunchingWithOptions: options)
            self.post(UIApplication.didFinishLaunchingNotification, userInfo: options)
        case .applicationWillEnterForeground:
            self.notify(UIApplication.willEnterForegroundNotification) { $0.applicationWillEnterForeground($1) }
        case .applicationDidBecomeActive:
            self.notify(UIApplication.didBecomeActiveNotification) { $0.applicationDidBecomeActive($1) }
        case .applicationWillResignActive:
            self.notify(UIApplication.willResignActiveNotification) { $0.applicationWillResignActive($1) }
        case .applicationDidEnterBackground:
            self.notify(UIApplication.didEnterBackgroundNotification) { $0.applicationDidEnterBackground($1) }
        case .applicationWillTerminate:
            self.notify(UIApplication.willTerminateNotification) { $0.applicationWillTerminate($1) }
        case .applicationDidReceiveMemoryWarning:
            self.notify(UIApplication.didReceiveMemoryWarningNotification) { $0.applicationDidReceiveMemoryWarning($1) }
        default: break
        }
    }

    /// The application's notifications are posted with scenes too, as on a phone. In every call the scene's state is what
    /// `applicationState` reads: what will happen has not happened yet.
    private func handleScene(_ callback: Callback) {
        switch callback {
        case .sceneConfiguration(let response):
            self.session.configuration = self.delegate.application(
                self.application, configurationForConnecting: self.session, options: Self.options(response))
        case .sceneWillConnect(let response): self.connectScene(response)
        case .sceneWillEnterForeground:
            self.scene?.activationState =
                self.application.applicationState == .background ? .background : .foregroundInactive
            self.notifyScene(UIScene.willEnterForegroundNotification) { $0.sceneWillEnterForeground($1) }
            self.post(UIApplication.willEnterForegroundNotification)
            self.scene?.activationState = .foregroundInactive
        case .sceneDidBecomeActive:
            self.scene?.activationState = .foregroundActive
            self.notifyScene(UIScene.didActivateNotification) { $0.sceneDidBecomeActive($1) }
            self.post(UIApplication.didBecomeActiveNotification)
        case .sceneWillResignActive:
            self.notifyScene(UIScene.willDeactivateNotification) { $0.sceneWillResignActive($1) }
            self.post(UIApplication.willResignActiveNotification)
            self.scene?.activationState = .foregroundInactive
        case .sceneDidEnterBackground:
            self.scene?.activationState = .background
            self.notifyScene(UIScene.didEnterBackgroundNotification) { $0.sceneDidEnterBackground($1) }
            self.post(UIApplication.didEnterBackgroundNotification)
        case .sceneDidDisconnect:
            self.scene?.activationState = .unattached
            self.notifyScene(UIScene.didDisconnectNotification) { $0.sceneDidDisconnect($1) }
            self.scene = nil
            self.application.connect(nil)
        default: break
        }
    }

    private func connectScene(_ response: UserResponse?) {
        let scene = UIWindowScene(session: self.session)
        self.scene = scene
        self.session.scene = scene
        if let makeSceneDelegate = self.makeSceneDelegate {
            scene.delegate = makeSceneDelegate()
        } else {
            PhoneProcess.current.send(
                .fault("VirtualApp declares the life-cycle scenes, and no sceneDelegate was given with its delegate"))
        }
        self.application.connect(scene)
        self.post(UIScene.willConnectNotification, of: scene)
        scene.delegate?.scene(scene, willConnectTo: self.session, options: Self.options(response))
    }

    private static func options(_ response: UserResponse?) -> UIScene.ConnectionOptions {
        UIScene.ConnectionOptions(notificationResponse: response.map { UNNotificationResponse.make($0) })
    }

    private func notify(
        _ name: Notification.Name, _ call: @MainActor (any UIApplicationDelegate, UIApplication) -> Void
    ) {
        call(self.delegate, self.application)
        self.post(name)
    }

    private func notifyScene(_ name: Notification.Name, _ call: @MainActor (any UISceneDelegate, UIWindowScene) -> Void)
    {
        guard let scene = self.scene else { return }
        if let delegate = scene.delegate { call(delegate, scene) }
        self.post(name, of: scene)
    }

    private func handleArrival(_ callback: Callback, _ reply: PhoneReply) {
        let application = self.application
        switch callback {
        case .receiveRemote(let payload):
            self.delegate.application(application, didReceiveRemoteNotification: userInfo(from: payload))
            reply()
        case .receiveRemoteFetch(let payload):
            self.delegate.application(application, didReceiveRemoteNotification: userInfo(from: payload)) { result in
                reply(.fetch(FetchResult(rawValue: result.rawValue) ?? .failed))
            }
        case .receiveLocal(let request):
            self.delegate.application(application, didReceive: UILocalNotification(request))
            reply()
        case .handleActionRemote(let identifier, let payload, let text):
            let dictionary = userInfo(from: payload)
            guard let text else {
                return self.delegate.application(
                    application, handleActionWithIdentifier: identifier, forRemoteNotification: dictionary
                ) { reply() }
            }
            self.delegate.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: dictionary,
                withResponseInfo: [UIUserNotificationActionResponseTypedTextKey: text]
            ) { reply() }
        case .handleActionLocal(let identifier, let request, let text):
            let notification = UILocalNotification(request)
            guard let text else {
                return self.delegate.application(
                    application, handleActionWithIdentifier: identifier, for: notification
                ) { reply() }
            }
            self.delegate.application(
                application, handleActionWithIdentifier: identifier, for: notification,
                withResponseInfo: [UIUserNotificationActionResponseTypedTextKey: text]
            ) { reply() }
        default: break
        }
    }

    private func post(
        _ name: Notification.Name, of scene: UIScene? = nil, userInfo: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) { NotificationCenter.default.post(name: name, object: scene ?? self.application, userInfo: userInfo) }

    /// nil for a launch by the icon, as iOS passes it.
    private static func dictionary(_ options: LaunchOptions) -> [UIApplication.LaunchOptionsKey: Any]? {
        var dictionary: [UIApplication.LaunchOptionsKey: Any] = [:]
        if let payload = options.remoteNotification { dictionary[.remoteNotification] = userInfo(from: payload) }
        if let request = options.localNotification { dictionary[.localNotification] = UILocalNotification(request) }
        return dictionary.isEmpty ? nil : dictionary
    }
}
