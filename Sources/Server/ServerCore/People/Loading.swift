import OrderedCollections
import StoreModel
import TidingsModel

/// An event that others have for a person. It waits while the person is being loaded.
enum PersonEvent: Sendable {
    case delivery(Delivery, SharedMessage, from: DeviceID?)
    case entry(LogEntry, unread: Int, RecalledMessage)
    case signedIn(SessionID?, DeviceRecord)
    /// The state before the quarantine.
    case takeBack(DeviceID, PushState)
}

struct Loading: Sendable {
    enum Pending: Sendable {
        case event(PersonEvent)
        case api(APIRequestID, APICommand)
    }

    /// It takes one of the places that limit how fast a start loads people.
    let isRecovery: Bool
    var record: UserRecord?
    var from: LogPosition = 0
    /// The log up to the record's head, as far as it was read.
    var entries: [LogEntry] = []
    var names: [ConversationSender: MessageNames] = [:]
    /// The recalls in it whose message was unread until then, and counted.
    var wereUnread: Set<LogPosition> = []
    /// The messages in it of people whom the person had blocked, and their recalls.
    var hushed: Set<LogPosition> = []
    var queue: [Pending] = []

    func shared(_ message: Message, at position: LogPosition) -> SharedMessage {
        SharedMessage(
            message, names: self.names[ConversationSender(of: message)] ?? MessageNames(),
            isHushed: self.hushed.contains(position))
    }

    /// The log does not tell the device that sent a message while the person was loading.
    var senders: [LogPosition: DeviceID] {
        var senders: [LogPosition: DeviceID] = [:]
        for case .event(.delivery(let delivery, _, let device)) in self.queue { senders[delivery.position] = device }
        return senders
    }

    var recalled: [LogPosition: RecalledMessage] {
        var recalled: [LogPosition: RecalledMessage] = [:]
        for case .event(.entry(let entry, _, let message)) in self.queue { recalled[entry.position] = message }
        return recalled
    }

    /// The positions of messages that were stored while the person was loading: no earlier process has begun with them.
    var deliveredPositions: Set<LogPosition> {
        var positions: Set<LogPosition> = []
        for case .event(.delivery(let delivery, _, _)) in self.queue { positions.insert(delivery.position) }
        return positions
    }

    var namesFromQueue: [ConversationSender: MessageNames] {
        var names: [ConversationSender: MessageNames] = [:]
        for case .event(.delivery(_, let shared, _)) in self.queue {
            names[ConversationSender(of: shared.message)] = shared.names
        }
        return names
    }

    var hushedInQueue: Set<LogPosition> {
        var hushed: Set<LogPosition> = []
        for case .event(.delivery(let delivery, let shared, _)) in self.queue where shared.isHushed {
            hushed.insert(delivery.position)
        }
        return hushed
    }

    mutating func forgetToken(of device: DeviceID) {
        self.queue.removeAll {
            if case .event(.signedIn(nil, let record)) = $0 { record.key.device == device } else { false }
        }
        guard let index = self.record?.devices.firstIndex(where: { $0.key.device == device }) else { return }
        self.record?.devices[index].push = .none
        self.record?.devices[index].isSignedOut = ImportedInstallation.hasMade(device)
    }

    mutating func forgetVoIPToken(of device: DeviceID) {
        guard let index = self.record?.devices.firstIndex(where: { $0.key.device == device }) else { return }
        self.record?.devices[index].voIP = nil
    }

    /// The entries after `from`, if they all came in during loading: then the log need not be read.
    func entriesFromQueue(upTo head: LogPosition) -> [LogEntry]? {
        let entries = self.queue.compactMap { pending -> LogEntry? in
            switch pending {
            case .event(.delivery(let delivery, let message, _)):
                LogEntry(position: delivery.position, body: .message(message.message))
            case .event(.entry(let entry, _, _)): entry
            case .event(.signedIn), .event(.takeBack), .api: nil
            }
        }.filter { $0.position > self.from && $0.position <= head }
        return LogPosition(entries.count) == head - self.from ? entries : nil
    }
}

