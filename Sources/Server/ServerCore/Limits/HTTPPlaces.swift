package import TidingsModel

/// The connections of one HTTP listener, and how much of their answers is not read yet. Decides which connection makes room for a new one,
/// which answers are given up because all that wait together are too large, and until when an answer has to have moved on. Bytes have
/// moved when the system's socket has taken them, which is bounded, too. Times are monotonic milliseconds.
package struct HTTPPlaces<ID: Hashable & Sendable>: Sendable {
    package struct Limits: Hashable, Sendable {
        package var connectionsMax: Int
        /// All answers together, in bytes: made and not read.
        package var unreadBytesMax: Int
        /// At which an answer has to be read, in bytes.
        package var bytesPerSecond: Int
        /// For so long an answer may stand still that has moved fast enough before.
        package var stallMilliseconds: Int64
        /// Requests of a person that are not answered, or whose answers are not read.
        package var answersPerPersonMax: Int
        /// Answers to an address that are not read.
        package var unreadPerAddressMax: Int

        package init(
            connectionsMax: Int, unreadBytesMax: Int, bytesPerSecond: Int, stallMilliseconds: Int64,
            answersPerPersonMax: Int, unreadPerAddressMax: Int
        ) {
            self.connectionsMax = connectionsMax
            self.unreadBytesMax = unreadBytesMax
            self.bytesPerSecond = bytesPerSecond
            self.stallMilliseconds = stallMilliseconds
            self.answersPerPersonMax = answersPerPersonMax
            self.unreadPerAddressMax = unreadPerAddressMax
        }
    }

    package enum Event: Hashable, Sendable {
        case opened
        /// For (the rest of) a request.
        case waits
        /// A request is whole, and its answer not written out.
        case answers
        /// Begins a request of that caller; empty if the caller is not known, and then nothing is counted by it.
        case asked(from: String)
        case wrote(Int)
        case moved(Int)
        case closed
    }

    package enum Effect: Hashable, Sendable {
        case close(ID, Reason)
    }

    package enum Reason: Hashable, Sendable {
        /// There was no room, and it had waited longest.
        case full
        /// There was no room, and of all answers its own was read least.
        case stalled
        /// More was unread than may be, in all or of its address, and it was read least.
        case unread
    }

    /// An answer that has waited for its reader for less than this makes no room for a new connection.
    package static var patience: Int64 { 3_000 }
    /// Nor does one that has moved as much lately.
    package static var sparedBytes: Int { 65_536 }
    /// In which what has moved counts half as much.
    private static var halfLife: Int64 { 2_000 }

    private struct Connection: Sendable {
        /// A number that grows.
        var turn: UInt64
        var isWaiting = true
        var unread = 0
        var unreadSince: Int64 = 0
        /// By then more has to be read.
        var deadline = Int64.max
        var lately = 0
        var latelyAt: Int64 = 0
        var address = ""
        var person: UserKey?

        mutating func decay(_ now: Int64) {
            let steps = max(0, now - self.latelyAt) / HTTPPlaces.halfLife
            self.lately >>= Int(min(steps, 62))
            self.latelyAt += steps * HTTPPlaces.halfLife
        }

        /// The least first.
        func moved(_ now: Int64) -> (lately: Int, since: Int64, turn: UInt64) {
            var connection = self
            connection.decay(now)
            return (connection.lately, self.unreadSince, self.turn)
        }
    }

    private let limits: Limits
    private var connections: [ID: Connection] = [:]
    private var turn: UInt64 = 0
    private var unread = 0
    private var unreadByAddress: [String: Int] = [:]
    private var answersByPerson: [UserKey: Int] = [:]

    package init(_ limits: Limits) { self.limits = limits }

    package var count: Int { self.connections.count }

    /// Until when more of the connection's answer has to be read; nil as long as nothing waits for it.
    package func deadline(of id: ID) -> Int64? {
        self.connections[id].flatMap { $0.unread > 0 ? $0.deadline : nil }
    }

    /// Says if the person may be answered once more; then the connection's request counts as theirs until its answer is read.
    package mutating func admits(_ person: UserKey, on id: ID) -> Bool {
        guard self.connections[id]?.person != person else { return true }
        guard self.answersByPerson[person] ?? 0 < self.limits.answersPerPersonMax else { return false }
        self.change(id) { $0.person = person }
        return true
    }

    package mutating func handle(_ event: Event, of id: ID, at now: Int64, into effects: inout [Effect]) {
        switch event {
        case .opened:
            self.turn += 1
            self.connections[id] = Connection(turn: self.turn)
            if self.connections.count > self.limits.connectionsMax { self.makeRoom(for: id, now, &effects) }
        case .waits:
            self.turn += 1
            self.change(id) { [turn = self.turn] in
                $0.turn = turn
                $0.isWaiting = true
                $0.person = nil
            }
        case .answers: self.change(id) { $0.isWaiting = false }
        case .asked(let address): self.change(id) { $0.address = address }
        case .wrote(let bytes):
            let deadline = now + self.limits.stallMilliseconds
            self.change(id) {
                if $0.unread == 0 { ($0.unreadSince, $0.deadline, $0.lately, $0.latelyAt) = (now, deadline, 0, now) }
                $0.unread += bytes
            }
            self.shed(of: self.connections[id]?.address ?? "", now, &effects)
        case .moved(let bytes):
            let latest = now + self.limits.stallMilliseconds
            let gained = Int64(bytes) * 1_000 / Int64(max(1, self.limits.bytesPerSecond))
            self.change(id) {
                $0.decay(now)
                $0.lately += bytes
                $0.unread -= bytes
                $0.deadline = min(latest, $0.deadline + gained)
            }
        case .closed: self.remove(id)
        }
    }

    private mutating func change(_ id: ID, _ change: (inout Connection) -> Void) {
        guard var connection = self.connections[id] else { return }
        self.count(connection, -1)
        change(&connection)
        self.count(connection, 1)
        self.connections[id] = connection
    }

    private mutating func remove(_ id: ID) {
        if let connection = self.connections.removeValue(forKey: id) { self.count(connection, -1) }
    }

    private mutating func count(_ connection: Connection, _ sign: Int) {
        func add(to count: inout Int?) {
            let sum = (count ?? 0) + sign
            count = sum == 0 ? nil : sum
        }
        self.unread += sign * connection.unread
        if connection.unread > 0, !connection.address.isEmpty { add(to: &self.unreadByAddress[connection.address]) }
        if let person = connection.person { add(to: &self.answersByPerson[person]) }
    }

    // MARK: - Who goes

    /// The one that has waited longest; if all are answered, the answer that is read least; the new one if all are read.
    private mutating func makeRoom(for id: ID, _ now: Int64, _ effects: inout [Effect]) {
        // tidy: order does not leave: turns are different
        let longest = self.connections.lazy.filter { $0.key != id && $0.value.isWaiting }
            .min { $0.value.turn < $1.value.turn }
        func isSlow(_ connection: Connection) -> Bool {
            now - connection.unreadSince >= Self.patience && connection.moved(now).lately < Self.sparedBytes
        }
        if longest == nil, let least = self.leastRead(now, where: isSlow) {
            self.close(least, .stalled, &effects)
        } else {
            self.close(longest?.key ?? id, .full, &effects)
        }
    }

    /// An answer that alone is too large is not given up: there is nobody to whom it would make room.
    private mutating func shed(of address: String, _ now: Int64, _ effects: inout [Effect]) {
        while self.unreadByAddress[address] ?? 0 > self.limits.unreadPerAddressMax,
            let least = self.leastRead(now, where: { $0.address == address })
        {
            self.close(least, .unread, &effects)
        }
        while self.unread > self.limits.unreadBytesMax, let least = self.leastRead(now, where: { _ in true }),
            self.connections[least]?.unread != self.unread
        {
            self.close(least, .unread, &effects)
        }
    }

    private func leastRead(_ now: Int64, where isWanted: (Connection) -> Bool) -> ID? {
        var least: (id: ID, moved: (lately: Int, since: Int64, turn: UInt64))?
        // tidy: order does not leave: turns are different
        for (id, connection) in self.connections where connection.unread > 0 && isWanted(connection) {
            let moved = connection.moved(now)
            if let least, least.moved < moved { continue }
            least = (id, moved)
        }
        return least?.id
    }

    private mutating func close(_ id: ID, _ reason: Reason, _ effects: inout [Effect]) {
        self.remove(id)
        effects.append(.close(id, reason))
    }
}
