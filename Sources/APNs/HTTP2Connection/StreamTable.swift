struct Stream {
    /// Negative after the peer lowered INITIAL_WINDOW_SIZE (RFC 9113 §6.9.2).
    var sendWindow: Int
    var receiveWindow: Int

    // What was received.
    var headers: HeaderList?
    var status = 0
    var contentLength: Int?
    /// Kept or not.
    var bodyBytes = 0
    var body: [UInt8] = []
    var isCut = false
    var remoteEnded = false
    var isDelivered = false

    // What is sent.
    /// The answer has no body whatever `content-length` says (RFC 9110 §9.3.2).
    var isHead = false
    /// Waits for a window; END_STREAM follows it.
    var unsent: ArraySlice<UInt8> = []
    var isAnswered = false
    var localEnded = false
    var isQueued = false

    /// RFC 9113 §8.1.1.
    var hasRightLength: Bool {
        guard let said = self.contentLength else { return true }
        if said == self.bodyBytes { return true }
        return self.bodyBytes == 0 && (self.isHead || self.status == 304)
    }
}

/// Open addressing, at most half full. Numbers that follow each other are scattered; side by side, a removal would
/// have to look at all of them.
struct StreamTable {
    /// 0 is an empty place.
    private var keys: ContiguousArray<StreamID>
    private var values: ContiguousArray<Stream>
    private(set) var count = 0

    private static let blank = Stream(sendWindow: 0, receiveWindow: 0)
    private static let smallest = 8

    init() {
        self.keys = ContiguousArray(repeating: 0, count: Self.smallest)
        self.values = ContiguousArray(repeating: Self.blank, count: Self.smallest)
    }

    private var mask: Int { self.keys.count - 1 }

    /// The high bits of the product with 2³² over the golden ratio are the best mixed.
    private func home(of id: StreamID) -> Int {
        let product = (id >> 1) &* 0x9e37_79b1
        return Int(product >> UInt32(32 - self.keys.count.trailingZeroBitCount))
    }

    /// Good until the next insertion or removal.
    func place(of id: StreamID) -> Int? {
        guard id != 0 else { return nil }
        var place = self.home(of: id)
        while self.keys[place] != 0 {
            if self.keys[place] == id { return place }
            place = (place + 1) & self.mask
        }
        return nil
    }

    subscript(place: Int) -> Stream {
        get { self.values[place] }
        _modify { yield &self.values[place] }
    }

    /// The stream must not be there.
    @discardableResult
    mutating func insert(_ id: StreamID, _ stream: Stream) -> Int {
        if (self.count + 1) * 2 > self.keys.count { self.grow() }
        var place = self.home(of: id)
        while self.keys[place] != 0 { place = (place + 1) & self.mask }
        self.keys[place] = id
        self.values[place] = stream
        self.count += 1
        return place
    }

    mutating func remove(at place: Int) {
        self.count -= 1
        var hole = place
        var next = (hole + 1) & self.mask
        // Those behind the hole move up when that brings them nearer to their home, so that no search ends too early.
        while self.keys[next] != 0 {
            let home = self.home(of: self.keys[next])
            if (next - home) & self.mask >= (next - hole) & self.mask {
                self.keys[hole] = self.keys[next]
                self.values.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & self.mask
        }
        self.keys[hole] = 0
        self.values[hole] = Self.blank
    }

    private mutating func grow() {
        let (keys, values) = (self.keys, self.values)
        self.keys = ContiguousArray(repeating: 0, count: keys.count * 2)
        self.values = ContiguousArray(repeating: Self.blank, count: keys.count * 2)
        self.count = 0
        for index in keys.indices where keys[index] != 0 { self.insert(keys[index], values[index]) }
    }

    /// In rising order.
    var ids: [StreamID] { self.keys.filter { $0 != 0 }.sorted() }
}
