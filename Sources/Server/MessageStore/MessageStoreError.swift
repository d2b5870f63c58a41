/// Why a store could not be opened or stopped working: which file, what is wrong, and what to do about it.
package struct MessageStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package var reason: Reason
    /// The database file.
    package var path: String
    /// SQLite's own words, or the detail of the fault.
    package var detail: String

    /// What can be wrong with a store.
    package enum Reason: Equatable, Sendable {
        /// The file or its folder does not exist, or may not be opened or written.
        case cannotOpen
        /// The file is not a database, or another program's.
        case notAStore
        /// A newer build wrote the file.
        case newerSchema(found: Int, known: Int)
        /// Another process has the file open.
        case inUse
        /// The database does not sync as told: what was read back differs from what was set (DESIGN P1).
        case notSynced(wanted: String, found: String)
        /// The file is damaged, or holds records of a newer build.
        case damaged
        /// The disk is full.
        case full
        /// The disk did not give what was written.
        case notRead
        /// The disk refused to write.
        case notWritten
        /// Anything else that keeps the store from going on.
        case failed
    }

    /// What to do about it.
    package var remedy: String {
        switch self.reason {
        case .cannotOpen: "create its folder, and let the server's user read and write both"
        case .notAStore: "name another file, or move this one away"
        case .newerSchema: "run the build that wrote it, or a newer one"
        case .inUse: "stop the other server, or give this one its own file"
        case .notSynced: "put the file on a local disk, and use an unmodified SQLite"
        case .damaged:
            "keep a copy of the file and of its -wal companion, then run tidings rebuild, restore a backup, or run a newer build"
        case .full: "make room on the disk, then start the server again"
        case .notRead, .notWritten, .failed: "check the disk, then start the server again"
        }
    }

    /// One sentence with file, fault and remedy.
    package var description: String {
        let what =
            switch self.reason {
            case .cannotOpen: "cannot be opened for writing"
            case .notAStore: "is not a Tidings message store"
            case .newerSchema(let found, let known): "has schema \(found), this build knows up to \(known)"
            case .inUse: "is open in another process"
            case .notSynced(let wanted, let found): "must sync with \(wanted), but reports \(found)"
            case .damaged: "is damaged"
            case .full: "cannot grow: the disk is full"
            case .notRead: "could not be read"
            case .notWritten: "could not be written"
            case .failed: "could not be read or written"
            }
        let detail = self.detail.isEmpty ? "" : " (\(self.detail))"
        return "message store \(self.path) \(what)\(detail): \(self.remedy)"
    }
}
