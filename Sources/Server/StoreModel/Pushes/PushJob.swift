package import TidingsModel

/// Drawn as ids of messages are: jobs are ordered by it, and no message has it.
package typealias PushJobID = MessageID

/// A push to an audience: the entries of its people are made in steps (`StoreCommand.stepPush`), each a message with an id of its own.
package struct PushJob: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        /// The message that each recipient gets, with its flags; `PushJob.message(for:on:id:at:)` gives id, conversation and times. With
        /// the app's options in `push` already.
        indirect case message(Message)
        /// With the message's own id and time in place of those here.
        indirect case custom(CustomMessage)
    }

    package enum State: String, Hashable, Sendable, CaseIterable, JSONWritable {
        /// It waits for its time, or for that of its next pass.
        case scheduled
        case running
        /// Everybody of the audience was looked at.
        case done
        /// Stopped before that: what was sent stays.
        case cancelled
        /// Its last time came while the server could not start it, and is over by more than `lateMilliseconds`: what was sent stays.
        case missed
        /// The sent messages are recalled, step by step.
        case recalling
        case recalled

        /// True if steps, or the start, are still to come.
        package var isUnfinished: Bool {
            switch self {
            case .scheduled, .running, .recalling: true
            case .done, .cancelled, .missed, .recalled: false
            }
        }
    }

    package var id: PushJobID
    package var app: AppID
    /// The account that sends the messages: of a service's kind, its id as target.
    package var account: ConversationID
    package var body: Body
    package var audience: PushAudience
    /// It reaches people who have blocked the account as it reaches others.
    package var ignoresBlocks: Bool
    /// The lifetime of each message from its step on; nil for as long as the server keeps it.
    package var lifetimeMilliseconds: Int64?
    /// Wall milliseconds, of which `.start` is a matter of the core; nil for at once.
    package var sendAt: Int64?
    /// A time on people's own clocks in place of one time; `sendAt` is that of the pass it is at.
    package var localTime: PushLocalTime?
    package var ratePerSecond: Int?
    /// How long after its time it may begin.
    package var lateMilliseconds: Int64
    /// How its texts reach notifications; nil for the usual way of a push.
    package var textMode: PushTextMode?
    package var createdAt: Int64
    package var state: State
    /// When it got its state.
    package var changedAt: Int64
    /// How far its steps have come. Only the store knows what it counts.
    package var cursor: UInt64 = 0
    /// Which of the passes of `localTime` is next or under way.
    package var pass = 0
    /// How many steps have sent something.
    package var steps = 0
    package var counts = PushCounts()

    package static let lateUsual: Int64 = 3_600_000
    /// The least that a backend may ask for: a timer, a store that is busy and a clock that was set take some seconds each, and a push that is
    /// a moment late is not missed.
    package static let lateMin: Int64 = 60_000
    /// Thirty days, as long as a message may be worth a push.
    package static let lateMax = MessageDraft.lifetimeMax

    /// A new one: it runs at once, or is scheduled.
    package init(
        id: PushJobID, app: AppID, account: ConversationID, body: Body, audience: PushAudience,
        ignoresBlocks: Bool = false, lifetimeMilliseconds: Int64? = nil, sendAt: Int64? = nil,
        localTime: PushLocalTime? = nil, ratePerSecond: Int? = nil, lateMilliseconds: Int64 = PushJob.lateUsual,
        textMode: PushTextMode? = nil, createdAt: Int64
    ) {
        self.id = id
        self.app = app
        self.account = account
        self.body = body
        self.audience = audience
        self.ignoresBlocks = ignoresBlocks
        self.lifetimeMilliseconds = lifetimeMilliseconds
        self.sendAt = localTime?.passes.first?.at ?? sendAt
        self.localTime = localTime
        self.ratePerSecond = ratePerSecond
        self.lateMilliseconds = lateMilliseconds
        self.textMode = textMode
        self.createdAt = createdAt
        self.state = self.sendAt == nil ? .running : .scheduled
        self.changedAt = createdAt
    }

    package var sender: UserID { UserID(self.account.target) }

    package var isCustom: Bool { if case .custom = self.body { true } else { false } }

    /// The body without the values that each message has for itself.
    private var plainBody: Body {
        switch self.body {
        case .message(var message):
            (message.id, message.app, message.sender) = (MessageID(rawValue: 0), self.app, self.sender)
            (message.conversation, message.clientMessageID) = (self.account, "")
            (message.mentions, message.recipients) = (.none, [])
            (message.sentAt, message.expiresAt, message.pushJob) = (0, nil, nil)
            (message.devices, message.textMode) = ([], nil)
            return .message(message)
        case .custom(var message):
            (message.id, message.sentAt, message.expiresAt) = (MessageID(rawValue: 0), 0, nil)
            message.devices = []
            return .custom(message)
        }
    }

    /// With the state, cursor and counts of a new one.
    package var asNew: PushJob {
        PushJob(
            id: self.id, app: self.app, account: self.account, body: self.plainBody, audience: self.audience,
            ignoresBlocks: self.ignoresBlocks, lifetimeMilliseconds: self.lifetimeMilliseconds, sendAt: self.sendAt,
            localTime: self.localTime, ratePerSecond: self.ratePerSecond, lateMilliseconds: self.lateMilliseconds,
            textMode: self.textMode, createdAt: self.createdAt)
    }

    /// The place of a job that is `recalling`: the index of the next step, and how many of that step's messages are done.
    package var placeOfRecall: (step: Int, offset: Int) {
        let max = UInt64(StoreRules.pushStepMax)
        return (Int(clamping: self.cursor / max), Int(self.cursor % max))
    }

    /// After the last step of a pass: the job waits for the next one, or is done.
    package mutating func endPass(at: Int64) {
        self.changedAt = at
        guard let passes = self.localTime?.passes, !self.isAtLastPass else {
            self.state = .done
            return
        }
        self.pass += 1
        self.sendAt = passes[self.pass].at
        self.cursor = 0
        self.state = .scheduled
    }

    /// Returns true if the job would begin too late: the server was down, or the app suspended. What was due when the job was made, or before it
    /// came to this pass, is not late.
    package func isLate(at: Int64) -> Bool {
        guard let sendAt else { return false }
        return at - max(sendAt, self.changedAt) > self.lateMilliseconds
    }

    /// The present pass is not carried out. Its people are for the last one, as those who have travelled; behind that the job is `missed`.
    mutating func missPass(at: Int64) {
        let before = self.changedAt
        self.endPass(at: at)
        // The passes that are late with this one count from when it was to begin.
        if self.state == .scheduled { self.changedAt = before } else { self.state = .missed }
    }

    /// The last pass of a local time is for everybody whom none has reached; so is the one pass of another job.
    package var isAtLastPass: Bool { self.pass + 1 >= self.localTime?.passes.count ?? 1 }

    /// Returns true if the present pass is for people in this time zone.
    /// - Parameter timeZone: nil if the person's phones have told none.
    package func isForPass(_ timeZone: String?) -> Bool {
        guard let localTime, !self.isAtLastPass else { return true }
        return localTime.pass(of: timeZone) == self.pass
    }

    /// - Parameters:
    ///   - count: how many of the step's messages were looked at.
    ///   - all: how many that step has sent.
    package mutating func advanceRecall(by count: Int, of all: Int, at: Int64) {
        let max = UInt64(StoreRules.pushStepMax)
        let (step, offset) = self.placeOfRecall
        self.cursor = offset + count >= all ? UInt64(step + 1) * max : self.cursor + UInt64(count)
        guard self.placeOfRecall.step >= self.steps else { return }
        self.state = .recalled
        self.changedAt = at
        self.eraseBody()
    }

    /// The bytes of what it says, in UTF-8.
    package var contentBytes: Int {
        switch self.body {
        case .message(let template): template.content.utf8.count
        case .custom(let template): template.content.utf8.count
        }
    }

    /// Nobody reads any more what it said.
    package mutating func eraseBody() {
        guard case .message(let template) = self.body else { return }
        self.body = .message(template.revised(content: nil, isGone: true))
    }

    /// The entry of one of its people.
    ///
    /// - Parameter devices: of the person, that it is for; empty for all of them.
    package func entry(for user: UserID, on devices: [DeviceID], id: MessageID, at: Int64) -> LogEntry.Body {
        switch self.body {
        case .message(let template): .message(self.message(template, for: user, on: devices, id: id, at: at))
        case .custom(let template): .custom(self.custom(template, on: devices, id: id, at: at))
        }
    }

    /// nil for a custom message.
    package func message(for user: UserID, on devices: [DeviceID], id: MessageID, at: Int64) -> Message? {
        guard case .message(let template) = self.body else { return nil }
        return self.message(template, for: user, on: devices, id: id, at: at)
    }

    private func message(
        _ template: Message, for user: UserID, on devices: [DeviceID], id: MessageID, at: Int64
    ) -> Message {
        var message = template
        message.id = id
        message.app = self.app
        message.sender = self.sender
        message.conversation = ConversationID(type: self.account.type, target: user.rawValue)
        message.clientMessageID = ClientMessageID(self.id.description)
        message.sentAt = at
        message.expiresAt = self.lifetimeMilliseconds.map { at &+ $0 }
        (message.pushJob, message.textMode) = (self.id, self.textMode)
        message.devices = devices
        return message
    }

    private func custom(
        _ template: CustomMessage, on devices: [DeviceID], id: MessageID, at: Int64
    ) -> CustomMessage {
        var message = template
        message.id = id
        message.devices = devices
        message.sentAt = at
        message.expiresAt = self.lifetimeMilliseconds.map { at &+ $0 }
        return message
    }
}

