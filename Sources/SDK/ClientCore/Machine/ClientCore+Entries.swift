import OrderedCollections
import TidingsModel

// What becomes of entries that are in the local store: verdicts, notifications, acks.
extension ClientCore {
    mutating func stored(
        upTo position: LogPosition, unread: Int, at now: Now, into effects: inout [ClientEffect]
    ) {
        let entries = self.sync.written(upTo: position)
        self.unread = unread
        // Without entries only a trimmed part of the log was skipped: the server hears of it, the app does not.
        guard !entries.isEmpty else { return self.sendAck(into: &effects) }
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
                self.recalled(recall, at: entry.position, now: now, into: &effects)
                self.lowerBadge(into: &effects)
            case .edit(let edit):
                self.settlements.append(entry.position, .neutral)
                self.decisions.edit(edit)
            case .deletion(let deletion):
                self.settlements.append(entry.position, .neutral)
                for message in deletion.messages { self.deleted(message, into: &effects) }
                self.lowerBadge(into: &effects)
            case .conversationSettings, .personSettings, .blocked:
                self.settlements.append(entry.position, .neutral)
                self.changeSettings(into: &effects) { $0.changeConfirmed { $0.apply(entry.body) } }
                self.lowerBadge(into: &effects)
            case .unknown: self.settlements.append(entry.position, .neutral)
            case .change(let change):
                self.settlements.append(entry.position, .neutral)
                guard change.removes(self.settings.person) else { continue }
                effects.append(.clearNotifications(change.conversation, upTo: entry.position))
                self.lowerBadge(into: &effects)
            }
        }
        self.confirmWishes(into: &effects)
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
            level: self.preferences.level(
                of: message.conversation(seenBy: self.settings.person), wall: self.wall(at: now)),
            wall: self.wall(at: now))
        let reason = Gate.suppression(facts)
        switch reason {
        case .offlineMessage?: self.settlements.append(position, .undecided)
        case .ownMessage?, .chatRoom?, .notNotifiable?, .recalled?, .expired?: self.settle(position, by: reason)
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
        let kit = self.kitSettings ?? KitSettings(isLocalNotificationEnabled: false)
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
