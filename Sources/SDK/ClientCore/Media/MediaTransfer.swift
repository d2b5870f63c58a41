import TidingsModel

/// The answer to a request about media; nil where the connection was lost.
package struct MediaAnswer: Hashable, Sendable {
    package var status: Int
    /// For an upload: the number of bytes that the server has on its disk.
    package var offset: Int64?
    /// Where an upload goes on.
    package var location: String?
    /// For a download: the length of the whole file.
    package var total: Int64?
    /// For a download: the tag that identifies the file.
    package var tag: String?
    /// How much of a file came.
    package var received: Int64
    /// For a refusal: its code.
    package var code: String?
    /// Seconds to wait, if the server says so.
    package var retryAfter: Int64?

    package init(
        status: Int, offset: Int64? = nil, location: String? = nil, total: Int64? = nil, tag: String? = nil,
        received: Int64 = 0, code: String? = nil, retryAfter: Int64? = nil
    ) {
        self.status = status
        self.offset = offset
        self.location = location
        self.total = total
        self.tag = tag
        self.received = received
        self.code = code
        self.retryAfter = retryAfter
    }

    /// Asked again, it may come out otherwise.
    fileprivate var isPassing: Bool {
        [408, 423, 429].contains(self.status) || self.status >= 500 && self.status != 507
            // The first request with the key is not answered yet.
            || self.code == "idempotency_key_in_use"
    }
}

/// How a transfer has ended.
package enum MediaOutcome: Hashable, Sendable {
    case done
    /// The server's code, or the status where it names none.
    case refused(code: String, status: Int)
    /// Nothing got through for a long time.
    case unreachable
    case cancelled
}

/// How often something is tried in vain, and how long is waited in between.
struct MediaPatience: Hashable, Sendable {
    private var failures = 0
    /// After these nothing is tried any more; with the longest waits in between that is some ten minutes.
    static let failuresMax = 16
    private static let backOff = BackOff(first: 500, longest: 60_000)

    mutating func succeed() { self.failures = 0 }

    /// Milliseconds to wait; nil for giving up.
    mutating func fail(_ answer: MediaAnswer?, using chance: inout SplitMix64) -> Int64? {
        self.failures += 1
        guard self.failures < Self.failuresMax else { return nil }
        let wait = Self.backOff.wait(afterFailures: self.failures, using: &chance)
        return max(wait, min(answer?.retryAfter ?? 0, 600) * 1_000)
    }
}

/// One upload by tus 1.0 (docs/server/api-media.md "Media"): begins it, sends it in parts, and after a lost connection asks how far the server is.
package struct UploadMachine: Sendable {
    package enum Event: Hashable, Sendable {
        case started
        /// To the last request, nil if it was lost.
        case answered(MediaAnswer?)
        case timePassed
        case cancelled
    }

    package enum Effect: Hashable, Sendable {
        case create
        /// How far is the server?
        case ask(location: String)
        case send(location: String, offset: Int64, count: Int64)
        /// Answered by `timePassed`.
        case wait(milliseconds: Int64)
        /// The user token is not good any more: take a new one with the next request.
        case renewToken
        case report(sent: Int64)
        /// Answered by nothing.
        case delete(location: String)
        case finish(MediaOutcome)
    }

    private enum Request: Hashable { case create, ask, send }

    private let bytes: Int64
    private var part: Int64
    private var location: String?
    private var offset: Int64 = 0
    private var asked: Request?
    private var next = Request.create
    private var patience = MediaPatience()
    private var hasRenewed = false
    /// The number of uploads begun: those that the server had and lost, and the present one. Asking for one in vain does not count.
    private var beginnings = 1
    private var isOver = false
    private var chance: SplitMix64

    /// A part must come within the server's time limit for a body also over a slow connection: after a failure parts are smaller.
    package static let partMax: Int64 = 1_048_576
    package static let partMin: Int64 = 65_536
    /// How often it begins anew because the server has lost what there was.
    private static let beginningsMax = 3

    package init(bytes: Int64, seed: UInt64) {
        self.bytes = bytes
        self.part = Self.partMax
        self.chance = SplitMix64(seed: seed)
    }

    /// Where the server keeps it; its last segment is the media's id.
    package var place: String? { self.location }

    package mutating func handle(_ event: Event, into effects: inout [Effect]) {
        guard !self.isOver else { return }
        switch event {
        case .started, .timePassed: self.request(&effects)
        case .cancelled:
            if let location = self.location { effects.append(.delete(location: location)) }
            self.finish(.cancelled, &effects)
        case .answered(let answer):
            guard let asked = self.asked else { return }
            self.asked = nil
            self.handle(answer, to: asked, &effects)
        }
    }

    private mutating func request(_ effects: inout [Effect]) {
        guard self.asked == nil else { return }
        guard let location = self.location else {
            self.asked = .create
            return effects.append(.create)
        }
        self.asked = self.next
        switch self.next {
        case .create, .ask:
            self.asked = .ask
            effects.append(.ask(location: location))
        case .send:
            let count = min(self.part, self.bytes - self.offset)
            effects.append(.send(location: location, offset: self.offset, count: count))
        }
    }

    private mutating func handle(_ answer: MediaAnswer?, to asked: Request, _ effects: inout [Effect]) {
        guard let answer, !answer.isPassing else { return self.tryAgain(answer, &effects) }
        switch (asked, answer.status) {
        case (.create, 201):
            guard let location = answer.location else { return self.refuse(answer, &effects) }
            self.location = location
            self.patience.succeed()
            self.move(to: 0, &effects)
        case (.ask, 200), (.send, 204):
            guard let offset = answer.offset, 0...self.bytes ~= offset else { return self.refuse(answer, &effects) }
            self.move(to: offset, &effects)
        case (.send, 409):
            // The server has more than was known, most likely from this client in a request whose answer was lost.
            self.next = .ask
            self.tryAgain(answer, &effects)
        case (.ask, 404), (.send, 404), (.ask, 410), (.send, 410):
            guard self.beginnings < Self.beginningsMax else { return self.refuse(answer, &effects) }
            self.beginnings += 1
            self.location = nil
            self.tryAgain(answer, &effects)
        case (_, 401):
            guard !self.hasRenewed else { return self.refuse(answer, &effects) }
            self.hasRenewed = true
            effects.append(.renewToken)
            self.request(&effects)
        default: self.refuse(answer, &effects)  // tidy: every other status ends it
        }
    }

    private mutating func move(to offset: Int64, _ effects: inout [Effect]) {
        if offset > self.offset { self.patience.succeed() }
        self.hasRenewed = false
        self.offset = offset
        effects.append(.report(sent: offset))
        guard offset < self.bytes else { return self.finish(.done, &effects) }
        self.next = .send
        self.request(&effects)
    }

    private mutating func tryAgain(_ answer: MediaAnswer?, _ effects: inout [Effect]) {
        if self.location != nil { self.next = .ask }
        self.part = max(Self.partMin, self.part / 2)
        guard let wait = self.patience.fail(answer, using: &self.chance) else {
            return self.finish(.unreachable, &effects)
        }
        effects.append(.wait(milliseconds: wait))
    }

    private mutating func refuse(_ answer: MediaAnswer, _ effects: inout [Effect]) {
        self.finish(.refused(code: answer.code ?? "", status: answer.status), &effects)
    }

    private mutating func finish(_ outcome: MediaOutcome, _ effects: inout [Effect]) {
        self.isOver = true
        effects.append(.finish(outcome))
    }
}

