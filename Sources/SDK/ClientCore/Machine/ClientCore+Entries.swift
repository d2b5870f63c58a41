import OrderedCollections
import TidingsModel

// What becomes of entries that are in the local store: verdicts, notifications, acks.
extension ClientCore {
    mutating func stored(
        upTo position: LogPosition, unread: Int, at now: Now, into effects: inout [ClientEffect]
    ) {
        let heard = self.sync.written(upTo: position)
        self.unread = unread
        // Without entries only a trimmed part of the log was skipped: the server hears of it, the app does not.
        guard !heard.isEmpty else {
            self.confirmPendingChanges(into: &effects)
            self.forgetLeftovers(into: &effects)
            self.tellPendingChanges(at: now, into: &effects)
            return self.sendAck(into: &effects)
        }
        self.wakes.markNews()
        effects.append(.publishEntries(heard.map(\.entry)))
        var isLeftToPush = false
        for (entry, push) in heard.map({ ($0.entry, $0.push) }) {
            switch entry.body {
            case .read(let conversation, let upTo):
                self.settlements.append(entry.position, .neutral)
                self.confirmRead(conversation, upTo: upTo)
                effects.append(.clearNotifications(conversation, upTo: upTo))
                self.lowerBadge(into: &effects)
            case .message(let message):
                let verdict = self.decideDisposition(message, at: entry.position, push, now: now, into: &effects)
                if verdict == .leftToPush { isLeftToPush = true }
            case .custom:
                self.settlements.append(entry.position, .neutral)
                self.hasCustomMessages = true
            case .recall(let recall):
                self.settlements.append(entry.position, .neutral)
                self.recalled(recall, at: entry.position, now: now, into: &effects)
                self.lowerBadge(into: &effects)
            case .edit(let edit):
                self.settlements.append(entry.position, .neutral)
                self.decisions.edit(edit)
            case .deletion(let deletion):
                self.settlements.append(entry.position, .neutral)
                for message in deletion.messages { self.takeBack(message, into: &effects) }
                self.lowerBadge(into: &effects)
            case .conversationSettings, .personSettings, .blocked:
                self.settlements.append(entry.position, .neutral)
                self.dropPendingChanges(into: &effects) { [wall = self.wall(at: now)] in
                    $0.apply(entry.body, wall: wall)
                }
                self.lowerBadge(into: &effects)
            case .unknown: self.settlements.append(entry.position, .neutral)
            case .change(let change):
                self.settlements.append(entry.position, .neutral)
                guard change.removes(self.settings.person) else { continue }
                // Nothing is unread there any more: the server's cursor stands at the entry.
                self.confirmRead(change.conversation, upTo: entry.position)
                effects.append(.clearNotifications(change.conversation, upTo: entry.position))
                self.deleteDonations(.conversation(change.conversation), into: &effects)
                self.lowerBadge(into: &effects)
            }
        }
        self.confirmPendingChanges(into: &effects)
        self.forgetLeftovers(into: &effects)
        self.tellPendingChanges(at: now, into: &effects)
        self.sendAck(into: &effects)
        self.handOverCustomMessages(at: now, into: &effects)
        // What was missed before the stay is the push's, as is what comes in quiet hours, and every later word would wait behind
        // it: hang up, so that all of it goes by push, once.
        if isLeftToPush, case .backgroundActive = self.run.state {
            self.step(RunStateMachine.Event.timeExpired, at: now, into: &effects)
        }
    }

    /// Forgets the local read position if the server has it; a position beyond it has to be told again.
    private mutating func confirmRead(_ conversation: ConversationID, upTo position: LogPosition) {
        if self.reads[conversation] ?? .max <= position { self.reads.removeValue(forKey: conversation) }
    }

    private static let learnedNamesMax = 1_000

    /// Once for each sender and group: the app says itself when one is called otherwise.
    private mutating func learnNames(of message: Message, into effects: inout [ClientEffect]) {
        guard self.kit != nil, message.sender != self.settings.person, message.conversation.type != .chatRoom else {
            return
        }
        if self.learnedNames.count >= Self.learnedNamesMax { self.learnedNames = [] }
        let question = Gate.question(message)
        if self.learnedNames.insert(question).inserted { effects.append(.learnNames(question)) }
    }

    private enum Responsibility {
        case isOurs
        case leftToPush
    }

