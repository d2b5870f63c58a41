import APNsClientCore
import APNsModel
import HTTP2Connection
import TidingsModel

struct APNsClientAnswer: Sendable {
    var response: APNsResponse
    var message: ClientSession.Response
}

/// A request on its way, of either kind: who waits for it, and how far it is.
///
/// `@unchecked Sendable`: what it was made of never changes; `waiter` is set before it is submitted and only read from
/// then on; the rest is touched on the engine's loop alone.
class PendingRequest: @unchecked Sendable {
    typealias Completion = @Sendable (APNsOutcome, APNsClientAnswer?) -> Void

    enum Waiter {
        case completion(Completion)
        case run(OutcomeRun)
    }

    final var waiter: Waiter?
    final let waits: Bool

    /// The engine's; nil before it was taken in.
    final var id: APNsDispatcher.RequestID?
    /// Monotonic milliseconds at which it was taken in, and written first.
    final var takenAt: Int64 = 0
    final var sentAt: Int64?
    final var isInLine = false
    final var isOver = false

    fileprivate init(waits: Bool, _ waiter: Waiter?) {
        self.waits = waits
        self.waiter = waiter
    }

    var payloadBytes: Int { 0 }

    /// Returns the request's facts for the dispatcher.
    ///
    /// - Parameter timeout: how long it may take, in milliseconds.
    func makeAsk(timeout: Int64, at now: Now) -> APNsDispatcher.Ask {
        APNsDispatcher.Ask(topic: "", token: nil, bytes: 0, deadline: now.monotonic)
    }

    func open(
        _ stream: StreamID, on session: inout ClientSession, _ heads: inout PushHeads
    ) throws(ClientSession.OpenRefusal) {
        throw .closed
    }

    /// An alert is worth nothing after its expiration (APNs reference, section 10); 0 means one attempt at APNs's.
    fileprivate final func deadline(_ timeout: Int64, expiration: Int64?, at now: Now) -> Int64 {
        var timeout = timeout
        if let expiration, expiration > 0 {
            let (milliseconds, overflows) = expiration.multipliedReportingOverflow(by: 1_000)
            if !overflows { timeout = min(timeout, milliseconds - now.wall) }
        }
        return now.monotonic + timeout
    }
}

/// A push to a device.
///
/// `@unchecked Sendable`: what it adds is immutable.
final class PendingPush: PendingRequest, @unchecked Sendable {
    let push: APNsRequest

    init(_ push: APNsRequest, waits: Bool, _ waiter: Waiter? = nil) {
        self.push = push
        super.init(waits: waits, waiter)
    }

    override var payloadBytes: Int { self.push.payload.count }

    override func makeAsk(timeout: Int64, at now: Now) -> APNsDispatcher.Ask {
        APNsDispatcher.Ask(
            topic: self.push.topic, token: self.push.token, bytes: self.push.payload.count,
            deadline: self.deadline(timeout, expiration: self.push.expiration, at: now))
    }

    override func open(
        _ stream: StreamID, on session: inout ClientSession, _ heads: inout PushHeads
    ) throws(ClientSession.OpenRefusal) {
        try session.open(
            stream, heads.head(of: self.push), path: self.push.token.rawValue,
            fields: PushHeads.ownFields(of: self.push), body: self.push.payload)
    }
}

/// A request that is no push to a device.
///
/// `@unchecked Sendable`: what it adds is immutable.
final class PendingLetter: PendingRequest, @unchecked Sendable {
    struct Letter: Sendable {
        var topic: String
        /// UNIX seconds; nil and 0 set no limit.
        var expiration: Int64?
        var method = "POST"
        var path: String
        var fields: [HeaderField]
        var payload: [UInt8]
    }

    private let letter: Letter

    init(_ letter: Letter) {
        self.letter = letter
        super.init(waits: true, nil)
    }

    override var payloadBytes: Int { self.letter.payload.count }

    override func makeAsk(timeout: Int64, at now: Now) -> APNsDispatcher.Ask {
        APNsDispatcher.Ask(
            topic: self.letter.topic, token: nil, bytes: self.letter.payload.count,
            deadline: self.deadline(timeout, expiration: self.letter.expiration, at: now))
    }

    override func open(
        _ stream: StreamID, on session: inout ClientSession, _ heads: inout PushHeads
    ) throws(ClientSession.OpenRefusal) {
        try session.open(stream, heads.head(of: self.letter), body: self.letter.payload)
    }
}

extension PendingLetter.Letter {
    init(_ broadcast: APNsBroadcast) {
        self.init(
            // Not a topic of pushes: what is wrong with broadcasts alone must not stop these.
            topic: "\(broadcast.bundleID)/broadcasts", expiration: broadcast.expiration, path: broadcast.path,
            fields: broadcast.headerFields.map { HeaderField($0.name, $0.value) }, payload: broadcast.payload)
    }

    init(_ request: APNsChannelRequest) {
        self.init(
            topic: request.bundleID, method: request.method, path: request.path,
            fields: request.headerFields.map { HeaderField($0.name, $0.value) }, payload: request.payload)
    }
}

/// The heads of pushes as far as many have them alike: topic, type, priority and authorization. What repeats on a
/// connection is indexed, what differs from push to push is not (APNs reference, section 3.6).
struct PushHeads {
    private struct Entry {
        var topic: String
        var pushType: APNsPushType
        var priority: APNsPriority
        var head: FixedHead
    }

    private let authority: String
    /// The header `authorization`; nil with a certificate.
    private(set) var authorization: HeaderField?
    private var entries: [Entry] = []
    private var next = 0

    private static let entriesMax = 16

    init(authority: String) { self.authority = authority }

    mutating func authorize(_ authorization: HeaderField?) {
        self.authorization = authorization
        self.entries = []
        self.next = 0
    }

    mutating func head(of push: APNsRequest) -> FixedHead {
        for entry in self.entries
        where entry.pushType == push.pushType && entry.priority == push.priority && entry.topic == push.topic {
            return entry.head
        }
        let entry = Entry(
            topic: push.topic, pushType: push.pushType, priority: push.priority, head: self.makeHead(of: push))
        if self.entries.count < Self.entriesMax {
            self.entries.append(entry)
        } else {
            self.entries[self.next] = entry
            self.next = (self.next + 1) % Self.entriesMax
        }
        return entry.head
    }

    private func makeHead(of push: APNsRequest) -> FixedHead {
        var fields = [
            HeaderField("apns-topic", push.topic, .incremental),
            HeaderField("apns-push-type", push.pushType.rawValue, .incremental),
            HeaderField("apns-priority", "\(push.priority.rawValue)", .incremental),
        ]
        if let authorization = self.authorization { fields.append(authorization) }
        return FixedHead(authority: self.authority, pathPrefix: "/3/device/", fields: fields)
    }

    static func ownFields(of push: APNsRequest) -> [HeaderField] {
        if push.expiration == nil, push.collapseID == nil, push.apnsID == nil { return [] }
        var fields: [HeaderField] = []
        if let expiration = push.expiration { fields.append(HeaderField("apns-expiration", "\(expiration)", .never)) }
        if let collapseID = push.collapseID { fields.append(HeaderField("apns-collapse-id", collapseID, .never)) }
        if let apnsID = push.apnsID { fields.append(HeaderField("apns-id", apnsID, .never)) }
        return fields
    }

    func head(of letter: PendingLetter.Letter) -> RequestHead {
        var head = RequestHead(
            method: letter.method, authority: self.authority, path: letter.path, fields: letter.fields)
        if let authorization = self.authorization { head.fields.append(authorization) }
        return head
    }
}
