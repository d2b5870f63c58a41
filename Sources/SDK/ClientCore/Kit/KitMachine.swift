package import TidingsModel

/// Decides what the app does with what the system tells it of notifications: arrivals, silent pushes, taps and actions, by whichever
/// callback of whichever iOS version (S1.3–S1.18, S2.9, S2.10, S4.2–S4.9; design.md P3, P5, P7). Every decision is taken here: the shipped
/// kit, the World and the scenarios translate callbacks to events and carry out the effects.
///
/// ```text
///  presentationRequested ──▶ choosePresentation ──▶ presentationChosen ──▶ present
///                                     └───────────▶ presentationTimePassed ──▶ present (nothing)
///  remoteArrived ──▶ countBadge ──▶ badgeCounted ──▶ showBadge ──▶ badgeShown ─┐
///       └─────────────────────────────────────────────────────────────────────▶ refresh ──▶ refreshed ──▶ answerFetch
///  responded ──▶ open, work ──▶ worked ──▶ completeResponse
/// ```
package struct KitMachine: Hashable, Sendable {
    package typealias Call = UInt64

    package enum AppState: Hashable, Sendable {
        case active, inactive, background
    }

    package struct Settings: Hashable, Sendable {
        package var major: Int
        package var router = NotificationRouter()
        package var foregroundPresentation = ForegroundPresentation()

        package init(major: Int) { self.major = major }
    }

    package struct Arrival: Hashable, Sendable {
        package var userInfo: JSONValue
        package var text: AlertText
        package var hasSound: Bool

        package init(userInfo: JSONValue, text: AlertText, hasSound: Bool) {
            self.userInfo = userInfo
            self.text = text
            self.hasSound = hasSound
        }

        package init(payload userInfo: JSONValue) {
            self.init(
                userInfo: userInfo, text: AlertText(userInfo: userInfo), hasSound: userInfo["aps"]?["sound"] != nil)
        }

        /// A message's push that has come without a sound, as asked for: no extension has taken one from it.
        var isMeantPassive: Bool {
            let level = self.userInfo["aps"]?["interruption-level"]?.stringValue
            return level == PushOptions.InterruptionLevel.passive.rawValue
                && PushInfo(userInfo: self.userInfo)?.isRecall == false
        }
    }

    package struct Tap: Hashable, Sendable {
        package var userInfo: JSONValue
        package var text: AlertText
        package var action: String
        /// The text that the person typed; nil for actions without text.
        package var userText: String?
        package var origin: PersonResponse.Origin
        package var request: String?
        package var deliveredAt: Int64?

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

    package enum Event: Hashable, Sendable {
        /// The notification centre asks how to present a notification in the foreground (iOS 10).
        case presentationRequested(Arrival, Call)
        case presentationChosen(PresentationOptions, Call)
        case presentationTimePassed(Call)
        case remoteArrived(Arrival, AppState, isCenterDelegateSet: Bool, Call?)
        /// A local notification came to the application's delegate (iOS 4–9).
        case localArrived(Arrival, AppState)
        /// A message for another screen came over the connection in the foreground.
        case messageArrived(LocalNotification)
        case fetchRequested(Call)
        case badgeCounted(BadgePush.Verdict, Call)
        case badgeShown(Call)
        case refreshed(BackgroundRefreshResult, Call)
        case responded(Tap, Call?)
        /// A tap, unless the app was launched in the background.
        case launched(Tap, AppState)
        case worked(Call)
        case registrationFailed
        case becameActive
    }

    package enum Effect: Hashable, Sendable {
        case leaveToApp
        case publishArrival(ReceivedNotification, isForeground: Bool)
        /// The app has so many milliseconds.
        case choosePresentation(ReceivedNotification, Call, withinMilliseconds: Int64)
        case present(PresentationOptions, Call)
        case markShown(MessageID)
        case ring(ForegroundPresentation.Step)
        case countBadge(BadgeInfo, isActive: Bool, Call)
        case showBadge(Int, Call)
        case refresh(Call)
        case answerFetch(BackgroundRefreshResult, Call)
        case publishResponse(PersonResponse)
        case reportOpened(MessageID)
        case clearNotifications(ConversationID)
        case open(PersonResponse)
        case work([BackgroundWork], Call?)
        case completeResponse(Call)
        case registerForRemoteNotifications
    }

    struct Presentation: Hashable, Sendable {
        var call: Call
        var message: MessageID?
    }

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

    /// Less than iOS waits (ios-delivery.md §7.1).
    static let presentationMilliseconds: Int64 = 3_000

    package var settings: Settings
    private var state = State()

    package init(_ settings: Settings) { self.settings = settings }

    package var needsToken: Bool { self.state.needsToken }

    package mutating func handle(_ event: Event, facts: some KitFacts, into effects: inout [Effect]) {
        var turn = Turn(settings: self.settings, state: self.state)
        // Taken out, so that it is not copied.
        self.state = State()
        turn.handle(event, facts)
        self.state = turn.state
        effects += turn.effects
    }

    package func standardPresentation(of notification: ReceivedNotification, facts: some KitFacts)
        -> PresentationOptions
    {
        let turn = Turn(settings: self.settings, state: self.state)
        return ForegroundPresentation.choice(
            isForAnother: Self.isForAnother(notification.userInfo, facts), isKnown: turn.isKnown(notification, facts),
            isSilenced: notification.isSilenced)
    }

    /// Returns true if a notification is for a person other than the one who is signed in (design.md P7). A notification that names no
    /// recipient is for anyone who uses the phone.
    package static func isForAnother(_ userInfo: JSONValue, _ facts: some KitFacts) -> Bool {
        guard let tag = PushInfo.recipientTag(in: userInfo) else { return false }
        switch facts.signIn {
        case .signedIn(let known): return known != tag
        case .signedOut: return true
        // Only the server knows whose tag it is: it is enough that a person is signed in.
        case .unknown: return !facts.hasPerson
        }
    }

    struct Turn {
        let settings: Settings
        var state: State
        var effects: [Effect] = []
    }
}
