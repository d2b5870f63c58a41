import DequeModule

/// The streams of one connection that are not over, by their rising odd ids: a table that slides, without hashing.
struct StreamWindow: Sendable {
    /// The id of the next stream: odd and rising (RFC 9113, section 5.1.1).
    private(set) var next: Int64
    /// How many are not over.
    private(set) var count = 0
    /// Places in the request table, from the oldest open stream on; -1 where a stream is over.
    private var places: Deque<Int32> = []
    /// The stream of the first place.
    private var first: Int64

    /// The last id there is (RFC 9113, section 5.1.1).
    static let last: Int64 = 0x7fff_ffff

    /// Opens this stream first.
    init(next: Int64 = 1) {
        self.next = next
        self.first = next
    }

    var isEmpty: Bool { self.count == 0 }

    /// Opens the next stream for a request and returns its id.
    mutating func open(for place: Int) -> Int64 {
        let stream = self.next
        if self.places.isEmpty { self.first = stream }
        self.places.append(Int32(truncatingIfNeeded: place))
        self.next += 2
        self.count += 1
        return stream
    }

    /// Ends a stream and returns its request; nil if it is over already or never was.
    mutating func close(_ stream: Int64) -> Int? {
        guard stream >= self.first, stream < self.next, stream % 2 == 1 else { return nil }
        let index = Int((stream - self.first) / 2)
        guard index < self.places.count, self.places[index] >= 0 else { return nil }
        let place = Int(self.places[index])
        self.places[index] = -1
        self.count -= 1
        while let oldest = self.places.first, oldest < 0 {
            self.places.removeFirst()
            self.first += 2
        }
        return place
    }

    /// Ends every stream above one and returns the requests in the order of the streams.
    mutating func closeAll(above stream: Int64 = 0) -> [Int] {
        var closed: [Int] = []
        for index in self.places.indices where self.places[index] >= 0 && self.first + 2 * Int64(index) > stream {
            closed.append(Int(self.places[index]))
            self.places[index] = -1
        }
        self.count -= closed.count
        while let oldest = self.places.first, oldest < 0 {
            self.places.removeFirst()
            self.first += 2
        }
        return closed
    }
}
