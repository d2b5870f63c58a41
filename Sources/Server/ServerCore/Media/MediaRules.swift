package import StoreModel
package import TidingsModel

/// Who may upload what, who may read it, and how long it is kept: pure decisions on values (docs/inside/decisions/0036-media.md).
package enum MediaRules {
    // MARK: - Uploading

    /// Throws if an upload may not begin.
    package static func checkCreation(
        _ record: MediaRecord, _ usage: MediaUsage, _ limits: MediaLimits
    ) throws(MediaFault) {
        try self.checkKind(record.kind, limits)
        guard record.bytes <= limits.bytesMax else {
            throw MediaFault(
                .tooLarge, "Upload-Length", "must be at most \(limits.bytesMax) bytes, got \(record.bytes)")
        }
        guard usage.ownerUploads < limits.uploadsMax(of: record.owner) else {
            throw MediaFault(
                .tooManyUploads, "",
                "finish or delete one of the \(usage.ownerUploads) uploads under way before another")
        }
        var quotas = [
            ("app", "bytes", usage.appBytes, record.quotaBytes, limits.appBytesMax),
            ("app", "files", Int64(usage.appFiles), 1, Int64(limits.appFilesMax)),
        ]
        if record.owner != nil {
            quotas += [
                ("person", "bytes", usage.ownerBytes, record.quotaBytes, limits.personBytesMax),
                ("person", "files", Int64(usage.ownerFiles), 1, Int64(limits.personFilesMax)),
            ]
        }
        for (who, unit, used, more, most) in quotas.reversed() where used + more > most {
            throw MediaFault(
                .quotaExceeded, "Upload-Length",
                "must fit in the \(most) \(unit) the \(who) may have, of which \(used) are used; it takes \(more)")
        }
        try self.checkRoom(record.bytes, free: usage.free, limits)
    }

    package static func checkKind(_ kind: MediaKind?, _ limits: MediaLimits) throws(MediaFault) {
        if let kind, limits.kinds.contains(kind) { return }
        throw MediaFault(
            .kindRefused, "Upload-Metadata",
            "must have a filetype that is one of \(limits.kinds.map(\.rawValue).joined(separator: ", "))")
    }

    private static func checkRoom(_ bytes: Int64, free: Int64?, _ limits: MediaLimits) throws(MediaFault) {
        guard let free, free - bytes < limits.freeBytesMin else { return }
        throw MediaFault(.storageFull, "", "the disk of the media is almost full; try again later")
    }

    /// Throws if bytes may not follow at `offset`.
    package static func checkAppending(
        to record: MediaRecord, at offset: Int64, free: Int64?, _ limits: MediaLimits
    ) throws(MediaFault) {
        guard offset == record.offset else {
            throw MediaFault(.wrongOffset, "Upload-Offset", "must be \(record.offset), where the upload stands")
        }
        try self.checkRoom(record.bytes - offset, free: free, limits)
    }

    /// Throws if the bytes are not of the promised kind; called as soon as `MediaKind.headBytes` are there, or the whole file.
    package static func checkHead(_ head: [UInt8], of kind: MediaKind) throws(MediaFault) {
        guard !kind.agrees(with: head) else { return }
        throw MediaFault(
            .kindRefused, "body", "must begin as \(kind.rawValue) does, which its upload has announced")
    }

    // MARK: - Reading

    package enum Reader: Hashable, Sendable {
        case backend
        /// A person, with the store's knowledge of the message through which they ask, if they name one.
        case person(UserID, MediaUse?)
    }

    /// Throws if a reader of the record's app may not read it. The backend may read all of the app's; a person their own uploads, and files
    /// of a message that is there for them and speaks for the uploader, or is the portrait of its sender. All else seems not to exist.
    package static func checkReading(
        _ record: MediaRecord, by reader: Reader, _ limits: MediaLimits, at now: Int64
    ) throws(MediaFault) {
        if case .person(let user, let use) = reader, user != record.owner {
            guard let use, self.speaks(use, for: record, limits), use.expiresAt.map({ $0 > now }) ?? true
            else { throw Self.unknown }
        }
        guard record.isWhole else { throw Self.unknown }
        if record.verdict == .rejected {
            throw MediaFault(.rejected, "", "was rejected by the app's backend, and is deleted")
        }
        guard record.verdict == nil, limits.appsWithApproval.contains(record.app), reader != .backend else { return }
        throw MediaFault(.notApproved, "", "waits for the approval of the app's backend; try again later")
    }

    private static func speaks(_ use: MediaUse, for record: MediaRecord, _ limits: MediaLimits) -> Bool {
        guard use.isPortrait, record.owner == nil else { return use.isBy(record.owner) }
        // Where people have no say in it, the backend has set the portrait.
        return !limits.appsWithOwnProfiles.contains(record.app)
    }

    package static let unknown = MediaFault(.unknown, "id", "must name media that is there for whoever asks")

    // MARK: - Keeping

    package enum Fate: Hashable, Sendable {
        /// Look again at that time.
        case keep(until: Int64)
        case remove
    }

    /// How long it is known that something was rejected.
    package static let rejectionTime: Int64 = 2_592_000_000
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000

    /// Returns true if the fate of a file depends on the messages that name it, for which the store must be asked.
    package static func asksUses(_ record: MediaRecord, _ limits: MediaLimits, at now: Int64) -> Bool {
        self.fate(of: record, uses: [], limits, at: now) == .remove
            && self.fate(of: record, uses: [Self.lasting(record)], limits, at: now) != .remove
    }

    private static func lasting(_ record: MediaRecord) -> MediaUse {
        MediaUse(message: MessageID(rawValue: 0), sender: record.owner ?? "", isBackend: record.owner == nil)
    }

    /// - Parameter uses: the messages of its uploader that name it.
    package static func fate(
        of record: MediaRecord, uses: [MediaUse], _ limits: MediaLimits, at now: Int64
    ) -> Fate {
        guard let completedAt = record.completedAt else {
            return self.fate(until: record.touchedAt + limits.uploadTime, now)
        }
        if record.verdict == .rejected {
            return self.fate(until: (record.judgedAt ?? completedAt) + Self.rejectionTime, now)
        }
        let end = limits.lifetime > 0 ? completedAt + limits.lifetime : Int64.max
        guard end > now else { return .remove }
        // The backend knows what its files are for, and deletes them itself.
        guard record.owner != nil else { return .keep(until: min(end, now + Self.day)) }
        let unused = completedAt + limits.unusedTime
        guard unused <= now else { return .keep(until: min(end, unused)) }
        let named = uses.filter { $0.isBy(record.owner) && $0.expiresAt ?? .max > now }
        guard let newest = named.map(\.message.wallMilliseconds).max() else { return .remove }
        // Messages are mostly recalled soon or never.
        let pause = now - newest < Self.day ? Self.hour : Self.day
        let last = named.map { $0.expiresAt ?? .max }.max() ?? .max
        return .keep(until: min(end, last, now + pause))
    }

    private static func fate(until end: Int64, _ now: Int64) -> Fate { end > now ? .keep(until: end) : .remove }
}
