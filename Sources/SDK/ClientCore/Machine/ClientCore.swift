import OrderedCollections
package import TidingsModel

/// Everything a client decides, for one person on one device: connection, session, outbox, log, acknowledgements, run
/// state, and whether a message becomes a local notification. The shell performs the effects in order, hands their
/// results back as events, and keeps one timer for `nextDeadline`.
package struct ClientCore: Hashable, Sendable {
    package struct Settings: Hashable, Sendable {
        package var app: AppID
        package var person: UserID
        package var device: DeviceID
        /// For the hello, for example `ios`.
        package var platform: String
        package var words: AppWords
        package var connection: ConnectionMachine.Settings
        package var runState: RunStateMachine.Settings

        package init(
            app: AppID, person: UserID, device: DeviceID, platform: String,
            words: AppWords = AppWords(), connection: ConnectionMachine.Settings = .init(),
            runState: RunStateMachine.Settings = .init()
        ) {
            self.app = app
            self.person = person
            self.device = device
            self.platform = platform
            self.words = words
            self.connection = connection
            self.runState = runState
        }
    }

    package struct Restored: Hashable, Sendable {
        package var stored: LogPosition = 0
        package var settled: LogPosition = 0
        package var outbox: [MessageDraft] = []
        /// In a fixed order, like `pending changes`.
        package var reads: [ReadPosition] = []
        /// Unread messages outside muted conversations.
        package var unread = 0
        package var preferences = AllSettings()
        /// Set on this device and not confirmed by the log.
        package var pendingChanges: [PendingSettingsChange] = []
        /// Pending changes that the server may have taken.
        package var told: Set<PendingSettingsChange> = []
        /// True if custom messages wait to be handed over (S4.10).
        package var hasCustomMessages = false
        package var isLeaving = false
        package var origin: LogOrigin?
        /// A part of the log is gone, and the server has not said since what is set.
        package var owesSettings = false
    }

    package struct ReadPosition: Hashable, Sendable {
        package var conversation: ConversationID
        /// Up to and including this position of the person's log.
        package var upTo: LogPosition
    }

    let settings: Settings
    var connection: ConnectionMachine
    var renewal: TokenRenewal
    var run: RunStateMachine
    var sync: LogSync
    var settlements: Settlements
    var outbox: Outbox
    var decisions = NotificationDecisions()
    /// The names that the app was asked for in the foreground, in this process.
    var learnedNames: Set<NameQuestion> = []
    var kit: KitSettings?
    /// The person's own messages for the system's suggestions, until the app has named the recipients.
    var unnamedSent: OrderedDictionary<MessageID, Message> = [:]
    var registration: PushRegistration?
    var isUnregistered = false
    var registrationNumber: RequestNumber?
    /// Nil until the app has said something of it: what an earlier process told holds.
    var voIP: VoIPRegistration?
    /// The app hears of each fault once.
    var refusedRegistration: ServerFrame.Problem?
    var recipient: Recipient?
    var unread: Int
    var reads: OrderedDictionary<ConversationID, LogPosition>
    var preferences: Preferences
    /// A part of the log is gone, and the server has not said since what is set: until it has, nothing is told.
    var owesSettings: Bool
    var pendingChangeRetryAt: Int64?
    /// For what the server could not take and does not name, in monotonic milliseconds.
    var sayAgainAt: Int64?
    /// The zone of the person's quiet hours; nil if there never were any.
    var zone: Zone?
    var requests = Requests()
    var wanted: OrderedSet<ConversationID> = []
    var asked: OrderedSet<ConversationID> = []
    /// Each with its newest message.
    var rooms: OrderedDictionary<ConversationID, MessageID> = [:]
    var watched: OrderedSet<UserID> = []
    /// The server's wall clock at a moment of this device's monotonic one; nil before the first welcome.
    var serverClock: Now?
    /// Entries of this background stay up to here were missed while offline and are left to the push, where the
    /// server does not say what it has pushed. Nil until the first greeting of a stay that began without a
    /// connection.
    var offlineBelow: LogPosition?
    /// The log position from which on messages are live: entries up to it came while the app was not connected.
    var liveAfter: LogPosition?
    /// The notification centre had a message and had not answered.
    var isClosedWhilePosting = false
    var ackedStored: LogPosition = 0
    var origin: LogOrigin?
    var unsentReport: ReportedRunState?
    var wakes = Wakes()
    /// Nil in the background.
    var resignedUnread: Int?
    var openNotificationWork = 0
    var opened = OpenedReceipts()
    var leftovers: OrderedSet<Leftover> = []
    var hasCustomMessages: Bool
    var customMessagesAwaitClock = false
    var pendingSignOut: PendingSignOut

    /// `seed` is for the jitter of the back-off.
    package init(settings: Settings, restored: Restored, isForeground: Bool, seed: UInt64) {
        self.settings = settings
        self.connection = ConnectionMachine(settings: settings.connection, seed: seed)
        self.renewal = TokenRenewal(settings: settings.connection, seed: seed)
        self.run = RunStateMachine(settings: settings.runState, isForeground: isForeground)
        self.sync = LogSync(stored: restored.stored)
        self.settlements = Settlements(settled: restored.settled, stored: restored.stored)
        self.outbox = Outbox(restored: restored.outbox)
        self.unread = restored.unread
        self.reads = [:]
        for read in restored.reads { self.reads[read.conversation] = read.upTo }
        self.preferences = Preferences(
            confirmed: restored.preferences, pendingChanges: restored.pendingChanges, told: restored.told)
        self.owesSettings = restored.owesSettings
        self.hasCustomMessages = restored.hasCustomMessages
        self.origin = restored.origin
        self.pendingSignOut = restored.isLeaving ? .requested : .none
        if !isForeground { _ = self.connection.handle(.parked, at: Now(monotonic: 0, wall: 0)) }
    }

    package var runState: RunState { self.run.runState }
    package var storedPosition: LogPosition { self.sync.stored }
    package var settledPosition: LogPosition { self.settlements.settled }
    package var unreadCount: Int { self.unread }
    package var isOnline: Bool { self.connection.online != nil }
    package var waitingToBeSent: [ClientMessageID] { self.outbox.waiting }

    package var nextDeadline: Int64? {
        // Without an array: it is asked after every event.
        var next = self.connection.nextDeadline ?? .max
        if let at = self.run.nextDeadline { next = min(next, at) }
        if let at = self.decisions.nextDeadline { next = min(next, at) }
        if self.isOnline, let at = self.outbox.nextDeadline { next = min(next, at) }
        if let at = self.wakes.nextDeadline { next = min(next, at) }
        if let at = self.pendingSignOut.deadline { next = min(next, at) }
        if let at = self.requests.nextDeadline { next = min(next, at) }
        if let at = self.pendingChangeRetryAt { next = min(next, at) }
        if let at = self.sayAgainAt { next = min(next, at) }
        if let at = self.renewal.nextDeadline { next = min(next, at) }
        return next == .max ? nil : next
    }

    package mutating func handle(_ event: ClientEvent, at now: Now, into effects: inout [ClientEffect]) {
        let before = effects.count
        self.dispatch(event, at: now, into: &effects)
        self.needZone(into: &effects)
        for place in before..<effects.count where effects[place].isNotificationWork { self.openNotificationWork += 1 }
        self.settleWakes(at: now, into: &effects)
    }

    // tidy: long because it is one case per event.
    private mutating func dispatch(_ event: ClientEvent, at now: Now, into effects: inout [ClientEffect]) {
        switch event {
        case .connectRequested:
            self.step(.requested(self.settings.person), at: now, into: &effects)
            self.handOverCustomMessages(at: now, into: &effects)
        case .disconnectRequested: self.step(.disconnectRequested, at: now, into: &effects)
        case .signOutRequested: self.signOut(at: now, into: &effects)
        case .sendRequested(let draft):
            guard self.outbox.add(draft) else { return }
            self.removeLeftover(draft.clientMessageID)
            effects.append(.storeOutgoing(draft))
        case .markReadRequested(let conversation, let position):
            self.markRead(conversation, upTo: position, into: &effects)
        case .notificationOpened(let message):
            if self.opened.insert(message) { self.tellOpened([message], into: &effects) }
        case .pushRegistrationSet(let registration):
            let isUnregistered = registration == nil
            guard registration != self.registration || isUnregistered != self.isUnregistered else { return }
            self.registration = registration
            self.isUnregistered = isUnregistered
            self.refusedRegistration = nil
            self.tellRegistration(into: &effects)
        case .kitConfigured(let kit):
            let isOther = kit?.managesBadge != self.kit?.managesBadge
            self.kitConfigured(kit, into: &effects)
            if isOther { self.askDeviceStatus(into: &effects) }
        case .voIPRegistrationSet(let registration):
            guard self.voIP?.registration != registration || self.voIP == nil else { return }
            self.voIP = VoIPRegistration(registration: registration)
            self.tellVoIPRegistration(at: now, into: &effects)
        case .settingRequested(let pendingChange): self.settingRequested(pendingChange, at: now, into: &effects)
        case .requestSubmitted(let number, let request): self.request(number, request, at: now, into: &effects)
        case .typingRequested(let conversation, let isTyping):
            self.write(.typing(conversation, isTyping: isTyping), into: &effects)

        case .appWillResignActive:
            guard self.kit?.managesBadge ?? false else { return }
            self.resignedUnread = self.unread
            effects.append(.writeBadge(unread: self.unread, position: self.sync.stored))
        case .appDidEnterBackground(let remaining):
            self.step(.enteredBackground(remainingMilliseconds: remaining), at: now, into: &effects)
            // What came or was read while the app was inactive, as behind the app switcher.
            if let written = self.resignedUnread.take(), written != self.unread { self.lowerBadge(into: &effects) }
        case .appWillEnterForeground: self.step(RunStateMachine.Event.willEnterForeground, at: now, into: &effects)
        case .wakeBegan(let number, let remaining): self.wake(number, remaining: remaining, at: now, into: &effects)
        case .backgroundTimeExpired: self.step(RunStateMachine.Event.timeExpired, at: now, into: &effects)

        case .tokenProvided(let token): self.tokenProvided(token, at: now, into: &effects)
        case .tokenFailed(let reason):
            self.renewal.notProvided(at: now)
            self.step(.tokenFailed(reason: reason), at: now, into: &effects)
        case .connectionOpened(let number): self.step(.opened(number), at: now, into: &effects)
        case .frameReceived(let number, let frame): self.receive(frame, on: number, at: now, into: &effects)
        case .connectionClosed(let number, let reason):
            let isCurrent = self.connection.current == number
            let isSignOutHeard = self.pendingSignOut.isHeard(on: number)
            self.step(.closed(number, reason: reason), at: now, into: &effects)
            if isSignOutHeard { self.endPendingSignOut(at: now, into: &effects) }
            if !isCurrent { self.closed(at: now, into: &effects) }

        case .entriesStored(let position, let unread):
            self.stored(upTo: position, unread: unread, at: now, into: &effects)
        case .conversationsIncomplete(let conversations): self.want(conversations, at: now, into: &effects)
        case .unreadCounted(let unread):
            self.unread = unread
            self.lowerBadge(into: &effects)
        case .storeFailed(let reason): self.storeFailed(reason: reason, at: now, into: &effects)
        case .leftBehind(let leftover, let reason):
            self.leftBehind(leftover, reason: reason, at: now, into: &effects)
        case .storeDamaged(let reason): self.storeDamaged(reason: reason, at: now, into: &effects)
        case .outgoingStored(let id):
            self.outbox.stored(id)
            self.sendDue(at: now, into: &effects)

        case .namesResolved, .delegateAnswered, .ringClaimed, .ringClaimFailed:
            self.decideNotification(event, at: now, into: &effects)
        case .notificationPosted:
            self.decideNotification(event, at: now, into: &effects)
            self.posted(at: now, into: &effects)
        case .sentNamed(let id, let names): self.sentNamed(id, names, into: &effects)
        case .notificationWorkDone: self.openNotificationWork = max(0, self.openNotificationWork - 1)
        case .deviceStatusRead(var status, let extensionFilters):
            // Before iOS 15 nothing is passive: an alert that no extension has discarded would show a banner.
            let filters = extensionFilters && status.systemMajor >= 15
            status.iconNumber = self.kit?.managesBadge == true ? filters ? .serviceExtension : .kit : .app
            self.write(.deviceStatus(status), into: &effects)
        case .timeZoneRead(let name, let facts):
            if self.zone?.name == name { self.zone = Zone(name: name, facts: facts, isKnown: true) }
        case .deadlineReached: self.deadlineReached(at: now, into: &effects)
        }
    }

    package mutating func handle(_ event: ClientEvent, at now: Now) -> [ClientEffect] {
        var effects: [ClientEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    private mutating func deadlineReached(at now: Now, into effects: inout [ClientEffect]) {
        // Before the hang-up: what is decided now can still be reported.
        self.apply(self.decisions.deadlineReached(at: now), into: &effects)
        self.step(RunStateMachine.Event.deadline, at: now, into: &effects)
        self.step(ConnectionMachine.Event.deadline, at: now, into: &effects)
        self.sendDue(at: now, into: &effects)
        self.signOutDeadlineReached(at: now, into: &effects)
        self.requestDeadlineReached(at: now, into: &effects)
        self.sayAgain(at: now, into: &effects)
        self.renewalDeadlineReached(at: now, into: &effects)
        effects += self.wakes.deadlineReached(at: now)
    }

    private mutating func markRead(
        _ conversation: ConversationID, upTo position: LogPosition, into effects: inout [ClientEffect]
    ) {
        guard position > self.reads[conversation] ?? 0 else { return }
        self.reads[conversation] = position
        effects += [.storeRead(conversation, upTo: position), .clearNotifications(conversation, upTo: position)]
        self.write(.markRead(conversation, upTo: position), into: &effects)
    }

    mutating func storeFailed(reason: String, at now: Now, into effects: inout [ClientEffect]) {
        self.sync.storeFailed()
        for id in self.outbox.storeFailed() {
            // It may have been written after all; what the app is told is lost must not be sent by the next start.
            effects += [.removeOutgoing(id), .finishSend(id, .abandoned(reason: reason))]
        }
        self.step(.broken(reason: reason), at: now, into: &effects)
    }

    /// Writes what only this device knows to the empty store again, so that a damaged store loses no outgoing message, read position or
    /// muting.
    private mutating func storeDamaged(reason: String, at now: Now, into effects: inout [ClientEffect]) {
        effects.append(.setStoreAside)
        effects += self.outbox.drafts.map { .storeOutgoing($0) }
        effects += self.reads.map { .storeRead($0.key, upTo: $0.value) }
        effects +=
            [.storeSettings(self.preferences.confirmed)]
            + self.preferences.pendingChanges.map { .storePendingChange($0) }
        self.sync.forget()
        self.settlements.forget()
        self.leftovers = []
        self.unread = 0
        self.ackedStored = 0
        self.hasCustomMessages = false
        self.customMessagesAwaitClock = false
        self.step(.broken(reason: reason), at: now, into: &effects)
        self.preferences.forgetTold()
        self.owesSettings = false
    }

    /// If the server has welcomed us; what matters is said again after the next welcome.
    func write(_ frame: ClientFrame, into effects: inout [ClientEffect]) {
        guard let number = self.connection.online, !self.isLeaving else { return }
        effects.append(.sendFrame(number, frame))
    }

    /// Tells the server which messages were opened. Messages that cannot be told now are told with the next welcome.
    mutating func tellOpened(_ messages: [MessageID], into effects: inout [ClientEffect]) {
        guard self.isOnline, !self.isLeaving, !messages.isEmpty else { return }
        for message in messages { self.write(.opened(message), into: &effects) }
        self.opened.written(pingsSent: self.connection.pingsSent)
    }

    mutating func sendDue(at now: Now, into effects: inout [ClientEffect]) {
        guard let number = self.connection.online, !self.isLeaving else { return }
        for draft in self.outbox.due(at: now) { effects.append(.sendFrame(number, .send(draft))) }
    }
}
