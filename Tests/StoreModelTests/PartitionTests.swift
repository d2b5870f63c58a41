import StoreModel
import Testing
import TidingsModel

@Suite struct `A person's partition` {
    @Test func `is the same on every machine`() {
        // Golden values: they are stored with each person, so they may never change.
        #expect(Partition.of(UserKey(app: "shop", user: "ada")) == golden[0])
        #expect(Partition.of(UserKey(app: "shop", user: "bo")) == golden[1])
        #expect(Partition.of(UserKey(app: "club", user: "ada")) == golden[2])
        #expect(Partition.of(UserKey(app: "", user: "")) == golden[3])
    }

    @Test func `spreads people evenly`() {
        var counts = Array(repeating: 0, count: Partition.count)
        for number in 0..<25_600 { counts[Int(Partition.of(UserKey(app: "shop", user: UserID("user\(number)"))))] += 1 }
        #expect(counts.allSatisfy { (50...150).contains($0) }, "\(counts)")
    }

    private let golden: [UInt8] = [170, 220, 179, 75]
}
