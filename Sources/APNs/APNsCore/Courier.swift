package import APNsModel
package import TidingsModel

/// A push the service has accepted.
package struct AcceptedPush: Hashable, Sendable {
    /// The `apns-id`.
    package var apnsID: String
    /// The service's own name for it.
    package var uniqueID: String
    /// The device token it was sent to.
    package var token: PushToken
    /// Phone, topic and environment of the token.
    package var target: DeviceTopic
    /// The kind of push.
    package var pushType: APNsPushType
    /// How urgent it is.
    package var priority: APNsPriority
    /// UNIX seconds, 0 for one attempt, nil for the default of 30 days.
    package var expiration: Int64?
    /// Pushes of equal value become one entry on the phone.
    package var collapseID: String?
    /// The JSON as it was sent.
    package var payload: [UInt8]
    /// Wall milliseconds of acceptance.
    package var acceptedAt: Int64

    func logged(_ event: DeliveryLogEntry.Event, at now: Now) -> DeliveryLogEntry {
        DeliveryLogEntry(
            apnsID: self.apnsID, uniqueID: self.uniqueID, wall: now.wall, event: event, token: self.token.rawValue,
            topic: self.target.topic)
    }
}

/// The way to one phone: one push in flight until it is acknowledged, and the store for when the phone is away
/// (apns.md §15).
///
/// Away: one push per app, the newest. Connected: what waits for the acknowledgement keeps its order, up to
/// `waitingMax` pushes
/// per app; with 1 a quick second push overwrites the first, which Apple says can happen.
struct Courier: Sendable {
    enum State: Equatable, Sendable {
        /// The phone is not connected.
        case offline
        /// Connected, nothing in flight.
        case idle
        /// Connected, this push is written and not acknowledged.
        case awaiting(delivery: Int64, AcceptedPush)
    }

    enum Event: Equatable, Sendable {
        case connected
        case disconnected
        case accepted(AcceptedPush)
        case acknowledged(delivery: Int64)
        case tokenRetired(PushToken)
    }

    enum Effect: Equatable, Sendable {
        case push(delivery: Int64, AcceptedPush)
        case log(DeliveryLogEntry)
    }

    private(set) var state: State = .offline
    /// Accepted and not in flight, oldest first. Offline: at most one per app.
    private var waiting: [AcceptedPush] = []
    /// The number of the last delivery to this phone; a number is never used twice, also after a reconnect.
    private var lastDelivery: Int64 = 0
    private let storageMaxSeconds: Int64
    private let waitingMax: Int

    init(rules: APNsService.Configuration) {
        self.storageMaxSeconds = rules.storageMaxSeconds
        self.waitingMax = rules.waitingPerAppMax
    }

    mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        self.state = self.transition(on: event, at: now, into: &effects)
    }

    private mutating func transition(on event: Event, at now: Now, into effects: inout [Effect]) -> State {
        switch (self.state, event) {
        case (.offline, .connected):
            self.discardExpired(at: now, into: &effects)
            return self.next(at: now, into: &effects)
        case (.offline, .accepted(let push)):
            self.store(push, at: now, into: &effects)
            return .offline
        case (.idle, .accepted(let push)):
            self.waiting.append(push)
            return self.next(at: now, into: &effects)
        case (.awaiting, .accepted(let push)):
            self.keep(push, max: self.waitingMax, at: now, into: &effects)
            return self.state
        case (.awaiting(let delivery, let push), .acknowledged(let number)):
            // A late acknowledgement of an earlier delivery says nothing about this one.
            guard number == delivery else { return self.state }
            effects.append(.log(push.logged(.delivered, at: now)))
            return self.next(at: now, into: &effects)
        case (.awaiting(_, let push), .disconnected):
            effects.append(.log(push.logged(.returned, at: now)))
            self.collapse(returned: push, at: now, into: &effects)
            return .offline
        case (.idle, .disconnected):
            return .offline
        case (_, .tokenRetired(let token)):
            for push in self.waiting where push.token == token {
                effects.append(.log(push.logged(.discarded(.tokenNoLongerActive), at: now)))
            }
            self.waiting.removeAll { $0.token == token }
            return self.state
        // The phone is the same one: a second connection took the place of the first before that one was seen to end.
        case (.awaiting(_, let push), .connected):
            effects.append(.log(push.logged(.returned, at: now)))
            self.collapse(returned: push, at: now, into: &effects)
            self.discardExpired(at: now, into: &effects)
            return self.next(at: now, into: &effects)
        // Legal but late.
        case (.idle, .connected), (.idle, .acknowledged), (.offline, .acknowledged), (.offline, .disconnected):
            return self.state
        }
    }

    private mutating func next(at now: Now, into effects: inout [Effect]) -> State {
        guard !self.waiting.isEmpty else { return .idle }
        let push = self.waiting.removeFirst()
        self.lastDelivery += 1
        effects.append(.log(push.logged(.sent(delivery: self.lastDelivery), at: now)))
        effects.append(.push(delivery: self.lastDelivery, push))
        return .awaiting(delivery: self.lastDelivery, push)
    }

    /// A push for a phone that is away: kept in the one place of its app, or given up.
    private mutating func store(_ push: AcceptedPush, at now: Now, into effects: inout [Effect]) {
        if let cause = self.hindrance(push, at: now) {
            effects.append(.log(push.logged(.discarded(cause), at: now)))
            return
        }
        self.keep(push, max: 1, at: now, into: &effects)
        effects.append(.log(push.logged(.stored, at: now)))
    }

    /// Appends a push; the oldest of the same app make room.
    private mutating func keep(_ push: AcceptedPush, max: Int, at now: Now, into effects: inout [Effect]) {
        self.waiting.append(push)
        var surplus = self.waiting.count { $0.target == push.target } - max
        while surplus > 0, let index = self.waiting.firstIndex(where: { $0.target == push.target }) {
            let older = self.waiting.remove(at: index)
            effects.append(.log(older.logged(.overwritten(by: push.apnsID), at: now)))
            surplus -= 1
        }
    }

    /// The phone has gone: what was in flight and what waited become the store, the newest of each app survives.
    private mutating func collapse(returned: AcceptedPush, at now: Now, into effects: inout [Effect]) {
        let all = [returned] + self.waiting
        self.waiting = []
        for push in all { self.store(push, at: now, into: &effects) }
    }

    private mutating func discardExpired(at now: Now, into effects: inout [Effect]) {
        var kept: [AcceptedPush] = []
        for push in self.waiting {
            if let cause = self.hindrance(push, at: now) {
                effects.append(.log(push.logged(.discarded(cause), at: now)))
            } else {
                kept.append(push)
            }
        }
        self.waiting = kept
    }

    /// Why a push cannot be in the store: expiration 0, its date, or 30 days.
    private func hindrance(_ push: AcceptedPush, at now: Now) -> DeliveryLogEntry.DiscardCause? {
        if push.expiration == 0 { return .notStorable }
        if now.wall - push.acceptedAt >= self.storageMaxSeconds * 1_000 { return .expired }
        if let expiration = push.expiration, now.wall / 1_000 >= expiration { return .expired }
        return nil
    }
}
