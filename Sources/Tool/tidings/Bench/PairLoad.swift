import NIOCore

/// Pairs of people who write to each other: connections 0 and 1, 2 and 3, and so on.
final class PairLoad: BenchLoad {
    struct Counts: Sendable {
        var sent = 0
        var accepted = 0
        var delivered = 0
        /// Deliveries whose number was not the next of its sender.
        var outOfOrder = 0
    }

    private struct Person {
        var send: BenchSend
        var sent = 0
        /// When each message in flight was sent, or was due. Acks come in the order of what was sent on a connection.
        var since: CircularBuffer<NIODeadline> = []
        /// The number of the peer's next message.
        var expected = 0
    }

    let crowd: BenchCrowd
    private(set) var counts = Counts()
    private var people: [Person] = []
    private var latencies: [Int] = []
    private var isRunning = false
    private var isAtRate = false

    init(_ crowd: BenchCrowd) { self.crowd = crowd }

    /// - Parameters:
    ///   - window: messages that each person keeps in flight.
    ///   - rate: messages a second of all pairs together, whatever is in flight; nil for as many as are acknowledged.
    func start(window: Int, text: String, rate: Int?) {
        let connections = self.crowd.connections
        self.people = connections.indices.map { index in
            let opening = connections[index ^ 1].opening
            return Person(send: opening.dialect.send(to: opening.user, text: text))
        }
        (self.isRunning, self.isAtRate) = (true, rate != nil)
        self.crowd.heard = { [unowned self] in self.handle($1, of: $0) }
        if let rate {
            return self.crowd.send(atRate: rate) { [unowned self] number, due in
                guard self.isRunning else { return false }
                let connection = self.crowd.connections[number % self.people.count]
                self.send(on: connection, since: due)
                connection.flush()
                return true
            }
        }
        let now = NIODeadline.now()
        for connection in connections {
            for _ in 0..<window { self.send(on: connection, since: now) }
            connection.flush()
        }
    }

    func stop() { self.isRunning = false }

    /// Microseconds from when each message was sent, or was due, to its acknowledgement, since the last call.
    func takeLatencies() -> [Int] {
        defer { self.latencies = [] }
        return self.latencies
    }

    private func send(on connection: BenchConnection, since: NIODeadline) {
        let index = connection.index
        self.counts.sent += 1
        self.people[index].since.append(since)
        connection.write(frame: self.people[index].send.frame(number: self.people[index].sent))
        self.people[index].sent += 1
    }

    private func handle(_ signal: BenchConnection.Signal, of connection: BenchConnection) {
        switch signal {
        case .accepted:
            self.counts.accepted += 1
            let now = NIODeadline.now()
            if let since = self.people[connection.index].since.popFirst() {
                self.latencies.append(Int((now - since).nanoseconds / 1_000))
            }
            if self.isRunning, !self.isAtRate { self.send(on: connection, since: now) }
        case .delivered(let number):
            self.counts.delivered += 1
            if number != self.people[connection.index].expected { self.counts.outOfOrder += 1 }
            self.people[connection.index].expected = number + 1
        case .welcomed, .told, .failed: break
        }
    }
}
