import APNsModel
import TidingsModel

@testable import APNsClientCore

/// What happens to the dispatcher, by chance.
extension Storm {
    private var jitter: Int64 { mutating get { Int64(self.random.below(1_000)) } }

    private mutating func peer(_ isFit: (Peer) -> Bool) -> ConnectionID? {
        self.random.pick(self.peers.keys.sorted().filter { self.peers[$0].map(isFit) ?? false })
    }

    mutating func step() {
        switch self.random.below(32) {
        case 0..<9: self.ask()
        case 9..<13: self.connectSomething()
        case 13..<21: self.answerSomething()
        case 21: self.changeLimit()
        case 22..<24: self.openWindow()
        case 24: self.mint()
        case 25, 26: self.passTime(Int64(self.random.below(3_000)))
        case 27: self.endConnection()
        case 28: self.endStream()
        case 29: self.late()
        case 30:
            guard self.random.chance(oneIn: 3) else { return }
            self.handle(.cancelled(RequestID(UInt64(self.random.below(Int(self.asked) + 1)))))
        default:
            if self.random.chance(oneIn: 12) {
                self.isMinting = false
                self.handle(.credentialReplaced)
            }
            if self.random.chance(oneIn: 150) { self.handle(.shutdownRequested) }
            if self.random.chance(oneIn: 4) { self.passTime(20_000) }
        }
    }

    mutating func end() {
        self.handle(.shutdownRequested)
        self.passTime(5_000)
        if !self.isShutDown { self.fault("the shutdown does not end") }
        if self.core.openCount != 0 { self.fault("\(self.core.openCount) are left") }
        if !self.peers.isEmpty { self.fault("connections are left") }
        for request in self.outcomes.keys where self.ended[request] != 1 {
            self.fault("\(request) ended \(self.ended[request] ?? 0) times")
        }
    }

    private mutating func ask() {
        self.asked += 1
        let id = RequestID(self.asked)
        self.outcomes[id] = .waiting
        let bytes = self.random.below(8) == 0 ? 20_000 : self.random.below(4_000)
        self.bytes[id] = Int64(bytes)
        let token: PushToken? = self.random.pick([nil, "aa", "bb", "cc", "dd"] as [PushToken?]) ?? nil
        self.handle(
            .sendRequested(
                id,
                .init(
                    topic: "t\(self.random.below(2))", token: token, bytes: bytes,
                    deadline: self.monotonic + Int64(self.random.below(25_000)))))
    }

    private mutating func connectSomething() {
        guard let id = self.peer({ !$0.isConnected }), let peer = self.peers[id] else { return }
        let jitter = self.jitter
        if !peer.isConnecting {
            if self.random.chance(oneIn: 10) {
                self.peers[id] = nil
                return self.handle(.resolveFailed(id, "x", jitter: jitter))
            }
            return self.handle(.resolved(id, ["a", "b", "c"].prefix(1 + self.random.below(3)).map { $0 }))
        }
        switch self.random.below(12) {
        case 0, 1:
            self.handle(.connectFailed(id, .unreachable("x"), jitter: jitter))
            // Without another address the dispatcher has let go of it.
            if self.core.index(of: id) == nil { self.peers[id] = nil }
        case 2 where self.random.chance(oneIn: 4):
            self.peers[id] = nil
            self.handle(.connectFailed(id, .refused("x"), jitter: jitter))
        default:
            self.peers[id]?.isConnected = true
            self.handle(.connected(id))
            self.changeLimit(of: id)
        }
    }

    private mutating func changeLimit(of id: ConnectionID? = nil) {
        guard let id = id ?? self.peer({ $0.isConnected }) else { return }
        let limit = self.random.pick([0, 1, 1, 3, 6, 100]) ?? 1
        self.peers[id]?.limit = limit
        self.handle(.streamLimitAnnounced(id, limit))
    }

    private mutating func openWindow() {
        guard let id = self.peer({ $0.isConnected && $0.window < 40_000 }), let peer = self.peers[id] else { return }
        self.peers[id]?.window = 65_535
        self.handle(.windowOpened(id, by: 65_535 - peer.window))
    }

    private mutating func mint() {
        guard self.isMinting else { return }
        self.isMinting = false
        self.handle(self.random.chance(oneIn: 8) ? .tokenFailed("x", jitter: self.jitter) : .tokenMinted)
    }

