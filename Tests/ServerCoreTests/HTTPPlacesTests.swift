import ServerCore
import Testing
import TidingsModel

@Suite struct `The places of an HTTP listener` {
    private typealias Places = HTTPPlaces<Int>

    private final class Rig {
        var places: Places
        /// Milliseconds.
        var now: Int64 = 1_000

        init(
            connections: Int = 4, unread: Int = 1_000_000, perSecond: Int = 1_000, stall: Int64 = 15_000,
            person: Int = 4, address: Int = 100
        ) {
            self.places = Places(
                .init(
                    connectionsMax: connections, unreadBytesMax: unread, bytesPerSecond: perSecond,
                    stallMilliseconds: stall, answersPerPersonMax: person, unreadPerAddressMax: address))
        }

        func tell(_ events: (Int, Places.Event)...) -> [Places.Effect] {
            var effects: [Places.Effect] = []
            for (id, event) in events { self.places.handle(event, of: id, at: self.now, into: &effects) }
            return effects
        }

        func admits(_ person: UserKey, _ id: Int) -> Bool { self.places.admits(person, on: id) }

        /// Connections whose answers are written and not read.
        func answer(_ ids: ClosedRange<Int>, bytes: Int, to address: String = "") -> [Places.Effect] {
            ids.flatMap {
                self.tell(($0, .opened), ($0, .asked(from: address)), ($0, .answers), ($0, .wrote(bytes)))
            }
        }
    }

    private let alice = UserKey(app: "demo", user: "alice")
    private let bob = UserKey(app: "demo", user: "bob")

    @Test func `are given to a new one by the one that has waited longest, whatever is not read`() {
        let rig = Rig(connections: 3)
        #expect(rig.answer(1...1, bytes: 100).isEmpty)
        #expect(rig.tell((2, .opened), (3, .opened), (2, .answers), (2, .waits)).isEmpty)
        rig.now += 60_000
        #expect(rig.tell((4, .opened)) == [.close(3, .full)])
        #expect(rig.places.count == 3)
    }

    @Test func `are given up by the answer that is read least if all are answered, but not within three seconds`() {
        let rig = Rig()
        #expect(rig.answer(1...4, bytes: 200_000).isEmpty)
        rig.now += 1_000
        // The third is read well, the second a little, the others not at all.
        #expect(rig.tell((3, .moved(190_000)), (2, .moved(5_000))).isEmpty)
        rig.now += 1_999
        #expect(rig.tell((5, .opened)) == [.close(5, .full)])
        rig.now += 1
        #expect(rig.tell((5, .opened)) == [.close(1, .stalled)])
        #expect(rig.tell((5, .answers), (6, .opened)) == [.close(4, .stalled)])
        #expect(rig.tell((6, .answers), (7, .opened)) == [.close(2, .stalled)])
        #expect(rig.tell((7, .answers), (8, .opened)) == [.close(8, .full)])
    }

    @Test func `are kept by answers that are read well, and by those for which nobody waits`() {
        let rig = Rig(connections: 2)
        #expect(rig.answer(1...1, bytes: 10_000_000).isEmpty)
        // The server has not answered yet.
        #expect(rig.tell((2, .opened), (2, .answers)).isEmpty)
        for _ in 0..<20 {
            rig.now += 1_000
            #expect(rig.tell((1, .moved(50_000)), (3, .opened)) == [.close(3, .full)])
        }
        // What it has read once does not count for ever.
        rig.now += 10_000
        #expect(rig.tell((3, .opened)) == [.close(1, .stalled)])
    }

    @Test func `have so many seconds for an answer that stands still, and more for what was read`() {
        let rig = Rig()
        #expect(rig.answer(1...1, bytes: 100_000).isEmpty)
        #expect(rig.places.deadline(of: 1) == rig.now + 15_000)
        rig.now += 10_000
        // Four seconds' worth.
        #expect(rig.tell((1, .moved(4_000))).isEmpty)
        #expect(rig.places.deadline(of: 1) == rig.now + 9_000)
        // Never more than the first time.
        #expect(rig.tell((1, .moved(90_000))).isEmpty)
        #expect(rig.places.deadline(of: 1) == rig.now + 15_000)
        #expect(rig.tell((1, .moved(6_000))).isEmpty)
        #expect(rig.places.deadline(of: 1) == nil)
    }

