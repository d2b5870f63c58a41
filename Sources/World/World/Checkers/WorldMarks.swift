import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import StoreModel
import TidingsModel

/// A mark that a run should come to: a checker that was never asked has checked nothing.
package enum WorldMark: String, Hashable, Sendable, CaseIterable {
    case secondPhones = "people with two phones"
    case thirdPhones = "people with three phones"
    case phoneless = "people without a phone"
    case otherTenants = "requests of another app"
    case hostileActs = "acts of hostile clients"
    case hostileRefusals = "refusals of hostile clients"
    case smallGroups = "groups without everybody"
    case groupMessages = "group messages"
    case mentions
    case joins
    case leaves
    case recalls
    case edits
    case deletions
    case mutes
    case memberMutes = "members muted"
    case mutedSends = "sends refused as muted"
    case invitations
    case acceptedInvitations = "invitations accepted"
    case declinedInvitations = "invitations declined or withdrawn"
    case levelEnds = "levels that ended"
    case mutedLegs = "legs ended muted"
    case mentionPushes = "pushes of a mention through a level"
    case deferred = "legs deferred by quiet hours"
    case dropped = "legs dropped by quiet hours"
    case hiddenPushes = "pushes without content"
    case blocks
    case blockedSends = "sends refused as blocked"
    case hushedLegs = "legs of blocked members"
    case readElsewhere = "legs ended read elsewhere"
    case recalledLegs = "legs ended recalled"
    case expiredLegs = "legs ended expired"
    case recallPushes = "pushes of a recall"
    case badgePushes = "badge pushes"
    case filteredNumbers = "numbers in alerts for an extension"
    case directNumbers = "numbers alone"
    case lateNumbers = "numbers that came after a newer one"
    case lostNumbers = "numbers alone that APNs could not bring"
    case numbersBesideKept = "numbers lost while APNs kept an alert"
    case numbersForAnother = "numbers for the person before"
    case localNotifications = "local notifications"
    case overwritten = "pushes overwritten"
    case duplicated = "pushes brought twice"
    case handOvers = "custom messages handed over"
    case expiredCustom = "custom messages expired"
    case signIns = "people who signed in later"
    case wakes = "wakes by a silent push"
    case badgesByPush = "icons changed by a silent push"
    case foregroundRings = "rings in the foreground"
    case fetches = "fetches of what was overwritten"
    case fetched = "overwritten messages shown"
    case lostRequests = "requests of extensions lost"
    case lockedExtensions = "pushes before the first unlock"
    case secondRings = "second rings without an extension"
    case oldSystems = "phones with iOS before 15"
    case unsilenced = "banners iOS before 15 could not silence"
    case strayRings = "rings for the person before without an extension"
    case exposedTexts = "texts in alerts shown to another person"
    case fetchedTexts = "texts that extensions fetched"
    case messageRings = "messages that rang in the foreground"
    case frozen = "apps frozen"
    case killed = "apps killed"
    case forceQuits = "apps force-quit"
    case lowMemory = "phones low in memory"
    case appCrashes = "apps crashed"
    case offline = "phones without network"
    case restarts = "phones restarted"
    case lowPower = "phones in low power mode"
    case forbidden = "phones with notifications forbidden"
    case updates = "apps updated"
    case restores = "phones restored to a new device"
    case fullPhones = "phones with full storage"
    case refusedWrites = "writes a full phone refused"
    case lostScenes = "scenes released"
    case killedExtensions = "extensions killed"
    case stalledExtensions = "extensions over their time"
    case neglectedHandlers = "completion handlers never called"
    case deadTokens = "legs ended with a dead token"
    case slowDisks = "slow disks of the server"
    case fullDisks = "full disks of the server"
    case storeStops = "servers stopped by their store"
    case tornBatches = "batches of the server's store torn"
    case failedSyncs = "commits of the server's store failed"
    case tornDerivations = "crashes while the store derived"
    case clockJumps = "jumps of the server's clock"
    case throttles = "throttlings of APNs"
    case shutdowns = "shutdowns of APNs"
    case wrongEnvironments = "tokens refused as another environment's"
    case goAways = "GOAWAY of APNs"
    case cuts = "connections APNs cut"
    case silences = "connections on which APNs fell silent"
    case silenceFound = "silent connections given up"
    case resetStreams = "streams APNs reset"
    case refusedStreams = "streams APNs refused"
    case refusedConnects = "connections APNs refused"
    case brokenHandshakes = "TLS handshakes APNs refused"
    case narrowConnections = "connections to APNs with one stream"
    case tokensRenewed = "provider tokens renewed"
    case namesUnresolved = "names of APNs not resolved"
    case connectTimeouts = "connects to APNs out of time"
    case quarantined = "legs ended with a quarantined token"
    case oneWay = "connections that died in one direction"
    case slowLinks = "slow links"
    case pausedReaders = "phones that did not read"
    case cutReaders = "connections cut off unread"
    case overtaken = "connections that overtook an earlier one"
    case repeatedRequests = "HTTP requests that came twice"
    case nights = "nights"
    case bursts = "bursts of messages"
    case cleared = "notifications cleared at once"
    case lostSignOuts = "sign-outs the server never heard of"
    case commutes = "rides through a tunnel"
    case meetings = "meetings with a Focus"
    case oldStyle = "apps without scenes"
    case filtering = "apps that may filter"
    case taps = "taps that opened a conversation"
    case recalledAtWork = "recalled while the extension worked"
    case lateRecalled = "pushes later than their recall"
    case dueRings = "messages that had to ring"
    case excusedRings = "messages excused from ringing"
    case unreadyPhones = "messages to phones that could not ring"
    case finalProbes = "final probes"
    case recalledAtAnswer = "messages recalled while APNs accepted their push"
    case loweredNumbers = "numbers lowered by reading on another phone"
    case knownInFront = "pushes of what the app in the foreground has"
    case repeatedInFront = "pushes of what has just rung in the foreground"
    case anotherInFront = "pushes for the person before in the foreground"
    case mergedPushes = "pushes of several messages"
    case pushesForAnother = "pushes for the person before"
    case pushesWithOptions = "pushes with options"
    case notificationsWithOptions = "local notifications with options"
    case signedOutByOther = "phones signed out on another"
    case listChanges = "changes of a list of conversations"
    case profiles = "names set"
    case renames = "groups renamed"
    case serverNames = "names asked of the server"
    case nameless = "messages without a name from the app"
    case communications = "notifications of people"
    case portraits = "portraits fetched"
    case donated = "messages donated"
    case donatedSent = "own messages donated"
    case accountMessages = "messages of accounts"
    case operatorMessages = "messages of operators"
    case messagesToAccounts = "messages to accounts"
    case refusedOperators = "sends refused to who operates nothing"
    case refusedToStrangers = "sends refused to who does not follow"
    case follows
    case unfollows
    case operatorRecalls = "recalls as an account"
    case operatorEdits = "edits as an account"
    case colleagueRevisions = "revisions of what a colleague has written"
    case accountsTakenBack = "accounts taken back"
    case accountSignIns = "phones signed in as an account"
    case cards = "cards of another app's accounts"
    case offeredCards = "cards offered to another app"
    case pushesDone = "pushes to audiences"
    case pushesToDevices = "pushes to some devices of a person"
    case resumedPushes = "pushes resumed after a crash"
    case cancelledPushes = "pushes cancelled"
    case recalledPushes = "pushes taken back"
    case anonymousSignIns = "installations without sign-in"
    case pushesToAnonymous = "pushes to installations without sign-in"
    case credentialsReplaced = "push credentials replaced"
    case credentialsRolledBack = "push credentials rolled back"
    case revokedKeyRefusals = "pushes refused with a revoked key"
    case missingCredentials = "pushes that waited for a credential"
    case certificatePushes = "pushes with a certificate instead of the key"
    case clearedUnsettled = "notifications cleared as the network went"
}

