import HTTPTypes
import Metrics
import ServerCore
import Synchronization
import TidingsModel

/// All media of this server: their records in memory, their files in one folder. Carries out what `MediaRules` decides. What a record says
/// is on the disk before anybody is told of it.
final class MediaShelf: Sendable {
    let folder: MediaFolder
    private let general: MediaLimits
    /// The registry with the apps' settings.
    private let registry: AppRegistry?
    let metrics: ServerMetrics

    struct Owner: Hashable {
        var app: AppID
        /// nil for the backend.
        var user: UserID?

        init(_ app: AppID, _ user: UserID?) {
            self.app = app
            self.user = user
        }
    }

    private struct RequestKey: Hashable {
        var owner: Owner
        var request: MediaRecord.Request

        init?(_ record: MediaRecord) {
            guard let request = record.request else { return nil }
            self.owner = Owner(record.app, record.owner)
            self.request = request
        }
    }

    private struct State {
        var records: [MediaID: MediaRecord] = [:]
        var ownerBytes: [Owner: Int64] = [:]
        var ownerUploads: [Owner: Int] = [:]
        var appBytes: [AppID: Int64] = [:]
        var ownerFiles: [Owner: Int] = [:]
        var appFiles: [AppID: Int] = [:]
        /// The newest each: a key may name another upload again after some time.
        var requests: [RequestKey: MediaID] = [:]
        /// A request is changing their files.
        var busy: Set<MediaID> = []
        /// When to look what becomes of it; at once without one.
        var lookAt: [MediaID: Int64] = [:]

        mutating func put(_ record: MediaRecord) {
            self.count(record, 1)
            self.records[record.id] = record
            guard let key = RequestKey(record) else { return }
            let other = self.requests[key].flatMap { self.records[$0] }
            if other?.createdAt ?? .min <= record.createdAt { self.requests[key] = record.id }
        }

        mutating func drop(_ id: MediaID) {
            guard let record = self.records.removeValue(forKey: id) else { return }
            self.count(record, -1)
            self.lookAt[id] = nil
            if let key = RequestKey(record), self.requests[key] == id { self.requests[key] = nil }
        }

        mutating func replace(_ record: MediaRecord) {
            self.drop(record.id)
            self.put(record)
        }

        private mutating func count(_ record: MediaRecord, _ sign: Int64) {
            let owner = Owner(record.app, record.owner)
            Self.add(sign * record.quotaBytes, to: &self.ownerBytes[owner])
            Self.add(sign * record.quotaBytes, to: &self.appBytes[record.app])
            Self.add(Int(sign), to: &self.ownerFiles[owner])
            Self.add(Int(sign), to: &self.appFiles[record.app])
            if !record.isWhole { Self.add(Int(sign), to: &self.ownerUploads[owner]) }
        }

        private static func add<Number: BinaryInteger>(_ number: Number, to count: inout Number?) {
            let sum = (count ?? 0) + number
            count = sum == 0 ? nil : sum
        }
    }

    private let state = Mutex(State())

    /// How many files are read and written at a time, and those that are.
    private let filesMax: Int
    private let filesOpen = Mutex(0)

    init(
        path: String, limits: MediaLimits, registry: AppRegistry? = nil, filesMax: Int = .max, metrics: ServerMetrics
    ) {
        self.folder = MediaFolder(path: path)
        self.filesMax = filesMax
        self.general = limits
        self.registry = registry
        self.metrics = metrics
    }

    /// The present limits.
    var limits: MediaLimits { self.registry?.completed(self.general) ?? self.general }

    /// Reads what is there. Returns the paths of records that cannot be read.
    func open(at now: Int64) async throws -> [String] {
        let folder = self.folder
        let loaded = try await MediaFolder.onDisk {
            try folder.prepare()
            return try folder.load()
        }
        self.state.withLock { state in
            for record in loaded.records {
                state.put(record)
                // Not all in one go.
                state.lookAt[record.id] =
                    now + Int64(record.id.rawValue.utf8.reduce(0) { ($0 &* 31 + Int($1)) % 3_600_000 })
            }
        }
        self.report()
        return loaded.unreadable
    }

    /// Opens a file for as long as the caller keeps it.
    /// - Throws: `APIProblem` while as many are open as may be; `MediaFailure`.
    func open(_ path: String, _ use: MediaFile.Use) async throws -> MediaFile {
        let isRoom = self.filesOpen.withLock { open in
            guard open < self.filesMax else { return false }
            open += 1
            return true
        }
        guard isRoom else {
            throw APIProblem(
                .told(.unavailable), field: "media",
                rule: "must wait: \(self.filesMax) files are open, as many as the limit of open files allows",
                headers: [.retryAfter: "1"])
        }
        return try await MediaFolder.onDisk { try MediaFile(path, use) { self.filesOpen.withLock { $0 -= 1 } } }
    }

    private func report() {
        let (count, bytes) = self.state.withLock { ($0.records.count, $0.appBytes.values.reduce(0, +)) }
        self.metrics.mediaFiles.set(count)
        self.metrics.mediaBytes.set(bytes)
    }

    // MARK: - Looking

    /// Nil if the app has none of that id.
    func record(_ id: MediaID, of app: AppID) -> MediaRecord? {
        self.state.withLock { $0.records[id] }.flatMap { $0.app == app ? $0 : nil }
    }

    /// Returns the number of an app's files, and the bytes that count for its quota.
    func use(of app: AppID) -> (files: Int, bytes: Int64) {
        self.state.withLock { ($0.appFiles[app] ?? 0, $0.appBytes[app] ?? 0) }
    }

