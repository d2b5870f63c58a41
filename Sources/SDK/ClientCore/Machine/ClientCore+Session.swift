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
                if case .refused = status { self.giveUpSignOut(at: now, into: &effects) }
            case .finishConnect(let failure): effects.append(.finishConnect(failure))
            case .sessionEnded:
                self.renewal.reset()
                self.sync.disconnected()
                self.outbox.disconnected()
                self.unsentReport = nil
                self.ackedStored = 0
                self.asked = []
                self.endRequests(into: &effects)
                self.signOutLost()
                self.sayAgainAt = nil
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
                // Of an earlier transport.
                self.isClosedWhilePosting = false
                effects += self.decisions.hangUp()
                self.step(.parked, at: now, into: &effects)
            case .unpark: self.step(.unparked, at: now, into: &effects)
            case .publish(let state):
                effects.append(.publishRunState(state))
                self.entered(state, at: now, into: &effects)
            }
        }
        // Last, because it ends the background task: after that nothing may be written to the app group.
        if hasNothingToClose { self.closed(at: now, into: &effects) }
    }

    /// There is no transport (any more). The background task is held until the notification centre has answered, but
    /// no longer than a connection may take to close: an app that is frozen before it has recorded what was shown
    /// leaves the push to show it again (design.md P3).
    mutating func closed(at now: Now, into effects: inout [ClientEffect]) {
        self.isClosedWhilePosting = self.decisions.isPosting
        guard !self.isClosedWhilePosting else { return }
        self.step(RunStateMachine.Event.transportClosed, at: now, into: &effects)
    }

    mutating func posted(at now: Now, into effects: inout [ClientEffect]) {
        if self.isClosedWhilePosting { self.closed(at: now, into: &effects) }
    }

    private mutating func entered(_ state: RunState, at now: Now, into effects: inout [ClientEffect]) {
        switch state {
        case .foreground:
            // In the foreground, stored settles: whatever was open is on the screen's side of the glass now.
            effects += self.decisions.abandon()
            self.isClosedWhilePosting = false
            self.settlements.decideAll(.shown)
            self.sendAck(into: &effects)
            self.handOverCustomMessages(at: now, into: &effects)
            self.askDeviceStatus(into: &effects)
        case .backgroundActive:
            effects += self.decisions.leaveForeground()
            self.offlineBelow = self.isOnline ? self.sync.head : nil
            self.storeRecipient(into: &effects)
        case .backgroundSuspended: self.storeRecipient(into: &effects)
        }
    }

    func askDeviceStatus(into effects: inout [ClientEffect]) {
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
                platform: self.settings.platform, runState: self.run.reported(at: now), after: self.sync.stored,
                opening: self.origin?.opening ?? 0))
    }

    // MARK: Frames

    /// The server says so, it is another server's, or it was restored from a copy.
    private func isOther(_ welcome: ServerFrame.Welcome) -> Bool {
        guard !welcome.isOtherLog else { return true }
        guard let known = self.origin, let origin = LogOrigin(welcome) else { return false }
        return !known.goesOn(in: origin)
    }

    /// Before any entry of the log is stored, so that an entry is never taken for an earlier log's.
    private mutating func adoptOrigin(
        of welcome: ServerFrame.Welcome, isReset: Bool, into effects: inout [ClientEffect]
    ) {
        guard let origin = LogOrigin(welcome), origin != self.origin || isReset else { return }
        self.origin = origin
        // A reset stores it along with itself.
        if !isReset { effects.append(.storeOrigin(origin)) }
    }

    mutating func receive(
        _ frame: ServerFrame, on number: ConnectionNumber, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard number == self.connection.current else { return }
        self.step(.heard(number), at: now, into: &effects)
        guard !self.isBeyondSignOut(frame, on: number) else { return }
        switch frame {
        case .welcome(let welcome):
            guard !self.isOnline else { return }
            self.welcomed(welcome, on: number, at: now, into: &effects)
        case .problem(let problem, let isFatal):
            if isFatal {
                self.step(.problem(number, problem), at: now, into: &effects)
            } else {
                self.heldBack(by: problem, at: now)
            }
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
            self.carryOut(self.sync.receive(entry), at: now, into: &effects)
        case .page(let page):
            guard self.isOnline else { return }
            self.carryOut(self.sync.receive(page), at: now, into: &effects)
            // A page without news writes nothing, and may be the one that says that the whole log is here.
            self.forgetLeftovers(into: &effects)
            self.tellPendingChanges(at: now, into: &effects)
        case .pong(let count):
            self.settlements.confirmed(ping: count)
            self.opened.confirmed(ping: count)
        case .answer(let request, let answer): self.answered(request, answer, at: now, into: &effects)
        case .signal(let signal): self.receiveSignal(signal, into: &effects)
        case .tokenExpiring: self.tokenExpires(into: &effects)
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
        guard !self.isLeaving else { return self.sendSignOut(on: number, at: now, into: &effects) }
        if welcome.serverTime > 0 { self.serverClock = Now(monotonic: now.monotonic, wall: welcome.serverTime) }
        if self.customMessagesAwaitClock, self.serverClock != nil {
            self.customMessagesAwaitClock = false
            self.hasCustomMessages = true
            self.handOverCustomMessages(at: now, into: &effects)
        }
        let steps = self.sync.welcomed(head: welcome.head, isOtherLog: self.isOther(welcome))
        self.liveAfter = welcome.head
        if self.run.runState != .foreground, self.offlineBelow == nil || steps.contains(.reset) {
            self.offlineBelow = welcome.head
        }
        let recipient = Recipient(
            tag: welcome.recipientTag, extensionToken: welcome.extensionToken, position: self.sync.stored)
        self.recipient = recipient
        effects.append(.storeRecipient(recipient))
        if let report = self.unsentReport {
            self.unsentReport = nil
            self.write(.runState(report), into: &effects)
        }
        if self.registration != nil || self.isUnregistered { self.tellRegistration(into: &effects) }
        self.tellVoIPRegistration(at: now, into: &effects)
        self.askDeviceStatus(into: &effects)
        if self.run.runState == .foreground { self.settlements.decideAll(.shown) }
        if !steps.contains(.reset) { self.sendAck(repeating: true, into: &effects) }
        self.adoptOrigin(of: welcome, isReset: steps.contains(.reset), into: &effects)
        self.carryOut(steps, at: now, into: &effects)
        for (conversation, position) in self.reads {
            self.write(.markRead(conversation, upTo: position), into: &effects)
        }
        self.tellOpened(self.opened.waiting, into: &effects)
        self.forgetLeftovers(into: &effects)
        self.preferences.welcomed()
        self.requestSettings(at: now, into: &effects)
        self.tellPendingChanges(at: now, into: &effects)
        self.reenterRooms(at: now, into: &effects)
        self.watchAgain(at: now, into: &effects)
        self.askConversation(at: now, into: &effects)
        self.sendDue(at: now, into: &effects)
    }

    private mutating func accepted(
        _ accepted: ServerFrame.SendAccepted, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard let draft = self.outbox.accepted(accepted.clientMessageID) else { return }
        // As the server counts it: one that is not kept is a command, and counts for nobody; only a push may stand in no list.
        let flags = draft.flags.subtracting(draft.flags.contains(.stored) ? .unlisted : [.counted, .unlisted])
        let message = Message(
            id: accepted.messageID, app: self.settings.app, sender: draft.account ?? self.settings.person,
            conversation: draft.conversation, clientMessageID: draft.clientMessageID, objectName: draft.objectName,
            content: draft.content, flags: flags, pushText: draft.pushText, sentAt: accepted.sentAt,
            mentions: draft.addressed, recipients: draft.recipients,
            expiresAt: draft.lifetimeMilliseconds.map { accepted.sentAt + $0 }, push: draft.push)
        effects += [.removeOutgoing(draft.clientMessageID), .finishSend(draft.clientMessageID, .accepted(message))]
        if accepted.position > 0 {
            self.donate(message, into: &effects)
            let entry = LogEntry(position: accepted.position, body: .message(message))
            self.carryOut(self.sync.receive(entry), at: now, into: &effects)
        } else if message.sender == self.settings.person {
            // The answer to a repeat: the message stands in the log already, at a place it does not name. It may have been recalled there since,
            // so the system is told nothing of it. What is sent as an account is in the account's log alone.
            self.carryOut(self.sync.suspectNews(), at: now, into: &effects)
        }
        self.sendDue(at: now, into: &effects)
    }

    private mutating func carryOut(_ steps: [LogSync.Step], at now: Now, into effects: inout [ClientEffect]) {
        for step in steps {
            switch step {
            case .store(let entries): effects.append(.storeEntries(entries))
            case .skip(let after, let upTo):
                effects.append(.skipEntries(after: after, upTo: upTo))
                // What was set may have been in what is gone.
                self.owesSettings = true
                self.requestSettings(at: now, into: &effects)
            case .ask(let after): self.write(.sync(after: after, limit: LogSync.pageSize), into: &effects)
            case .reset:
                self.settlements.forget()
                self.reads = [:]
                self.unread = 0
                self.ackedStored = 0
                self.hasCustomMessages = false
                self.customMessagesAwaitClock = false
                self.changeSettings(into: &effects) { $0.changeConfirmed { $0 = AllSettings() } }
                self.preferences.forgetTold()
                self.owesSettings = false
                effects.append(.resetLog(self.origin))
            }
        }
    }
}
