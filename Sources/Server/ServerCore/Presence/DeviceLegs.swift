import DequeModule
import StoreModel
import TidingsModel

/// A message shared by all its legs: one allocation for a fan-out of thousands. It never changes.
final class SharedMessage: Sendable {
    let message: Message
    /// The name of its group or discussion when it was accepted, or read from the log; empty for other kinds.
    let conversationName: String

    init(_ message: Message, conversationName: String = "") {
        self.message = message
        self.conversationName = conversationName
    }

    /// The message with the name of its conversation.
    func named(_ name: String) -> SharedMessage {
        name == self.conversationName ? self : SharedMessage(self.message, conversationName: name)
    }
}

/// One unfinished leg of a device.
struct Leg: Sendable {
    /// What it is about.
    enum Subject: Sendable {
        case message(SharedMessage)
        /// The recall of a message the device has shown, or may have; and whether it was unread and counted until then.
        indirect case recall(Recall, wasUnread: Bool)
    }

    /// Why a message is worth nothing any more.
    enum Recall: Hashable, Sendable {
        case recalled
        /// The person has deleted it for themselves.
        case deleted
    }

    /// Where a leg is between its start and its end.
    enum State: Hashable, Sendable {
        /// Written to the connection, or to be fetched by the device's sync; waiting to be settled.
        case live
        /// Waiting for the device to come back, or to answer a probe.
        case held
        /// To be pushed as soon as its turn comes.
        case queued
        /// Kept durable; waiting for the reason to go away.
        case waiting(LegWait)
        /// With the APNs client.
        case inFlight(PushID)
    }

    let position: LogPosition
    var subject: Subject
    var state: State
    /// Since when it is live, in monotonic milliseconds.
    var liveSince: Int64
    /// The number of the next try, from which its `apns-id` is made: how many APNs has answered, before one went unanswered.
    var attempts: Int = 0
    /// The number of the last try that was handed over; nil before the first.
    var sentAttempt: Int?
    /// An old 410 has put it back once already (DESIGN §5).
    var isPutBack = false
    /// A push of it was handed over whose answer never came: the device may have shown it.
    var mayBeShown = false
    /// It has waited for the end of a storm, and goes with the others of its conversation that have.
    var isMerging = false
    /// What has become of the message meanwhile.
    var recall: Recall?
    /// The store keeps it as an open leg, so that `decided` may pass it.
    var isKept = false

    /// The message id that names the leg: the message's, or the recall's own.
    var id: MessageID {
        switch self.subject {
        case .message(let shared): shared.message.id
        case .recall(let recall, _): recall.id
        }
    }

    /// Its message was recalled before any device could show it: of what the log still says there is nothing to show.
    var isGone: Bool { self.recall == .recalled && !self.isInFlight && !self.mayBeShown }

    /// It is with the APNs client.
    var isInFlight: Bool {
        if case .inFlight = self.state { true } else { false }
    }

    /// The entry of the log that tells of it.
    var body: LogEntry.Body {
        switch self.subject {
        case .message(let shared): .message(shared.message)
        case .recall(let recall, _): .recall(recall)
        }
    }

    /// How it is settled by an app in the foreground that has it on its screen.
    func impliedDisposition(for user: UserID) -> Disposition {
        guard case .message(let shared) = self.subject, shared.message.sender == user else { return .shown }
        return .suppressed(.ownMessage)
    }

    /// Whose conversation it belongs to, as `user` sees it.
    func conversation(seenBy user: UserID) -> ConversationID {
        switch self.subject {
        case .message(let shared): shared.message.conversation(seenBy: user)
        case .recall(let recall, _): recall.conversation
        }
    }
}

/// The unfinished legs of one device in the order of the log: its live window and its push queue in one.
struct DeviceLegs: Sendable {
    private(set) var legs: Deque<Leg> = []

    var count: Int { self.legs.count }
    var isEmpty: Bool { self.legs.isEmpty }
    var last: Leg? { self.legs.last }
    subscript(index: Int) -> Leg {
        get { self.legs[index] }
        set { self.legs[index] = newValue }
        _modify { yield &self.legs[index] }
    }