extension WorldMark {
    /// Returns true if runs under this plan come to it: crowds, people without a phone, systems before iOS 15, apps whose pushes bring no
    /// text and those that ring in the foreground are only where each seed draws its own world.
    package func isPossible(with faults: WorldFaults) -> Bool {
        switch self {
        case .thirdPhones, .phoneless, .smallGroups, .oldSystems, .unsilenced, .fetchedTexts, .messageRings,
            .filteredNumbers, .directNumbers, .lateNumbers, .lostNumbers, .numbersBesideKept, .numbersForAnother,
            .serverNames, .nameless, .communications, .portraits,
            .donated, .donatedSent, .accountMessages, .operatorMessages, .messagesToAccounts, .refusedOperators,
            .refusedToStrangers, .follows, .unfollows, .operatorRecalls, .operatorEdits, .colleagueRevisions,
            .accountsTakenBack, .accountSignIns, .cards, .offeredCards, .pushesDone, .pushesToDevices, .resumedPushes,
            .cancelledPushes, .recalledPushes, .anonymousSignIns, .pushesToAnonymous,
            .credentialsReplaced, .credentialsRolledBack, .revokedKeyRefusals, .missingCredentials, .certificatePushes:
            faults.isDrawn
        // One run in some thousand.
        case .exposedTexts: false
        case .hostileActs, .hostileRefusals: faults.isDrawn || faults.hasHostileClients
        default: true  // tidy: the other situations need no more than time and faults
        }
    }
}

