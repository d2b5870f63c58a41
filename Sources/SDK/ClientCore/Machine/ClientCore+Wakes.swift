import TidingsModel

// What happens to an app that is not in the foreground beside messages: wakes, the badge, and what waits for the foreground.
extension ClientCore {
    mutating func wake(
        _ number: WakeNumber, remaining: Int64?, at now: Now, into effects: inout [ClientEffect]
    ) {
        let limits = self.settings.runState
        self.wakes.begin(number, deadline: now.monotonic + limits.wakeMilliseconds + limits.closeMilliseconds)
        self.step(RunStateMachine.Event.woken(remainingMilliseconds: remaining), at: now, into: &effects)
    }

    /// A stay that began with a wake ends with it: its wakes are answered when the connection has closed, so that
    /// every frame has left the process.
    mutating func settleWakes(at now: Now, into effects: inout [ClientEffect]) {
        guard !self.wakes.isEmpty else { return }
        if self.isCaughtUp { self.wakes.markCaughtUp() }
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

    private var isCaughtUp: Bool {
        self.isOnline && !self.isLeaving && self.sync.isCaughtUp && self.decisions.isEmpty && self.outbox.isEmpty
            && self.openNotificationWork == 0
    }

    mutating func lowerBadge(into effects: inout [ClientEffect]) {
        guard self.run.runState != .foreground, self.kit?.managesBadge ?? false else { return }
        effects.append(.lowerBadge(unread: self.unread, position: self.sync.stored))
    }

    /// Only while the app is in the foreground (S4.10). Which of them have expired the server's clock alone tells;
    /// until the welcome those that expire at some time wait.
    mutating func handOverCustomMessages(at now: Now, into effects: inout [ClientEffect]) {
        guard self.hasCustomMessages, self.run.runState == .foreground else { return }
        self.hasCustomMessages = false
        self.customMessagesAwaitClock = self.serverClock == nil
        effects.append(.handOverCustomMessages(wall: self.serverClock.map { _ in self.wall(at: now) }))
    }

    mutating func recalled(
        _ recall: Recall, at position: LogPosition, now: Now, into effects: inout [ClientEffect]
    ) {
        let replacement = Gate.replacement(
            recall, person: self.settings.person, runState: self.run.runState, kit: self.kitSettings,
            level: self.preferences.level(of: recall.conversation, wall: self.wall(at: now)), unread: self.unread,
            position: position,
            recipientTag: self.recipient?.tag)
        self.takeBack(recall.message, replacement: replacement, into: &effects)
    }

    /// Takes back a message that was recalled, or deleted by the person. Without a replacement its notification is removed.
    mutating func takeBack(
        _ message: MessageID, replacement: LocalNotification? = nil, into effects: inout [ClientEffect]
    ) {
        // First: an extension that answers from now on knows. A push of it may come late, too.
        effects.append(.markRecalled(message))
        self.forgetSent(message)
        self.apply(self.decisions.recall(message), sendsAck: false, into: &effects)
        // Whatever became of it here: an extension may have shown it, and told the system of it.
        effects.append(.recallNotification(message, replacement: replacement))
    }
}
