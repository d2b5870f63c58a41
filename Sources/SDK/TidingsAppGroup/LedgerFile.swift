import ClientCore
import TidingsModel

/// The ledger as a file of records. They are appended, so that a change costs one small write and a process that
/// knows the file reads only what others have added. Used under the lock only.
struct LedgerFile {
    let path: String
    /// The part of the file, up to `end`, that this process has read.
    private var known = Ledger()
    private var file: SmallFile.Identity?
    private var end = 0
    /// The record before `end`: a rewritten file may get the inode of the old one, and is recognized by its contents.
    private var last: [UInt8] = []

    /// A longer file is rewritten with what still counts.
    private static let bytesMax = 4 * Ledger.capacity * Record.size

    init(_ path: String) {
        self.path = path
    }

    /// Returns the current ledger, to be given back with `commit` or dropped with `forget`. What was read before any
    /// damage is kept.
    mutating func checkOut(isDamaged: inout Bool) throws(FileFault) -> Ledger {
        try self.refresh(isDamaged: &isDamaged)
        _ = self.known.drainChanges()
        let ledger = self.known
        self.known = Ledger()
        return ledger
    }

    mutating func commit(_ ledger: consuming Ledger) throws(FileFault) {
        let changes = ledger.drainChanges()
        if changes.isReset || self.end > Self.bytesMax {
            try self.rewrite(ledger)
        } else if !changes.messages.isEmpty {
            var bytes: [UInt8] = []
            for message in changes.messages { Self.record(message, ledger[message]).write(into: &bytes) }
            guard let file = try SmallFile(self.path, creating: true) else { return }
            try file.write(bytes, at: self.end)
            self.file = try file.stamp.identity
            self.end += bytes.count
            self.last = Array(bytes.suffix(Record.size))
        }
        self.known = ledger
    }

    mutating func forget() {
        self.known = Ledger()
        self.file = nil
        self.end = 0
        self.last = []
    }

    private mutating func refresh(isDamaged: inout Bool) throws(FileFault) {
        guard let file = try SmallFile(self.path, creating: false) else { return self.forget() }
        let stamp = try file.stamp
        if let known = self.file, known != stamp.identity || stamp.size < self.end { self.forget() }
        if try file.read(at: self.end - self.last.count, count: self.last.count) != self.last { self.forget() }
        self.file = stamp.identity
        guard stamp.size > self.end else { return }
        let bytes = try file.read(at: self.end, count: stamp.size - self.end)
        var offset = 0
        while offset + Record.size <= bytes.count {
            guard let record = Record(bytes, at: offset), self.apply(record) else {
                isDamaged = true
                try SmallFile.setAside(self.path)
                return try self.rewrite(self.known)
            }
            offset += Record.size
        }
        self.end += offset
        if offset > 0 { self.last = Array(bytes[(offset - Record.size)..<offset]) }
        // A process died while it appended: nobody has acted on an unfinished record.
        if offset < bytes.count { try file.truncate(to: self.end) }
    }

    private mutating func rewrite(_ ledger: Ledger) throws(FileFault) {
        var bytes: [UInt8] = []
        for (message, entry) in ledger.all { Self.record(message, entry).write(into: &bytes) }
        try SmallFile.replace(self.path, with: bytes)
        guard let file = try SmallFile(self.path, creating: false) else { return }
        self.file = try file.stamp.identity
        self.end = bytes.count
        self.last = Array(bytes.suffix(Record.size))
    }

    private enum Kind {
        static let removed: UInt8 = 0
        static let kit: UInt8 = 1
        static let pushExtension: UInt8 = 2
        static let shown: UInt8 = 0x10
        /// Beside `shown`. Older files have none of these.
        static let recalled: UInt8 = 0x20
        static let marks = shown | recalled
    }

    private static func record(_ message: MessageID, _ entry: Ledger.Entry?) -> Record {
        guard let entry else { return Record(kind: Kind.removed, message.rawValue, 0, 0) }
        let marks = (entry.isShown ? Kind.shown : 0) | (entry.isRecalled ? Kind.recalled : 0)
        let wall = UInt64(bitPattern: entry.claimedAt)
        switch entry.holder {
        case .kit(let process): return Record(kind: Kind.kit | marks, message.rawValue, wall, process)
        case .pushExtension: return Record(kind: Kind.pushExtension | marks, message.rawValue, wall, 0)
        }
    }

    private mutating func apply(_ record: Record) -> Bool {
        let message = MessageID(rawValue: record.first)
        let holder: Ledger.Holder
        switch record.kind & ~Kind.marks {
        case Kind.kit: holder = .kit(process: record.third)
        case Kind.pushExtension: holder = .pushExtension
        case Kind.removed where record.kind == Kind.removed:
            self.known.restore(message, nil)
            return true
        default: return false
        }
        let wall = Int64(bitPattern: record.second)
        self.known.restore(
            message,
            Ledger.Entry(
                holder: holder, claimedAt: wall, isShown: record.kind & Kind.shown != 0,
                isRecalled: record.kind & Kind.recalled != 0))
        return true
    }
}