extension ServerCore {
    /// Hands an event to a person, or keeps it until they are loaded.
    mutating func tell(_ event: consuming PersonEvent, slot: Int) {
        if self.people[slot].state.isReady {
            self.people[slot].handle(event, &self.turn)
        } else {
            self.loadings[slot]?.queue.append(.event(event))
        }
    }

    /// nil while the person is loading; then the command waits for them.
    mutating func loadedSlot(of user: UserKey, for request: APIRequestID, _ command: APICommand) -> Int? {
        let slot = self.slot(of: user)
        self.people[slot].state.leavesSoon = false
        guard !self.people[slot].state.isReady else { return slot }
        self.loadings[slot]?.queue.append(.api(request, command))
        return nil
    }

    /// The same, and the person stays in memory for some time.
    mutating func busySlot(of user: UserKey, for request: APIRequestID, _ command: APICommand) -> Int? {
        guard let slot = self.loadedSlot(of: user, for: request, command) else { return nil }
        self.people[slot].state.busyAt = self.turn.now.monotonic
        self.people[slot].arm(&self.turn)
        return slot
    }

    mutating func slot(of user: UserKey, isRecovery: Bool = false, leavesSoon: Bool = false) -> Int {
        if let slot = self.slots[user] { return slot }
        let slot = self.freeSlots.popLast() ?? self.people.count
        var state = PersonState(
            key: user, slot: slot, at: self.turn.now.monotonic, forgottenAlertAt: self.forgottenAlertAt)
        state.leavesSoon = leavesSoon
        if slot < self.people.count {
            self.people[slot] = Person(state: state)
        } else {
            self.people.append(Person(state: state))
        }
        self.slots[user] = slot
        self.loadings[slot] = Loading(isRecovery: isRecovery)
        self.turn.ask(.loadUser(user), for: .loadUser(slot: slot))
        return slot
    }

    mutating func unload(_ slot: Int) {
        // People who were in memory for a push alone leave it while an alert may still lie with APNs. Of all of them the last one is noted: for
        // each by themselves, a push to everybody would leave as many as it reaches in a minute.
        if let last = self.people[slot].devices.lazy.compactMap(\.badge.alertAt).max() {
            self.forgottenAlertAt = max(self.forgottenAlertAt ?? last, last)
        }
        self.slots.removeValue(forKey: self.people[slot].state.key)
        self.people[slot].forgetAll(&self.turn)
        self.freeSlots.append(slot)
    }

    mutating func handleUserRecord(_ record: UserRecord, into slot: Int) {
        var from = record.head
        for device in record.devices where !device.isSignedOut {
            from = min(from, max(device.settled, device.decided, device.since))
        }
        for leg in record.openLegs { from = min(from, leg.position - 1) }
        self.loadings[slot]?.record = record
        self.loadings[slot]?.from = from
        self.continueLoading(slot: slot)
    }

    mutating func handleLogPage(_ page: LogPage, into slot: Int) {
        guard let head = self.loadings[slot]?.record?.head else { return }
        let entries = page.entries.filter { $0.position <= head }
        self.loadings[slot]?.entries.append(contentsOf: entries)
        self.loadings[slot]?.names.merge(page.names) { _, newer in newer }
        self.loadings[slot]?.wereUnread.formUnion(page.wereUnread)
        self.loadings[slot]?.hushed.formUnion(page.hushed)
        // A log that is trimmed below its head has no more entries.
        self.loadings[slot]?.from = entries.last?.position ?? head
        self.continueLoading(slot: slot)
    }

    private mutating func continueLoading(slot: Int) {
        guard let loading = self.loadings[slot], let record = loading.record else { return }
        if loading.from >= record.head {
            self.finishLoading(slot)
        } else if loading.entries.isEmpty, let entries = loading.entriesFromQueue(upTo: record.head) {
            self.loadings[slot]?.entries = entries
            self.loadings[slot]?.names = loading.namesFromQueue
            self.loadings[slot]?.hushed = loading.hushedInQueue
            self.finishLoading(slot)
        } else {
            self.turn.ask(
                .readLog(record.key, after: loading.from, limit: self.turn.settings.pageEntriesMax),
                for: .loadPage(slot: slot))
        }
    }