/// The counts of a job's messages. Exact, whatever was interrupted.
package struct PushCounts: Hashable, Sendable {
    /// People of the app whom the steps have looked at.
    package var lookedAt = 0
    /// People who got a message.
    package var recipients = 0
    /// People of the audience who get nothing: the account is blocked, writes to its followers and they are none, or they are the account.
    /// For a local time as it is with the last pass.
    package var skipped = 0
    /// Legs that have ended, by `LegEnd.name`; without zeros.
    package var ends: [String: Int] = [:]
    /// The number of these whose push was in flight at a restart and was sent once more.
    package var repeated = 0
    /// Legs whose phone has said so.
    package var shown = 0
    package var opened = 0
    /// Messages that were recalled.
    package var recalled = 0

    package init() {}

    package mutating func add(_ ended: EndedLeg) {
        self.ends[ended.end.name, default: 0] += 1
        if ended.isRepeated { self.repeated += 1 }
    }

    package mutating func add(_ receipt: LegReceipt) {
        switch receipt {
        case .shown: self.shown += 1
        case .opened: self.opened += 1
        }
    }
}

/// A change of a job.
package enum PushJobChange: Hashable, Sendable {
    /// A scheduled one.
    case start
    /// A scheduled or running one; nothing happens to one that has come to its end.
    case cancel
    /// Takes back what was sent, and sends nothing more. Of one that has sent nothing it is `cancel`.
    case recall
}

