import APNsModel
import ClientCore
import PhoneCore
import StoreModel
import TidingsModel

/// Something that happened in a run and that a promise is about. Several checkers look at each: what is big lies in
/// one place for all of them.
enum Fact {
    // The server.

    /// The result survives a crash.
    indirect case committed(StoreCommand, StoreResult)
    case heard
    /// So many milliseconds ahead of the true one.
    case clockSet(ahead: Int64)
    /// APNs takes good tokens for ones of its other environment.
    case wrongEnvironment
    /// APNs has answered `BadDeviceToken` or `DeviceTokenNotForTopic` to a push with it.
    case tokenRefused(PushToken)
    /// It reads the store, and knows all that is committed.
    case serverStarted
    indirect case pushed(SentPush, to: DeviceKey)
    case pool(PoolFact)
    case otherTenantNotified(MessageID)
    /// A person of one of the two apps is told of these.
    indirect case toldProfiles([UserProfile], in: AppID)
    case apiAccepted(MessageID)
    indirect case hostile(HostileFact)

    // A person and the app they look at.

    indirect case written(MessageDraft, by: DeviceKey)
    indirect case acknowledged(Message, to: DeviceKey)
    indirect case refused(MessageDraft, ServerFrame.Problem, to: DeviceKey)
    indirect case asked(RequestNumber, ClientRequest, by: DeviceKey)
    indirect case answered(RequestNumber, RequestOutcome, to: DeviceKey)
    case tapped(MessageID, on: DeviceKey)
    /// Something happened to the phone that may cost what the app was about to do.
    case disturbed(DeviceKey)
    /// A process of the app begins.
    case appStarted(DeviceKey)
    /// The app ended or stands still, and nothing else: what it was about to do may be lost, but not a ring.
    case appEnded(DeviceKey)
    /// Its process has ended, for this reason, and no completion handler was left out on purpose.
    case appKilled(EndReason, on: DeviceKey)
    case opened(ConversationID, of: MessageID, on: DeviceKey)

    case refusedWrite(on: DeviceKey)
    case tokenEnded(DeviceID)
    case signedIn(DeviceKey)
    case signedOut(DeviceKey)

    // The SDK on a phone.

    case stored(upTo: LogPosition, on: DeviceKey)
    case applied([LogEntry], on: DeviceKey)
    indirect case passedGate(MessageID, on: DeviceKey, WorldDisk)
    indirect case posted(LocalNotification, on: DeviceKey, WorldDisk)
    /// The kit shows nothing, since a name is missing.
    case nameless(MessageID, on: DeviceKey)
    /// The service extension has decided about a push; the text is nil if nothing of it is shown.
    case extended(MessageID, isQuiet: Bool, text: String?, on: DeviceKey)
    /// The same of a push whose recipient tag is that of another person.
    case extendedForAnother(MessageID, isQuiet: Bool, text: String?, on: DeviceKey)
    /// No extension has decided about a push that is shown all the same: it cannot read what it shares with the app
    /// before the first unlock, or was ended.
    case unextended(identifier: String, on: DeviceKey)
    /// The extension has reduced an alert to its number, of one person's; `shown` is nil where it leaves the icon alone.
    case reduced(BadgeInfo, of: DeviceKey?, from: Badge?, to: Badge?, shown: Int?, on: DeviceKey)
    case toldMissed(JSONValue, to: DeviceKey)
    /// The kit tells the app of a notification that was made for this person.
    case told(MessageID?, for: UserKey, on: DeviceKey)
    /// The extension posts these of that answer; tells if the push itself rings.
    case fetched([MissedDecision.Post], pushRings: Bool, on: DeviceKey)
    /// The app is in the foreground or not as far as it was told.
    case handedOver([(position: LogPosition, message: CustomMessage)], isInForeground: Bool, on: DeviceKey)

    /// The kit rings for a message that came over the connection, without the system.
    case rangInForeground(MessageID, on: DeviceKey)

    // The phone.

