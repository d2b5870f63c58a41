public import TidingsModel

/// A person's response to one of our notifications, by whichever callback iOS told the app (S0.9, S0.19–S0.21).
public struct PersonResponse: Hashable, Sendable {
    /// The screen to open.
    public var route: Route
    /// The `rc` dictionary (S0.10); nil for a push of another sender that has only a type (S1.16).
    public var payload: NotificationPayload?
    /// The text of the notification (S2.10); empty where the callback does not tell it.
    public var text: AlertText
    /// The whole user info (S2.10).
    public var userInfo: JSONValue
    /// The action's identifier; `UNNotificationDefaultActionIdentifier` for a tap.
    public var actionIdentifier: String
    /// The text that the person typed; nil for actions without text.
    public var userText: String?
    /// The callback it came by.
    public var origin: Origin

    /// How iOS told the app.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// A delegate callback of a running app.
        case callback
        /// The launch options of an app that was not running.
        case launchOptions
        /// The connection options of a scene.
        case sceneConnection
        /// The app's own banner (S4.7).
        case inAppBanner
    }

    /// The conversation to open; nil where the app's table has another screen for the push's type. That of the message is in `payload`.
    public var conversation: ConversationID? { self.route.conversation }

    /// A response from its parts.
    public init(
        route: Route, payload: NotificationPayload?, text: AlertText, userInfo: JSONValue, actionIdentifier: String,
        userText: String? = nil, origin: Origin
    ) {
        self.route = route
        self.payload = payload
        self.text = text
        self.userInfo = userInfo
        self.actionIdentifier = actionIdentifier
        self.userText = userText
        self.origin = origin
    }
}

/// One of our notifications that arrived while the app runs.
public struct ReceivedNotification: Hashable, Sendable {
    /// The `rc` dictionary (S0.10); nil for a push of another sender that has only a type, and for a silent one without it.
    public var payload: NotificationPayload?
    /// The text of the notification; empty for a silent push.
    public var text: AlertText
    /// The whole user info.
    public var userInfo: JSONValue
    /// The data your backend sent along with a silent push (`POST …/silent-push`, see docs/server/api-push.md); nil for none.
    public var data: JSONObject? { self.userInfo[CallInfo.dataKey]?.objectValue }
    /// True if it is a push of the server's that comes without sound: the extension has silenced it, because its message rang before
    /// (design.md P3).
    public var isSilenced: Bool

    /// A notification from its parts.
    public init(payload: NotificationPayload?, text: AlertText, userInfo: JSONValue, isSilenced: Bool = false) {
        self.payload = payload
        self.text = text
        self.userInfo = userInfo
        self.isSilenced = isSilenced
    }
}
