public import ClientCore
import Foundation
public import TidingsModel

/// What a person did with one of our notifications, by whichever road iOS told the app (S0.9, S0.19–S0.21).
public struct NotificationResponse: Hashable, Sendable {
    /// The `rc` dictionary (S0.10).
    public var payload: NotificationPayload
    /// The action's identifier; `UNNotificationDefaultActionIdentifier` for a tap.
    public var actionIdentifier: String
    /// What the person typed; nil for actions without text.
    public var userText: String?
    /// The road it came by.
    public var origin: Origin

    /// How iOS told the app.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// A delegate callback of a running app.
        case callback
        /// The launch options of an app that was not running.
        case launchOptions
        /// The connection options of a scene.
        case sceneConnection
    }

    /// The conversation to open.
    public var conversation: ConversationID { self.payload.conversation }
    /// The screen to open.
    public var route: Route { Route(payload: self.payload) }
}

/// One of our notifications that arrived while the app runs.
public struct ReceivedNotification: Hashable, Sendable {
    /// The `rc` dictionary (S0.10).
    public var payload: NotificationPayload
    /// The title, if the road tells it.
    public var title: String
    /// The text, if the road tells it.
    public var body: String
}

/// How a notification is presented while the app is in front; maps to Apple's options for each system version.
public struct PresentationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = PresentationOptions(rawValue: 1 << 0)
    /// The sound.
    public static let sound = PresentationOptions(rawValue: 1 << 1)
    /// The entry in Notification Center; part of the alert below iOS 14.
    public static let list = PresentationOptions(rawValue: 1 << 3)
    /// The banner; part of the alert below iOS 14.
    public static let banner = PresentationOptions(rawValue: 1 << 4)
}
