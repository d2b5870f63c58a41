import DequeModule
import StoreModel
import TidingsModel

final class SharedMessage: Sendable {
    let message: Message
    /// When it was accepted, or read from the log.
    let names: MessageNames
    /// `message` is for people who had blocked its sender.
    let isHushed: Bool

    init(_ message: Message, names: MessageNames = MessageNames(), isHushed: Bool = false) {
        self.message = message
        self.names = names
        self.isHushed = isHushed
    }

    /// Returns the message as the store has accepted it.
    func accepted(_ names: MessageNames, _ push: SharedPushOptions?) -> SharedMessage {
        guard push != nil else { return self.named(names) }
        var message = self.message
        message.push = push?.options
        return SharedMessage(message, names: names, isHushed: self.isHushed)
    }

    func named(_ names: MessageNames) -> SharedMessage {
        names == self.names ? self : SharedMessage(self.message, names: names, isHushed: self.isHushed)
    }

    var hushed: SharedMessage { SharedMessage(self.message.hushed, names: self.names, isHushed: true) }
}

struct Leg: Sendable {
    enum Subject: Sendable {
        case message(SharedMessage)
        /// The device has shown the message, or may have; `wasUnread`: it was unread and counted until then.
        indirect case recall(TidingsModel.Recall, wasUnread: Bool)
    }

    enum Recall: Hashable, Sendable {
        case recalled
        /// The person has deleted it for themselves.
        case deleted
    }

    enum State: Hashable, Sendable {
        /// Written to the connection, or to be fetched by a sync; waiting to be settled.
        case live
        case held
        case queued
        /// Stored durably until the reason to wait is gone.
        case waiting(LegWait)
        case inFlight(PushID)
    }

    /// The reason for which it waits.
    var wait: LegWait {
        switch self.state {
        case .live: .live
        case .held: .grace
        case .queued, .inFlight: .inFlight
        case .waiting(let reason): reason
        }
    }

    let position: LogPosition
    var subject: Subject
    var state: State
    var liveSince: Int64
    /// The number of the next try, from which its `apns-id` is made: how many APNs has answered, before one went
    /// unanswered.
    var attempts: Int = 0
    /// The number of the last try handed over; nil before the first.
    var sentAttempt: Int?
    /// An old 410 has put it back once already (design.md §5).
    var isPutBack = false
    /// A push was handed over whose answer never came: the device may have shown it.
    var mayBeShown = false
    /// It has waited for the end of a storm, and is merged with the others of its conversation that have.
    var isMerging = false
    /// It has waited for the end of an outage of APNs.
    var hasWaitedForAPNs = false
    var recall: Recall?
    /// The store keeps it as an open leg, so that `decided` may pass it.
    var isKept = false
    /// True for a push job's leg that an earlier process may have sent, and has not lived to hear what became of it.
    var isRestored = false
    var steps = LegSteps()

    var id: MessageID {
        switch self.subject {
        case .message(let shared): shared.message.id
        case .recall(let recall, _): recall.id
        }
    }

    /// The message was recalled before any device could show it: the log's entry shows nothing.
    var isGone: Bool { self.recall == .recalled && !self.isInFlight && !self.mayBeShown }

    var isInFlight: Bool {
        if case .inFlight = self.state { true } else { false }
    }

    var body: LogEntry.Body {
        switch self.subject {
        case .message(let shared): .message(shared.message)
        case .recall(let recall, _): .recall(recall)
        }
    }

    var pushJob: PushJobID? {
        switch self.subject {
        case .message(let shared): shared.message.pushJob
        case .recall: nil
        }
    }

    func ended(_ end: LegEnd, of device: DeviceKey, at wall: Int64) -> EndedLeg {
        EndedLeg(
            leg: LegID(message: self.id, user: device.user, device: device.device), end: end, at: wall,
            pushJob: self.pushJob, isRepeated: self.isRestored && self.sentAttempt != nil, steps: self.steps)
    }

    func impliedDisposition(for user: UserID) -> Disposition {
        guard case .message(let shared) = self.subject, shared.message.sender == user else { return .shown }
        return .suppressed(.ownMessage)
    }

