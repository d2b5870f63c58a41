import Foundation
import GRDB
import TidingsAppGroup

extension LocalStore {
    enum Damage: Sendable {
        case none
        case found
        /// The core knows.
        case told
    }

    /// True once per store: the caller tells the core. False for an error of the store before this one.
    func isFirstDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, Self.isDamage(error) else { return false }
        return self.current.withLock { current in
            guard current.damage == .found else { return false }
            current.damage = .told
            return true
        }
    }

    /// Sets the open store aside and begins an empty one. Returns where the damaged one is; after an error the store
    /// cannot be used any more.
    func renew() throws -> URL {
        try self.current.withLock { current in
            // A file that cannot be closed is moved all the same: it keeps its bytes under any name.
            try? current.queue?.close()
            current.queue = nil
            let aside = try Self.putAside(self.file, self.safety)
            current = (try Self.open(self.file), .none)
            self.forgetEnded()
            return aside
        }
    }

    static func isDamage(_ error: DatabaseError) -> Bool {
        error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    static func aside(_ file: URL) -> URL { file.appendingPathExtension("damaged") }

    static let suffixes = ["", "-wal", "-shm", ".ended"]

    static func putAside(_ file: URL, _ safety: any FileSafety) throws -> URL {
        let aside = Self.aside(file)
        for suffix in Self.suffixes {
            let from = file.path + suffix
            let to = aside.path + suffix
            try? FileManager.default.removeItem(atPath: to)
            if FileManager.default.fileExists(atPath: from) {
                try FileManager.default.moveItem(atPath: from, toPath: to)
                try safety.protect(to, as: .completeUnlessOpen)
            }
        }
        return aside
    }
}
