import StoreModel
import TidingsModel

extension StoreMachine {
    /// A phone that was away for more openings than this has to sync its log again.
    static let openingsMax: UInt64 = 10_000

    func loadIdentity(_ store: StoreRow) {
        self.identity = store.identity
        var last: UInt64?
        for opening in store.openings {
            if let last { self.openingEnds[last] = opening.next }
            self.openingEnds[opening.number] = .max
            last = opening.number
        }
    }

    /// Returns true if the database is older than the state file beside it says, or there is no state file.
    func isRestored(_ state: StoreState?) -> Bool {
        guard !self.identity.id.isEmpty else { return false }
        guard let state, state.store == self.identity.id, let end = self.openingEnds[state.held.opening] else {
            return true
        }
        return state.held.position >= min(end, self.next)
    }

    /// Within a transaction: the epoch grows, and a restored store gets another generation.
    /// - Parameter drawn: the whole is taken by a new store alone.
    func beginOpening(_ state: StoreState?, drawn: StoreIdentity) throws {
        if self.isRestored(state) {
            self.identity.generation = drawn.generation
            self.notes.append(.restored(generation: drawn.generation))
        } else if self.identity.id.isEmpty {
            self.identity = drawn
        }
        self.identity.opening = drawn.opening
        self.epoch += 1
        let forgotten = self.epoch > Self.openingsMax ? self.epoch - Self.openingsMax : 0
        try self.rows.put(.opening(epoch: self.epoch, self.identity, next: self.next, forgotten: forgotten))
        // tidy: order does not leave: each end is its own
        for (number, end) in self.openingEnds where end == .max { self.openingEnds[number] = self.next }
        self.openingEnds[self.identity.opening] = .max
    }

    package var state: StoreState {
        StoreState(
            store: self.identity.id, held: HeldJournal(opening: self.identity.opening, position: self.next - 1))
    }

    /// Returns true if a log that a phone holds is this store's.
    func isSame(_ held: HeldLog, of key: UserKey) throws -> Bool {
        guard held.position > 0 else { return true }
        guard let end = self.openingEnds[held.opening], let person = try self.find(key), held.position <= person.head
        else { return false }
        var record: JournalPosition?
        try self.forEachEntry(of: person, after: held.position - 1) { entry in
            record = entry.record
            return false
        }
        return record.map { $0 < end } ?? false
    }
}
