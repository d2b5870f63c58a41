import APNsModel

struct QueuedRequest: Sendable {
    enum State: Equatable, Sendable {
        case queued
        /// Monotonic.
        case waiting(until: Int64)
        /// Behind a device token that had too many requests.
        case held
        case inFlight(APNsDispatcher.ConnectionID, stream: Int64, tokenGeneration: Int)
    }

    /// Kept outside: few requests have one, and it is large.
    indirect enum Refusal: Sendable {
        case none
        case last(APNsResponse)

        var outcome: APNsOutcome? {
            switch self {
            case .none: nil
            case .last(let response): response.outcome(sentID: nil)
            }
        }
    }

    let id: APNsDispatcher.RequestID
    let ask: APNsDispatcher.Ask
    let order: UInt64
    fileprivate(set) var state: State = .queued
    var tries = 0
    var triedNewToken = false
    var isTokenProbe = false
    var refusal = Refusal.none
}

/// Places are used again: one hash when a request comes, one when it goes.
struct RequestTable: Sendable {
    /// Stays false for the next request that gets the place.
    struct Key: Equatable, Sendable {
        fileprivate(set) var place: Int32
        fileprivate(set) var order: UInt64
    }

    private var places: [QueuedRequest?] = []
    private var free: [Int32] = []
    private var byID: [APNsDispatcher.RequestID: Int32] = [:]
    private var accepted: UInt64 = 0
    private(set) var inFlightCount = 0

    var count: Int { self.byID.count }
    var waitingCount: Int { self.byID.count - self.inFlightCount }

    func place(of id: APNsDispatcher.RequestID) -> Int? { self.byID[id].map(Int.init) }

    func place(of key: Key) -> Int? {
        self.places[Int(key.place)]?.order == key.order ? Int(key.place) : nil
    }

    func key(of place: Int) -> Key {
        Key(place: Int32(truncatingIfNeeded: place), order: self.places[place]?.order ?? 0)
    }

    subscript(place: Int) -> QueuedRequest? {
        // Inlined, as each call would otherwise take a frame from the heap.
        @inline(__always) _read { yield self.places[place] }
        @inline(__always) _modify { yield &self.places[place] }
    }

    /// Nil if the id is taken.
    mutating func insert(_ id: APNsDispatcher.RequestID, _ ask: APNsDispatcher.Ask) -> Int? {
        let place = self.free.last ?? Int32(truncatingIfNeeded: self.places.count)
        let isTaken = { (entry: inout Int32?) -> Bool in
            if entry != nil { return true }
            entry = place
            return false
        }(&self.byID[id])
        guard !isTaken else { return nil }
        self.accepted += 1
        let request = QueuedRequest(id: id, ask: ask, order: self.accepted)
        if self.free.popLast() == nil {
            self.places.append(request)
        } else {
            self.places[Int(place)] = request
        }
        return Int(place)
    }

    mutating func remove(_ place: Int) -> QueuedRequest? {
        guard let request = self.places[place] else { return nil }
        self.places[place] = nil
        self.free.append(Int32(truncatingIfNeeded: place))
        self.byID[request.id] = nil
        if case .inFlight = request.state { self.inFlightCount -= 1 }
        return request
    }

    mutating func set(_ place: Int, _ state: QueuedRequest.State) {
        if case .inFlight? = self.places[place]?.state { self.inFlightCount -= 1 }
        if case .inFlight = state { self.inFlightCount += 1 }
        self.places[place]?.state = state
    }

    /// In the order of acceptance.
    func inOrder() -> [Int] {
        self.places.indices.filter { self.places[$0] != nil }
            .sorted { (self.places[$0]?.order ?? 0) < (self.places[$1]?.order ?? 0) }
    }
}