/// The result of one step.
package struct PushStep: Hashable, Sendable {
    /// After the step.
    package var job: PushJob
    /// In the order of their ids. Their messages are `job.entry(for:on:id:at:)`, with the step's time.
    package var sent: [(id: MessageID, delivery: Delivery, devices: [DeviceID])] {
        zip(self.ids, self.deliveries).enumerated().map { index, sent in
            (sent.0, sent.1, self.devices.isEmpty ? [] : self.devices[index])
        }
    }
    /// The ids of the messages that were sent, ascending: the first of those handed in.
    package var ids: [MessageID] = []
    /// The delivery of each of these.
    package var deliveries: [Delivery] = []
    /// The devices of each of these, empty for all of the person's. Without an element if that holds for each.
    package var devices: [[DeviceID]] = []
    /// The messages that a step of a job that is `recalling` has recalled.
    package var recalls: [Recalled] = []
    package var names = MessageNames()

    /// Nothing is left to do.
    package var isDone: Bool { !self.job.state.isUnfinished }

    /// A recalled message, as in `StoreResult.recalled`.
    package struct Recalled: Hashable, Sendable {
        package var recall: Recall
        /// It says nothing any more.
        package var message: Message
        package var delivery: Delivery
        package var shown: [LegID]

        package init(recall: Recall, message: Message, delivery: Delivery, shown: [LegID]) {
            self.recall = recall
            self.message = message
            self.delivery = delivery
            self.shown = shown
        }
    }

    package init(job: PushJob) { self.job = job }
}

extension PushJob {
    /// nil if it does not name the file. It does so for as long as it can still send, whatever its messages' lifetime.
    package func use(of media: MediaID) -> MediaUse? {
        guard case .message(let template) = self.body, template.namedMedia.contains(media) else { return nil }
        return MediaUse(message: self.id, sender: self.sender, isBackend: true)
    }
}
