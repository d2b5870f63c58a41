import APNsModel
import ClientCore
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// Something that happened in a run and that a promise is about.
///
/// Several checkers look at each: what is big lies in one place for all of them.
enum Fact {
    // The server.

    /// The store has carried out a command, and its result survives a crash.
    indirect case committed(StoreCommand, StoreResult)
    /// The server's core hears of the oldest result it has not heard of.
    case heard
    /// The server's wall clock was set, so many milliseconds ahead of the true one.
    case clockSet(ahead: Int64)
    /// APNs takes good tokens for ones of its other side.
    case wrongEnvironment
    /// A server starts: it reads the store, and knows all that is committed.
    case serverStarted
    /// The server hands a push to its APNs client.
    indirect case pushed(SentPush, to: DeviceKey)
    /// What becomes of it there.
    case pool(PoolFact)
    /// The HTTP API has told the backend of another app that its message is accepted.
    case otherTenantNotified(MessageID)
    /// The HTTP API has told a backend that its message is accepted.
    case apiAccepted(MessageID)
    /// What a hostile client was told.
    indirect case hostile(HostileFact)

    // A person and the app in front of them.

    /// A message was handed to the outbox.
    indirect case written(MessageDraft, by: DeviceKey)
    /// Its sender was told that it is accepted.
    indirect case acknowledged(Message, to: DeviceKey)
    /// Its sender was told that it is refused.
    indirect case refused(MessageDraft, ServerFrame.Problem, to: DeviceKey)
    /// A request to the server was handed to the client.
    indirect case asked(RequestNumber, ClientRequest, by: DeviceKey)
    /// The client says how it ended.
    indirect case answered(RequestNumber, RequestOutcome, to: DeviceKey)
    /// The person taps a notification.
    case tapped(MessageID, on: DeviceKey)
    /// Something happened to the phone that may cost what the app was about to do.
    case disturbed(DeviceKey)
    /// The app ended or stands still, and nothing else: what it was about to do may be lost, but not a ring.
    case appEnded(DeviceKey)
    /// The app opens a conversation because of a tap.
    case opened(ConversationID, of: MessageID, on: DeviceKey)

    /// The app's store could not write: the phone is full.
    case refusedWrite(on: DeviceKey)
    /// The phone's token is void.
    case tokenEnded(DeviceID)
    /// A person signs in on a phone, or out.
    case signedIn(DeviceKey)
    case signedOut(DeviceKey)

    // The SDK on a phone.

    /// The phone's store holds the log up to here.
    case stored(upTo: LogPosition, on: DeviceKey)
    /// The client knows of entries that its store has.
    case applied([LogEntry], on: DeviceKey)
    /// The gate has let a message pass, on the way to a local notification.
    indirect case passedGate(MessageID, on: DeviceKey, WorldDisk)
    /// The kit hands a local notification to the system.
    indirect case posted(LocalNotification, on: DeviceKey, WorldDisk)
    /// The service extension has decided about a push: whether it is quiet, and what it says; nil if nothing of it is shown.
    case extended(MessageID, isQuiet: Bool, text: String?, on: DeviceKey)
    /// No extension has decided about a push that is shown all the same: it cannot read what it shares with the app before the
    /// first unlock, or was ended.
    case unextended(identifier: String, on: DeviceKey)
    /// The server's answer to an extension that has missed pushes.
    case toldMissed(JSONValue, to: DeviceKey)
    /// What an extension posts of it; whether the push itself rings.
    case fetched([MissedDecision.Post], pushRings: Bool, on: DeviceKey)
    /// Custom messages were handed to the app, which is in the foreground or not as far as it was told.
    case handedOver([(position: LogPosition, message: CustomMessage)], isInForeground: Bool, on: DeviceKey)

    // The phone.

    /// A notification was presented, or not.
    indirect case presented(PresentationRecord, on: DeviceKey)
    /// The phone's system knows no interruption levels.
    case lacksLevels(DeviceID)
    /// A banner without sound of what was silenced, on such a phone.
    case unsilenced(identifier: String, on: DeviceKey)
    /// A message was just accepted; these phones of its people lie away.
    case away(MessageID, [AwayPhone])
    /// The app has come to the foreground, or left it.
    case moved(isInForeground: Bool, on: DeviceKey)
    /// Something is wrong that holds up what is under way to one phone or to all, until then in monotonic milliseconds at the latest.
    case held(until: Int64, on: DeviceID?)
    /// A minute has passed since everybody who may be rung for was written to, with all phones away.
    case finalProbeEnded([FinalProbePhone])
    /// What server and phones hold in memory.
    case measured(WorldLoad)
    /// All has healed, and everybody has looked at the app for minutes: store and phones as they are.
    case looked(Ending)
    /// Something else that a run should come to.
    case reached(WorldMark)
}

/// A push as the server hands it over. Its payload is read once, for all promises.
struct SentPush {
    let pushType: APNsPushType
    let apnsID: String?
    let collapseID: String?
    let token: PushToken
    /// Names the device it is for; nil for a push that is not ours.
    let recipientTag: String?
    /// The message the push is an alert for; nil for a recall and for a silent push.
    let alert: PushInfo?
    /// The number it brings, and the place in the log that was computed at; nil for none.
    let badge: (number: Int, position: LogPosition)?

