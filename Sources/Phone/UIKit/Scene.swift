public import Foundation
public import UserNotifications
import VirtualPhone

extension UIScene {
    /// Where a scene is. Raw values as Apple's.
    public enum ActivationState: Int, Hashable, Sendable {
        case unattached = -1
        case foregroundActive, foregroundInactive, background
    }

    /// Why a scene is connected.
    @MainActor public final class ConnectionOptions {
        /// The person's response to a notification; nil for any other reason (ios-delivery.md §6.1).
        public let notificationResponse: UNNotificationResponse?
        init(notificationResponse: UNNotificationResponse?) { self.notificationResponse = notificationResponse }
    }
}

/// One instance of the app's interface. A virtual phone has one scene per app.
@MainActor open class UIScene: UIResponder {
    /// The scene's life as the system keeps it.
    public let session: UISceneSession
    /// Who is told about it.
    open var delegate: (any UISceneDelegate)?
    /// Where it is.
    public internal(set) var activationState = ActivationState.unattached
    /// The scene's name.
    open var title: String?

    init(session: UISceneSession) { self.session = session }

    /// The app.
    open override var next: UIResponder? { PhoneProcess.currentIfAny.map { UIApplication.of($0) } }

    /// A scene was connected, before `scene(_:willConnectTo:options:)`.
    public nonisolated static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// A scene is gone.
    public nonisolated static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")
    /// A scene is active.
    public nonisolated static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// A scene is about to be inactive.
    public nonisolated static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// A scene is about to come to the foreground.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
        "UISceneWillEnterForegroundNotification")
    /// A scene has left the screen.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
        "UISceneDidEnterBackgroundNotification")
}

/// A scene with windows.
@MainActor public final class UIWindowScene: UIScene {
    /// The scene's windows.
    public private(set) var windows: [UIWindow] = []
    /// The display it is on.
    public var screen: UIScreen { UIScreen.main }
    /// The window that is typed into.
    public var keyWindow: UIWindow? { self.windows.first { $0.isKeyWindow } }

    func add(_ window: UIWindow) {
        if !self.windows.contains(where: { $0 === window }) { self.windows.append(window) }
    }
}

/// The life of a scene, longer than the scene's object.
@MainActor public final class UISceneSession: Hashable {
    /// Names the session.
    public let persistentIdentifier: String
    /// The purpose of the scene.
    public let role: Role
    /// The scene while it is connected.
    public internal(set) weak var scene: UIScene?
    /// How the scene is made.
    public internal(set) var configuration: UISceneConfiguration

    /// The purpose of a scene.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Wraps Apple's value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The app's windows.
        public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
    }

    init(persistentIdentifier: String, role: Role) {
        self.persistentIdentifier = persistentIdentifier
        self.role = role
        self.configuration = UISceneConfiguration(name: nil, sessionRole: role)
    }

    /// Equal if they are one object.
    public nonisolated static func == (left: UISceneSession, right: UISceneSession) -> Bool { left === right }
    /// Hashes alike what is equal.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// How a scene is made.
@MainActor public final class UISceneConfiguration {
    /// The name in Info.plist.
    public let name: String?
    /// The purpose of the scene.
    public let role: UISceneSession.Role
    /// The class of the scene's delegate; kept. Linux makes no object of a class it was handed: the delegate is the one
    /// given to `VirtualApp.run`.
    public var delegateClass: AnyClass?
    /// The class of the scene; kept, a `UIWindowScene` is made.
    public var sceneClass: AnyClass?

    /// A configuration.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        self.role = sessionRole
    }
}

/// Who is told about a scene (ios-delivery.md §2.2).
@MainActor public protocol UISceneDelegate: AnyObject {
    /// The scene was connected; the options hold the response if a tap or a foreground action connected it.
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions)
    /// The scene is gone for good.
    func sceneDidDisconnect(_ scene: UIScene)
    /// The scene is about to enter the foreground.
    func sceneWillEnterForeground(_ scene: UIScene)
    /// The scene is active.
    func sceneDidBecomeActive(_ scene: UIScene)
    /// The scene is about to be inactive.
    func sceneWillResignActive(_ scene: UIScene)
    /// The scene is in the background.
    func sceneDidEnterBackground(_ scene: UIScene)
}

extension UISceneDelegate {
    /// Nothing, unless the delegate has it.
    public func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {}
    /// Nothing, unless the delegate has it.
    public func sceneDidDisconnect(_ scene: UIScene) {}
    /// Nothing, unless the delegate has it.
    public func sceneWillEnterForeground(_ scene: UIScene) {}
    /// Nothing, unless the delegate has it.
    public func sceneDidBecomeActive(_ scene: UIScene) {}
    /// Nothing, unless the delegate has it.
    public func sceneWillResignActive(_ scene: UIScene) {}
    /// Nothing, unless the delegate has it.
    public func sceneDidEnterBackground(_ scene: UIScene) {}
}

/// Who is told about a scene with windows.
@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
    /// The scene's window.
    var window: UIWindow? { get set }
}

extension UIWindowSceneDelegate {
    /// Nil, unless the delegate keeps one.
    public var window: UIWindow? {
        get { nil }
        set {}
    }
}

extension UNNotificationResponse {
    /// The scene the response is for: the app's connected one (iOS 13).
    @MainActor public var targetScene: UIScene? { UIApplication.shared.connectedScene }
}