    /// Adds the newest leg.
    mutating func append(_ leg: Leg) { self.legs.append(leg) }

    /// Adds a leg at its place in the log.
    ///
    /// - Returns: where it is now.
    mutating func insert(_ leg: Leg) -> Int {
        let index = self.legs.lastIndex { $0.position < leg.position }.map { $0 + 1 } ?? 0
        self.legs.insert(leg, at: index)
        return index
    }

    /// Takes the legs up to a position out, oldest first, and hands each to `body`.
    mutating func settle(upTo position: LogPosition, _ body: (Leg) -> Void) {
        while let leg = self.legs.first, leg.position <= position {
            self.legs.removeFirst()
            body(leg)
        }
    }

    /// Takes one leg out.
    mutating func remove(at index: Int) {
        if index == 0 { self.legs.removeFirst() } else { self.legs.remove(at: index) }
    }

    /// Takes out what fulfils the condition, oldest first.
    mutating func removeAll(where condition: (Leg) -> Bool) -> [Leg] {
        var removed: [Leg] = []
        self.legs.removeAll { leg in
            guard condition(leg) else { return false }
            removed.append(leg)
            return true
        }
        return removed
    }

    /// Notes what has become of messages meanwhile.
    ///
    /// - Returns: whether the device may have shown one of them.
    @discardableResult
    mutating func recall(_ messages: Set<MessageID>, as recall: Leg.Recall) -> Bool {
        var mayBeShown = false
        for index in self.legs.indices {
            guard case .message(let shared) = self.legs[index].subject, messages.contains(shared.message.id) else {
                continue
            }
            self.legs[index].recall = recall
            if self.legs[index].isInFlight || self.legs[index].mayBeShown { mayBeShown = true }
        }
        return mayBeShown
    }

    /// Gives a message that is not on its way yet its newer content.
    mutating func edit(_ edit: Edit) {
        for index in self.legs.indices {
            guard case .message(let shared) = self.legs[index].subject, shared.message.id == edit.message else {
                continue
            }
            // What its push was to say was said of the text before.
            self.legs[index].subject = .message(
                SharedMessage(
                    shared.message.revised(content: edit.content, isGone: false),
                    conversationName: shared.conversationName))
        }
    }

    /// Gives the messages of a conversation its new name.
    mutating func rename(_ conversation: ConversationID, to name: String) {
        for index in self.legs.indices {
            guard case .message(let shared) = self.legs[index].subject, shared.message.conversation == conversation
            else {
                continue
            }
            self.legs[index].subject = .message(shared.named(name))
        }
    }

    /// Since when the oldest live leg is live.
    var liveSince: Int64? { self.legs.first { $0.state == .live }?.liveSince }

    /// Where the leg of a position is.
    func index(of position: LogPosition) -> Int? {
        guard let first = self.legs.first, position >= first.position else { return nil }
        if first.position == position { return 0 }
        var low = 0
        var high = self.legs.count
        while low < high {
            let middle = (low + high) / 2
            if self.legs[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low < self.legs.count && self.legs[low].position == position ? low : nil
    }

    /// Up to where everything is ended or kept: the device's `decided` (DESIGN §3 "Push work").
    func decided(head: LogPosition) -> LogPosition {
        guard let open = self.legs.first(where: { !$0.isKept }) else { return head }
        return open.position - 1
    }

    /// Everything that is not in flight is (again) the connection's business.
    mutating func becomeLive(at now: Int64) {
        for index in self.legs.indices {
            if self.legs[index].isInFlight { continue }
            self.legs[index].state = .live
            self.legs[index].liveSince = now
        }
    }

    /// The device is away for a moment: live legs wait.
    mutating func becomeHeld() {
        for index in self.legs.indices where self.legs[index].state == .live { self.legs[index].state = .held }
    }

    /// Nobody listens any more: live legs, or those live since `limit` or longer, are to be pushed; the others wait.
    mutating func becomeQueued(liveSinceAtMost limit: Int64) {
        for index in self.legs.indices {
            switch self.legs[index].state {
            case .live, .held:
                self.legs[index].state = self.legs[index].liveSince <= limit ? .queued : .held
            case .queued, .waiting, .inFlight: break
            }
        }
    }
}
