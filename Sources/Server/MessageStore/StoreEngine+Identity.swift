import Logging
import StoreModel
import TidingsModel

extension StoreEngine {
    /// A phone that was away for more openings than this has to sync its log again.
    static let openingsMax: UInt64 = 10_000

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

    /// Whether the database is older than the state file beside it says, or there is no state file.
    func isRestored(_ state: StateFile.Content?) -> Bool {
        guard !self.identity.id.isEmpty else { return false }
        guard let state, state.store == self.identity.id, let end = self.openingEnds[state.held.opening] else {
            return true
        }
        return state.held.position >= min(end, self.next)
    }

    /// Within a transaction: the epoch grows, and a restored store gets another generation.
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
        try self.sql.setEpoch.bind(self.epoch, self.identity.id, self.identity.generation).run()
        try self.sql.insertOpening.bind(self.epoch, self.identity.opening, self.next).run()
        if self.epoch > Self.openingsMax {
            try self.sql.forgetOpenings.bind(self.epoch - Self.openingsMax).run()
        }
        for (number, end) in self.openingEnds where end == .max { self.openingEnds[number] = self.next }
        self.openingEnds[self.identity.opening] = .max
    }

    var state: StateFile.Content {
        StateFile.Content(
            store: self.identity.id, held: HeldJournal(opening: self.identity.opening, position: self.next - 1))
    }

    /// Whether a log that a phone holds is this store's.
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
