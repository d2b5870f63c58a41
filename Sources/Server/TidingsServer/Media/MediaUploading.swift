import Crypto
import Foundation
import NIOCore
import ServerCore
import TidingsModel

/// A request's promise about its body (tus 1.0, extension "checksum").
struct MediaChecksum: Sendable {
    enum Algorithm: String, CaseIterable, Sendable {
        case sha1
        case sha256
    }

    var algorithm: Algorithm
    var digest: [UInt8]

    struct Mismatch: Error {}
}

private struct RunningHash {
    private var sha1 = Insecure.SHA1()
    private var sha256 = SHA256()
    let algorithm: MediaChecksum.Algorithm

    init(_ algorithm: MediaChecksum.Algorithm) { self.algorithm = algorithm }

    mutating func update(_ bytes: ByteBufferView) {
        switch self.algorithm {
        case .sha1: self.sha1.update(data: bytes)
        case .sha256: self.sha256.update(data: bytes)
        }
    }

    var digest: [UInt8] {
        switch self.algorithm {
        case .sha1: Array(self.sha1.finalize())
        case .sha256: Array(self.sha256.finalize())
        }
    }
}

extension MediaShelf {
    /// Appends what comes, as it comes. If the uploader hangs up or the disk is full, what has come stays, is synced and written down:
    /// they go on from there.
    /// - Parameter length: of the body, where it is known before it comes: one that does not fit is not begun.
    /// - Throws: `MediaFault`, `MediaFailure`, `MediaChecksum.Mismatch` with nothing of this request kept, or what `body` throws.
    func append<Body: AsyncSequence>(
        _ body: Body, to id: MediaID, of owner: Owner, at offset: Int64, length: Int64? = nil, checksum: MediaChecksum?,
        now: @Sendable () -> Int64
    ) async throws -> MediaRecord where Body.Element == ByteBuffer {
        let record = try self.claim(id, of: owner.app) { $0.owner == owner.user }
        defer { self.release(id) }
        let folder = self.folder
        let free = try await MediaFolder.onDisk { folder.free }
        try MediaRules.checkAppending(to: record, at: offset, free: free, self.limits)
        if record.isWhole { return record }
        if let length { try Self.check(length, fits: record) }
        let file = try await self.open(folder.partPath(id), .writing(from: offset))
        var upload = Upload(record: record, file: file, hash: checksum.map { RunningHash($0.algorithm) })
        do {
            for try await part in body { try await upload.append(part) }
        } catch let fault as MediaFault where fault.code == .kindRefused {
            try await self.removeClaimed(id, .refused)
            self.metrics.countUpload(.refused)
            throw fault
        } catch {
            // A checksum is about all of the body.
            if checksum == nil { _ = try? await self.finish(upload, at: now()) }
            throw error
        }
        if let checksum, upload.hash?.digest != checksum.digest { throw MediaChecksum.Mismatch() }
        return try await self.finish(upload, at: now())
    }

    private static func check(_ count: Int64, fits record: MediaRecord) throws(MediaFault) {
        guard count > record.bytes - record.offset else { return }
        throw MediaFault(
            .tooLarge, "body", "must not go beyond the \(record.bytes) bytes that Upload-Length announced")
    }

    private struct Upload {
        var record: MediaRecord
        let file: MediaFile
        var hash: RunningHash?
        var isChecked = false

        mutating func append(_ part: ByteBuffer) async throws {
            let bytes = part.readableBytesView
            try MediaShelf.check(Int64(bytes.count), fits: self.record)
            let file = self.file
            try await MediaFolder.onDisk { try file.write(bytes) }
            self.record.offset += Int64(bytes.count)
            self.hash?.update(bytes)
            try await self.checkHead()
        }

        private mutating func checkHead() async throws {
            let needed = Int64(MediaKind.headBytes)
            guard !self.isChecked, self.record.offset >= min(needed, self.record.bytes) else { return }
            let file = self.file
            let head = try await MediaFolder.onDisk { try file.read(at: 0, count: MediaKind.headBytes) }
            try MediaRules.checkHead(head, of: self.record.kind)
            self.isChecked = true
        }
    }

    /// Ends an upload's request: its bytes are on the disk, then written down; a whole file gets its name in between.
    private func finish(_ upload: Upload, at now: Int64) async throws -> MediaRecord {
        var record = upload.record
        let folder = self.folder
        record.touchedAt = now
        if record.offset == record.bytes { record.completedAt = now }
        let (id, isWhole) = (record.id, record.isWhole)
        try await MediaFolder.onDisk {
            try upload.file.sync()
            if isWhole { try folder.finish(id) }
        }
        try await self.write(record)
        if isWhole { self.metrics.countUpload(.completed) }
        return record
    }

    /// The file of a record that is whole.
    func file(of record: MediaRecord) async throws -> MediaFile {
        try await self.open(self.folder.dataPath(record.id), .reading)
    }
}