    indirect case presented(PresentationRecord, on: DeviceKey)
    /// It stands in the list now, under this identifier.
    indirect case shown(NotificationRequest, on: DeviceKey)
    /// It shows what a push for another person says; `byAlert`: the app wants texts in the alert.
    case exposed(MessageID, byAlert: Bool, on: DeviceKey)
    case lacksLevels(DeviceID)
    /// Its app knows nobody's name, and does not want the server's.
    case lacksNames(DeviceID)
    /// A banner without sound of what was silenced, on a phone without interruption levels.
    case unsilenced(identifier: String, on: DeviceKey)
    /// A message was just accepted; these phones of its people are away.
    case away(MessageID, [AwayPhone])
    case moved(isInForeground: Bool, on: DeviceKey)
    /// Something holds up what is under way to one phone, or to all of them, until then in monotonic milliseconds at
    /// the latest.
    case held(until: Int64, on: DeviceID?)
    /// The system keeps a silent push from the app, or APNs does, as they may.
    case wakeHeld(DeviceID)
    case finalProbeEnded([FinalProbePhone])
    /// Everybody has read on one phone, and the others are still away.
    case readingProbeEnded([FinalProbePhone])
    case measured(WorldLoad)
    case looked(Ending)
    case reached(WorldMark)
}

/// A push as the server hands it over. Its payload is parsed once, for all checkers.
struct SentPush {
    let pushType: APNsPushType
    let apnsID: String?
    let collapseID: String?
    let token: PushToken
    /// Nil for a push that is not ours.
    let recipientTag: String?
    /// The message it is about, also of a recall; nil for a silent push.
    let message: MessageID?
    let payload: [UInt8]
    /// Nil for a recall and for a silent push.
    let alert: PushInfo?
    /// True if it brings members of the app's own.
    let hasCustom: Bool
    /// The level as in `aps`; nil for none.
    let level: String?
    let thread: String?
    /// The number it brings, and the log position that was computed at.
    let badge: (number: Int, position: LogPosition)?
    /// It tells the number and nothing else.
    let isNumberOnly: Bool
    /// True if APNs may keep it for a phone that is off.
    let isKept: Bool
    let hasSound: Bool
    let isPassive: Bool

    init(_ request: APNsRequest) {
        self.token = request.token
        self.pushType = request.pushType
        self.apnsID = request.apnsID
        self.collapseID = request.collapseID
        let json = try? JSONValue(parsing: request.payload)
        self.recipientTag = json?[PushInfo.key]?["to"]?.stringValue
        self.hasCustom = json?.members.contains { !PushOptions.reservedKeys.contains($0.0) } ?? false
        self.level = json?["aps"]?["interruption-level"]?.stringValue
        self.thread = json?["aps"]?["thread-id"]?.stringValue
        let info = json.flatMap { PushInfo(userInfo: $0) }
        self.message = info?.message
        self.payload = request.payload
        self.isNumberOnly = request.collapseID == BadgeInfo.identifier
        self.isKept = request.expiration != 0
        self.hasSound = json?["aps"]?["sound"] != nil
        self.isPassive = json?["aps"]?["interruption-level"]?.stringValue == "passive"
        if let info, let number = json?["aps"]?["badge"]?.intValue {
            self.badge = (Int(number), info.badgePosition)
        } else {
            self.badge = json.flatMap { BadgeInfo(userInfo: $0) }.map { ($0.badge, $0.badgePosition) }
        }
        guard request.pushType == .alert, let info, !info.isRecall else {
            self.alert = nil
            return
        }
        self.alert = info
    }
}

/// A promise, watched while a run goes on and checked when all has healed (design.md §1). A pure value: the same facts
/// give the same violations.
protocol Checker {
    /// Nothing else is shown to it.
    static var kinds: FactKinds { get }
    /// The state is that after the fact.
    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings)
    /// Everything has healed, and everybody has looked at the app and put the phone away.
    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings)
}

extension Checker {
    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {}
    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {}
}

