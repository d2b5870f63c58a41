import Foundation
import NIOPosix
import ServerCore
import TidingsModel

/// The disk has refused something.
struct MediaFailure: Error, CustomStringConvertible {
    var path: String
    var code: Int32

    var isFull: Bool { self.code == ENOSPC || self.code == EDQUOT }
    var description: String { "\(self.path): \(String(cString: strerror(self.code)))" }
}

/// The files of media, in 256 folders by the first two digits of their ids: `ID` is a whole file, `ID.part` what has come of an
/// upload, and `ID.json` the record of either. Ids are made here and checked wherever they come in, so no name leaves the folder. A file
/// gets its name when all of it is on the disk, and is never changed after.
struct MediaFolder: Sendable {
    let path: String

    private static let part = ".part"
    private static let record = ".json"
    private static let fresh = ".new"

    private func folder(of id: MediaID) -> String { "\(self.path)/\(id.rawValue.prefix(2))" }
    func dataPath(_ id: MediaID) -> String { "\(self.folder(of: id))/\(id)" }
    func partPath(_ id: MediaID) -> String { self.dataPath(id) + Self.part }
    private func recordPath(_ id: MediaID) -> String { self.dataPath(id) + Self.record }

    /// Does work that waits for the disk, on a thread of its own. It is done also if the caller is gone: an upload that was broken off
    /// keeps the part that has come.
    static func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            NIOThreadPool.singleton.submit { _ in continuation.resume(with: Result { try work() }) }
        }
    }

    func prepare() throws(MediaFailure) {
        try Self.makeFolder(self.path)
        for number: UInt8 in 0...255 { try Self.makeFolder("\(self.path)/\(Hexadecimal.text([number]))") }
    }

    private static func makeFolder(_ path: String) throws(MediaFailure) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw MediaFailure(path: path, code: errno)
    }

    /// Bytes this process may still write there; nil if the system does not say.
    var free: Int64? {
        var facts = statvfs()
        guard statvfs(self.path, &facts) == 0 else { return nil }
        return Int64(
            clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).partialValue)
    }

    // MARK: - Records

    func write(_ record: MediaRecord) throws(MediaFailure) {
        let path = self.recordPath(record.id)
        let file = try MediaFile(path + Self.fresh, .writing(from: 0))
        try file.write(record.json.serialized)
        try file.sync()
        guard rename(path + Self.fresh, path) == 0 else { throw MediaFailure(path: path, code: errno) }
        try self.syncFolder(of: record.id)
    }

    /// Gives an upload its name: from then on it may be served.
    func finish(_ id: MediaID) throws(MediaFailure) {
        guard rename(self.partPath(id), self.dataPath(id)) == 0 else {
            throw MediaFailure(path: self.dataPath(id), code: errno)
        }
        try self.syncFolder(of: id)
    }

    private func syncFolder(of id: MediaID) throws(MediaFailure) {
        let path = self.folder(of: id)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MediaFailure(path: path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw MediaFailure(path: path, code: errno) }
    }

    /// Removes files. A missing one is no failure.
    func removeData(of id: MediaID) throws(MediaFailure) {
        for path in [self.dataPath(id), self.partPath(id)] { try Self.remove(path) }
    }

    func remove(_ id: MediaID) throws(MediaFailure) {
        // First what would be served.
        try Self.remove(self.recordPath(id))
        try self.removeData(of: id)
    }

    private static func remove(_ path: String) throws(MediaFailure) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw MediaFailure(path: path, code: errno)
    }

    // MARK: - At the start

    struct Loaded: Sendable {
        var records: [MediaRecord] = []
        /// Records that cannot be read; they and their files are left as they are.
        var unreadable: [String] = []
    }

    /// Reads all records, and brings the files to what these say: an upload is as long as its uploader was told, and what belongs to
    /// no record is deleted.
    func load() throws -> Loaded {
        var loaded = Loaded()
        for number: UInt8 in 0...255 {
            let folder = "\(self.path)/\(Hexadecimal.text([number]))"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            var known: Set<String> = []
            for name in names where name.hasSuffix(Self.record) {
                known.insert(String(name.dropLast(Self.record.count)))
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
                guard let record = try? MediaRecord(line: bytes), "\(record.id)\(Self.record)" == name else {
                    loaded.unreadable.append("\(folder)/\(name)")
                    continue
                }
                if let repaired = try self.repair(record) { loaded.records.append(repaired) }
            }
            for name in names where !name.hasSuffix(Self.record) {
                let id = String(name.prefix { $0 != "." })
                if !known.contains(id) || name.hasSuffix(Self.fresh) { try Self.remove("\(folder)/\(name)") }
            }
        }
        return loaded
    }

    /// Nil for a record whose file is gone.
    private func repair(_ record: MediaRecord) throws(MediaFailure) -> MediaRecord? {
        var record = record
        if record.verdict == .rejected {
            try self.removeData(of: record.id)
            return record
        }
        if let size = Self.size(of: self.dataPath(record.id)) {
            // The server was killed between the last two steps of an upload.
            if !record.isWhole {
                record.offset = size
                record.completedAt = record.touchedAt
                try self.write(record)
            }
            guard size == record.bytes else { return try self.forget(record) }
            return record
        }
        if record.isWhole { return try self.forget(record) }
        let size = Self.size(of: self.partPath(record.id)) ?? 0
        if size < record.offset {
            record.offset = size
            try self.write(record)
        } else if size > record.offset {
            guard truncate(self.partPath(record.id), off_t(record.offset)) == 0 else {
                throw MediaFailure(path: self.partPath(record.id), code: errno)
            }
        }
        return record
    }

    private func forget(_ record: MediaRecord) throws(MediaFailure) -> MediaRecord? {
        try self.remove(record.id)
        return nil
    }

    private static func size(of path: String) -> Int64? {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.int64Value
    }
}

