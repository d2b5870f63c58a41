import StoreModel
package import TidingsModel

/// How far something that is made from the journal has come in which store.
package struct JournalPlace: Hashable, Sendable {
    package var store: String
    package var generation: UInt64
    package var opening: UInt64
    /// The last record that it has looked at.
    package var position: JournalPosition

    package init(store: String, generation: UInt64, opening: UInt64, position: JournalPosition) {
        self.store = store
        self.generation = generation
        self.opening = opening
        self.position = position
    }
}

// What is made from the journal is kept elsewhere: nothing of the store depends on it.
extension StoreMachine {
    package func place(at position: JournalPosition) -> JournalPlace {
        JournalPlace(
            store: self.identity.id, generation: self.identity.generation, opening: self.identity.opening,
            position: position)
    }

    package func isOwn(_ place: JournalPlace) -> Bool {
        guard place.store == self.identity.id, place.generation == self.identity.generation,
            let end = self.openingEnds[place.opening]
        else { return false }
        return place.position < min(end, self.next)
    }

    /// Reads records in order until there are no more or the bounds are reached.
    /// - Parameters:
    ///   - isEnough: asked between two rows.
    ///   - read: may read other records. What it throws as damage of one is passed to `skip`, as is what cannot be read at all.
    /// - Returns: the last record that was looked at.
    package func readRecords(
        after start: JournalPosition, upTo recordsMax: Int, isEnough: () -> Bool,
        _ read: (JournalRecord, JournalPosition) throws -> Void, skip: (JournalPosition, UnreadableRow) -> Void
    ) throws -> JournalPosition {
        var position = start
        while position < self.next - 1, position - start < UInt64(recordsMax), position == start || !isEnough() {
            do {
                try self.readRow(after: &position, upTo: recordsMax - Int(position - start), read, skip: skip)
            } catch {
                guard let damage = Self.damage(error) else { throw error }
                skip(position + 1, damage)
                // The journal goes on with its next row.
                position = (try self.rows.recordsBegin(from: position + 2) ?? self.next) - 1
            }
        }
        return position
    }

    private func readRow(
        after position: inout JournalPosition, upTo room: Int,
        _ read: (JournalRecord, JournalPosition) throws -> Void, skip: (JournalPosition, UnreadableRow) -> Void
    ) throws {
        let start = position
        var last = start
        defer { position = last }
        try self.rows.records(from: start + 1) { record in
            last += 1
            do {
                try read(record, last)
            } catch {
                guard let damage = Self.damage(error) else { throw error }
                skip(last, damage)
            }
            return last - start < UInt64(room)
        }
    }
}
