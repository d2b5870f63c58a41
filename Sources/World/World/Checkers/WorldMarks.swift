import APNsModel
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

/// What a run should come to: a checker that was never asked has checked nothing.
package enum WorldMark: String, Hashable, Sendable, CaseIterable {
    /// People with two phones.
    case secondPhones = "people with two phones"
    /// People with three phones or more.
    case thirdPhones = "people with three phones"
    /// People who are written to and have no phone.
    case phoneless = "people without a phone"
    case otherTenants = "requests of another app"
    /// Hostile clients, and what they were refused.
    case hostileActs = "acts of hostile clients"
    case hostileRefusals = "refusals of hostile clients"
    /// Groups and discussions that somebody is not in at the beginning.
    case smallGroups = "groups without everybody"
    /// Messages to groups and discussions.
    case groupMessages = "group messages"
    /// Messages that mention somebody.
    case mentions
    /// People who came into a group or discussion.
    case joins
    /// People who left one, or were removed.
    case leaves
    /// Messages recalled.
    case recalls
    /// Messages given another content.
    case edits
    /// Deletions for oneself.
    case deletions
    /// Conversations silenced.
    case mutes
    /// Levels whose time was over.
    case levelEnds = "levels that ended"
    /// Legs that ended because their conversation was silenced.
    case mutedLegs = "legs ended muted"
    /// Pushes that went out because they mention the person, in a conversation that is silenced otherwise.
    case mentionPushes = "pushes of a mention through a level"
    /// Legs that waited for the end of quiet hours.
    case deferred = "legs deferred by quiet hours"
    /// Legs that quiet hours ended.
    case dropped = "legs dropped by quiet hours"
    /// Pushes that hide what the message says.
    case hiddenPushes = "pushes without content"
    /// People blocked.
    case blocks
    /// Messages refused because their sender is blocked.
    case blockedSends = "sends refused as blocked"
    /// Legs that ended because another device had read the message.
    case readElsewhere = "legs ended read elsewhere"
    /// Legs that ended because the message was recalled.
    case recalledLegs = "legs ended recalled"
    /// Legs that ended because the message's time was over.
    case expiredLegs = "legs ended expired"
    /// Pushes of a recall.
    case recalls = "pushes of a recall"
    /// Silent pushes of the number on the icon.
    case badgePushes = "badge pushes"
    /// Local notifications.
    case localNotifications = "local notifications"
    /// Pushes another one overwrote in the store of APNs.
    case overwritten = "pushes overwritten"
    /// Pushes that were brought twice.
    case duplicated = "pushes brought twice"
    /// Custom messages handed over.
    case handOvers = "custom messages handed over"
    /// Custom messages that had expired when a later one was handed over.
    case expiredCustom = "custom messages expired"
    /// People who signed in on a phone that was another's, or their own before.
    case signIns = "people who signed in later"
    /// Silent pushes that made the app catch up.
    case wakes = "wakes by a silent push"
    /// Silent pushes that changed the number on the icon.
    case badgesByPush = "icons changed by a silent push"
    /// Pushes that rang while the app was in the foreground.
    case foregroundRings = "rings in the foreground"
    /// Times an extension asked for what APNs had overwritten.
    case fetches = "fetches of what was overwritten"
    /// Messages that came to the list that way.
    case fetched = "overwritten messages shown"
    /// Requests of extensions that were lost, and answers.
    case lostRequests = "requests of extensions lost"
    /// Pushes before the first unlock, when the extension cannot read.
    case lockedExtensions = "pushes before the first unlock"
    /// Second rings where no extension could run.
    case secondRings = "second rings without an extension"
    /// Phones whose system knows no interruption levels.
    case oldSystems = "phones with iOS before 15"
    /// Banners, without sound, of what those could not silence.
    case unsilenced = "banners iOS before 15 could not silence"
    /// Rings for the person before, where no extension could run.
    case strayRings = "rings for the person before without an extension"
    /// Apps that were suspended without a word.
    case frozen = "apps frozen"
    /// Apps the system has ended.
    case killed = "apps killed"
    /// Apps the person has ended.
    case forceQuits = "apps force-quit"
    /// Phones whose memory ran low.
    case lowMemory = "phones low in memory"
    /// Apps that crashed.
    case appCrashes = "apps crashed"
    /// Phones that lost the network.
    case offline = "phones without network"
    /// Phones that restarted.
    case restarts = "phones restarted"
    /// Phones in Low Power Mode.
    case lowPower = "phones in low power mode"
    /// People who forbade notifications.
    case forbidden = "phones with notifications forbidden"
    /// Apps replaced by a new version.
    case updates = "apps updated"
    /// Phones put on a new device.
    case restores = "phones restored to a new device"
    /// Phones whose storage was full.
    case fullPhones = "phones with full storage"
    /// Writings the app's store refused.
    case refusedWrites = "writes a full phone refused"
    /// Scenes that were released.
    case lostScenes = "scenes released"
    /// Extensions that were ended while they had a push.
    case killedExtensions = "extensions killed"
    /// Extensions whose process did not go on.
    case stalledExtensions = "extensions over their time"
    /// Completion handlers that were never called.
    case neglectedHandlers = "completion handlers never called"
    /// Legs that ended because APNs said that the token is dead.
    case deadTokens = "legs ended with a dead token"
    /// Disks that took seconds to sync.
    case slowDisks = "slow disks of the server"
    /// Disks without room.
    case fullDisks = "full disks of the server"
    /// Servers that ended because their store refused to write.
    case storeStops = "servers stopped by their store"
    /// Jumps of the server's wall clock.
    case clockJumps = "jumps of the server's clock"
    /// Times at which APNs answered that there are too many requests.
    case throttles = "throttlings of APNs"
    /// Times at which APNs was shutting down.
    case shutdowns = "shutdowns of APNs"
    /// Times at which APNs took good tokens for ones of its other side.
    case wrongEnvironments = "tokens refused as another environment's"
    /// Connections to APNs that got a GOAWAY.
    case goAways = "GOAWAY of APNs"
    /// Connections APNs cut.
    case cuts = "connections APNs cut"
    /// Connections on which APNs fell silent.
    case silences = "connections on which APNs fell silent"
    /// Connections the client gave up because PING was not answered.
    case silenceFound = "silent connections given up"
    /// Requests whose stream APNs reset.
    case resetStreams = "streams APNs reset"
    /// Requests whose stream APNs refused.
    case refusedStreams = "streams APNs refused"
    /// Connections APNs closed as they arrived.
    case refusedConnects = "connections APNs refused"
    /// Handshakes of TLS that APNs broke off.
    case brokenHandshakes = "TLS handshakes APNs refused"
    /// Connections that APNs lets have one stream at a time.
    case narrowConnections = "connections to APNs with one stream"
    /// Provider tokens that took the place of one before.
    case tokensRenewed = "provider tokens renewed"
    /// Attempts to resolve the name of APNs that failed.
    case namesUnresolved = "names of APNs not resolved"
    /// Attempts to connect to APNs that took too long.
    case connectTimeouts = "connects to APNs out of time"
    /// Legs that ended because their token is set aside.
    case quarantined = "legs ended with a quarantined token"
    /// Connections that died in one direction.
    case oneWay = "connections that died in one direction"
    /// Connections on a slow link.
    case slowLinks = "slow links"
    /// Connections that overtook what was written on an earlier one.
    case overtaken = "connections that overtook an earlier one"
    /// HTTP requests that came twice.
    case repeatedRequests = "HTTP requests that came twice"
    /// People who laid the phone away for the night.
    case nights = "nights"
    /// Messages the app's backend wrote at once.
    case bursts = "bursts of messages"
    /// Notifications that were cleared as soon as they were there.
    case cleared = "notifications cleared at once"
    /// PendingSignOuts the server never takes.
    case lostSignOuts = "sign-outs the server never heard of"
    /// People who rode through a tunnel.
    case commutes = "rides through a tunnel"
    /// People in a meeting, with a Focus on.
    case meetings = "meetings with a Focus"
    /// Phones whose app has no scenes.
    case oldStyle = "apps without scenes"
    /// Phones whose app may show nothing of a push.
    case filtering = "apps that may filter"
    /// Conversations opened by a tap.
    case taps = "taps that opened a conversation"
    /// Messages that were recalled while an extension was at work on their push, and pushes that came after their recall.
    case recalledAtWork = "recalled while the extension worked"
    case lateRecalled = "pushes later than their recall"
    /// Messages that had to ring on a phone that lay away, and did.
    case dueRings = "messages that had to ring"
    /// Messages of which that was asked, until something happened.
    case excusedRings = "messages excused from ringing"
    /// Messages of which that could not be asked, for a phone that could not ring.
    case unreadyPhones = "messages to phones that could not ring"
    /// A person was written to when all had healed.
    case finalProbes = "final probes"
}

