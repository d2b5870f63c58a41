import OrderedCollections
package import TidingsModel

/// The messages of the background stay whose local notification is not decided yet, each at its step: names, the
/// app's own callback, the ledger, the notification centre. A missing answer decides too. In the foreground, where a message is settled
/// already, the same for its banner, without callback and notification centre.
package struct NotificationDecisions: Hashable, Sendable {
    private var pending: OrderedDictionary<MessageID, Pending> = [:]

    private struct Pending: Hashable, Sendable {
        var message: Message
        var conversation: ConversationID
        var position: LogPosition
        var unread: Int
        var step: Step
        let isInForeground: Bool
        var names: Gate.Names?
    }

    private enum Step: Hashable, Sendable {
        case names(deadline: Int64)
        case delegate(deadline: Int64)
        case claim
        case posting
    }

    package static let providerMilliseconds: Int64 = 2_000
    package static let delegateMilliseconds: Int64 = 2_000

    package struct Outcome: Hashable, Sendable {
        package var effects: [ClientEffect] = []
        package var decided: [Decision] = []
    }

    package struct Decision: Hashable, Sendable {
        package var position: LogPosition
        package var disposition: Disposition
    }

    package init() {}

    package mutating func begin(
        _ message: Message, seenBy person: UserID, position: LogPosition, unread: Int, isInForeground: Bool = false,
        at now: Now
    ) -> Outcome {
        self.pending[message.id] = Pending(
            message: message, conversation: message.conversation(seenBy: person), position: position, unread: unread,
            step: .names(deadline: now.monotonic + Self.providerMilliseconds), isInForeground: isInForeground)
        return Outcome(effects: [.resolveNames(message.id, Gate.question(message))])
    }

    /// - Parameter wall: by the server's clock, in milliseconds.
    package mutating func resolved(
        _ id: MessageID, _ names: ResolvedNames, kit: KitSettings, at now: Now, wall: Int64
    ) -> Outcome {
        guard let item = self.pending[id], case .names = item.step else { return Outcome() }
        // While the app was asked, the person may have opened its conversation, and its lifetime may have ended.
        if item.isInForeground,
            item.conversation == kit.activeConversation || item.message.expiresAt.map({ $0 <= wall }) == true
        {
            return self.finish(id, .shown)
        }
        guard let names = Gate.names(item.message, names) else { return self.endNameless(id) }
        self.pending[id]?.names = names
        guard kit.hasDelegate, !item.isInForeground else { return self.claim(id) }
        self.pending[id]?.step = .delegate(deadline: now.monotonic + Self.delegateMilliseconds)
        return Outcome(effects: [.askDelegate(item.message, senderName: names.sender)])
    }

    /// True means "the app handled it" (S3.7).
    package mutating func answered(_ id: MessageID, handled: Bool) -> Outcome {
        guard let item = self.pending[id], case .delegate = item.step else { return Outcome() }
        return handled ? self.finish(id, .appHandled) : self.claim(id)
    }

    package mutating func claimed(
        _ id: MessageID, _ claim: RingClaim, person: UserID, kit: KitSettings, recipientTag: String? = nil
    ) -> Outcome {
        guard let item = self.pending[id], item.step == .claim, let names = item.names else { return Outcome() }
        switch claim {
        // The shell looks at the delivered list before it answers; an undecided answer counts as shown.
        case .alreadyShown, .heldByAnother, .lookAtDelivered: return self.finish(id, .suppressed(.alreadyShown))
        // The extension has heard of the recall first: by a push that overtook the log.
        case .recalled: return self.finish(id, .suppressed(.recalled))
        case .granted:
            let notification = Gate.notification(
                item.message, names: names, person: person, kit: kit, unread: item.unread, position: item.position,
                recipientTag: recipientTag)
            guard let notification else {
                var outcome = self.finish(id, .suppressed(.chatRoom))
                outcome.effects.append(.releaseClaim(id))
                return outcome
            }
            if item.isInForeground {
                self.pending.removeValue(forKey: id)
                return Outcome(effects: [.ringInForeground(notification), .markShown(id)])
            }
            self.pending[id]?.step = .posting
            return Outcome(effects: [.postNotification(notification)])
        }
    }

    /// The extension may have shown it: left undecided, the server pushes it (design.md P3).
    package mutating func claimFailed(_ id: MessageID) {
        if self.pending[id]?.step == .claim { self.pending.removeValue(forKey: id) }
    }

    /// Takes the result of a post. A message that failed for another reason stays undecided: the server pushes it.
    package mutating func posted(_ id: MessageID, _ result: PostResult) -> Outcome {
        guard let item = self.pending[id], item.step == .posting else {
            // Decided meanwhile by coming to the foreground; the ledger must know all the same.
            return Outcome(effects: result == .shown ? [.markShown(id)] : [.releaseClaim(id)])
        }
        switch result {
        case .shown:
            var outcome = self.finish(id, .notified)
            outcome.effects.append(.markShown(id))
            return outcome
        case .notAuthorized:
            var outcome = self.finish(id, .suppressed(.notAuthorized))
            outcome.effects.append(.releaseClaim(id))
            return outcome
        case .failed:
            self.pending.removeValue(forKey: id)
            return Outcome(effects: [.releaseClaim(id)])
        }
    }

    package mutating func deadlineReached(at now: Now) -> Outcome {
        var outcome = Outcome()
        for (id, item) in self.pending {
            let next: Outcome
            switch item.step {
            case .names(let deadline):
                guard now.monotonic >= deadline else { continue }
                next = self.endNameless(id)
            case .delegate(let deadline):
                guard now.monotonic >= deadline else { continue }
                next = self.claim(id)
            case .claim, .posting: continue
            }
            outcome.effects += next.effects
            outcome.decided += next.decided
        }
        return outcome
    }

    package var nextDeadline: Int64? {
        var next: Int64?
        for item in self.pending.values {
            switch item.step {
            case .names(let deadline), .delegate(let deadline): next = min(next ?? deadline, deadline)
            case .claim, .posting: continue
            }
        }
        return next
    }

    /// Gives up all messages not yet with the notification centre: they need no notification.
    package mutating func abandon() -> [ClientEffect] {
        let released = self.hangUp()
        self.pending.removeAll()
        return released
    }

    /// Leaves the messages not yet with the notification centre to the push. A message that is there rings, and its answer still counts.
    package mutating func hangUp() -> [ClientEffect] {
        let claimed = self.pending.filter { $0.value.step == .claim }.map(\.key)
        self.pending.removeAll { $0.value.step != .posting }
        return claimed.map { .releaseClaim($0) }
    }

    /// Nothing rings in the foreground any more; what came there needs no push.
    package mutating func leaveForeground() -> [ClientEffect] {
        let claimed = self.pending.filter { $0.value.isInForeground && $0.value.step == .claim }.map(\.key)
        self.pending.removeAll { $0.value.isInForeground }
        return claimed.map { .releaseClaim($0) }
    }

    package var isPosting: Bool { self.pending.values.contains { $0.step == .posting } }

    /// Takes back a message: it is not shown here if it is not with the notification centre yet.
    package mutating func recall(_ id: MessageID) -> Outcome {
        switch self.pending[id]?.step {
        case .names, .delegate: return self.finish(id, .suppressed(.recalled))
        case .claim:
            var outcome = self.finish(id, .suppressed(.recalled))
            outcome.effects.append(.releaseClaim(id))
            return outcome
        case .posting, nil: return Outcome()
        }
    }

    package mutating func edit(_ edit: Edit) {
        guard var message = self.pending[edit.message]?.message else { return }
        message.content = edit.content
        // They were written for the old content.
        message.pushText = nil
        message.push = message.push?.withoutWords
        self.pending[edit.message]?.message = message
    }

    package var isEmpty: Bool { self.pending.isEmpty }
    package var count: Int { self.pending.count }

    private mutating func endNameless(_ id: MessageID) -> Outcome {
        let conversation = self.pending[id]?.conversation
        var outcome = self.finish(id, .suppressed(.providerMissing))
        if let conversation {
            outcome.effects.append(.publishProblem(.nameMissing(message: id, conversation: conversation)))
        }
        return outcome
    }

    private mutating func claim(_ id: MessageID) -> Outcome {
        self.pending[id]?.step = .claim
        return Outcome(effects: [.claimRing(id)])
    }

    private mutating func finish(_ id: MessageID, _ disposition: Disposition) -> Outcome {
        guard let item = self.pending.removeValue(forKey: id), !item.isInForeground else { return Outcome() }
        return Outcome(decided: [Decision(position: item.position, disposition: disposition)])
    }
}
