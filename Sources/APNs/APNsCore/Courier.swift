import APNsModel
import TidingsModel

/// The way to one phone: one push in flight until it is acknowledged, and the store for when the phone is away or saves
/// power (APNs reference, sections 14 and 15).
///
/// Away: one push per app. Connected: what waits for the acknowledgement keeps its order, up to `waitingPerAppMax`
/// pushes per app; with 1 a quick second push overwrites the first, which Apple says can happen.
struct Courier: Sendable {
    enum State: Equatable, Sendable {
        case offline
        case idle(APNsService.CourierID)
        case awaiting(APNsService.CourierID, delivery: Int64, Parcel)
    }

    enum Event: Equatable, Sendable {
        case connected(APNsService.CourierID)
        case disconnected
        case accepted(AcceptedPush)
        case acknowledged(delivery: Int64)
        case tokenRetired(PushToken)
        case powerReported(PhonePower)
        case appReported(DeviceTopic, AppCondition)
        case timeReached
    }

    struct Parcel: Equatable, Sendable {
        var push: AcceptedPush
        var isStored = false
        /// Monotonic.
        var notBefore: Int64?
        var isRepeated = false
    }

    private(set) var state: State = .offline
    /// Monotonic; nil if only an event can move what waits.
    var wakeAt: Int64?
    /// Not in flight, oldest first. Offline: at most one per app, and all stored.
    var waiting: [Parcel] = []
    /// A number is never used twice, also after a reconnect.
    private var lastDelivery: Int64 = 0
    var power = PhonePower.awake
    /// A push has woken a sleeping phone, so that the rest may follow.
    var isRoused = false
    var conditions: [DeviceTopic: AppCondition] = [:]
    var shares: [DeviceTopic: TokenBucket] = [:]
    var dice: SplitMix64
    let rules: APNsService.Configuration

    init(_ phone: PhoneID, rules: APNsService.Configuration) {
        self.rules = rules
        // Of the name, so that every phone has chances of its own.
        var hash = FNV1a(seed: rules.faults.seed)
        hash.feed(phone.rawValue)
        self.dice = SplitMix64(seed: hash.value)
    }

    var inFlight: (delivery: Int64, push: AcceptedPush)? {
        switch self.state {
        case .awaiting(_, let delivery, let parcel): (delivery, parcel.push)
        case .offline, .idle: nil
        }
    }

    var courierID: APNsService.CourierID? {
        switch self.state {
        case .offline: nil
        case .idle(let courier), .awaiting(let courier, _, _): courier
        }
    }

    mutating func handle(_ event: Event, at now: Now, into effects: inout [APNsService.Effect]) {
        self.state = self.transition(on: event, at: now, into: &effects)
    }

    private mutating func transition(
        on event: Event, at now: Now, into effects: inout [APNsService.Effect]
    ) -> State {
        switch (self.state, event) {
        case (.offline, .connected(let courier)):
            self.power = .awake
            return self.next(courier, at: now, into: &effects)
        case (.offline, .accepted(let push)):
            self.store(Parcel(push: push), at: now, into: &effects)
            return .offline
        case (.idle(let courier), .accepted(let push)):
            self.admit(push, at: now, into: &effects)
            return self.next(courier, at: now, into: &effects)
        case (.awaiting, .accepted(let push)):
            self.admit(push, at: now, into: &effects)
            return self.state
        case (.awaiting(let courier, let delivery, let parcel), .acknowledged(let number)):
            // A late acknowledgement of an earlier delivery says nothing about this one.
            guard number == delivery else { return self.state }
            effects.append(.log(parcel.push.logged(.delivered, at: now)))
            self.maybeRepeat(parcel, at: now, into: &effects)
            return self.next(courier, at: now, into: &effects)
        case (.awaiting, .disconnected), (.idle, .disconnected):
            self.takeBack(at: now, into: &effects)
            return .offline
        case (.awaiting, .connected(let courier)), (.idle, .connected(let courier)):
            // The phone is the same one: a second connection took the place of the first before that one was seen to
            // end.
            self.takeBack(at: now, into: &effects)
            self.power = .awake
            return self.next(courier, at: now, into: &effects)
        case (_, .tokenRetired(let token)):
            self.discard(.tokenNoLongerActive, at: now, into: &effects) { $0.token == token && $0.channel == nil }
            return self.state
        case (.idle(let courier), .powerReported(let power)):
            self.power = power
            return self.next(courier, at: now, into: &effects)
        case (.awaiting, .powerReported(let power)):
            self.power = power
            return self.state
        case (.idle(let courier), .appReported(let app, let condition)):
            self.report(app, condition, at: now, into: &effects)
            return self.next(courier, at: now, into: &effects)
        case (.offline, .appReported(let app, let condition)), (.awaiting, .appReported(let app, let condition)):
            self.report(app, condition, at: now, into: &effects)
            return self.state
        case (.idle(let courier), .timeReached):
            return self.next(courier, at: now, into: &effects)
        // Legal but late.
        case (.idle, .acknowledged), (.offline, .acknowledged), (.offline, .disconnected), (.offline, .powerReported),
            (.offline, .timeReached), (.awaiting, .timeReached):
            return self.state
        }
    }

    private mutating func next(
        _ courier: APNsService.CourierID, at now: Now, into effects: inout [APNsService.Effect]
    ) -> State {
        self.wakeAt = nil
        self.discardExpired(at: now, into: &effects)
        guard let index = self.choose(at: now) else {
            self.isRoused = false
            return .idle(courier)
        }
        var parcel = self.waiting.remove(at: index)
        self.isRoused = self.power == .asleep
        self.spend(parcel.push, at: now)
        if parcel.isStored { effects.append(.forget(.push, key: parcel.push.uniqueID)) }
        parcel.isStored = false
        self.lastDelivery += 1
        effects.append(.log(parcel.push.logged(.sent(delivery: self.lastDelivery), at: now)))
        effects.append(.push(courier, delivery: self.lastDelivery, parcel.push))
        return .awaiting(courier, delivery: self.lastDelivery, parcel)
    }

    private mutating func choose(at now: Now) -> Int? {
        var first: Int?
        var later: [Int] = []
        for index in self.waiting.indices {
            switch self.gate(self.waiting[index], at: now) {
            case .open where first == nil:
                first = index
                if self.rules.faults.reorderPerMille == 0 { return index }
            case .open: later.append(index)
            case .until(let time): self.wakeAt = min(self.wakeAt ?? time, time)
            case .closed: break
            }
        }
        guard !later.isEmpty, self.dice.falls(perMille: self.rules.faults.reorderPerMille) else { return first }
        return later[Int.random(in: later.indices, using: &self.dice)]
    }
}
