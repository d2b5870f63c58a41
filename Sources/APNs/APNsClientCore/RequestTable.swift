import APNsModel
import TidingsModel

/// One request that has not ended.
struct QueuedRequest: Sendable {
    enum State: Equatable, Sendable {
        /// In the queue.
        case queued
        /// Until a monotonic time.
        case waiting(until: Int64)
        /// Behind a device token that had too many.
        case held
        case inFlight(APNsDispatcher.ConnectionID, stream: Int64, tokenGeneration: Int)
    }

    /// The last refusal, kept outside: few requests have one, and it is large.
    indirect enum Refusal: Sendable {
        case none
        case last(APNsResponse)

        /// The outcome it would be.
        var outcome: APNsOutcome? {
            switch self {
            case .none: nil
            case .last(let response): response.outcome(sentID: nil)
            }
        }
    }

    let id: APNsDispatcher.RequestID
    let ask: APNsDispatcher.Ask
    /// In the order in which they were accepted.
    let order: UInt64
    fileprivate(set) var state: State = .queued
    /// How many times it was sent.
    var tries = 0
    /// Whether a new provider token was tried for it.
    var triedNewToken = false
    /// Whether it finds out if its device token takes requests again.
    var isTokenProbe = false
    var refusal = Refusal.none
}

/// The requests that have not ended, in places that are used again: one hash when a request comes, one when it goes.
struct RequestTable: Sendable {
    /// A place and who is there: false once that request has ended, whoever has the place then.
    struct Key: Equatable, Sendable {
        fileprivate(set) var place: Int32
        fileprivate(set) var order: UInt64
    }

    private var places: [QueuedRequest?] = []
    private var free: [Int32] = []
    private var byID: [APNsDispatcher.RequestID: Int32] = [:]
    private var accepted: UInt64 = 0
    /// How many are on a stream.
    private(set) var inFlightCount = 0

    /// How many have not ended.
    var count: Int { self.byID.count }
    /// How many are not on a stream.
    var waitingCount: Int { self.byID.count - self.inFlightCount }

    /// Where a request is; nil if it has ended or never came.
    func place(of id: APNsDispatcher.RequestID) -> Int? { self.byID[id].map(Int.init) }

    /// Where a request is; nil if it has ended.
    func place(of key: Key) -> Int? {
        self.places[Int(key.place)]?.order == key.order ? Int(key.place) : nil
    }

    /// The name of the request at a place for lists that may outlive it.
    func key(of place: Int) -> Key {
        Key(place: Int32(truncatingIfNeeded: place), order: self.places[place]?.order ?? 0)
    }

    /// The request at a place.
    subscript(place: Int) -> QueuedRequest? {
        // Inlined, as each call would otherwise take a frame from the heap.
        @inline(__always) _read { yield self.places[place] }
        @inline(__always) _modify { yield &self.places[place] }
    }

    /// Takes a request in, queued; nil if the id is taken.
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

    /// Ends a request.
    mutating func remove(_ place: Int) -> QueuedRequest? {
        guard let request = self.places[place] else { return nil }
        self.places[place] = nil
        self.free.append(Int32(truncatingIfNeeded: place))
        self.byID[request.id] = nil
        if case .inFlight = request.state { self.inFlightCount -= 1 }
        return request
    }

    /// The one way from state to state.
    mutating func set(_ place: Int, _ state: QueuedRequest.State) {
        if case .inFlight? = self.places[place]?.state { self.inFlightCount -= 1 }
        if case .inFlight = state { self.inFlightCount += 1 }
        self.places[place]?.state = state
    }

    /// All places in use, in the order in which the requests were accepted.
    func inOrder() -> [Int] {
        self.places.indices.filter { self.places[$0] != nil }
            .sorted { (self.places[$0]?.order ?? 0) < (self.places[$1]?.order ?? 0) }
    }
}
