import OrderedCollections
import TidingsModel

// The parts' effects become the client's, and the parts hear of each other.
extension ClientCore {
    mutating func step(_ event: ConnectionMachine.Event, at now: Now, into effects: inout [ClientEffect]) {
        for effect in self.connection.handle(event, at: now) {
            switch effect {
            case .askToken(let user): effects.append(.askToken(user))
            case .open(let number): effects.append(.open(number))
            case .greet(let number, let token): effects.append(.sendFrame(number, self.hello(token: token, at: now)))
            case .ping(let number, let count): effects.append(.sendFrame(number, .ping(count)))
            case .close(let number): effects.append(.close(number))
            case .publish(let status):
                effects.append(.publishStatus(status))
                if case .refused = status { self.giveUpFarewell(into: &effects) }
            case .finishConnect(let failure): effects.append(.finishConnect(failure))
            case .sessionEnded:
                self.sync.disconnected()
                self.outbox.disconnected()
                self.unsentReport = nil
                self.ackedStored = 0
                self.farewellLost()
            }
        }
    }

    mutating func step(_ event: RunStateMachine.Event, at now: Now, into effects: inout [ClientEffect]) {
        var changes: [RunStateMachine.Effect] = []
        var hasNothingToClose = false
        self.run.handle(event, at: now, into: &changes)
        for change in changes {
            switch change {
            case .beginTask: effects.append(.beginBackgroundTask)
            case .endTask:
                // A wake is answered before the system may freeze the app.
                if case .backgroundSuspended = self.run.state { effects += self.wakes.finishAll() }
                effects.append(.endBackgroundTask)
            case .report(let state):
                // Nothing may follow "suspending", so what is decided goes before it.
                if state == .suspending { self.sendAck(into: &effects) }
                self.report(state, into: &effects)
            case .park:
                hasNothingToClose = self.connection.current == nil
                effects += self.decisions.abandon()
                self.step(.parked, at: now, into: &effects)
            case .unpark: self.step(.unparked, at: now, into: &effects)
            case .publish(let state):
                effects.append(.publishRunState(state))
                self.entered(state, into: &effects)
            }
        }
        // Last, because it ends the background task: after that nothing may be written to the app group.
        if hasNothingToClose { self.step(RunStateMachine.Event.transportClosed, at: now, into: &effects) }
    }

    private mutating func entered(_ state: RunState, into effects: inout [ClientEffect]) {
        switch state {
        case .foreground:
            // In front, stored settles: whatever was open is on the screen's side of the glass now.
            effects += self.decisions.abandon()
            self.settlements.decideAll(.shown)
            self.sendAck(into: &effects)
            self.handOverCustomMessages(into: &effects)
            self.askDeviceStatus(into: &effects)
        case .backgroundActive:
            self.offlineBelow = self.isOnline ? self.sync.head : nil
            self.storeRecipient(into: &effects)
        case .backgroundSuspended: self.storeRecipient(into: &effects)
        }
    }

    /// Told at each foreground (DESIGN §7).
    private func askDeviceStatus(into effects: inout [ClientEffect]) {
        if self.isOnline, self.kit != nil, self.run.runState == .foreground { effects.append(.readDeviceStatus) }
    }

    private mutating func storeRecipient(into effects: inout [ClientEffect]) {
        guard var recipient = self.recipient, recipient.position != self.sync.stored else { return }
        recipient.position = self.sync.stored
        self.recipient = recipient
        effects.append(.storeRecipient(recipient))
    }

    private mutating func report(_ state: ReportedRunState, into effects: inout [ClientEffect]) {
        if self.isOnline {
            self.write(.runState(state), into: &effects)
        } else if self.connection.current != nil {
            self.unsentReport = state
        }
    }

    private mutating func hello(token: String, at now: Now) -> ClientFrame {
        self.unsentReport = nil
        return .hello(
            ClientFrame.Hello(
                versions: ProtocolVersion.supported, token: token, device: self.settings.device,
                platform: self.settings.platform, runState: self.run.reported(at: now), after: self.sync.stored))
    }

    // MARK: Frames

    mutating func receive(
        _ frame: ServerFrame, on number: ConnectionNumber, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard number == self.connection.current else { return }
        self.step(.heard(number), at: now, into: &effects)
        guard !self.isBeyondFarewell(frame, on: number) else { return }
        switch frame {
        case .welcome(let welcome):
            guard !self.isOnline else { return }
            self.welcomed(welcome, on: number, at: now, into: &effects)
        case .problem(let problem, let isFatal):
            if isFatal { self.step(.problem(number, problem), at: now, into: &effects) }
        case .reconnect(let after):
            self.step(.reconnectAsked(number, afterMilliseconds: Int64(after)), at: now, into: &effects)
        case .sendAccepted(let accepted):
            guard self.isOnline else { return }
            self.accepted(accepted, at: now, into: &effects)
        case .sendRefused(let id, let problem):
            guard self.isOnline else { return }
            if self.outbox.refused(id, problem, at: now) {
                effects += [.removeOutgoing(id), .finishSend(id, .refused(problem))]
            }
            self.sendDue(at: now, into: &effects)
        case .entry(let entry):
            guard self.isOnline else { return }
            self.perform(self.sync.heard(entry), into: &effects)
        case .page(let page):
            guard self.isOnline else { return }
            self.perform(self.sync.heard(page), into: &effects)
        case .pong(let count): self.settlements.confirmed(ping: count)
        }
    }