    mutating func abandonLoading(_ slot: Int) {
        guard let loading = self.loadings.removeValue(forKey: slot) else { return }
        for pending in loading.queue {
            switch pending {
            // These are in the log, and are found there when it can be read again.
            case .event(.delivery), .event(.entry), .event(.takeBack): break
            case .event(.signedIn(let session, _)):
                guard let session, self.turn.sessions.openings[session] != nil else { continue }
                self.turn.emit(.write(session, .problem(Self.unavailable, isFatal: true)))
                self.close(session)
            case .api(let request, _): self.turn.emit(.reply(request, .refused(Self.unavailable)))
            }
        }
        self.unload(slot)
        self.finishRecovery(of: loading)
    }

    private mutating func finishRecovery(of loading: Loading) {
        guard loading.isRecovery else { return }
        self.recoveryLoads -= 1
        self.loadRecovering()
    }

    private mutating func finishLoading(_ slot: Int) {
        guard let loading = self.loadings.removeValue(forKey: slot), let record = loading.record else { return }
        self.people[slot].restore(record, loading, &self.turn)
        for pending in loading.queue {
            switch pending {
            // Of what was in the log already there are legs, or a leg without device that is to be counted.
            case .event(.delivery(let delivery, let message, _)) where delivery.position <= record.head:
                self.people[slot].countWithoutDevice(message, &self.turn)
            case .event(.entry(let entry, _, _)) where entry.position <= record.head: break
            case .event(let event): self.people[slot].handle(event, &self.turn)
            case .api(let request, let command): self.serve(command, for: request)
            }
        }
        self.people[slot].finishLoading(&self.turn)
        self.finishRecovery(of: loading)
    }
}

extension Person {
    fileprivate mutating func handle(_ event: consuming PersonEvent, _ turn: inout Turn) {
        switch consume event {
        case .delivery(let delivery, let message, let sender): self.deliver(message, delivery, from: sender, &turn)
        case .entry(let entry, let unread, let recalled):
            self.apply(entry, unread: unread, recalled: recalled, &turn)
        case .signedIn(let session, let record): self.openSession(session, record, &turn)
        case .takeBack(let device, let state): self.takeBack(device, state, &turn)
        }
    }

    /// Forgets all that memory holds of a person who leaves it.
    fileprivate mutating func forgetAll(_ turn: inout Turn) {
        for index in self.devices.indices { self.devices[index].leaveLane(&turn) }
        self.devices = []
        self.state.isReady = false
        self.state.readUpTo = [:]
        self.state.settings = AllSettings()
        self.state.account = AccountState()
    }

    fileprivate mutating func restore(_ record: UserRecord, _ loading: Loading, _ turn: inout Turn) {
        self.state.isReady = true
        self.state.isRestoringLegs = true
        self.state.busyAt = turn.now.monotonic
        self.state.head = record.head
        self.state.unread = record.unread
        // Drafts are read where they are asked for: many of them would fill the memory.
        self.state.settings = record.settings.withoutDrafts
        self.state.account = record.account
        self.state.followSettings(&turn)
        self.devices = record.devices.filter { !$0.isSignedOut }.map(Device.init(record:))
        self.restoreLegs(loading, record.openLegs, &turn)
    }

    /// Only now is everything applied that came in meanwhile: recalled, read or edited messages must not be pushed as they were.
    fileprivate mutating func finishLoading(_ turn: inout Turn) {
        self.expireDevices(&turn)
        self.state.isRestoringLegs = false
        self.pumpAll(&turn)
        self.arm(&turn)
    }