struct Ending {
    struct Phone {
        var key: DeviceKey
        var disk: WorldDisk
        var icon: Int
        /// The donations of app and extension that were not taken back.
        var donations: [DonatedMessage] = []
    }

    /// The store when the run is over, with the end of each message.
    var store: StoreDump
    var phones: [Phone]

    func person(_ user: UserID) -> StoreDump.Person? {
        let key = UserKey(app: World.app, user: user)
        return self.store.people.first { $0.record.key == key }
    }
}

struct Findings {
    private(set) var violations: [Violation] = []
    fileprivate(set) var reached: [WorldMark] = []

    mutating func reach(_ mark: WorldMark) { self.reached.append(mark) }

    /// In milliseconds since the beginning; nil for the end.
    var at: Int64?

    mutating func add(_ promise: String, _ text: String) {
        // The first of a kind tells; thousands of the same would hide it.
        guard self.violations.count < 20 else { return }
        self.violations.append(Violation(promise: promise, text: text, at: self.at))
    }
}

struct Checkers {
    private var all: [any Checker]
    /// The places of the checkers that look at a kind of fact, by the kind's number.
    private let askers: [[Int]]
    private var state = CheckerState()
    private var findings = Findings()
    private var silence = SilenceLimit()
    private(set) var marks = WorldMarks()

    static var every: [any Checker] {
        [
            DurableChecker(), OrderChecker(), RingChecker(), LevelChecker(), RecallChecker(), HiddenChecker(),
            OptionsChecker(),
            BlockChecker(), RequestChecker(), ConvergenceChecker(), BadgeChecker(), TapChecker(), CustomChecker(),
            LegChecker(), PersonChecker(), FinalProbeChecker(), RingDueChecker(), FollowUpChecker(),
            BadgePushChecker(), PushedBadgeChecker(), TokenChecker(), WordsChecker(), BoundsChecker(), PoolChecker(),
            AbuseChecker(),
            AccountChecker(), WaitChecker(), RecipientChecker(), FrontRingChecker(), ReadElsewhereChecker(),
            GroupChecker(), ListChecker(), NamesChecker(), CommunicationChecker(), AudienceChecker(),
            AnonymousChecker(), BackgroundTimeChecker(),
        ]
    }

    init(_ all: [any Checker] = Self.every) {
        self.all = all
        self.askers = FactKind.allCases.map { kind in
            all.indices.filter { type(of: all[$0]).kinds.contains(kind) }
        }
    }

    var violations: [Violation] { self.findings.violations }
    private(set) var acknowledged = 0
    private(set) var rings = 0

    mutating func observe(_ fact: Fact, at now: Now) {
        let kind = fact.kind
        guard SilenceLimit.kinds.contains(kind) else { return self.dispatch(fact, kind, at: now) }
        let told = self.silence.rewrite(fact)
        self.dispatch(told, told.kind, at: now)
    }

    private mutating func dispatch(_ fact: Fact, _ kind: FactKind, at now: Now) {
        self.state.apply(fact, kind, at: now)
        self.findings.at = now.monotonic
        // No promise is told of the other app on the server.
        guard kind != .otherTenantStored else { return }
        self.marks.count(fact, in: self.state)
        // By the kind: to ask the fact itself takes a copy of it.
        if kind == .acknowledged { self.acknowledged += 1 }
        if kind == .presented, case .presented(let record, _) = fact, record.isRing { self.rings += 1 }
        for index in self.askers[Int(kind.rawValue)] {
            self.all[index].observe(fact, in: self.state, into: &self.findings)
        }
        guard !self.findings.reached.isEmpty else { return }
        for mark in self.findings.reached { self.marks.count(.reached(mark), in: self.state) }
        self.findings.reached = []
    }

    mutating func checkEnding(_ ending: Ending) {
        self.findings.at = nil
        for checker in self.all { checker.checkEnding(ending, in: self.state, into: &self.findings) }
    }

    mutating func foundUnrest(_ text: String) { self.findings.add("P6", text) }

    mutating func foundBug(_ text: String) { self.findings.add("bug", text) }
}
