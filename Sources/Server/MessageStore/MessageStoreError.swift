import Foundation
import GRDB
import StoreMachine

/// Names the file, what is wrong with it, and what to do about it.
package struct MessageStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    package var reason: Reason
    package var path: String
    /// SQLite's own words, or the detail of the fault.
    package var detail: String

    package enum Reason: Equatable, Sendable {
        /// The file or its folder does not exist, or may not be opened or written.
        case cannotOpen
        /// The file is not a database, or another program's.
        case notAStore
        /// An earlier or later build has written it.
        case otherVersion(found: Int, read: Int)
        /// Another process has the file open.
        case inUse
        /// Another process has begun such a work, and not ended it.
        case busy
        /// The value read back differs from the one set (design.md P1).
        case notSynced(wanted: String, found: String)
        /// The file is damaged, or holds records of a newer build.
        case damaged
        case full
        case notRead
        case notWritten
        case failed
    }

    package var remedy: String {
        switch self.reason {
        case .cannotOpen: "create its folder, and let the server's user read and write both"
        case .notAStore: "name another file, or move this one away"
        case .otherVersion: "start with a new file, or run the build that wrote this one"
        case .inUse: "stop the other server, or give this one its own file"
        case .busy: "wait until the other command has ended"
        case .notSynced: "put the file on a local disk, and use an unmodified SQLite"
        case .damaged:
            "keep a copy of the file and of its -wal companion, then run tidings store rebuild, restore a backup, or run a newer build"
        case .full: "make room on the disk, then start the server again"
        case .notRead, .notWritten, .failed: "check the disk, then start the server again"
        }
    }

    package var description: String {
        let what =
            switch self.reason {
            case .cannotOpen: "cannot be opened for writing"
            case .notAStore: "is not a Tidings message store"
            case .otherVersion(let found, let read): "is of version \(found), and this build reads version \(read)"
            case .inUse: "is open in another process"
            case .busy: "is worked in by another process"
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

extension MessageStoreError {
    /// Any error in the terms of the store; an error of its own stays as it is.
    init(_ error: any Error, path: String, otherwise reason: Reason = .failed) {
        switch error {
        case let error as MessageStoreError: self = error
        case let error as UnwrittenJournal: self.init(error.cause, path: path, otherwise: reason)
        case let error as InterruptedRecord: self.init(error.cause, path: path, otherwise: reason)
        case let error as SQLiteFailure: self.init(reason: error.reason, path: path, detail: error.message)
        case let error as DatabaseError:
            let code = error.extendedResultCode
            self.init(
                reason: SQLiteFailure(code: code.rawValue, message: "").reason, path: path,
                detail: error.message ?? "\(code)")
        case is UnreadableRow, is StoredBytesFault: self.init(reason: .damaged, path: path, detail: "\(error)")
        default: self.init(reason: reason, path: path, detail: "\(error)")
        }
    }

    /// The same of another file, of which the one at fault is a copy.
    func naming(_ path: String) -> MessageStoreError {
        MessageStoreError(reason: self.reason, path: path, detail: self.detail)
    }

    /// Makes an error with the system's last message.
    static func ofSystem(_ reason: Reason, path: String) -> MessageStoreError {
        MessageStoreError(reason: reason, path: path, detail: String(cString: strerror(errno)))
    }
}