    /// Returns the records of an app, sorted by id.
    func records(of app: AppID, where isWanted: (MediaRecord) -> Bool) -> [MediaRecord] {
        let all = self.state.withLock { Array($0.records.values) }
        return all.filter { $0.app == app && isWanted($0) }.sorted { $0.id < $1.id }
    }

    /// Returns the records that are due to be looked at, sorted.
    func due(at now: Int64) -> [MediaRecord] {
        self.state.withLock { state in
            state.records.values.filter { state.lookAt[$0.id] ?? 0 <= now && !state.busy.contains($0.id) }
        }.sorted { $0.id < $1.id }
    }

    func lookAgain(_ id: MediaID, at time: Int64) {
        self.state.withLock { if $0.records[id] != nil { $0.lookAt[id] = time } }
    }

    // MARK: - Changing

    enum Creation: Sendable {
        case new(MediaRecord)
        /// An earlier request had the same idempotency key.
        case earlier(MediaRecord)
        /// And is not done yet.
        case underWay
    }

    func create(_ record: MediaRecord) async throws -> Creation {
        let free = try await self.free()
        let earlier = try self.state.withLock { state throws(MediaFault) -> Creation? in
            if let key = RequestKey(record), let id = state.requests[key], let earlier = state.records[id],
                record.createdAt - earlier.createdAt < Self.requestTime
            {
                return state.busy.contains(id) ? .underWay : .earlier(earlier)
            }
            let owner = Owner(record.app, record.owner)
            let usage = MediaUsage(
                ownerBytes: state.ownerBytes[owner] ?? 0, appBytes: state.appBytes[record.app] ?? 0,
                ownerFiles: state.ownerFiles[owner] ?? 0, appFiles: state.appFiles[record.app] ?? 0,
                ownerUploads: state.ownerUploads[owner] ?? 0, free: free)
            try MediaRules.checkCreation(record, usage, self.limits)
            state.put(record)
            state.busy.insert(record.id)
            return nil
        }
        if let earlier { return earlier }
        defer { self.release(record.id) }
        do {
            let folder = self.folder
            try await MediaFolder.onDisk { try folder.write(record) }
        } catch {
            self.state.withLock { $0.drop(record.id) }
            throw error
        }
        self.metrics.countUpload(.begun)
        self.report()
        return .new(record)
    }

    /// How long an idempotency key is kept.
    private static let requestTime: Int64 = 86_400_000

    private func free() async throws -> Int64? {
        let folder = self.folder
        return try await MediaFolder.onDisk { folder.free }
    }

    /// Marks it as being changed, until `release`.
    /// - Throws: `MediaFault` if there is none, or another request changes it.
    func claim(_ id: MediaID, of app: AppID, where isWanted: (MediaRecord) -> Bool) throws(MediaFault) -> MediaRecord {
        try self.state.withLock { state throws(MediaFault) in
            guard let record = state.records[id], record.app == app, isWanted(record) else { throw MediaRules.unknown }
            guard state.busy.insert(id).inserted else {
                throw MediaFault(.busy, "", "is being written by another request; try again")
            }
            return record
        }
    }

    func release(_ id: MediaID) { self.state.withLock { _ = $0.busy.remove(id) } }

    /// Writes down what a claimed record says now.
    func write(_ record: MediaRecord) async throws {
        let folder = self.folder
        try await MediaFolder.onDisk { try folder.write(record) }
        self.state.withLock { $0.replace(record) }
        self.report()
    }

    func setVerdict(_ id: MediaID, of app: AppID, _ verdict: MediaVerdict, at now: Int64) async throws {
        var record = try self.claim(id, of: app) { $0.isWhole }
        defer { self.release(id) }
        let folder = self.folder
        if record.verdict == verdict {
            // The bytes may have outlived a rejection that was written down and then failed.
            if verdict == .rejected { try await MediaFolder.onDisk { try folder.removeData(of: id) } }
            return
        }
        guard record.verdict != .rejected else {
            throw MediaFault(.rejected, "verdict", "cannot follow a rejection: the bytes are deleted")
        }
        record.verdict = verdict
        record.judgedAt = now
        try await self.write(record)
        guard verdict == .rejected else { return }
        try await MediaFolder.onDisk { try folder.removeData(of: id) }
        self.metrics.countMediaRemoval(.rejected)
    }

    func remove(
        _ id: MediaID, of app: AppID, _ reason: ServerMetrics.MediaRemoval, where isWanted: (MediaRecord) -> Bool
    ) async throws {
        _ = try self.claim(id, of: app, where: isWanted)
        defer { self.release(id) }
        try await self.removeClaimed(id, reason)
    }

    /// It must be claimed.
    func removeClaimed(_ id: MediaID, _ reason: ServerMetrics.MediaRemoval) async throws {
        let folder = self.folder
        try await MediaFolder.onDisk { try folder.remove(id) }
        self.state.withLock { $0.drop(id) }
        self.metrics.countMediaRemoval(reason)
        self.report()
    }

    /// Everything of a person's. One that is being written stays, and is the error thrown when all others are gone.
    func removeAll(of owner: Owner) async throws {
        var busy: MediaFault?
        for record in self.records(of: owner.app, where: { $0.owner == owner.user }) {
            do {
                try await self.remove(record.id, of: owner.app, .deleted) { _ in true }
            } catch let fault as MediaFault where fault.code == .unknown {
                // Another request has just removed it.
            } catch let fault as MediaFault where fault.code == .busy {
                busy = fault
            }
        }
        if let busy { throw busy }
    }
}
