import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import SimulatedPhone
import TidingsModel

/// A phone with one app: its core, what survives the app's processes, and the processes themselves. One World has it
/// and changes it where it lies; as a value it would be copied for every look at one of its many fields.
final class WorldPhone {
    var person: UserID
    let device: DeviceID
    /// How long its processes take.
    var chance: SplitMix64
    let installed: InstalledApp
    var core: PhoneCore
    var disk = WorldDisk()
    var others: OrderedDictionary<UserID, WorldDisk> = [:]
    var isSignedIn = true
    /// A server has welcomed the app since the person signed in: before that it knows no recipient tag, and every push is stripped.
    var isWelcome = true
    var isFull = false
    var behaviour: Behaviour?
    var naming = NameSource.app
    var night = Night(fallsAsleep: 32_400_000)
    var sleepsUntil: Int64 = 0
    var neglected: OrderedSet<CallbackNumber> = []
    /// The last process that left one out.
    var neglectful: ProcessID?
    var tokenGeneration = 0
    /// The person has signed out, and the server is still to be told.
    var isLeaving = false
    var sentSignOutAt: Int64 = 0
    /// The server does not take the token of who has signed out.
    var isTokenVoid = false
    var registration: PushRegistration?
    var group = WorldAppGroup()
    var processes: OrderedDictionary<ProcessID, WorldProcess> = [:]
    var courier: UInt64?
    /// The time of the last message to the courier, so that they keep their order.
    var courierArrival: Int64 = 0
    var awaitsToken = false
    var isOnline = true
    var timerAt: Int64?
    var nextQuery: QueryNumber = 1
    var queries: [QueryNumber: QueryPurpose] = [:]
    var wokenAt: Int64?
    /// When the system last ended the extension before it was done.
    var extensionEndedAt: Int64?
    /// The last alert that came, when, and on which token.
    var keptPush: (push: Push, at: Int64, generation: Int)?
    /// No extension can decide about the next push of this name.
    var endsExtensionFor: String?
    /// Nothing but APNs can reach the phone, nor can it reach the server.
    var isCutOff = false
    var extensionWork: OrderedDictionary<CallbackNumber, ExtensionWork> = [:]
    var nextTask: BackgroundTaskNumber = 1
    var nextRequest: RequestNumber = 1
    /// How many connections its processes have opened, and where those are of which one end is open at least.
    var connectionCount = 0
    var openConnections: [Int] = []
    var breakCount = 0
    /// The messages that the person will recall as soon as they are sent.
    var regrets: OrderedSet<ClientMessageID> = []
    /// The person's messages that the server has not answered.
    var drafts: OrderedDictionary<ClientMessageID, MessageDraft> = [:]

    init(person: UserID, device: DeviceID, chance: SplitMix64, installed: InstalledApp, core: PhoneCore) {
        self.person = person
        self.device = device
        self.chance = chance
        self.installed = installed
        self.core = core
    }

    var canReadGroup: Bool { self.core.isUnlockedOnce }
    var mayFilter: Bool {
        ExtensionDecision.mayFilter(
            isEntitled: self.installed.hasFilteringEntitlement, version: self.core.version.description)
    }

    /// Asked where the disk lies, since a getter of it would be given a copy.
    var counts: (stored: LogPosition, unread: Int) { WorldDisk.counts(of: &self.disk) }

    var isInForeground: Bool { Self.isInForeground(&self.core) }
    /// True if nothing of the phone's own keeps a notification from ringing: a Focus, a restart, Low Power Mode, no permission.
    var isReadyToRing: Bool { Self.isReadyToRing(&self.core) }

    /// True if a silent push may wake the app, as far as the phone's own settings and the person let it (ios-delivery.md §5.6, "Wake").
    var mayBeWoken: Bool { Self.mayBeWoken(&self.core) }

    func keepPush(_ push: Push, at time: Int64) {
        guard push.pushType == APNsPushType.alert.rawValue else { return }
        self.keptPush = (push, time, self.tokenGeneration)
    }

    private static func mayBeWoken(_ core: inout PhoneCore) -> Bool {
        switch core.state(of: World.bundle) {
        case .backgroundRunning, .suspended, .notRunning: core.isUnlockedOnce && !core.isInLowPowerMode
        case .foregroundActive, .foregroundInactive, .forceQuit, nil: false
        }
    }
    var nextDeadline: Int64? { Self.deadline(of: &self.core) }

    private static func deadline(of core: inout PhoneCore) -> Int64? { core.nextDeadline }
    private static func isInForeground(_ core: inout PhoneCore) -> Bool {
        core.state(of: World.bundle)?.isInForeground == true
    }
    private static func isReadyToRing(_ core: inout PhoneCore) -> Bool {
        core.focus == nil && core.isUnlockedOnce && !core.isInLowPowerMode
            && core.notificationSettings(of: World.bundle)?.authorizationStatus == .authorized
    }

    var key: DeviceKey { DeviceKey(user: UserKey(app: World.app, user: self.person), device: self.device) }
}

/// An extension has no client. One phone has it, and changes it where it lies.
final class WorldProcess {
    var client: WorldClient?
    var isSuspended = false
    /// The occurrences that arrived while it was suspended, in order.
    var waiting: [Occurrence] = []
    var timerAt: Int64?
    var task: BackgroundTaskNumber?
    var isInForeground = false
    var kit: KitMachine
    var center = NotificationCenterQueue()
    var lastCenterWork: NotificationCenterQueue.Number = 0
    var nameAsks: OrderedDictionary<RequestNumber, NameAsk> = [:]
    /// The message that has rung in the foreground last.
    var rang: MessageID?

    init(major: Int) { self.kit = KitMachine(KitMachine.Settings(major: major)) }
}

enum QueryPurpose: Hashable {
    case center(NotificationCenterQueue.PendingQuery)
    case extensionPost(CallbackNumber, MessageID)
}

/// The SDK's core in a process. It is big, and changed where it lies.
final class WorldClient {
    private var core: ClientCore

    init(_ core: ClientCore) { self.core = core }

    /// Asked where the core lies: a getter would be given a copy.
    var nextDeadline: Int64? { Self.deadline(of: &self.core) }

    var load: ClientLoad { Self.load(of: &self.core) }

    private static func load(of core: inout ClientCore) -> ClientLoad { core.load }
    private static func deadline(of core: inout ClientCore) -> Int64? { core.nextDeadline }

    func handle(_ event: ClientEvent, at now: Now, into effects: inout [ClientEffect]) {
        self.core.handle(event, at: now, into: &effects)
    }
}

struct WorldAppGroup {
    var ledger = Ledger()
    var names = WorldNames()
    var badge: Badge?
    var recipient: Recipient?
    /// The person wants notifications to hide what messages say.
    var hidesContent = false
    /// True if the extension could filter when it ran last.
    var extensionFilters = false
}
