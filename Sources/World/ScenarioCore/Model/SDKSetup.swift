package import ClientCore
package import TidingsModel

package struct SDKSetup: Equatable, Sendable {
    package var person: UserID = "alice"
    /// True if the app library runs; otherwise the core library alone (S0.5).
    package var hasKit = true
    package var kit = KitSettings()
    /// Nil: there is none (S3.4, S3.7).
    package var customCallback: CustomCallbackHabit?
    package var customCallbackOf: [String: CustomCallbackHabit] = [:]
    /// The names that the app's providers know; nil: every name (S3.5).
    package var names: ResolvedNames?
    /// The server's names for people.
    package var profiles: [UserID: Profile] = [:]
    package var language: String?
    package var hidesContent = false
    package var words = AppWords()
    package var levels: [ConversationID: NotificationLevel] = [:]
    package var unread = 0
    /// How far the server's log and the phone's reach at the start.
    package var position: LogPosition = 0
    /// How far the phone's store and app group reach when the steps begin; nil for the whole log.
    package var phonePosition: LogPosition?
    package var ledger: [KnownMessage] = []
    /// The badge in the app group; nil: the one that the app wrote when it left the foreground.
    package var badge: StoredBadge?
    package var isOffline = false
    package var registersActions = false
    /// True if the service extension asks the server for missed messages (design.md §5 "Keep-one").
    package var fetchesMissed = true
    package var pushText = PushTextMode.serviceExtension
    package var isOnlySender = false
    /// The app's options of notifications.
    package var push: PushOptions?
    package var presents = PresentationHabit()
    package var foreground = ForegroundPresentation()
    package var router = NotificationRouter()
    package var screens = NavigationState(stacks: [[]])
    package var imageHosts: [String] = []
    /// Milliseconds.
    package var centerTakes: Int64 = 0

    package enum StoredBadge: Equatable, Sendable {
        case missing
        case stored(Badge)
    }
}

package struct CustomCallbackHabit: Equatable, Sendable {
    /// True if the app shows the message itself; nil: it never answers.
    package var isHandled: Bool?
    package var after: Int64 = 0
}

package struct PresentationHabit: Equatable, Sendable {
    package var choice = Choice.kits
    package var after: Int64 = 0

    package enum Choice: Equatable, Sendable {
        case kits
        case own(PresentationOptions)
        case never
    }
}

package struct KnownMessage: Equatable, Sendable {
    package var label: String
    package var state: State = .shown
    package var holder: Ledger.Holder = .kit(process: 0)
    /// How long before the steps, in milliseconds.
    package var age: Int64 = 0

    package enum State: String, Equatable, Sendable, CaseIterable {
        case shown, claimed, recalled
    }
}

package enum SDKStep: Equatable, Sendable {
    case message(ScriptedMessage)
    case read(ConversationID)
    case readElsewhere(ConversationID)
    case signOut
    case signIn(UserID)
}

package struct ScriptedMessage: Equatable, Sendable {
    package var label: String
    package var sender: UserID = "bob"
    /// The person who was signed in when it was pushed; nil for the one who is now.
    package var recipient: UserID?
    /// The conversation as the sender sees it; nil: one-to-one with the person.
    package var conversation: ConversationID?
    /// The text; nil: its label.
    package var text: String?
    package var type: ObjectName = .text
    package var imageURL: String?
    package var lifetime: Int64?
    package var push: PushOptions?
    package var isCommand = false
    package var notifies = true
    package var mentions: Mentions = .none
    package var contentMentions: Mentions = .none
    /// Whose message it answers, with type `RC:ReferenceMsg`.
    package var answered: UserID?
    /// True if the connection breaks before it, so that the app finds it when it has connected again.
    package var isCatchUp = false
    /// How long the app's info providers take for its names, in milliseconds; nil: they never answer.
    package var namesAfter: Int64? = 0
    package var recalls: String?
    package var edits: String?
    package var custom: JSONValue?
}
