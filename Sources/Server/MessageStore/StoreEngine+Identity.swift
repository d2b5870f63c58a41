import Logging
import StoreModel
import TidingsModel

/// Which store this is, which of its openings this build knows, and whether it was restored from a copy.
extension StoreEngine {
    /// How many openings are remembered: a phone that was away for more of them has to sync its log again.
    static let openingsMax: UInt64 = 10_000

    /// Reads who the store is, and where each opening ended.
    func loadIdentity() throws {
        let row = self.sql.loadIdentity
        guard try row.step() else { throw StoredBytesFault.missing("the row of table store") }
        self.identity = StoreIdentity(id: row.text(0), generation: try row.count(1))
        row.reset()
        var last: UInt64?
        while try self.sql.openings.step() {
            let number = try self.sql.openings.count(0)
            if let last { self.openingEnds[last] = try self.sql.openings.count(1) }
            self.openingEnds[number] = .max
            last = number
        }
    }

    /// Whether the database is older than what was written down beside it, or nothing is written there.
    func isRestored(_ state: StateFile.Content?) -> Bool {
        guard !self.identity.id.isEmpty else { return false }
        guard let state, state.store == self.identity.id, let end = self.openingEnds[state.held.opening] else {
            return true
        }
        return state.held.position >= min(end, self.next)
    }

    /// Begins the next opening within a transaction: the epoch grows, and a restored store gets another generation.
    func beginOpening(_ state: StateFile.Content?) throws {
        if self.isRestored(state) {
            self.identity.generation = self.configuration.draw()
            self.logger.warning(
                "the store was restored", metadata: ["generation": "\(self.identity.generation)"])
        } else if self.identity.id.isEmpty {
            let number = self.configuration.draw() ^ self.configuration.draw() << 11
            self.identity.id = Hexadecimal.text(UInt64(number))
            self.identity.generation = self.configuration.draw()
        }
        self.identity.opening = self.configuration.draw()
        self.epoch += 1
        self.sql.setEpoch.bind(1, self.epoch)
        self.sql.setEpoch.bind(2, self.identity.id)
        self.sql.setEpoch.bind(3, self.identity.generation)
        try self.sql.setEpoch.run()
        self.sql.insertOpening.bind(1, self.epoch)
        self.sql.insertOpening.bind(2, self.identity.opening)
        self.sql.insertOpening.bind(3, self.next)
        try self.sql.insertOpening.run()
        if self.epoch > Self.openingsMax {
            self.sql.forgetOpenings.bind(1, self.epoch - Self.openingsMax)
            try self.sql.forgetOpenings.run()
        }
        for (number, end) in self.openingEnds where end == .max { self.openingEnds[number] = self.next }
        self.openingEnds[self.identity.opening] = .max
    }

    /// What is to be written beside the database.
    var state: StateFile.Content {
        StateFile.Content(
            store: self.identity.id, held: HeldJournal(opening: self.identity.opening, position: self.next - 1))
    }

    /// Whether a log that somebody holds is this store's.
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
