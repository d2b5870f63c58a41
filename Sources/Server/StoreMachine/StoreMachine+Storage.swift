package import StoreModel
package import TidingsModel

/// The counts of an app. Everything up to `applied` is counted, or changes nothing of them.
package typealias StorageRow = (app: AppID, applied: JournalPosition, use: StorageUse)

/// The counts of an app in the writer's memory, always as of the last record.
final class StorageState {
    var row: StorageRow
    var isChanged = false

    init(_ row: StorageRow) { self.row = row }
}

// How much is kept of each app. It is counted where it changes, while a record is applied, and written with whatever else is derived: no row is
// ahead of the counts, so a record that is applied again counts if it did not before, and nobody ever goes through what is counted.
extension StoreMachine {
    /// Changes the counts of an app by the present record.
    func count(in app: AppID, _ change: (inout StorageUse) throws -> Void) rethrows {
        let state = self.storageState(of: app)
        guard self.next - 1 > state.row.applied else { return }
        try change(&state.row.use)
        guard !state.isChanged else { return }
        state.isChanged = true
        self.changedStorage.append(state)
    }

    private func storageState(of app: AppID) -> StorageState {
        // A message of many is counted for each of them.
        if let last = self.lastCounted, last.row.app == app { return last }
        let state = self.appStorage[app] ?? StorageState((app, 0, StorageUse()))
        self.appStorage[app] = state
        self.lastCounted = state
        return state
    }

    /// Takes the rows that are behind, as they are to be put now.
    func takeChangedStorage() -> [StorageRow] {
        defer { self.changedStorage.removeAll() }
        return self.changedStorage.map { state in
            state.isChanged = false
            state.row.applied = self.next - 1
            return state.row
        }
    }

    func storageUse(of app: AppID) -> StorageUse {
        var use = self.appStorage[app]?.row.use ?? StorageUse()
        use.keptAnswers = self.keptCounts[app] ?? 0
        return use
    }
}

extension StorageUse: StoredValue {
    package func write(to writer: inout ByteWriter) {
        for amount in [self.messages, self.customMessages, self.pushes] { writer.write(amount.number, amount.bytes) }
        writer.write(self.logEntries, self.conversations, self.people, self.devices)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init()
        (self.messages.number, self.messages.bytes) = (try reader.amount(), try reader.amount())
        (self.customMessages.number, self.customMessages.bytes) = (try reader.amount(), try reader.amount())
        (self.pushes.number, self.pushes.bytes) = (try reader.amount(), try reader.amount())
        (self.logEntries, self.conversations) = (try reader.amount(), try reader.amount())
        (self.people, self.devices) = (try reader.amount(), try reader.amount())
    }
}
