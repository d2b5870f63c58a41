import DequeModule
import TidingsModel

struct LaneTurn: Hashable, Sendable {
    let lane: PushLane
    let shelf: LaneQueue.Shelf
    /// Of the person.
    let slot: Int
}

/// Devices whose turn has not come, by what is known of their tokens, and on each shelf by person: many devices of
/// one person wait no shorter than others.
struct LaneQueue: Sendable {
    /// The standing of a waiting device's token.
    enum Shelf: Int, CaseIterable, Sendable {
        /// APNs has accepted a push with it: the best probe.
        case good
        /// APNs has said nothing of it yet, or is to be asked again.
        case unproven
    }

    private struct Turns: Sendable {
        var people: Deque<Int> = []
        var devices: [Int: Deque<DeviceID>] = [:]
    }

    private var shelves = Shelf.allCases.map { _ in Turns() }
    /// Whose turn it is where good and unproven ones wait.
    private var isUnprovenNext = false
    private var counts = Shelf.allCases.map { _ in 0 }

    var count: Int { self.counts.reduce(0, +) }

    mutating func append(_ slot: Int, _ device: DeviceID, on shelf: Shelf) {
        self.counts[shelf.rawValue] += 1
        if self.shelves[shelf.rawValue].devices[slot]?.append(device) == nil {
            self.shelves[shelf.rawValue].devices[slot] = [device]
            self.shelves[shelf.rawValue].people.append(slot)
        }
    }

    /// Its cost is that of its person's devices.
    mutating func remove(_ slot: Int, _ device: DeviceID, from shelf: Shelf) {
        guard let place = self.shelves[shelf.rawValue].devices[slot]?.firstIndex(of: device) else { return }
        self.shelves[shelf.rawValue].devices[slot]?.remove(at: place)
        self.counts[shelf.rawValue] -= 1
        guard self.shelves[shelf.rawValue].devices[slot]?.isEmpty == true else { return }
        self.shelves[shelf.rawValue].devices[slot] = nil
        self.shelves[shelf.rawValue].people.removeAll { $0 == slot }
    }

    /// Returns the next device of a lane that works: good and unproven ones in turn, one person after the other. `isFull` says if a person
    /// has as many pushes under way as they may.
    mutating func next(unless isFull: (Int) -> Bool) -> (slot: Int, device: DeviceID)? {
        let shelves: [Shelf] = self.isUnprovenNext ? [.unproven, .good] : [.good, .unproven]
        for shelf in shelves {
            guard let next = self.next(on: shelf, unless: isFull) else { continue }
            self.isUnprovenNext = shelf == .good
            return next
        }
        return nil
    }

    /// The device whose token is most likely to be good.
    mutating func nextProbe() -> (slot: Int, device: DeviceID)? {
        self.next(on: .good, unless: { _ in false }) ?? self.next(on: .unproven, unless: { _ in false })
    }

    private mutating func next(on shelf: Shelf, unless isFull: (Int) -> Bool) -> (slot: Int, device: DeviceID)? {
        let index = shelf.rawValue
        for _ in 0..<self.shelves[index].people.count {
            guard let slot = self.shelves[index].people.popFirst() else { return nil }
            guard !isFull(slot), let device = self.shelves[index].devices[slot]?.popFirst() else {
                self.shelves[index].people.append(slot)
                continue
            }
            self.counts[index] -= 1
            if self.shelves[index].devices[slot]?.isEmpty == true {
                self.shelves[index].devices[slot] = nil
            } else {
                self.shelves[index].people.append(slot)
            }
            return (slot, device)
        }
        return nil
    }
}