    init(_ request: APNsRequest) {
        self.token = request.token
        self.pushType = request.pushType
        self.apnsID = request.apnsID
        self.collapseID = request.collapseID
        let json = try? JSONValue(parsing: request.payload)
        self.recipientTag = json?[PushInfo.key]?["to"]?.stringValue
        let info = json.flatMap { PushInfo(userInfo: $0) }
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

/// A promise, watched while a run goes on and judged when all has healed (DESIGN §1). A pure value: the same facts give the same
/// violations.
protocol Checker {
    /// What it looks at; nothing else is shown to it.
    static var kinds: FactKinds { get }
    /// Takes a fact. The scene is that after it.
    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings)
    /// Everything has healed, and everybody has looked at the app and put the phone away.
    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings)
}

extension Checker {
    mutating func see(_ fact: Fact, in scene: Scene, into findings: inout Findings) {}
    func judge(_ ending: Ending, in scene: Scene, into findings: inout Findings) {}
}

/// How a run ended.
struct Ending {
    /// A phone at the end.
    struct Phone {
        var key: DeviceKey
        var disk: WorldDisk
        /// The number on the icon.
        var icon: Int
    }

    /// Everything in the store; what became of each message only when the run is over.
    var store: StoreDump
    /// In the order of their numbers.
    var phones: [Phone]

    /// What the store has of a person; nil for somebody it does not know.
    func person(_ user: UserID) -> StoreDump.Person? {
        let key = UserKey(app: World.app, user: user)
        return self.store.people.first { $0.record.key == key }
    }
}

/// What no promise allows.
struct Findings {
    private(set) var violations: [Violation] = []
    /// What a promise has seen that is no violation, and counts.
    private(set) var reached: [WorldMark] = []

    mutating func reach(_ mark: WorldMark) { self.reached.append(mark) }

    mutating func takeReached() -> [WorldMark] {
        defer { self.reached = [] }
        return self.reached
    }
    /// The moment that is looked at, in milliseconds since the beginning; nil for the end.
    var at: Int64?

    mutating func add(_ promise: String, _ text: String) {
        // The first of a kind tells; thousands of the same would hide it.
        guard self.violations.count < 20 else { return }
        self.violations.append(Violation(promise: promise, text: text, at: self.at))
    }
}

/// All promises of a run.
struct Checkers {
    private var all: [any Checker]
    /// Which of them look at a kind of fact, by their places; by the kind's number.
    private let askers: [[Int]]
    private var scene = Scene()
    private var findings = Findings()
    private var silence = SilenceLimit()
    /// What the run has reached.
    private(set) var marks = WorldMarks()

    /// Every promise, before anything has happened.
    static var every: [any Checker] {
        [
            DurableChecker(), OrderChecker(), RingChecker(), LevelChecker(), RecallChecker(), HiddenChecker(),
            BlockChecker(), RequestChecker(), ConvergenceChecker(), BadgeChecker(), TapChecker(), CustomChecker(),
            LegChecker(), PersonChecker(), FinalProbeChecker(), RingDueChecker(), FollowUpChecker(),
            PushedBadgeChecker(), TokenChecker(), WordsChecker(), BoundsChecker(), PoolChecker(),
            AbuseChecker(), FrontRingChecker(),
        ]
    }

    init(_ all: [any Checker] = Self.every) {
        self.all = all
        self.askers = FactKind.allCases.map { kind in
            all.indices.filter { type(of: all[$0]).kinds.contains(kind) }
        }
    }

    var violations: [Violation] { self.findings.violations }
    /// Messages whose sender was told that they are accepted.
    private(set) var acknowledged = 0
    /// Banners and sounds.
    private(set) var rings = 0

    mutating func see(_ fact: Fact, at now: Now) {
        let kind = fact.kind
        guard SilenceLimit.kinds.contains(kind) else { return self.see(fact, kind, at: now) }
        let told = self.silence.take(fact)
        self.see(told, told.kind, at: now)
    }

    private mutating func see(_ fact: Fact, _ kind: FactKind, at now: Now) {
        self.scene.take(fact, kind, at: now)
        self.findings.at = now.monotonic
        // No promise is told of the other app on the server.
        guard kind != .otherTenantStored else { return }
        self.marks.count(fact, in: self.scene)
        if case .acknowledged = fact { self.acknowledged += 1 }
        if case .presented(let record, _) = fact, record.isRing { self.rings += 1 }
        for index in self.askers[Int(kind.rawValue)] {
            self.all[index].see(fact, in: self.scene, into: &self.findings)
        }
        guard !self.findings.reached.isEmpty else { return }
        for mark in self.findings.takeReached() { self.marks.count(.reached(mark), in: self.scene) }
    }

    mutating func judge(_ ending: Ending) {
        self.findings.at = nil
        for checker in self.all { checker.judge(ending, in: self.scene, into: &self.findings) }
    }

    /// The run went on and on.
    mutating func foundUnrest(_ text: String) { self.findings.add("P6", text) }

    /// Our own code did what it must not do.
    mutating func foundBug(_ text: String) { self.findings.add("bug", text) }
}
