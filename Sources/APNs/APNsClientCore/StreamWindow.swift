import DequeModule

/// Open streams by their rising odd ids, in a table that slides: no hashing.
struct StreamWindow: Sendable {
    /// Odd and rising (RFC 9113, section 5.1.1).
    private(set) var next: Int64
    private(set) var count = 0
    /// Places in the request table, from the oldest open stream on; -1 where a stream is over.
    private var places: Deque<Int32> = []
    /// The stream of the first place.
    private var first: Int64

    /// RFC 9113, section 5.1.1.
    static let last: Int64 = 0x7fff_ffff

    init(next: Int64 = 1) {
        self.next = next
        self.first = next
    }

    var isEmpty: Bool { self.count == 0 }

    mutating func open(for place: Int) -> Int64 {
        let stream = self.next
        if self.places.isEmpty { self.first = stream }
        self.places.append(Int32(truncatingIfNeeded: place))
        self.next += 2
        self.count += 1
        return stream
    }

    /// Nil if it is over already or never was.
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

    /// In the order of the streams.
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
