import Testing

@testable import StoreModel

@Suite struct `Shares of a room` {
    private static func kept(_ held: [String: Int], _ room: Int) -> [Int] {
        var left = held
        for (key, count) in FairShares.surplus(of: held, room: room) { left[key, default: 0] -= count }
        return left.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test func `leave everything where there is room`() {
        #expect(FairShares.surplus(of: ["a": 7, "b": 0, "c": 3], room: 10).isEmpty)
        #expect(FairShares.surplus(of: [String: Int](), room: 0).isEmpty)
    }

    @Test func `leave whoever holds little alone, and are the same for the others`() {
        #expect(Self.kept(["a": 50, "b": 1, "c": 90], 41) == [20, 1, 20])
        #expect(Self.kept(["a": 5, "b": 5, "c": 5], 0) == [0, 0, 0])
        #expect(Self.kept(["a": 5], -1) == [0])
    }

    @Test func `fill the room to the last place`() {
        for room in 0...31 {
            let kept = Self.kept(["a": 12, "b": 3, "c": 9, "d": 7], room)
            #expect(kept.reduce(0, +) == room, "\(room)")
        }
    }
}