package struct WorldMarks: Hashable, Sendable {
    private var counts: OrderedDictionary<WorldMark, Int> = [:]

    package init() {}

    package subscript(mark: WorldMark) -> Int { self.counts[mark] ?? 0 }

    package mutating func add(_ other: WorldMarks) {
        for mark in WorldMark.allCases where other[mark] > 0 { self.reach(mark, other[mark]) }
    }

    private mutating func reach(_ mark: WorldMark, _ count: Int = 1) { self.counts[mark, default: 0] += count }

    mutating func count(_ fact: Fact, in state: CheckerState) {
        switch fact {
        case .committed(let command, let result):
            self.count(command, result)
            self.countAccounts(command, result, state)
        case .pushed(let request, let key): self.count(request, key, state)
        case .posted(let notification, _, _): if !notification.isSilent { self.reach(.localNotifications) }
        case .refused(_, let problem, _):
            if problem.code == .blocked { self.reach(.blockedSends) }
            if problem.code == .muted { self.reach(.mutedSends) }
        case .handedOver(let messages, _, _): self.reach(.handOvers, messages.count)
        case .opened: self.reach(.taps)
        case .reached(let mark): self.reach(mark)
        case .wrongEnvironment: self.reach(.wrongEnvironments)
        case .refusedWrite: self.reach(.refusedWrites)
        case .lacksLevels: self.reach(.oldSystems)
        case .unsilenced: self.reach(.unsilenced)
        case .nameless: self.reach(.nameless)
        case .shown(let request, _): if request.content.communication != nil { self.reach(.communications) }
        default: break  // tidy: the other facts are no mark
        }
    }

    private mutating func count(_ request: SentPush, _ key: DeviceKey, _ state: CheckerState) {
        guard request.pushType == .alert else { return self.reach(.badgePushes) }
        if request.isNumberOnly {
            return self.reach(request.recipientTag == nil ? .directNumbers : .filteredNumbers)
        }
        guard let info = request.alert else { return self.reach(.recallPushes) }
        if info.text == nil { self.reach(.hiddenPushes) }
        guard var message = state.committed.messages[info.message]?.message, message.mentions != .none else { return }
        message.mentions = .none
        if !state.known.settings(of: key.user.user).allows(message, for: key.user.user, wall: state.now.wall) {
            self.reach(.mentionPushes)
        }
    }

    private mutating func count(_ command: StoreCommand, _ result: StoreResult) {
        switch (command, result) {
        case (.accept(let message, _, _, _, _, _), .accepted):
            if message.conversation.hasMembers { self.reach(.groupMessages) }
            if message.mentions != .none { self.reach(.mentions) }
        case (.change, .changed(let changes, _)):
            for made in changes { self.count(made.change.action, in: made.change.conversation) }
        case (.setProfiles, .done): self.reach(.profiles)
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

    private mutating func countAccounts(_ command: StoreCommand, _ result: StoreResult, _ state: CheckerState) {
        switch (command, result) {
        case (.accept(let message, let device, _, _, _, let author), .accepted)
        where message.conversation.type.isService:
            if author != nil, device != nil {
                self.reach(.operatorMessages)
            } else {
                self.reach(device == nil ? .accountMessages : .messagesToAccounts)
            }
        case (.accept(let message, .some, _, _, _, _?), .refused(let problem)):
            if message.conversation.type.isService, problem.code == .notAllowed { self.reach(.refusedOperators) }
            if problem.code == .notAFollower { self.reach(.refusedToStrangers) }
        case (.accept, .refused(let problem)):
            if problem.code == .notAFollower { self.reach(.refusedToStrangers) }
        case (.setFollowing(_, _, let isFollowing), .done): self.reach(isFollowing ? .follows : .unfollows)
        case (.setAccount(_, _, isDeclared: false), .done): self.reach(.accountsTakenBack)
        case (.recall(let operation), .recalled(_, let message, _, _)):
            if Self.isOperator(operation.actor, message) { self.reach(.operatorRecalls) }
        case (.edit(let operation), .noted(.edit(_)?, _)):
            guard let message = state.committed.messages[operation.message]?.message else { return }
            if Self.isOperator(operation.actor, message) { self.reach(.operatorEdits) }
        default: break  // tidy: the other commands are about no account
        }
    }

    private static func isOperator(_ actor: UserID?, _ message: Message) -> Bool {
        message.conversation.type.isService && actor.map { $0 != message.sender } ?? false
    }

    private mutating func count(_ action: ConversationAction, in conversation: ConversationID) {
        switch action {
        case .join: self.reach(conversation.type == .group ? .acceptedInvitations : .joins)
        case .mute: self.reach(.memberMutes)
        case .invite(let users, _, _): self.reach(.invitations, users.count)
        case .decline, .withdraw: self.reach(.declinedInvitations)
        case .add(let users): self.reach(.joins, users.count)
        case .leave: self.reach(.leaves)
        case .remove(let users): self.reach(.leaves, users.count)
        case .rename: self.reach(.renames)
        case .create, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .unmute,
            .setOnlyAdminsWrite:
            break
        }
    }

    private mutating func count(_ end: LegEnd) {
        switch end {
        case .muted: self.reach(.mutedLegs)
        case .quietHours: self.reach(.dropped)
        case .readElsewhere: self.reach(.readElsewhere)
        case .recalled: self.reach(.recalledLegs)
        case .expired: self.reach(.expiredLegs)
        case .blocked: self.reach(.hushedLegs)
        case .tokenQuarantined: self.reach(.quarantined)
        case .tokenDead: self.reach(.deadTokens)
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .settled, .noToken, .accepted, .rejected:
            break
        }
    }
}
