import ClientCore
import PhoneCore
import ServerCore
import SimulatedServer
import StoreModel
import TidingsModel

struct SDKHost {
    static let app: AppID = "scenario"
    static let device: DeviceID = "phone"

    private(set) var setup: SDKSetup
    var client: ClientCore?
    /// Set until the process is killed: an app that terminates is still told (ios-delivery.md §2.2).
    var process: ProcessID?
    var isSuspended = false
    var waiting: [ClientEvent] = []
    var queue: [ClientEvent] = []
    var isOffline: Bool
    var kit: KitMachine
    var center = NotificationCenterQueue()
    var lastCenterWork: NotificationCenterQueue.Number = 0
    /// The notification centre's answers while it was suspended.
    var waitingCenter: [NotificationCenterQueue.Event] = []
    /// The events of the kit's timers while it was suspended.
    var waitingKit: [KitMachine.Event] = []
    var callsAnsweredByFile: Set<CallbackNumber> = []
    var openActions: [WakeNumber: KitMachine.Call?] = [:]
    var actions: UInt64 = 0
    var task: UInt64?
    var tasks: UInt64 = 0

    // What survives the process.
    var store = MemoryLocalStore()
    var ledger = Ledger()
    var badge: Badge?
    var recipient: Recipient?
    /// The names the providers gave last, for the extension.
    var userNames: [UserID: String] = [:]
    var groupNames: [ConversationID: String] = [:]
    var memberCounts: [ConversationID: Int] = [:]
    /// True if the extension may discard alerts; the file's app has run it before.
    var extensionFilters = false
    var isSignedOut = false
    /// Until the server has heard of a sign-out.
    var isLeaving = false
    var registration: PushRegistration?

    // The connection to the server.
    /// The client's end of its connection, and the server's; the server may not know yet that the client's is gone.
    var connection: ConnectionNumber?
    var session: SessionID?
    var lastSession: UInt64 = 0
    var members: [ConversationID: Set<UserID>] = [:]
    var labels: [MessageID: String] = [:]
    /// The ledger's entries of messages that have not come yet, by their names in the scenario.
    var foreknown: [String: Ledger.Entry] = [:]
    var names: [MessageID: Int64?] = [:]
    var opened: Set<MessageID> = []

    init(setup: SDKSetup, major: Int, log: [LogEntry]) {
        self.setup = setup
        self.setup.kit = setup.kit.fitted(to: major)
        var settings = KitMachine.Settings(major: major)
        settings.router = setup.router
        settings.foregroundPresentation = setup.foreground
        self.kit = KitMachine(settings)
        self.isOffline = setup.isOffline
        self.fillStore(log)
    }

    /// Replaces what the app wrote on the way to the first step by what the file says the phone holds.
    mutating func beginSteps(wall: Int64, log: [LogEntry]) {
        switch self.setup.badge {
        case .stored(let badge)?: self.badge = badge
        case .missing?: self.badge = nil
        case nil: break
        }
        if let position = self.setup.phonePosition {
            self.fillStore(log.filter { $0.position <= position })
            self.recipient?.position = position
        }
        for known in self.setup.ledger {
            let entry = Ledger.Entry(
                holder: known.holder, claimedAt: wall - known.age, isShown: known.state != .claimed,
                isRecalled: known.state == .recalled)
            if let sent = self.labels.keys.sorted().first(where: { self.labels[$0] == known.label }) {
                self.ledger.restore(sent, entry)
            } else {
                self.foreknown[known.label] = entry
            }
        }
    }

    private mutating func fillStore(_ log: [LogEntry]) {
        self.store = MemoryLocalStore()
        _ = self.store.carryOut(.write(log, for: self.setup.person))
        _ = self.store.carryOut(.settle(upTo: log.last?.position ?? 0))
        let levels = self.setup.levels.mapValues { ConversationSettings(level: $0) }
        let person = self.setup.personSettings
        _ = self.store.carryOut(.replaceSettings(AllSettings(person: person, conversations: levels)))
    }

    /// Nothing of the person stays on the phone.
    mutating func forgetPerson() {
        self.isSignedOut = true
        self.recipient = nil
        self.userNames = [:]
        self.groupNames = [:]
        self.memberCounts = [:]
        _ = self.store.carryOut(.forgetPerson)
        self.ledger = Ledger()
        if self.badge != nil { self.badge = Badge() }
    }

    /// Signs in a person with a new client; the phone's earlier state of them is gone.
    mutating func signIn(_ person: UserID) {
        self.setup.person = person
        self.isSignedOut = false
        self.client = self.newClient(isForeground: true)
    }

    func newClient(isForeground: Bool) -> ClientCore {
        let settings = ClientCore.Settings(
            app: Self.app, person: self.setup.person, device: Self.device, platform: "ios", words: self.setup.words)
        return ClientCore(settings: settings, restored: self.store.restored(), isForeground: isForeground, seed: 1)
    }
}

// The server of a scenario.
extension SDKSetup {
    var user: UserKey { UserKey(app: SDKHost.app, user: self.person) }
    var personSettings: PersonSettings { PersonSettings(hidesContent: self.hidesContent, language: self.language) }

    /// A server that holds what the file says was there before the case: unread messages, settings, and as many entries as the log is long.
    func server(at now: Now) -> SimulatedServer {
        let at = now.wall - 3_600_000
        var entries = (0..<self.unread).map { Self.earlier($0, flags: .normal, to: self.person, at: at) }
        if !self.profiles.isEmpty {
            let profiles = self.profiles.sorted { $0.key < $1.key }.map { UserProfile($0.key, $0.value) }
            entries.append(.setProfiles(SDKHost.app, profiles, isOwn: false))
        }
        entries += self.levels.sorted { $0.key < $1.key }.map {
            .setConversationSettings(self.user, $0.key, ConversationSettings(level: $0.value), at: at)
        }
        if self.personSettings != PersonSettings() {
            entries.append(.setPersonSettings(self.user, self.personSettings, at: at))
        }
        while entries.count < Int(self.position) {
            entries.append(Self.earlier(entries.count, flags: [], to: self.person, at: at))
        }
        var settings = ServerSettings()
        settings.words[SDKHost.app] = self.words
        settings.pushTextModes[SDKHost.app] = self.pushText
        if self.isOnlySender { settings.onlyPushSenders = [SDKHost.app] }
        var rules = PushRules()
        rules.options = self.push
        rules.entitlements = Set(PushRules.Entitlement.allCases)
        rules.imageHosts = self.imageHosts
        settings.pushRules[SDKHost.app] = rules
        return SimulatedServer(
            settings: settings, prepared: entries, at: now, checkToken: SimulatedServer.tokenIsUser(in: SDKHost.app))
    }

    private static func earlier(_ number: Int, flags: MessageFlags, to person: UserID, at wall: Int64) -> StoreCommand {
        let message = Message(
            id: MessageID(wallMilliseconds: wall, node: 2, counter: UInt32(number)), app: SDKHost.app,
            sender: "earlier", conversation: ConversationID(type: .direct, target: person.rawValue),
            clientMessageID: ClientMessageID("earlier\(number)"), objectName: .text, content: #"{"content":"earlier"}"#,
            flags: flags, pushText: nil, sentAt: wall)
        return .accept(message: message, senderDevice: nil)
    }
}
