package import TidingsModel

/// What the app does with what the system tells it of notifications: arrivals, silent pushes, taps and actions, by whichever callback of
/// whichever iOS version (S1.3–S1.18, S2.9, S2.10, S4.2–S4.9; DESIGN P3, P5, P7). Every decision is taken here: the shipped kit, the
/// World and the scenarios translate callbacks to events and carry out the effects.
///
/// ```text
///  presentationRequested ──▶ choosePresentation ──▶ presentationChosen ──▶ present
///                                     └───────────▶ presentationTimePassed ──▶ present (nothing)
///  remoteArrived ──▶ countBadge ──▶ badgeCounted ──▶ showBadge ──▶ badgeShown ─┐
///       └─────────────────────────────────────────────────────────────────────▶ refresh ──▶ refreshed ──▶ answerFetch
///  responded ──▶ open, work ──▶ worked ──▶ completeResponse
/// ```
package struct KitMachine: Hashable, Sendable {
    /// Names a call of the system's that waits for its completion handler.
    package typealias Call = UInt64

    /// Where the app is, as `UIApplication.State` says.
    package enum AppState: Hashable, Sendable {
        case active, inactive, background
    }

    /// What the app has set up.
    package struct Settings: Hashable, Sendable {
        /// The system's major version.
        package var major: Int
        /// The values of `type` in the app's own pushes that the app has a screen for (S1.16).
        package var detailTypes: Set<String> = []
        /// What is heard and seen in the foreground where the system does nothing.
        package var foregroundPresentation = ForegroundPresentation()

        /// Settings of a system's version.
        package init(major: Int) { self.major = major }
    }

    /// A notification that arrived.
    package struct Arrival: Hashable, Sendable {
        /// The whole user info.
        package var userInfo: JSONValue
        /// What it says.
        package var text: AlertText
        /// Whether it has a sound.
        package var hasSound: Bool

        /// An arrival from its parts.
        package init(userInfo: JSONValue, text: AlertText, hasSound: Bool) {
            self.userInfo = userInfo
            self.text = text
            self.hasSound = hasSound
        }

        /// A push as the application's delegate is given it.
        package init(payload userInfo: JSONValue) {
            self.init(
                userInfo: userInfo, text: AlertText(userInfo: userInfo), hasSound: userInfo["aps"]?["sound"] != nil)
        }
    }

    /// What a person did with a notification.
    package struct Tap: Hashable, Sendable {
        /// The whole user info.
        package var userInfo: JSONValue
        /// What the notification said; empty where the callback does not tell it.
        package var text: AlertText
        /// The action's identifier.
        package var action: String
        /// What the person typed; nil for actions without text.
        package var userText: String?
        /// The callback it came by.
        package var origin: PersonResponse.Origin
        /// The request's identifier; nil where the callback does not tell it.
        package var request: String?
        /// When the notification was delivered, in wall milliseconds; nil where the callback does not tell it.
        package var deliveredAt: Int64?

        /// A tap or action from its parts.
        package init(
            userInfo: JSONValue, text: AlertText, action: String = MessageCategory.defaultAction,
            userText: String? = nil, origin: PersonResponse.Origin, request: String? = nil, deliveredAt: Int64? = nil
        ) {
            self.userInfo = userInfo
            self.text = text
            self.action = action
            self.userText = userText
            self.origin = origin
            self.request = request
            self.deliveredAt = deliveredAt
        }
    }

    /// What the system tells, and how an effect has ended.
    package enum Event: Hashable, Sendable {
        /// The notification centre asks how to present a notification in the foreground (iOS 10).
        case presentationRequested(Arrival, Call)
        /// The app has chosen.
        case presentationChosen(PresentationOptions, Call)
        /// The app has had its time to choose.
        case presentationTimePassed(Call)
        /// A push came to the application's delegate, with a call where it has a fetch completion handler.
        case remoteArrived(Arrival, AppState, isCenterDelegateSet: Bool, Call?)
        /// A local notification came to the application's delegate (iOS 4–9).
        case localArrived(Arrival, AppState)
        /// Background Fetch (S4.13).
        case fetchRequested(Call)
        /// The badge of a `countBadge` is counted.
        case badgeCounted(BadgePush.Verdict, Call)
        /// The number of a `showBadge` is on the icon.
        case badgeShown(Call)
        /// A `refresh` has ended.
        case refreshed(BackgroundRefreshResult, Call)
        /// A person tapped a notification or chose an action.
        case responded(Tap, Call?)
        /// The launch options name a notification; it is a tap unless the app is launched in the background.
        case launched(Tap, AppState)
        /// The work of a `work` is done, or given up.
        case worked(Call)
        /// There is no device token (S2.8).
        case registrationFailed
        /// The app became active.
        case becameActive
    }

    /// What a shell has to do.
    package enum Effect: Hashable, Sendable {
        /// The notification is none of ours: the app handles it and calls its completion handler.
        case leaveToApp
        /// Tell the app's streams of an arrival.
        case publishArrival(ReceivedNotification, isForeground: Bool)
        /// Ask the app how to present; it has so long, in milliseconds.
        case choosePresentation(ReceivedNotification, Call, withinMilliseconds: Int64)
        /// Answer the system how to present.
        case present(PresentationOptions, Call)
        /// Say in the app group that the phone has rung for a message.
        case markShown(MessageID)
        /// Ring in place of the system.
        case ring(ForegroundPresentation.Step)
        /// Count a badge push under the app group's lock by `BadgePush.verdict`.
        case countBadge(BadgeInfo, isActive: Bool, Call)
        /// Show a number on the icon.
        case showBadge(Int, Call)
        /// Catch up with the server.
        case refresh(Call)
        /// Call the fetch completion handler.
        case answerFetch(BackgroundRefreshResult, Call)
        /// Tell the app's streams of a tap or action.
        case publishResponse(PersonResponse)
        /// Tell the server that a message's notification was opened.
        case reportOpened(MessageID)
        /// Take a conversation's notifications out of the notification centre.
        case clearNotifications(ConversationID)
        /// Have the app open a screen.
        case open(PersonResponse)
        /// Do what an action asks for.
        case work([BackgroundWork], Call?)
        /// Call the response's completion handler.
        case completeResponse(Call)
        /// Ask for a device token.
        case registerForRemoteNotifications
    }

    /// What it has of the call that waits for the app's choice.
    struct Presentation: Hashable, Sendable {
        var call: Call
        var message: MessageID?
    }

    /// What it has of the push that waits for its badge or its refresh.
    struct Wake: Hashable, Sendable {
        var call: Call
        var arrival: ReceivedNotification
        var isForeground: Bool
        var showsBadge = false
    }

    struct State: Hashable, Sendable {
        var taps = TapLog()
        var rung = RingLog()
        var presentations: [Presentation] = []
        var wakes: [Wake] = []
        var needsToken = false
    }

    /// How long the app may think about a presentation, in milliseconds: less than iOS waits (ios-delivery.md §7.1).
    static let presentationMilliseconds: Int64 = 3_000

    /// What the app has set up.
    package var settings: Settings
    private var state = State()

    /// The kit of a process.
    package init(_ settings: Settings) { self.settings = settings }

    /// Whether the device token is to be asked for again (S2.8).
    package var needsToken: Bool { self.state.needsToken }

    /// Takes an event in.
    ///
    /// - Parameter facts: asked only for what the decision needs.
    package mutating func handle(_ event: Event, facts: some KitFacts, into effects: inout [Effect]) {
        var turn = Turn(settings: self.settings, state: self.state)
        // Taken out, so that it is not copied.
        self.state = State()
        turn.handle(event, facts)
        self.state = turn.state
        effects += turn.effects
    }

    /// The kit's own choice in the foreground (S2.9).
    package func standardPresentation(of notification: ReceivedNotification, facts: some KitFacts)
        -> PresentationOptions
    {
        let turn = Turn(settings: self.settings, state: self.state)
        return ForegroundPresentation.choice(
            isForAnother: Self.isForAnother(notification.userInfo, facts), isKnown: turn.isKnown(notification, facts),
            isSilenced: notification.isSilenced)
    }

    /// Whether a notification is for somebody else than the person who is signed in here (DESIGN P7). One that names no recipient is
    /// for whoever holds the phone: a local notification of the kit's goes with the person it was posted for.
    package static func isForAnother(_ userInfo: JSONValue, _ facts: some KitFacts) -> Bool {
        let tag = PushInfo(userInfo: userInfo)?.recipientTag ?? BadgeInfo(userInfo: userInfo)?.recipientTag
        guard let tag else { return false }
        switch facts.signIn {
        case .signedIn(let known): return known != tag
        case .signedOut: return true
        // Only the server could say whose tag it is: it is enough that somebody is here.
        case .unknown: return !facts.hasPerson
        }
    }

    /// One event's surroundings and effects.
    struct Turn {
        let settings: Settings
        var state: State
        var effects: [Effect] = []
    }
}
