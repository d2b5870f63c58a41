import TidingsModel

// What happens to an app that is not in the foreground beside messages: wakes, the badge, and what waits for the front.
extension ClientCore {
    mutating func wake(
        _ number: WakeNumber, remaining: Int64?, at now: Now, into effects: inout [ClientEffect]
    ) {
        let limits = self.settings.runState
        self.wakes.begin(number, deadline: now.monotonic + limits.wakeMilliseconds + limits.closeMilliseconds)
        self.step(RunStateMachine.Event.woken(remainingMilliseconds: remaining), at: now, into: &effects)
    }

    /// Answers the wakes whose work is done. A stay that began with a wake ends with it: its wakes are answered when the
    /// connection has closed, so that every word has left the process.
    mutating func settleWakes(at now: Now, into effects: inout [ClientEffect]) {
        guard !self.wakes.isEmpty else { return }
        if self.isCaughtUp { self.wakes.caughtUp() }
        switch self.run.state {
        case .hangingUp: break
        case .backgroundSuspended: effects += self.wakes.finishAll()
        case .foreground, .backgroundActive:
            if self.isCaughtUp || self.connection.isGivenUp { effects += self.wakes.finishAll() }
        case .awake:
            guard self.isCaughtUp || self.connection.isGivenUp else { return }
            self.step(RunStateMachine.Event.rested, at: now, into: &effects)
            if case .backgroundSuspended = self.run.state { effects += self.wakes.finishAll() }
        }
    }

    /// Everything the server has is stored and decided, notification centre and badge follow it, and nothing waits to be sent.
    private var isCaughtUp: Bool {
        self.isOnline && self.sync.isCaughtUp && self.decisions.isEmpty && self.outbox.isEmpty
            && self.openNotificationWork == 0
    }

    /// The count changed without a new message while nobody looks: the icon follows (DESIGN P4).
    mutating func lowerBadge(into effects: inout [ClientEffect]) {
        guard self.run.runState != .foreground, self.kit?.managesBadge ?? false else { return }
        effects.append(.lowerBadge(unread: self.unread, position: self.sync.stored))
    }

    /// Custom messages are handed over only while the app is in the foreground (S4.10). Which of them have expired the server's clock
    /// tells alone; before this process has heard of it, those that expire at some time wait for the welcome.
    mutating func handOverCustomMessages(at now: Now, into effects: inout [ClientEffect]) {
        guard self.hasCustomMessages, self.run.runState == .foreground else { return }
        self.hasCustomMessages = false
        self.customMessagesAwaitClock = self.serverClock == nil
        effects.append(.handOverCustomMessages(wall: self.serverClock.map { _ in self.wall(at: now) }))
    }

    /// A recalled message: not shown if it is under way, otherwise taken out of the notification centre or replaced there.
    mutating func recalled(
        _ recall: Recall, at position: LogPosition, now: Now, into effects: inout [ClientEffect]
    ) {
        let replacement = Gate.replacement(
            recall, person: self.settings.person, runState: self.run.runState, kit: self.kitSettings,
            level: self.preferences.level(of: recall.conversation, wall: self.wall(at: now)), unread: self.unread,
            position: position,
            recipientTag: self.recipient?.tag)
        // First: an extension that answers from now on knows. A push of it may come late, too.
        effects.append(.markRecalled(recall.message))
        if let outcome = self.decisions.recall(recall.message, replacement: replacement) {
            self.apply(outcome, sendsAck: false, into: &effects)
        } else {
            effects.append(.recallNotification(recall.message, replacement: replacement))
        }
    }

    /// The person has deleted a message on one of their devices: its notification goes without a word.
    mutating func deleted(_ message: MessageID, into effects: inout [ClientEffect]) {
        effects.append(.markRecalled(message))
        if let outcome = self.decisions.recall(message, replacement: nil) {
            self.apply(outcome, sendsAck: false, into: &effects)
        } else {
            effects.append(.recallNotification(message, replacement: nil))
        }
    }
}