extension WorldMark {
    /// Whether runs under this plan can come to it: crowds, people without a phone and systems before iOS 15 are only where each seed
    /// draws its own world.
    package func isPossible(with faults: WorldFaults) -> Bool {
        switch self {
        case .thirdPhones, .phoneless, .smallGroups, .oldSystems, .unsilenced: faults.isDrawn
        case .hostileActs, .hostileRefusals: faults.isDrawn || faults.hasHostileClients
        default: true  // tidy: the other situations need no more than time and faults
        }
    }
}

/// How often a run has come to each.
package struct WorldMarks: Hashable, Sendable {
    private var counts: OrderedDictionary<WorldMark, Int> = [:]

    /// Nothing yet.
    package init() {}

    /// How often.
    package subscript(mark: WorldMark) -> Int { self.counts[mark] ?? 0 }

    /// Adds those of another run.
    package mutating func add(_ other: WorldMarks) {
        for mark in WorldMark.allCases where other[mark] > 0 { self.reach(mark, other[mark]) }
    }

    private mutating func reach(_ mark: WorldMark, _ count: Int = 1) { self.counts[mark, default: 0] += count }

    mutating func count(_ fact: Fact, in scene: Scene) {
        switch fact {
        case .committed(let command, let result): self.count(command, result)
        case .pushed(let request, let key): self.count(request, key, scene)
        case .posted(let notification, _, _): if !notification.isSilent { self.reach(.localNotifications) }
        case .refused(_, let problem, _): if problem.code == .blocked { self.reach(.blockedSends) }
        case .handedOver(let messages, _, _): self.reach(.handOvers, messages.count)
        case .opened: self.reach(.taps)
        case .reached(let mark): self.reach(mark)
        case .wrongEnvironment: self.reach(.wrongEnvironments)
        case .refusedWrite: self.reach(.refusedWrites)
        case .heard, .pool, .serverStarted, .otherTenantNotified, .apiAccepted, .hostile, .clockSet, .tokenEnded,
            .written,
            .acknowledged,
            .asked, .answered,
            .tapped,
            .disturbed, .appEnded,
            .signedIn, .signedOut, .stored, .applied, .passedGate, .extended, .unextended, .toldMissed, .fetched,
            .presented, .away, .moved, .held, .finalProbeEnded, .measured, .looked:
            break
        case .lacksLevels: self.reach(.oldSystems)
        case .unsilenced: self.reach(.unsilenced)
        }
    }

    private mutating func count(_ request: SentPush, _ key: DeviceKey, _ scene: Scene) {
        guard request.pushType == .alert else { return self.reach(.badgePushes) }
        guard let info = request.alert else { return self.reach(.recalls) }
        if info.text == nil { self.reach(.hiddenPushes) }
        guard var message = scene.committed.messages[info.message]?.message, message.mentions != .none else { return }
        message.mentions = .none
        if !scene.known.settings(of: key.user.user).allows(message, for: key.user.user, wall: scene.now.wall) {
            self.reach(.mentionPushes)
        }
    }

    private mutating func count(_ command: StoreCommand, _ result: StoreResult) {
        switch (command, result) {
        case (.accept(let message, _, _), .accepted):
            if message.conversation.hasMembers { self.reach(.groupMessages) }
            if message.mentions != .none { self.reach(.mentions) }
        case (.change, .changed(let change?, _)): self.count(change.action)
        case (.recall, .recalled): self.reach(.recalls)
        case (.edit, .noted(_?, _)): self.reach(.edits)
        case (.delete, .noted(_?, _)): self.reach(.deletions)
        case (.endLevel, .noted(_?, _)): self.reach(.levelEnds)
        case (.setConversationSettings(_, _, let settings, _), .noted(_?, _)):
            if settings.level ?? .all != .all { self.reach(.mutes) }
        case (.setBlocked(_, _, true, _), .noted(_?, _)): self.reach(.blocks)
        case (.keepLeg(let open), .done): if open.wait == .quietHours { self.reach(.deferred) }
        case (.endLeg(let ended), .done): self.count(ended.end)
        default: break  // tidy: the other commands are no mark
        }
    }

    private mutating func count(_ action: ConversationAction) {
        switch action {
        case .join: self.reach(.joins)
        case .add(let users): self.reach(.joins, users.count)
        case .leave: self.reach(.leaves)
        case .remove(let users): self.reach(.leaves, users.count)
        case .create, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban: break
        }
    }

    private mutating func count(_ end: LegEnd) {
        switch end {
        case .muted: self.reach(.mutedLegs)
        case .quietHours: self.reach(.dropped)
        case .readElsewhere: self.reach(.readElsewhere)
        case .recalled: self.reach(.recalledLegs)
        case .expired: self.reach(.expiredLegs)
        case .tokenQuarantined: self.reach(.quarantined)
        case .tokenDead: self.reach(.deadTokens)
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .settled, .noToken, .accepted,
            .rejected:
            break
        }
    }
}
