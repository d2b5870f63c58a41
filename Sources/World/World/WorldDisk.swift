import ClientCore
import TidingsModel

/// The app's private store, and beside it what the checkers look at and no store keeps.
struct WorldDisk: Hashable {
    /// The settings of the log, from an entry on.
    private struct Past: Hashable {
        var position: LogPosition
        var settings: AllSettings
    }

    private(set) var store = MemoryLocalStore()
    private(set) var log: [LogEntry] = []
    /// The settings at each entry of the log that changed them.
    private var history: [Past] = []

    mutating func carryOut(_ command: LocalStoreCommand) -> LocalStoreOutcome {
        let before = self.store.rows.log.stored
        let outcome = self.store.carryOut(command)
        switch command {
        case .write(let entries, _):
            for entry in entries where entry.position > before && entry.position <= self.store.rows.log.stored {
                self.appendEntry(entry)
            }
        case .forgetPerson: (self.log, self.history) = ([], [])
        default: break  // tidy: the others write nothing of the log
        }
        return outcome
    }

    private mutating func appendEntry(_ entry: LogEntry) {
        self.log.append(entry)
        switch entry.body {
        case .conversationSettings, .personSettings, .blocked:
            var settings = self.history.last?.settings ?? AllSettings()
            settings.apply(entry.body)
            self.history.append(Past(position: entry.position, settings: settings))
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }

    /// Returns the preferences of this phone when its log ended here: the settings of the log, and over them those set here since.
    func preferences(upTo position: LogPosition) -> Preferences {
        let settings = self.history.last { $0.position <= position }?.settings ?? AllSettings()
        return Preferences(confirmed: settings, pendingChanges: self.pendingChanges)
    }

    var pendingChanges: [PendingSettingsChange] { self.store.rows.pendingChanges.map(\.change) }

    static func counts(of disk: inout WorldDisk) -> (stored: LogPosition, unread: Int) {
        (disk.store.rows.log.stored, disk.store.counts().unread)
    }
}