    /// design.md §3 "Acks". What the server's push will show stays undecided until the app is in the foreground: what
    /// was missed while offline and is not with APNs yet, what came after hanging up, and what comes in quiet hours.
    /// What APNs has accepted is settled.
    private mutating func decideDisposition(
        _ message: Message, at position: LogPosition, _ push: LogSync.PushReport?, now: Now,
        into effects: inout [ClientEffect]
    ) -> Responsibility {
        let runState = self.run.runState
        guard runState != .foreground else {
            self.settlements.append(position, .settled(.shown))
            if !self.ringInForeground(message, at: position, push, now: now, into: &effects) {
                self.learnNames(of: message, into: &effects)
            }
            return .isOurs
        }
        let reason = self.suppression(
            of: message, isOffline: self.isOffline(position, push),
            isEnabled: self.kit?.isLocalNotificationEnabled ?? false, at: now)
        switch reason {
        case .offlineMessage? where push == .sent: self.settle(position, by: reason)
        case .offlineMessage?:
            self.settlements.append(position, .left)
            if message.flags.contains(.notified) { return .leftToPush }
        case .ownMessage?, .chatRoom?, .notNotifiable?, .recalled?, .expired?: self.settle(position, by: reason)
        case _ where runState == .backgroundSuspended: self.settlements.append(position, .left)
        case _ where self.kit == nil: self.settlements.append(position, .settled(.leftToApp))
        case .inForeground?, .switchedOff?, .command?, .level?, .providerMissing?, .alreadyShown?, .notAuthorized?:
            self.settle(position, by: reason)
        case nil where self.isQuiet(at: now):
            self.settlements.append(position, .left)
            return .leftToPush
        case nil:
            self.settlements.append(position, .undecided)
            self.apply(
                self.decisions.begin(
                    message, seenBy: self.settings.person, position: position, unread: self.unread, at: now),
                sendsAck: false, into: &effects)
        }
        return .isOurs
    }

    private func suppression(
        of message: Message, isOffline: Bool, isEnabled: Bool, at now: Now
    ) -> SuppressionReason? {
        let level = self.preferences.level(
            of: message.conversation(seenBy: self.settings.person), wall: self.wall(at: now))
        return Gate.suppression(
            Gate.Facts(
                message: message, person: self.settings.person, isOffline: isOffline, isEnabled: isEnabled,
                level: level,
                wall: self.wall(at: now)))
    }

    /// A message that comes while the app is open, for another screen (S4.2, S4.6). It is settled by being stored, whatever becomes of
    /// its ring.
    /// - Returns: whether its names are asked for.
    private mutating func ringInForeground(
        _ message: Message, at position: LogPosition, _ push: LogSync.PushReport?, now: Now,
        into effects: inout [ClientEffect]
    ) -> Bool {
        guard let kit = self.kit, kit.ringsInForeground,
            message.conversation(seenBy: self.settings.person) != kit.activeConversation,
            // What a page brings, or what was there before the connection, is caught up with.
            push == nil, let liveAfter = self.liveAfter, position > liveAfter,
            self.suppression(of: message, isOffline: false, isEnabled: true, at: now) == nil, !self.isQuiet(at: now)
        else { return false }
        self.apply(
            self.decisions.begin(
                message, seenBy: self.settings.person, position: position, unread: self.unread, isInForeground: true,
                at: now),
            sendsAck: false, into: &effects)
        return true
    }

    /// The page that brought the message says so. Where nothing is said, what was missed before the stay is left to
    /// the push.
    private func isOffline(_ position: LogPosition, _ push: LogSync.PushReport?) -> Bool {
        switch push {
        case .sent?, .underWay?: true
        case .unsent?: false
        case nil: position <= self.offlineBelow ?? .max
        }
    }

    private mutating func settle(_ position: LogPosition, by reason: SuppressionReason?) {
        guard let reason else { return }
        self.settlements.append(position, .settled(.suppressed(reason)))
    }

    mutating func decideNotification(_ event: ClientEvent, at now: Now, into effects: inout [ClientEffect]) {
        let kit = self.kitSettings ?? KitSettings(isLocalNotificationEnabled: false)
        if case .namesResolved(let id, let names) = event {
            self.apply(self.decisions.resolved(id, names, kit: kit, at: now, wall: self.wall(at: now)), into: &effects)
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

    /// Nothing is taken while there is no connection, so that nothing is lost.
    mutating func sendAck(repeating: Bool = false, into effects: inout [ClientEffect]) {
        guard let number = self.connection.online, !self.isLeaving else { return }
        let earlier = repeating ? self.settlements.repeated : []
        let fresh = self.settlements.drainReport(pingsSent: self.connection.pingsSent)
        guard !fresh.isEmpty || !earlier.isEmpty || self.sync.stored > self.ackedStored else { return }
        self.ackedStored = self.sync.stored
        effects.append(
            .sendFrame(number, .ack(ClientFrame.Ack(stored: self.sync.stored, settled: earlier + fresh))))
        if !fresh.isEmpty { effects.append(.storeSettled(upTo: self.settlements.settled)) }
    }
}
