import APNsModel
import Testing
import TidingsModel

@testable import APNsClientCore

extension SplitMix64 {
    mutating func below(_ bound: Int) -> Int { Int(self.next() % UInt64(bound)) }
    mutating func chance(oneIn bound: Int) -> Bool { self.below(bound) == 0 }
    mutating func pick<T>(_ list: [T]) -> T? { list.isEmpty ? nil : list[self.below(list.count)] }
}

/// A seeded storm over a dispatcher, with a model of what APNs knows: the model notes what was announced, sent and
/// answered, and holds every effect against it.
struct Storm {
    /// APNs's end of a connection.
    struct Peer {
        var isConnecting = false
        var isConnected = false
        var limit: Int?
        var window: Int64 = 65_535
        var isAnswered = false
        var lastStream: Int64?
        var next: Int64 = 1
        var streams: [Int64: RequestID] = [:]
    }

    /// Where a request is, as far as its sender can know.
    enum Outcome: Equatable {
        case waiting
        case sent(ConnectionID, Int64)
        /// Sent, and certainly not accepted: it may be sent again.
        case released
        /// Sent, the connection is gone.
        case lost
        case answered
    }

    var random: SplitMix64
    var core: APNsDispatcher
    var monotonic: Int64 = 0
    var wakeAt: Int64?
    var isMinting = false
    var asked: UInt64 = 0
    var outcomes: [RequestID: Outcome] = [:]
    /// What was refused at least once; that may be its end even if a later try was not processed.
    var refused: Set<RequestID> = []
    var bytes: [RequestID: Int64] = [:]
    var ended: [RequestID: Int] = [:]
    var peers: [ConnectionID: Peer] = [:]
    var isShutDown = false
    /// What was reported of each topic, and (nil) of all.
    var lanes: [String?: LaneState] = [:]
    /// How many streams were opened.
    var streamsOpened = 0
    var faults: [String] = []

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
        var configuration = APNsDispatcher.Configuration()
        configuration.connectionsMax = 1 + self.random.below(4)
        configuration.streamsMax = 1 + self.random.below(8)
        configuration.queueMax = 30
        configuration.retriesMax = self.random.below(5)
        configuration.badTokensMax = 4
        configuration.heldTokensMax = 1 + self.random.below(3)
        configuration.connectionAgeMax = 60_000
        configuration.idleMax = 20_000
        configuration.pingAfter = 15_000
        configuration.breakerPauses = BackOff(first: 2_000, longest: 10_000)
        self.core = APNsDispatcher(configuration: configuration)
    }

    mutating func fault(_ text: String) { self.faults.append("at \(self.monotonic): \(text)") }

    mutating func handle(_ event: APNsDispatcher.Event) {
        let now = Now(monotonic: self.monotonic, wall: 1_700_000_000_000 + self.monotonic)
        for effect in self.core.handle(event, at: now) { self.judge(effect) }
    }

    // MARK: What the dispatcher wants

    private mutating func judge(_ effect: APNsDispatcher.Effect) {
        switch effect {
        case .resolve(let id):
            if self.peers[id] != nil { self.fault("\(id) resolved twice") }
            if self.peers.values.contains(where: { !$0.isConnected }) { self.fault("two connections start at once") }
            self.peers[id] = Peer()
        case .connect(let id, _):
            if self.peers[id].map({ $0.isConnected }) ?? true { self.fault("\(id) cannot connect") }
            self.peers[id]?.isConnecting = true
        case .openStream(let id, let stream, let request): self.opened(id, stream, request)
        case .resetStream(let id, let stream):
            if self.peers[id]?.streams.removeValue(forKey: stream) == nil { self.fault("no stream \(stream)") }
        case .ping(let id):
            if self.peers[id]?.isConnected != true { self.fault("PING on \(id)") }
        case .close(let id, _):
            guard let peer = self.peers.removeValue(forKey: id) else { return self.fault("\(id) closed twice") }
            for request in peer.streams.values { self.outcomes[request] = .lost }
        case .mintToken:
            if self.isMinting { self.fault("two mints at once") }
            self.isMinting = true
        case .finish(let request, let outcome): self.finished(request, outcome)
        case .wake(let at): self.wakeAt = at
        case .finishShutdown: self.isShutDown = true
        case .warn: break
        case .reportLane(let topic, let state):
            if self.lanes[topic] ?? .usable == state { self.fault("\(state) was reported twice") }
            self.lanes[topic] = state
        }
    }

    private mutating func opened(_ id: ConnectionID, _ stream: Int64, _ request: RequestID) {
        guard var peer = self.peers[id], peer.isConnected else { return self.fault("stream on \(id)") }
        if peer.lastStream != nil { self.fault("stream after GOAWAY") }
        if stream != peer.next { self.fault("stream \(stream) is not the next") }
        if peer.streams.count >= (peer.isAnswered ? peer.limit ?? 1 : min(1, peer.limit ?? 1)) {
            self.fault("more streams than announced")
        }
        let bytes = self.bytes[request] ?? 0
        if bytes > peer.window { self.fault("more bytes than the window has") }
        peer.window -= bytes
        peer.next += 2
        self.streamsOpened += 1
        peer.streams[stream] = request
        self.peers[id] = peer
        switch self.outcomes[request] {
        case .waiting, .released: self.outcomes[request] = .sent(id, stream)
        case .sent, .lost, .answered, nil: self.fault("\(request) sent again while it may be accepted")
        }
    }

    private mutating func finished(_ request: RequestID, _ outcome: APNsOutcome) {
        self.ended[request, default: 0] += 1
        let state = self.outcomes[request]
        let isRight =
            switch (outcome, state) {
            case (.accepted, .answered): true
            case (.refused, .released): self.refused.contains(request)
            case (.unknownOutcome, .sent), (.unknownOutcome, .lost): true
            case (.notSent, .waiting), (.notSent, .released), (.stopped, .waiting), (.stopped, .released): true
            default: false
            }
        if !isRight { self.fault("\(request) ended as \(outcome) but is \(String(describing: state))") }
    }
}
