package import ClientCore
package import TidingsModel

/// The SDK behind a scenario's app.
package struct SDKSetup: Equatable, Sendable {
    /// Who is signed in.
    package var person: UserID = "alice"
    /// Whether the app library runs; otherwise the core library alone (S0.5).
    package var hasKit = true
    /// What the kit may do.
    package var kit = KitSettings()
    /// What the app's custom callback answers; nil: there is none (S3.4).
    package var customCallback: Bool?
    /// What the app's providers know; nil: every name (S3.5).
    package var names: ResolvedNames?
    /// How loud conversations are.
    package var levels: [ConversationID: NotificationLevel] = [:]
    /// Unread messages in the store at the start.
    package var unread = 0
    /// What the app group holds as the badge; nil: what the app wrote when it left the front.
    package var badge: StoredBadge?
    /// Whether the server cannot be reached.
    package var isOffline = false
    /// Whether the app registers the kit's actions (ios-delivery.md §6.4).
    package var registersActions = false
    /// Whether the service extension asks the server for what it missed (DESIGN §5 "Keep-one").
    package var fetchesMissed = true

    /// A badge in the app group.
    package enum StoredBadge: Equatable, Sendable {
        case missing
        case stored(Int)
    }
}

/// What happens at the server.
package enum SDKStep: Equatable, Sendable {
    case message(ScriptedMessage)
    case read(ConversationID)
}

/// A message of a scenario.
package struct ScriptedMessage: Equatable, Sendable {
    /// Its name in the file.
    package var label: String
    /// Who sends it.
    package var sender: UserID = "bob"
    /// Whose phone this was when it was pushed; nil: of the person who is signed in.
    package var recipient: UserID?
    /// As the sender sees it; nil: one-to-one with the person.
    package var conversation: ConversationID?
    /// What it says; nil: its label.
    package var text: String?
    /// Whether it is neither kept nor counted.
    package var isCommand = false
    /// Whether it may ring.
    package var notifies = true
    /// The label of the message it withdraws.
    package var recalls: String?
    /// The custom message it is: title, content, extras.
    package var custom: JSONValue?

    init(label: String) { self.label = label }
}