    private mutating func answerSomething() {
        guard let id = self.peer({ !$0.streams.isEmpty }),
            let stream = self.random.pick(self.peers[id]?.streams.keys.sorted() ?? []),
            let request = self.peers[id]?.streams.removeValue(forKey: stream)
        else { return }
        self.peers[id]?.isAnswered = true
        let jitter = self.jitter
        var response = Sender.ok
        if self.random.chance(oneIn: 3) {
            response = Sender.refusal(self.random.pick(APNsReason.documented) ?? .badTopic)
            if self.random.chance(oneIn: 3) { response = Sender.refusal(.tooManyRequests) }
            if self.random.chance(oneIn: 3) { response = Sender.refusal(.badDeviceToken) }
            if self.random.chance(oneIn: 10) { response.retryAfter = Int64(self.random.below(5)) }
        }
        self.outcomes[request] = response.isSuccess ? .answered : .released
        if !response.isSuccess { self.refused.insert(request) }
        self.handle(.responded(id, stream: stream, response, jitter: jitter))
    }

    private mutating func endStream() {
        guard let id = self.peer({ !$0.streams.isEmpty }),
            let stream = self.random.pick(self.peers[id]?.streams.keys.sorted() ?? []),
            let request = self.peers[id]?.streams.removeValue(forKey: stream)
        else { return }
        self.outcomes[request] = .released
        switch self.random.below(4) {
        case 2: self.handle(.streamNotTaken(id, stream: stream))
        case 0: self.handle(.streamRefused(id, stream: stream))
        case 1: self.handle(.streamNotSent(id, stream: stream))
        default:
            self.outcomes[request] = .lost
            self.handle(.streamReset(id, stream: stream, code: "x"))
        }
    }

    private mutating func endConnection() {
        guard self.random.chance(oneIn: 2), let id = self.peer({ $0.isConnected }), let peer = self.peers[id] else {
            return
        }
        if self.random.chance(oneIn: 2) {
            for request in peer.streams.values { self.outcomes[request] = .lost }
            self.peers[id] = nil
            return self.handle(.connectionClosed(id, cause: "x", jitter: self.jitter))
        }
        let last = min(peer.lastStream ?? .max, max(0, peer.next - Int64(2 * self.random.below(4))))
        for (stream, request) in peer.streams where stream > last {
            self.outcomes[request] = .released
            self.peers[id]?.streams[stream] = nil
        }
        self.peers[id]?.lastStream = last
        let texts = ["", "Bye.", #"{"reason":"Shutdown"}"#, #"{"reason":"IdleTimeout"}"#]
        var text = self.random.pick(texts) ?? ""
        if self.random.chance(oneIn: 8) { text = #"{"reason":"BadCertificate"}"# }
        let jitter = self.jitter
        self.handle(.goAwayReceived(id, lastStream: last, debugData: Array(text.utf8), jitter: jitter))
    }

    /// Word of what has ended, or never was.
    private mutating func late() {
        let id = ConnectionID(UInt64(self.random.below(8)))
        guard self.peers[id] == nil else { return }
        let stream = Int64(self.random.below(12))
        let jitter = self.jitter
        switch self.random.below(9) {
        case 7: self.handle(.streamNotTaken(id, stream: stream))
        case 0: self.handle(.connected(id))
        case 1: self.handle(.connectFailed(id, .refused("late"), jitter: jitter))
        case 2: self.handle(.responded(id, stream: stream, Sender.ok, jitter: jitter))
        case 3: self.handle(.streamRefused(id, stream: stream))
        case 4: self.handle(.goAwayReceived(id, lastStream: stream, debugData: [], jitter: jitter))
        case 5: self.handle(.connectionClosed(id, cause: "late", jitter: jitter))
        case 6: self.handle(.windowOpened(id, by: 1_000))
        default: self.handle(.streamNotSent(id, stream: stream))
        }
    }

    /// Time goes by; most PINGs are answered.
    private mutating func passTime(_ time: Int64) {
        let end = self.monotonic + time
        while let wakeAt = self.wakeAt, wakeAt <= end {
            self.monotonic = max(self.monotonic, wakeAt)
            self.wakeAt = nil
            self.handle(.timePassed)
            if let id = self.peer({ $0.isConnected }), !self.random.chance(oneIn: 5) { self.handle(.pingAnswered(id)) }
        }
        self.monotonic = end
    }
}