    /// Restores the open legs, and starts those of entries above max(settled, decided) (design.md §3 "Push work").
    private mutating func restoreLegs(_ loading: Loading, _ openLegs: [OpenLeg], _ turn: inout Turn) {
        let senders = loading.senders
        let delivered = loading.deliveredPositions
        let recalled = loading.recalled
        // Devices that are loaded until then may still come back on their own.
        let graceUntil = turn.startedAt.monotonic + turn.settings.restartGraceTime
        // Recalls that were synced before the crash, while their legs perhaps were not.
        var unsure: OrderedDictionary<LogPosition, Recall> = [:]
        for index in self.devices.indices {
            let id = self.devices[index].id
            let open = openLegs.filter { $0.leg.device == id }
            // A device with a kept leg was gone already, and has not come back: there is nothing to wait for.
            if open.isEmpty, turn.now.monotonic < graceUntil {
                self.devices[index].lease = .returning(until: graceUntil)
            }
            let written = max(self.devices[index].written, self.devices[index].since)
            var kept = open[...].makeIterator()
            var next = kept.next()
            for entry in loading.entries {
                while let leg = next, leg.position < entry.position { next = kept.next() }
                if let (conversation, upTo) = entry.reading(by: self.state.key.user) {
                    self.state.noteReading(conversation, upTo: upTo)
                }
                switch entry.body {
                // Never pushed, no leg.
                case .read, .custom, .conversationSettings, .personSettings, .blocked, .change, .unknown: break
                // The store gives messages as they read now, and only the last edit with its text.
                case .edit(let edit) where edit.content.isEmpty: break
                case .edit(let edit): self.devices[index].legs.edit(edit)
                case .deletion(let deletion):
                    self.devices[index].legs.recall(Set(deletion.messages), as: .deleted)
                case .recall(let recall):
                    let mayBeShown = self.devices[index].legs.recall([recall.message], as: .recalled)
                    let known = recalled[entry.position]
                    let wasUnread = known?.wasUnread ?? loading.wereUnread.contains(entry.position)
                    if let leg = next, leg.position == entry.position {
                        self.devices[index].restore(leg, .recall(recall, wasUnread: wasUnread), &turn)
                    } else if mayBeShown || known?.shown.contains(id) == true {
                        self.devices[index].startRecall(recall, at: entry.position, wasUnread: wasUnread, &turn)
                    } else if entry.position > written, known == nil, !loading.hushed.contains(entry.position) {
                        unsure[entry.position] = recall
                        self.devices[index].unsure.append(entry.position)
                    }
                case .message(let message):
                    if let leg = next, leg.position == entry.position {
                        let shared = loading.shared(message, at: entry.position).seen(on: id)
                        self.devices[index].restore(leg, .message(shared), &turn)
                    } else if entry.position > written {
                        self.devices[index].startLeg(
                            loading.shared(message, at: entry.position), at: entry.position,
                            from: senders[entry.position], isRestored: !delivered.contains(entry.position), &turn)
                    }
                }
            }
        }
        let user = self.state.key
        for (position, recall) in unsure {
            let wasUnread = loading.wereUnread.contains(position)
            turn.ask(.trace(user.app, recall.message), for: .findShown(user, recall, position, wasUnread: wasUnread))
        }
    }
}

extension Device {
    fileprivate mutating func restore(_ open: OpenLeg, _ subject: Leg.Subject, _ turn: inout Turn) {
        let now = turn.now
        var leg = Leg(position: open.position, subject: subject, state: .queued, liveSince: now.monotonic)
        leg.attempts = open.attempts
        leg.steps = open.steps
        leg.isKept = true
        leg.isRestored = leg.pushJob != nil
        leg.mayBeShown = open.apnsID != nil
        leg.isMerging = open.wait == .merging
        leg.hasWaitedForAPNs = open.wait.isForAPNs
        self.legs.append(leg)
        switch open.wait {
        // Their reasons are checked again.
        case .live, .grace, .quietHours, .activeElsewhere, .merging: return
        case .configFault, .breakerOpen, .throttled, .providerDown, .inFlight: break
        }
        guard let notBefore = open.notBefore, notBefore > now.wall else { return }
        self.retry = Retry(
            wait: open.wait == .throttled ? .throttled : .providerDown, failures: max(1, open.attempts),
            until: now.monotonic + min(notBefore - now.wall, turn.settings.backOffMax))
    }
}