/// An open file, closed with the last reference to it. One request uses it at a time.
final class MediaFile: Sendable {
    enum Use: Sendable {
        case reading
        /// Whatever stood there from that place on is dropped.
        case writing(from: Int64)
    }

    private let path: String
    private let descriptor: Int32
    private let whenClosed: @Sendable () -> Void

    /// - Parameter whenClosed: also called when it cannot be opened.
    init(_ path: String, _ use: Use, whenClosed: @escaping @Sendable () -> Void = {}) throws(MediaFailure) {
        self.path = path
        self.whenClosed = whenClosed
        switch use {
        case .reading: self.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // What has come must be there: a file made anew would have zeros in its place.
        case .writing(let offset):
            let creates = offset == 0 ? O_CREAT : 0
            self.descriptor = open(path, O_RDWR | creates | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard self.descriptor >= 0 else { throw MediaFailure(path: path, code: errno) }
        if case .writing(let offset) = use { try self.cut(to: offset) }
    }

    deinit {
        close(self.descriptor)
        self.whenClosed()
    }

    /// Cuts the file; further bytes are written there.
    func cut(to offset: Int64) throws(MediaFailure) {
        guard ftruncate(self.descriptor, off_t(offset)) == 0, lseek(self.descriptor, off_t(offset), SEEK_SET) >= 0
        else {
            throw MediaFailure(path: self.path, code: errno)
        }
    }

    func write(_ bytes: some Sequence<UInt8>) throws(MediaFailure) {
        let all = Array(bytes)
        var done = 0
        while done < all.count {
            let part = all.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                    Glibc.write(self.descriptor, buffer.baseAddress?.advanced(by: done), all.count - done)
                #else
                    Darwin.write(self.descriptor, buffer.baseAddress?.advanced(by: done), all.count - done)
                #endif
            }
            if part < 0, errno == EINTR { continue }
            guard part > 0 else { throw MediaFailure(path: self.path, code: errno) }
            done += part
        }
    }

    func read(at offset: Int64, count: Int) throws(MediaFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let part = bytes.withUnsafeMutableBytes { buffer in
                pread(
                    self.descriptor, buffer.baseAddress?.advanced(by: done), count - done, off_t(offset) + off_t(done))
            }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw MediaFailure(path: self.path, code: errno) }
            if part == 0 { break }
            done += part
        }
        bytes.removeLast(count - done)
        return bytes
    }

    func sync() throws(MediaFailure) {
        guard fsync(self.descriptor) == 0 else { throw MediaFailure(path: self.path, code: errno) }
    }
}