/// One download by ranges (RFC 9110 §14): goes on where it was after a lost connection, also one of an earlier process.
package struct DownloadMachine: Sendable {
    package typealias Event = UploadMachine.Event

    package enum Effect: Hashable, Sendable {
        /// So many bytes from there on; with the tag that the file had.
        case fetch(offset: Int64, count: Int64, tag: String?)
        /// Writes the bytes of the last answer into the file at that offset, and cuts off what follows it.
        case store(at: Int64)
        case wait(milliseconds: Int64)
        case renewToken
        case report(received: Int64, total: Int64)
        case finish(MediaOutcome)
    }

    private var offset: Int64
    private var tag: String?
    private var part = Self.partMax
    private var isAsking = false
    private var patience = MediaPatience()
    private var hasRenewed = false
    private var isOver = false
    private var chance: SplitMix64

    package static let partMax: Int64 = 1_048_576

    /// - Parameters: offset: how much of it is there from an earlier time. tag: which file that is of.
    package init(offset: Int64, tag: String?, seed: UInt64) {
        self.offset = tag == nil ? 0 : offset
        self.tag = tag
        self.chance = SplitMix64(seed: seed)
    }

    package mutating func handle(_ event: Event, into effects: inout [Effect]) {
        guard !self.isOver else { return }
        switch event {
        case .started, .timePassed: self.request(&effects)
        case .cancelled: self.finish(.cancelled, &effects)
        case .answered(let answer):
            guard self.isAsking else { return }
            self.isAsking = false
            self.handle(answer, &effects)
        }
    }

    private mutating func request(_ effects: inout [Effect]) {
        guard !self.isAsking else { return }
        self.isAsking = true
        effects.append(.fetch(offset: self.offset, count: self.part, tag: self.tag))
    }

    private mutating func handle(_ answer: MediaAnswer?, _ effects: inout [Effect]) {
        guard let answer, !answer.isPassing else {
            self.part = max(UploadMachine.partMin, self.part / 2)
            guard let wait = self.patience.fail(answer, using: &self.chance) else {
                return self.finish(.unreachable, &effects)
            }
            return effects.append(.wait(milliseconds: wait))
        }
        switch answer.status {
        case 206, 200:
            // The whole in place of a part: it is another file than the one that was begun.
            if answer.status == 200 { self.offset = 0 }
            effects.append(.store(at: self.offset))
            self.offset += answer.received
            self.tag = answer.tag
            self.hasRenewed = false
            let total = answer.status == 200 ? answer.received : answer.total ?? self.offset
            if answer.received > 0 { self.patience.succeed() }
            effects.append(.report(received: self.offset, total: total))
            guard self.offset < total else { return self.finish(.done, &effects) }
            guard answer.received > 0 else { return self.refuse(answer, &effects) }
            self.request(&effects)
        case 416 where self.offset > 0:
            // What is there is not the beginning of it, or all of it.
            if let total = answer.total, total == self.offset { return self.finish(.done, &effects) }
            self.offset = 0
            self.tag = nil
            self.request(&effects)
        case 401 where !self.hasRenewed:
            self.hasRenewed = true
            effects.append(.renewToken)
            self.request(&effects)
        default: self.refuse(answer, &effects)  // tidy: every other status ends it
        }
    }

    private mutating func refuse(_ answer: MediaAnswer, _ effects: inout [Effect]) {
        self.finish(.refused(code: answer.code ?? "", status: answer.status), &effects)
    }

    private mutating func finish(_ outcome: MediaOutcome, _ effects: inout [Effect]) {
        self.isOver = true
        effects.append(.finish(outcome))
    }
}