    /// 25 MB at so many bytes a second.
    @Test(arguments: [(500, false), (900, false), (1_100, true), (20_000, true), (400_000, true)])
    func `let a slow phone finish, as long as it reads fast enough`(_ speed: Int, _ finishes: Bool) {
        let rig = Rig()
        var left = 25_000_000
        #expect(rig.answer(1...1, bytes: left).isEmpty)
        // As the network brings it: in lumps, for up to four seconds nothing.
        for lump in 0... {
            let pause = Int64(1 + lump % 4) * 1_000
            rig.now += pause
            guard let deadline = rig.places.deadline(of: 1), deadline > rig.now else { break }
            let bytes = min(left, speed * Int(pause) / 1_000)
            _ = rig.tell((1, .moved(bytes)))
            left -= bytes
            if left == 0 { break }
        }
        #expect((left == 0) == finishes)
    }

    @Test func `hold so many unread bytes together, and those that are read least are given up for others`() {
        let rig = Rig(connections: 100, unread: 1_000)
        #expect(rig.answer(1...5, bytes: 200).isEmpty)
        rig.now += 100
        _ = rig.tell((1, .moved(50)))
        // The oldest of those that nobody reads goes first.
        #expect(rig.answer(6...6, bytes: 200) == [.close(2, .unread)])
        #expect(rig.answer(7...8, bytes: 100) == [.close(3, .unread)])
        #expect(rig.answer(9...9, bytes: 700) == [4, 5, 6, 7].map { .close($0, .unread) })
        // What was closed is forgotten with all that it held.
        #expect(rig.tell((9, .closed), (2, .moved(200)), (2, .closed)).isEmpty)
        #expect(rig.answer(10...10, bytes: 600).isEmpty)
    }

    @Test func `spare an answer that alone is larger than all may be`() {
        let rig = Rig(unread: 1_000)
        #expect(rig.answer(1...1, bytes: 5_000).isEmpty)
        #expect(rig.tell((1, .wrote(5_000))).isEmpty)
        rig.now += 1_000
        #expect(rig.answer(2...2, bytes: 10) == [.close(1, .unread)])
    }

    @Test func `hold so many unread answers to an address, and any number to one that is not known`() {
        let rig = Rig(connections: 100, address: 3)
        #expect(rig.answer(1...3, bytes: 10, to: "192.0.2.1").isEmpty)
        #expect(rig.answer(11...13, bytes: 10, to: "192.0.2.2").isEmpty)
        #expect(rig.answer(21...29, bytes: 10).isEmpty)
        #expect(rig.tell((1, .moved(5))).isEmpty)
        rig.now += 1
        #expect(rig.answer(4...4, bytes: 10, to: "192.0.2.1") == [.close(2, .unread)])
        #expect(rig.tell((3, .moved(10))).isEmpty)
        #expect(rig.answer(5...5, bytes: 10, to: "192.0.2.1").isEmpty)
    }

    @Test func `answer a person so often at a time, until an answer is read or its connection is gone`() {
        let rig = Rig(connections: 100, person: 2)
        _ = rig.tell((1, .opened), (2, .opened), (3, .opened), (4, .opened))
        #expect(rig.admits(self.alice, 1))
        // Asked twice for the same request.
        #expect(rig.admits(self.alice, 1))
        #expect(rig.admits(self.alice, 2))
        #expect(!rig.admits(self.alice, 3))
        #expect(rig.admits(self.bob, 4))
        _ = rig.tell((1, .answers), (1, .wrote(10)))
        #expect(!rig.admits(self.alice, 3))
        _ = rig.tell((1, .moved(10)), (1, .waits))
        #expect(rig.admits(self.alice, 3))
        #expect(!rig.admits(self.alice, 1))
        _ = rig.tell((2, .closed))
        #expect(rig.admits(self.alice, 1))
    }

    @Test func `come back to nothing, whatever happened and in whatever order`() {
        var numbers = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let rig = Rig(connections: 5, unread: 500, person: 2, address: 3)
            var open: Set<Int> = []
            for _ in 0..<300 {
                let id = Int.random(in: 0..<8, using: &numbers)
                rig.now += Int64.random(in: 0..<2_000, using: &numbers)
                let event: Places.Event =
                    switch Int.random(in: 0..<8, using: &numbers) {
                    case 0 where !open.contains(id): .opened
                    case 1: .waits
                    case 2: .answers
                    case 3: .asked(from: ["", "192.0.2.1"].randomElement(using: &numbers) ?? "")
                    case 4: .closed
                    case 5: .moved(0)
                    default: .wrote(Int.random(in: 1..<200, using: &numbers))
                    }
                if event == .opened { open.insert(id) }
                if event == .closed { open.remove(id) }
                for case .close(let id, _) in rig.tell((id, event)) { open.remove(id) }
                #expect(rig.places.count == open.count && open.count <= 5)
            }
            for id in open { #expect(rig.tell((id, .closed)).isEmpty) }
            #expect(rig.answer(1...3, bytes: 160, to: "192.0.2.1").isEmpty)
        }
    }
}