    private mutating func welcomed(
        _ welcome: ServerFrame.Welcome, on number: ConnectionNumber, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard ProtocolVersion.supported.contains(welcome.version) else {
            let problem = ServerFrame.Problem(
                code: .unsupportedVersion, field: "welcome.version",
                rule: "is \(welcome.version), not one that was offered")
            self.step(.problem(number, problem), at: now, into: &effects)
            return
        }
        let heartbeat = Int64(welcome.heartbeatMilliseconds)
        self.step(.welcomed(number, heartbeatMilliseconds: heartbeat), at: now, into: &effects)
        guard self.isOnline else { return }
        guard !self.isLeaving else { return self.sayFarewell(on: number, at: now, into: &effects) }
        if self.run.runState != .foreground, self.offlineBelow == nil { self.offlineBelow = welcome.head }
        let recipient = Recipient(
            tag: welcome.recipientTag, extensionToken: welcome.extensionToken, position: self.sync.stored)
        self.recipient = recipient
        effects.append(.storeRecipient(recipient))
        if let report = self.unsentReport {
            self.unsentReport = nil
            self.write(.runState(report), into: &effects)
        }
        if self.registration != nil || self.isUnregistered {
            self.write(.registerPush(self.registration), into: &effects)
        }
        self.askDeviceStatus(into: &effects)
        let steps = self.sync.welcomed(head: welcome.head)
        if self.run.runState == .foreground { self.settlements.decideAll(.shown) }
        if !steps.contains(.reset) { self.sendAck(repeating: true, into: &effects) }
        self.perform(steps, into: &effects)
        for (conversation, position) in self.reads {
            self.write(.markRead(conversation, upTo: position), into: &effects)
        }
        self.sendDue(at: now, into: &effects)
    }

    private mutating func accepted(
        _ accepted: ServerFrame.SendAccepted, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard let draft = self.outbox.accepted(accepted.clientMessageID) else { return }
        let message = Message(
            id: accepted.messageID, app: self.settings.app, sender: self.settings.person,
            conversation: draft.conversation, clientMessageID: draft.clientMessageID, objectName: draft.objectName,
            content: draft.content, flags: draft.flags, pushText: draft.pushText, sentAt: accepted.sentAt)
        effects += [.removeOutgoing(draft.clientMessageID), .finishSend(draft.clientMessageID, .accepted(message))]
        if accepted.position > 0 {
            self.perform(
                self.sync.heard(LogEntry(position: accepted.position, body: .message(message))), into: &effects)
        } else {
            // The answer to a repeat: the message stands in the log already, at a place it does not name.
            self.perform(self.sync.suspectNews(), into: &effects)
        }
        self.sendDue(at: now, into: &effects)
    }

    private mutating func perform(_ steps: [LogSync.Step], into effects: inout [ClientEffect]) {
        for step in steps {
            switch step {
            case .store(let entries): effects.append(.storeEntries(entries))
            case .skip(let after, let upTo): effects.append(.skipEntries(after: after, upTo: upTo))
            case .ask(let after): self.write(.sync(after: after, limit: LogSync.pageSize), into: &effects)
            case .reset:
                self.settlements.forget()
                self.reads = [:]
                self.unread = 0
                self.ackedStored = 0
                self.hasCustomMessages = false
                effects.append(.resetLog)
            }
        }
    }

    // MARK: Stored entries, verdicts, acks

    mutating func stored(
        upTo position: LogPosition, unread: Int, at now: Now, into effects: inout [ClientEffect]
    ) {
        let entries = self.sync.written(upTo: position)
        self.unread = unread
        guard !entries.isEmpty else { return }
        self.wakes.heardNews()
        effects.append(.publishEntries(entries))
        for entry in entries {
            switch entry.body {
            case .read(let conversation, let upTo):
                self.settlements.append(entry.position, .neutral)
                if let wished = self.reads[conversation], wished <= upTo {
                    self.reads.removeValue(forKey: conversation)
                }
                effects.append(.clearNotifications(conversation, upTo: upTo))
                self.lowerBadge(into: &effects)
            case .message(let message): self.judge(message, at: entry.position, now: now, into: &effects)
            case .custom:
                self.settlements.append(entry.position, .neutral)
                self.hasCustomMessages = true
            case .recall(let recall):
                self.settlements.append(entry.position, .neutral)
                self.recalled(recall, at: entry.position, into: &effects)
                self.lowerBadge(into: &effects)
            }
        }
        self.sendAck(into: &effects)
        self.handOverCustomMessages(into: &effects)
        // What was missed before the stay is the push's, and every later word would wait behind it: hang up, so that all of it
        // goes by push, once.
        if case .backgroundActive = self.run.state, entries.contains(where: { self.isLeftToPush($0) }) {
            self.step(RunStateMachine.Event.timeExpired, at: now, into: &effects)
        }
    }

