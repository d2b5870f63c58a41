import GRDB
import GRDBSQLite

/// SQLite's write-ahead log as a file: how many pages are in it, and room ahead of its end. A sync of a file that has become longer
/// also writes its new length, which takes as long as the bytes themselves. So zeros are written ahead, many pages at a time, after
/// the answers are out, and commits write over them. To SQLite they are left behind the end of a log that was once longer: it reads
/// up to the first frame whose salt and checksum are wrong (SQLite's "Database File Format" §4.1), and page 0 does not exist.
final class WriteAheadLog {
    /// Room is made when less than this is left, and a small file grows by no less.
    static let roomMin: Int64 = 65_536
    /// A file grows by its own size, but by no more than this.
    static let roomMax: Int64 = 1_048_576

    private let database: Database
    // SQLite writes through this address during commits of the one connection, on the thread that commits.
    private let count: UnsafeMutablePointer<Int32>
    private let frameBytes: Int64
    /// Up to where the file is known to reach.
    private var size: Int64 = 0
    private var hasFailed = false
    /// Pages in it when it was last written back.
    private var writtenBack = 0

    init(_ database: Database) throws {
        self.database = database
        self.frameBytes = try Int64.fetchOne(database, sql: "PRAGMA page_size").map { $0 + Self.frameHeaderBytes } ?? 0
        self.count = .allocate(capacity: 1)
        self.count.initialize(to: 0)
        sqlite3_wal_hook(
            database.sqliteConnection,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, self.count)
    }

    deinit {
        // Nil once it is closed.
        if let connection = self.database.sqliteConnection { sqlite3_wal_hook(connection, nil, nil) }
        self.count.deallocate()
    }

    private static let headerBytes: Int64 = 32
    private static let frameHeaderBytes: Int64 = 24

    /// Kept up to date by SQLite's hook after each commit.
    var pages: Int { Int(self.count.pointee) }

    /// Returns the pages to write back; asked after each commit. The first commit afterwards begins the log anew, unless a reader is in it.
    func pagesToWriteBack() -> Int {
        if self.pages < self.writtenBack { self.writtenBack = 0 }
        return self.pages - self.writtenBack
    }

    func wasWrittenBack() { self.writtenBack = self.pages }

    /// Writes everything back into the database and cuts the file to nothing.
    func empty() throws {
        let code = sqlite3_wal_checkpoint_v2(self.database.sqliteConnection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else {
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(self.database.sqliteConnection)))
        }
        self.count.pointee = 0
        self.writtenBack = 0
        self.size = 0
    }

    /// Makes room for the next commits. Where that fails, they make their own, or say what is wrong.
    func makeRoom() {
        let end = Self.headerBytes + Int64(self.pages) * self.frameBytes
        guard self.pages > 0, end + Self.roomMin > self.size, !self.hasFailed else { return }
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(self.database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee,
            methods.xFileSize?(file, &self.size) == SQLITE_OK
        else {
            self.hasFailed = true
            return
        }
        guard end + Self.roomMin > self.size else { return }
        let room = min(max(self.size, Self.roomMin), Self.roomMax)
        // SQLite writes less than 128 KiB at a time (`seekAndWriteFd` in os_unix.c).
        let zeros = [UInt8](repeating: 0, count: Int(Self.roomMin))
        for _ in 0..<(room / Self.roomMin) {
            guard methods.xWrite?(file, zeros, Int32(zeros.count), self.size) == SQLITE_OK else {
                self.hasFailed = true
                return
            }
            self.size += Self.roomMin
        }
    }
}
