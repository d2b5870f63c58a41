package import TidingsModel

/// The kit's work at the notification centre and on the icon (S2.11, S2.17, S2.20; design.md P3, P4, P6, P7; docs/inside/decisions/0025-kit-machine.md).
/// Ledger and number are changed when work is asked for; what concerns the notification centre and the icon then follows one after the
/// other, in that order, so that of two numbers the later one stays.
///
/// ```text
///            requested            posted, badgeShown or listed; no work is left
///  idle ───────────────▶ (begin) ────────────────────────────────────────────────▶ idle
///                           │ ▲
///    post ── posting ───────┼─┤ posted, and the number is still the stored one
///               └──▶ showing ─┤ posted, but the stored number is another one by now
///    number ─── showing ──────┤ badgeShown; shown again while the stored number has changed, four times in all
///    recall ─── listing ──────┤ listed; ──▶ posting, where a replacement takes the notification's place
///    clear ──── listing ──────┤ listed
///    leave ──── zeroing ──▶ listing
/// ```
///
/// An answer that comes late, twice, or to something that was not asked changes nothing. If an answer never comes, what follows waits, and
/// nothing counts as shown: wakes end at their own deadline, and the claims a killed process leaves are settled by `recoverClaims` in the
/// next one. A frozen process goes on where it was.
package struct NotificationCenterQueue: Hashable, Sendable {
    /// Names a piece of work; the shell never uses a number twice.
    package typealias Number = UInt64

    package enum Work: Hashable, Sendable {
        // Done at once, whatever else is under way.

        /// The delivered list is looked at before the ledger: a push that came while there was no connection is
        /// there, even if no extension ran that could have said so.
        case claim(MessageID)
        case markShown(MessageID)
        case markRecalled(MessageID)
        case releaseClaim(MessageID)
        case recoverClaims
        case countPush(BadgeInfo, isActive: Bool, managesBadge: Bool, KitMachine.Call)
        /// Count and write the badge before the call returns: there is no later moment in this process (S2.17).
        case countAtTermination(unread: Int, position: LogPosition)

        // One after the other.

        case post(LocalNotification)
        case recall(MessageID, replacement: LocalNotification?)
        case clearRead(ConversationID, upTo: LogPosition)
        /// Also what has arrived since.
        case clearConversation(ConversationID)
        /// The person has left: nothing of theirs may stay where the next one could answer it, and what waits is not posted any more.
        case clearAll(showsZero: Bool)
        case countUnread(Int, position: LogPosition)
        case countResigned(unread: Int, position: LogPosition)
        case showPushedBadge(Int, KitMachine.Call)

        /// Donates a message to the person as it is posted.
        case donate(CommunicationForm)
        case deleteDonations(DonationScope)

        package var usesGroup: Bool {
            switch self {
            case .clearRead, .clearConversation, .clearAll, .donate, .deleteDonations: false
            case .claim, .markShown, .markRecalled, .releaseClaim, .recoverClaims, .countPush, .countAtTermination,
                .post, .recall, .countUnread, .countResigned, .showPushedBadge:
                true
            }
        }
    }

    package enum Event: Hashable, Sendable {
        case requested(Work, Number)
        case listed([Entry], Number)
        case posted(PostResult, Number)
        case badgeShown(Number)
    }

    package enum Effect: Hashable, Sendable {
        /// Look at the delivered list. Before iOS 10 it cannot be seen and is empty. Answered by `.listed`.
        case list(Number)
        /// Take back what of ours is scheduled, then look at the delivered list. Answered by `.listed`.
        case removeScheduledAndList(Number)
        case post(LocalNotification, badge: Int?, Number)
        case remove([String])
        case showBadge(Int, Number)
        case showBadgeBeforeReturning(Int)
        case donate(CommunicationForm)
        case deleteDonations(DonationScope)
        case finish(Number, Answer?)
    }

    package enum Answer: Hashable, Sendable {
        case client(ClientEvent)
        case kit(KitMachine.Event)
    }

    package struct Entry: Hashable, Sendable {
        package var identifier: String
        package var userInfo: JSONValue
        package var thread: String

        package init(identifier: String, userInfo: JSONValue, thread: String) {
            self.identifier = identifier
            self.userInfo = userInfo
            self.thread = thread
        }
    }

    package struct Facts {
        /// Tells this process's claims from those of an earlier one.
        package var process: UInt64
        package var major: Int
        package var wall: Int64
        /// Without an app group there is no extension to race with; one that cannot be used now is handed as nil.
        package var hasGroup: Bool
        /// True if messages are donated. Otherwise only the app's own donations can be there to delete.
        package var donates: Bool
        /// Where the local store has a message, for notifications that do not say.
        package var position: (MessageID) -> LogPosition?

        package init(
            process: UInt64, major: Int, wall: Int64, hasGroup: Bool = true, donates: Bool = false,
            position: @escaping (MessageID) -> LogPosition?
        ) {
            self.process = process
            self.major = major
            self.wall = wall
            self.hasGroup = hasGroup
            self.donates = donates
            self.position = position
        }
    }

    private enum Job: Hashable, Sendable {
        case post(LocalNotification, badge: Int?)
        case recall(MessageID, replacement: LocalNotification?, badge: Int?)
        case clearRead(ConversationID, upTo: LogPosition)
        case clearConversation(ConversationID)
        case clearAll(showsZero: Bool)
        case badge(Int?)
        case donate(CommunicationForm)
        case deleteDonations(DonationScope)
    }

    private struct Item: Hashable, Sendable {
        var number: Number
        var job: Job
        var answer: Answer?
    }

    private enum Step: Hashable, Sendable {
        case idle
        case listing(Item)
        case posting(Item, badge: Int?)
        case showing(Item, shown: Int, attempts: Int)
        case zeroing(Item)
    }

    /// A query of the delivered list that does not wait for its turn.
    private struct Look: Hashable, Sendable {
        var number: Number
        var claim: MessageID?
    }

    private static let badgeAttempts = 4

    private var step = Step.idle
    private var waiting: [Item] = []
    private var looks: [Look] = []

    package init() {}

    package var count: Int { self.waiting.count + self.looks.count + (self.step == .idle ? 0 : 1) }

    /// - Parameter group: nil where it cannot be read or written now: then ledger and number stay as they are. The caller holds its lock
    ///   around the event and stores what was changed.
    package mutating func handle<Group: ExtensionGroup>(
        _ event: Event, group: inout Group?, facts: Facts, into effects: inout [Effect]
    ) {
        self.step = self.next(event, &group, facts, &effects)
    }

    private mutating func next<Group: ExtensionGroup>(
        _ event: Event, _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) -> Step {
        switch (self.step, event) {
        case (_, .requested(let work, let number)):
            self.accept(work, number, &group, facts, &effects)
            return self.step == .idle ? self.beginNext(&group, facts, &effects) : self.step
        case (.listing(let item), .listed(let entries, let number)) where number == item.number:
            return self.finishListing(entries, item, &group, facts, &effects)
        case (_, .listed(let entries, let number)):
            self.finishLook(entries, number, &group, facts, &effects)
            return self.step
        case (.posting(var item, let badge), .posted(let result, let number)) where number == item.number:
            if case .post(let notification, _) = item.job {
                item.answer = .client(.notificationPosted(notification.message, result))
            }
            // The extension may have counted a push since: the older number must not stay.
            guard badge != nil, let stored = group?.badge?.shown, stored != badge else {
                return self.finish(item, &group, facts, &effects)
            }
            return Self.show(stored, item, attempts: 0, &effects)
        case (.showing(let item, let shown, let attempts), .badgeShown(let number)) where number == item.number:
            // An extension counts its push and has its number shown by the system at any time.
            guard attempts < Self.badgeAttempts, let stored = group?.badge?.shown, stored != shown else {
                return self.finish(item, &group, facts, &effects)
            }
            return Self.show(stored, item, attempts: attempts, &effects)
        case (.zeroing(let item), .badgeShown(let number)) where number == item.number:
            effects.append(.removeScheduledAndList(item.number))
            return .listing(item)
        // Late, or of something that was not asked for.
        case (.idle, .posted), (.idle, .badgeShown), (.listing, .posted), (.listing, .badgeShown), (.posting, .posted),
            (.posting, .badgeShown), (.showing, .posted), (.showing, .badgeShown), (.zeroing, .posted),
            (.zeroing, .badgeShown):
            return self.step
        }
    }

    // MARK: What is asked for

    private mutating func accept<Group: ExtensionGroup>(
        _ work: Work, _ number: Number, _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) {
        // tidy: long because it is one case per kind of work.
        let holder = Ledger.Holder.kit(process: facts.process)
        var answer: Answer?
        switch work {
        case .claim(let message):
            self.looks.append(Look(number: number, claim: message))
            effects.append(.list(number))
            return
        case .recoverClaims:
            if group?.ledger.unsettled(process: facts.process, wall: facts.wall).isEmpty == false {
                self.looks.append(Look(number: number))
                effects.append(.list(number))
                return
            }
        case .markShown(let message):
            group.change { $0.ledger.markShown(message, by: holder, wall: facts.wall) }
        case .markRecalled(let message):
            group.change { $0.ledger.markRecalled(message, by: holder, wall: facts.wall) }
        case .releaseClaim(let message): group.change { $0.ledger.release(message, by: holder) }
        case .countPush(let push, let isActive, let managesBadge, let call):
            let known = BadgePush.Facts(isActive: isActive, managesBadge: managesBadge)
            let verdict = group.change { BadgePush.verdict(push, known, badge: &$0.badge) }
            answer = .kit(.badgeCounted(verdict ?? .stays, call))
        case .countAtTermination(let unread, let position):
            effects.append(
                .showBadgeBeforeReturning(group.change { $0.countResigned(unread: unread, at: position) } ?? unread))
        case .post(let notification):
            let badge = group.change { $0.countPosted(notification) } ?? nil
            return self.waiting.append(Item(number: number, job: .post(notification, badge: badge)))
        case .recall(let message, let replacement):
            let badge = replacement.flatMap { posted in group.change { $0.countPosted(posted) } ?? nil }
            self.deleteDonations(of: message, facts, &effects)
            return self.wait(number, .recall(message, replacement: replacement, badge: badge))
        case .clearRead(let conversation, let position):
            return self.wait(number, .clearRead(conversation, upTo: position))
        case .clearConversation(let conversation):
            return self.waiting.append(Item(number: number, job: .clearConversation(conversation)))
        case .clearAll(let showsZero):
            self.dropPosts(&effects)
            return self.waiting.append(Item(number: number, job: .clearAll(showsZero: showsZero)))
        case .countUnread(let unread, let position):
            return self.wait(number, .badge(group.change { $0.countUnread(unread, at: position) } ?? nil))
        case .countResigned(let unread, let position):
            return self.wait(number, .badge(group.change { $0.countResigned(unread: unread, at: position) } ?? unread))
        case .donate(let form): return self.waiting.append(Item(number: number, job: .donate(form)))
        case .deleteDonations(let scope):
            return self.waiting.append(Item(number: number, job: .deleteDonations(scope)))
        case .showPushedBadge(let shown, let call):
            return self.waiting.append(
                Item(number: number, job: .badge(shown), answer: .kit(.badgeShown(call))))
        }
        effects.append(.finish(number, answer))
    }

    /// Before the recall's turn, since the app may be ended until then. What its own post has still to donate is deleted in that turn.
    private func deleteDonations(of message: MessageID, _ facts: Facts, _ effects: inout [Effect]) {
        guard facts.donates, self.step != .idle else { return }
        effects.append(.deleteDonations(.messages([message])))
    }

    private mutating func wait(_ number: Number, _ job: Job) {
        self.waiting.append(Item(number: number, job: job, answer: .client(.notificationWorkDone)))
    }

    /// Drops the posts not yet handed to the notification centre: their person has left.
    private mutating func dropPosts(_ effects: inout [Effect]) {
        self.waiting.removeAll { item in
            if case .donate = item.job {
                effects.append(.finish(item.number, nil))
                return true
            }
            guard case .post(let notification, _) = item.job else { return false }
            effects.append(.finish(item.number, .client(.notificationPosted(notification.message, .failed))))
            return true
        }
    }

    private mutating func finishLook<Group: ExtensionGroup>(
        _ entries: [Entry], _ number: Number, _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) {
        guard let index = self.looks.firstIndex(where: { $0.number == number }) else { return }
        guard let message = self.looks.remove(at: index).claim else {
            let delivered = Set(entries.compactMap { MessageID($0.identifier) })
            group.change { $0.ledger.recover(delivered: delivered, process: facts.process, wall: facts.wall) }
            return effects.append(.finish(number, nil))
        }
        let isDelivered = entries.contains { $0.identifier == message.description }
        let verdict =
            facts.hasGroup
            ? group.change {
                $0.ledger.claim(
                    message, by: .kit(process: facts.process), isDelivered: isDelivered, wall: facts.wall)
            } : isDelivered ? .alreadyShown : .granted
        let event = verdict.map { ClientEvent.ringClaimed(message, $0) } ?? .ringClaimFailed(message)
        effects.append(.finish(number, .client(event)))
    }

    // MARK: One after the other

    private mutating func beginNext<Group: ExtensionGroup>(
        _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) -> Step {
        while !self.waiting.isEmpty {
            let item = self.waiting.removeFirst()
            // What was posted before has been donated with it. Not once the list is there: the app may be ended while it waits for that.
            if facts.donates, let scope = Self.donations(of: item.job) { effects.append(.deleteDonations(scope)) }
            switch item.job {
            case .post(let notification, let badge):
                effects.append(.post(notification, badge: badge, item.number))
                return .posting(item, badge: badge)
            case .recall, .clearRead, .clearConversation:
                effects.append(.list(item.number))
                return .listing(item)
            case .clearAll(showsZero: true):
                effects.append(.showBadge(0, item.number))
                return .zeroing(item)
            case .clearAll(showsZero: false):
                effects.append(.removeScheduledAndList(item.number))
                return .listing(item)
            case .badge(nil): effects.append(.finish(item.number, item.answer))
            case .donate(let form): effects += [.donate(form), .finish(item.number, nil)]
            case .deleteDonations(let scope): effects += [.deleteDonations(scope), .finish(item.number, nil)]
            case .badge(let number?): return Self.show(group?.badge?.shown ?? number, item, attempts: 0, &effects)
            }
        }
        return .idle
    }

    private mutating func finish<Group: ExtensionGroup>(
        _ item: Item, _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) -> Step {
        effects.append(.finish(item.number, item.answer))
        return self.beginNext(&group, facts, &effects)
    }

    private static func show(_ number: Int, _ item: Item, attempts: Int, _ effects: inout [Effect]) -> Step {
        effects.append(.showBadge(number, item.number))
        return .showing(item, shown: number, attempts: attempts + 1)
    }

    private mutating func finishListing<Group: ExtensionGroup>(
        _ entries: [Entry], _ item: Item, _ group: inout Group?, _ facts: Facts, _ effects: inout [Effect]
    ) -> Step {
        if case .recall(let message, let replacement, let badge) = item.job,
            let replacement = NotificationClearing.inPlace(replacement, major: facts.major),
            entries.contains(where: { $0.identifier == message.description })
        {
            effects.append(.post(replacement, badge: badge, item.number))
            return .posting(item, badge: badge)
        }
        let identifiers = entries.filter { Self.isMeant($0, by: item.job, facts) }.map(\.identifier)
        if !identifiers.isEmpty { effects.append(.remove(identifiers)) }
        return self.finish(item, &group, facts, &effects)
    }

    private static func donations(of job: Job) -> DonationScope? {
        switch job {
        case .recall(let message, _, _): .messages([message])
        case .clearAll: .all
        case .post, .clearRead, .clearConversation, .badge, .donate, .deleteDonations: nil
        }
    }

    private static func isMeant(_ entry: Entry, by job: Job, _ facts: Facts) -> Bool {
        switch job {
        case .recall(let message, _, _): entry.identifier == message.description
        case .clearRead(let conversation, let position):
            NotificationClearing.isRead(
                entry.userInfo, identifier: entry.identifier, thread: entry.thread, in: conversation, upTo: position,
                stored: facts.position)
        case .clearConversation(let conversation):
            NotificationClearing.isOf(conversation, entry.userInfo, thread: entry.thread)
        case .clearAll: NotificationClearing.isOurs(entry.userInfo)
        case .post, .badge, .donate, .deleteDonations: false
        }
    }
}