    private func isLeftToPush(_ entry: LogEntry) -> Bool {
        guard case .message(let message) = entry.body, message.sender != self.settings.person else { return false }
        return message.flags.contains(.notified) && entry.position <= self.offlineBelow ?? .max
    }

    /// How a stored message is settled (DESIGN §3 "Acks"). What was missed while offline, and what came after hanging up,
    /// stays undecided until the app is in front: the server's push is its road.
    private mutating func judge(
        _ message: Message, at position: LogPosition, now: Now, into effects: inout [ClientEffect]
    ) {
        let runState = self.run.runState
        guard runState != .foreground else { return self.settlements.append(position, .settled(.shown)) }
        let facts = Gate.Facts(
            message: message, person: self.settings.person, isOffline: position <= self.offlineBelow ?? .max,
            runState: runState, isEnabled: self.kit?.isLocalNotificationEnabled ?? false,
            level: self.levels[message.conversation(seenBy: self.settings.person)] ?? .all)
        let reason = Gate.suppression(facts)
        switch reason {
        case .offlineMessage?: self.settlements.append(position, .undecided)
        case .ownMessage?, .chatRoom?, .notNotifiable?, .recalled?: self.settle(position, by: reason)
        case _ where runState == .backgroundSuspended: self.settlements.append(position, .undecided)
        case _ where self.kit == nil: self.settlements.append(position, .settled(.leftToApp))
        case .inForeground?, .switchedOff?, .command?, .level?, .providerMissing?, .alreadyShown?, .notAuthorized?:
            self.settle(position, by: reason)
        case nil:
            self.settlements.append(position, .undecided)
            self.apply(
                self.decisions.begin(
                    message, seenBy: self.settings.person, position: position, unread: self.unread, at: now),
                sendsAck: false, into: &effects)
        }
    }

    private mutating func settle(_ position: LogPosition, by reason: SuppressionReason?) {
        guard let reason else { return }
        self.settlements.append(position, .settled(.suppressed(reason)))
    }

    mutating func decide(_ event: ClientEvent, at now: Now, into effects: inout [ClientEffect]) {
        let kit = self.kit ?? KitSettings(isLocalNotificationEnabled: false)
        if case .namesResolved(let id, let names) = event {
            self.apply(self.decisions.resolved(id, names, kit: kit, at: now), into: &effects)
        } else if case .delegateAnswered(let id, let handled) = event {
            self.apply(self.decisions.answered(id, handled: handled), into: &effects)
        } else if case .ringClaimed(let id, let claim) = event {
            let outcome = self.decisions.claimed(
                id, claim, person: self.settings.person, kit: kit, recipientTag: self.recipient?.tag)
            self.apply(outcome, into: &effects)
        } else if case .ringClaimFailed(let id) = event {
            self.decisions.claimFailed(id)
        } else if case .notificationPosted(let id, let result) = event {
            self.apply(self.decisions.posted(id, result), into: &effects)
        }
    }

    mutating func apply(
        _ outcome: NotificationDecisions.Outcome, sendsAck: Bool = true, into effects: inout [ClientEffect]
    ) {
        effects += outcome.effects
        for decision in outcome.decided { self.settlements.decide(decision.position, decision.disposition) }
        if sendsAck, !outcome.decided.isEmpty { self.sendAck(into: &effects) }
    }

    /// Tells what is stored and settled, if there is anything new to tell. Nothing is taken while nobody listens, so that
    /// nothing is lost.
    mutating func sendAck(repeating: Bool = false, into effects: inout [ClientEffect]) {
        guard let number = self.connection.online, !self.isLeaving else { return }
        let earlier = repeating ? self.settlements.repeated : []
        let fresh = self.settlements.take(pingsSent: self.connection.pingsSent)
        guard !fresh.isEmpty || !earlier.isEmpty || self.sync.stored > self.ackedStored else { return }
        self.ackedStored = self.sync.stored
        effects.append(
            .sendFrame(number, .ack(ClientFrame.Ack(stored: self.sync.stored, settled: earlier + fresh))))
        if !fresh.isEmpty { effects.append(.storeSettled(upTo: self.settlements.settled)) }
    }
}
