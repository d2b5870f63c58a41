import Foundation
import StoreModel
import TidingsModel

/// How far something that is made from the journal has come in which store.
struct JournalPlace: Hashable, Sendable {
    var store: String
    var generation: UInt64
    var opening: UInt64
    /// The last record that it has looked at.
    var position: JournalPosition
}

// What is made from the journal is kept elsewhere: nothing of the store depends on it.
extension StoreEngine {
    func place(at position: JournalPosition) -> JournalPlace {
        JournalPlace(
            store: self.identity.id, generation: self.identity.generation, opening: self.identity.opening,
            position: position)
    }

    func isOwn(_ place: JournalPlace) -> Bool {
        guard place.store == self.identity.id, place.generation == self.identity.generation,
            let end = self.openingEnds[place.opening]
        else { return false }
        return place.position < min(end, self.next)
    }

    /// Reads records in order until there are no more or the bounds are reached; at least one row is begun.
    /// - Parameters:
    ///   - isEnough: asked between two rows.
    ///   - read: may read other records. What it throws as damage of one is passed to `skip`, as is what cannot be read at all.
    /// - Returns: the last record that was looked at.
    func readRecords(
        after start: JournalPosition, upTo recordsMax: Int, for seconds: TimeInterval, isEnough: () -> Bool,
        _ read: (JournalRecord, JournalPosition) throws -> Void, skip: (JournalPosition, UnreadableRow) -> Void
    ) throws -> JournalPosition {
        let deadline = TimeInterval.uptime + seconds
        var position = start
        while position < self.next - 1, position - start < UInt64(recordsMax), !isEnough(),
            position == start || TimeInterval.uptime < deadline
        {
            do {
                try self.readRow(after: &position, upTo: recordsMax - Int(position - start), read, skip: skip)
            } catch {
                guard let damage = Self.damage(error) else { throw error }
                self.sql.resetAll()
                skip(position + 1, damage)
                // The journal goes on with its next row.
                let following = try self.sql.rowsAfter.bind(position + 1).first { try $0.count(0) }
                position = (following ?? self.next) - 1
            }
        }
        return position
    }

    private func readRow(
        after position: inout JournalPosition, upTo room: Int,
        _ read: (JournalRecord, JournalPosition) throws -> Void, skip: (JournalPosition, UnreadableRow) -> Void
    ) throws {
        let row = self.sql.rowAt
        row.bind(position + 1)
        guard try row.step() else { throw StoredBytesFault.missing("journal record \(position + 1)") }
        let first = try row.count(0)
        let bytes = row.bytes(1)
        // Records refer to others, which the same statement reads.
        row.reset()
        let start = position
        var last = start
        defer { position = last }
        try bytes.withUnsafeBytes { bytes in
            try JournalRow.read(bytes, from: Int(start + 1 - first)) { record in
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
        guard last > start else { throw StoredBytesFault.missing("journal record \(start + 1)") }
    }
}