    func conversation(seenBy user: UserID) -> ConversationID {
        switch self.subject {
        case .message(let shared): shared.message.conversation(seenBy: user)
        case .recall(let recall, _): recall.conversation
        }
    }
}

/// Unfinished legs of one device in log order: its live window and its push queue in one.
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

    mutating func append(_ leg: Leg) { self.legs.append(leg) }

    mutating func insert(_ leg: Leg) -> Int {
        let index = self.legs.lastIndex { $0.position < leg.position }.map { $0 + 1 } ?? 0
        self.legs.insert(leg, at: index)
        return index
    }

    mutating func popFirst(upTo position: LogPosition) -> Leg? {
        guard let first = self.legs.first?.position, first <= position else { return nil }
        return self.legs.removeFirst()
    }

    mutating func remove(at index: Int) {
        if index == 0 { self.legs.removeFirst() } else { self.legs.remove(at: index) }
    }

    mutating func removeAll(where condition: (Leg) -> Bool) -> [Leg] {
        var removed: [Leg] = []
        self.legs.removeAll { leg in
            guard condition(leg) else { return false }
            removed.append(leg)
            return true
        }
        return removed
    }

    /// Returns whether the device may have shown one of them.
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

    mutating func edit(_ edit: Edit) {
        for index in self.legs.indices {
            guard case .message(let shared) = self.legs[index].subject, shared.message.id == edit.message else {
                continue
            }
            // Text and options of its push were written for the old content.
            self.legs[index].subject = .message(
                SharedMessage(
                    shared.message.revised(content: edit.content, isGone: false),
                    names: shared.names, isHushed: shared.isHushed))
        }
    }

    mutating func rename(_ conversation: ConversationID, to name: String) {
        for index in self.legs.indices {
            guard case .message(let shared) = self.legs[index].subject, shared.message.conversation == conversation
            else {
                continue
            }
            var names = shared.names
            names.conversation = name
            self.legs[index].subject = .message(shared.named(names))
        }
    }

    func count(where condition: (Leg) -> Bool) -> Int { self.legs.count(where: condition) }

    func count(into counts: inout OpenLegCounts) { for leg in self.legs { counts[leg.wait] += 1 } }

    var liveSince: Int64? { self.legs.first { $0.state == .live }?.liveSince }

    func index(of position: LogPosition) -> Int? {
        guard let first = self.legs.first, position >= first.position else { return nil }
        if first.position == position { return 0 }
        let place = self.legs.sortedPlace { $0.position < position }
        return place < self.legs.count && self.legs[place].position == position ? place : nil
    }

    /// The first behind a position, or the number of all.
    func place(after position: LogPosition) -> Int { self.legs.sortedPlace { $0.position <= position } }

    /// The position up to which everything is ended or kept: the device's `decided` (design.md §3 "Push work").
    func decided(head: LogPosition) -> LogPosition {
        guard let open = self.legs.first(where: { !$0.isKept }) else { return head }
        return open.position - 1
    }

    mutating func becomeLive(at now: Int64) {
        for index in self.legs.indices {
            if self.legs[index].isInFlight { continue }
            self.legs[index].state = .live
            self.legs[index].liveSince = now
        }
    }

    mutating func addStep(_ step: LegStep, where condition: (Leg) -> Bool) {
        for index in self.legs.indices where condition(self.legs[index]) { self.legs[index].steps.append(step) }
    }

    /// Adds a turn to the legs that wait for the device, or for what it does: a push that is under way does not.
    mutating func addTurn(_ turn: LegTurn, at wall: Int64) {
        for index in self.legs.indices where !self.legs[index].isInFlight {
            self.legs[index].steps.append(.turned(turn, at: wall))
        }
    }

    mutating func becomeHeld() {
        for index in self.legs.indices where self.legs[index].state == .live { self.legs[index].state = .held }
    }

    /// The device is gone: legs live since `limit` or longer are to be pushed; the others wait.
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

extension Lease {
    /// The state of a leg that begins now.
    var firstLegState: Leg.State {
        switch self {
        case .foreground, .background: .live
        case .probing, .grace, .returning: .held
        case .gone: .queued
        }
    }
}
