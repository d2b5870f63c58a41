import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

typealias RequestID = APNsDispatcher.RequestID
typealias ConnectionID = APNsDispatcher.ConnectionID

/// A dispatcher on a virtual clock, with one connection at most unless a test asks for more. Wakes are left out of the
/// effects, and reports of lanes stand by themselves.
struct Sender {
    var core: APNsDispatcher
    var monotonic: Int64 = 0
    var wakeAt: Int64?
    /// What was reported of all topics, or of one, in order.
    var reports: [String] = []

    static let first = ConnectionID(1)
    static let second = ConnectionID(2)
    static let third = ConnectionID(3)

    init(_ change: (inout APNsDispatcher.Configuration) -> Void = { _ in }) {
        var configuration = APNsDispatcher.Configuration()
        configuration.connectionsMax = 1
        change(&configuration)
        self.core = APNsDispatcher(configuration: configuration)
    }

    mutating func handle(_ event: APNsDispatcher.Event) -> [APNsDispatcher.Effect] {
        let now = Now(monotonic: self.monotonic, wall: 1_700_000_000_000 + self.monotonic)
        return self.core.handle(event, at: now).filter { effect in
            switch effect {
            case .wake(let at): self.wakeAt = at
            case .reportLane(let topic, let state): self.reports.append("\(topic ?? "all") \(state.text)")
            default: return true
            }
            return false
        }
    }

    mutating func send(
        _ number: UInt64, topic: String = "t", to token: PushToken? = nil, bytes: Int = 100, within: Int64 = 30_000
    ) -> [APNsDispatcher.Effect] {
        self.handle(
            .sendRequested(
                RequestID(number), .init(topic: topic, token: token, bytes: bytes, deadline: self.monotonic + within)))
    }

    mutating func answer(
        _ stream: Int64, on connection: ConnectionID = Sender.first, _ response: APNsResponse = Sender.ok
    ) -> [APNsDispatcher.Effect] {
        self.handle(.responded(connection, stream: stream, response, jitter: 999))
    }

    /// Moves the clock to a time, stopping at each wake on the way.
    mutating func pass(to time: Int64) -> [APNsDispatcher.Effect] {
        var effects: [APNsDispatcher.Effect] = []
        while let wakeAt = self.wakeAt, wakeAt <= time {
            self.monotonic = max(self.monotonic, wakeAt)
            self.wakeAt = nil
            effects += self.handle(.timePassed)
        }
        self.monotonic = time
        return effects
    }

    static let ok = APNsResponse(status: 200, apnsID: "a")
    static let accepted = APNsOutcome.accepted(apnsID: "a", uniqueID: nil)

    static func refusal(
        _ reason: APNsReason, timestamp: Int64? = nil, retryAfter: Int64? = nil
    ) -> APNsResponse {
        APNsResponse(
            status: reason.status ?? 400, apnsID: "a", reason: reason,
            invalidSince: timestamp.map { APNsInvalidSince(milliseconds: $0) }, retryAfter: retryAfter)
    }

    static func refused(_ reason: APNsReason, retryAfter: Int64? = nil) -> APNsOutcome {
        .refused(APNsRefusal(reason, status: reason.status ?? 400, apnsID: "a", retryAfter: retryAfter))
    }

    /// A sender with an open connection of 1,000 streams and a token; request 1,000 was answered on stream 1, with acceptance unless
    /// told otherwise.
    static func opened(
        answer: APNsResponse = Sender.ok, sending number: UInt64? = nil,
        _ change: (inout APNsDispatcher.Configuration) -> Void = { _ in }
    ) -> Sender {
        var sender = Sender(change)
        _ = sender.send(1_000, bytes: 0)
        _ = sender.handle(.resolved(Self.first, ["a"]))
        _ = sender.handle(.connected(Self.first))
        _ = sender.handle(.streamLimitAnnounced(Self.first, 1))
        _ = sender.handle(.tokenMinted)
        _ = sender.handle(.streamLimitAnnounced(Self.first, 1_000))
        _ = sender.answer(1, answer)
        if let number { _ = sender.send(number) }
        return sender
    }

    /// A sender that was asked for request 1.
    static func sending() -> Sender {
        var sender = Sender()
        _ = sender.send(1)
        return sender
    }

    /// Moves the clock while APNs answers every PING.
    mutating func idle(to time: Int64) {
        while let wakeAt = self.wakeAt, wakeAt <= time {
            for case .ping(let id) in self.pass(to: wakeAt) { _ = self.handle(.pingAnswered(id)) }
        }
        self.monotonic = time
    }

    /// Opens the next connection and lets the first request on it be sent.
    mutating func reconnect(_ id: ConnectionID, limit: Int = 1_000) -> [APNsDispatcher.Effect] {
        let connecting = self.handle(.resolved(id, ["a"]))
        #expect(connecting == [.connect(id, address: "a")])
        return self.handle(.connected(id)) + self.handle(.streamLimitAnnounced(id, limit))
    }
}

extension LaneState {
    fileprivate var text: String {
        switch self {
        case .usable: "usable"
        case .paused(let outage): "paused, \(outage.cause): \(outage.reason)"
        case .probeDue(let outage): "probe due, \(outage.cause): \(outage.reason)"
        }
    }
}

extension APNsDispatcher.Effect {
    static func finish(_ number: UInt64, _ outcome: APNsOutcome) -> Self { .finish(RequestID(number), outcome) }
    static func open(_ stream: Int64, on connection: ConnectionID = Sender.first, _ number: UInt64) -> Self {
        .openStream(connection, stream: stream, RequestID(number))
    }
}
