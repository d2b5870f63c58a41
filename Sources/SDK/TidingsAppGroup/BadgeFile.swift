import ClientCore

/// The badge as one record, overwritten in place. Used under the lock only.
struct BadgeFile {
    let path: String

    private static let none: UInt8 = 0
    private static let some: UInt8 = 1

    /// - Parameter isDamaged: set if the file could not be understood and was set aside; it counts as no badge
    /// (S2.20) until the app writes it again.
    func read(isDamaged: inout Bool) throws(FileFault) -> Badge? {
        guard let file = try SmallFile(self.path, creating: false) else { return nil }
        let bytes = try file.read(at: 0, count: Record.size + 1)
        guard bytes.count == Record.size, let record = Record(bytes, at: 0), record.kind <= Self.some else {
            isDamaged = true
            try SmallFile.setAside(self.path)
            return nil
        }
        guard record.kind == Self.some else { return nil }
        return Badge(
            server: Int(Int64(bitPattern: record.first)), foreign: Int(Int64(bitPattern: record.second)),
            position: record.third)
    }

    func write(_ badge: Badge?) throws(FileFault) {
        var record = Record(kind: Self.none, 0, 0, 0)
        if let badge {
            let (server, foreign) = (Int64(badge.server), Int64(badge.foreign))
            record = Record(
                kind: Self.some, UInt64(bitPattern: server), UInt64(bitPattern: foreign), badge.position)
        }
        var bytes: [UInt8] = []
        record.write(into: &bytes)
        try SmallFile(self.path, creating: true)?.write(bytes, at: 0)
    }
}
