package import TidingsModel

/// One file of the server, from the first request for it on; in JSON it stands beside the file. Times are wall milliseconds.
package struct MediaRecord: Hashable, Sendable, JSONCodable, JSONChecked {
    package var id: MediaID
    package var app: AppID
    /// Who uploads it; nil for the app's backend.
    package var owner: UserID?
    package var kind: MediaKind
    /// The file's name; nil for none in particular.
    package var name: String?
    /// How long it is in the end.
    package var bytes: Int64
    package var createdAt: Int64
    /// How much of it is on the disk for good: what the uploader has been told.
    package var offset: Int64 = 0
    /// When the last of it came.
    package var touchedAt: Int64
    /// nil while it is not whole.
    package var completedAt: Int64?
    package var verdict: MediaVerdict?
    package var judgedAt: Int64?
    /// The request that made it.
    package var request: Request?

    package struct Request: Hashable, Sendable, Codable {
        /// The backend's; nil for a person's request.
        package var apiKey: String?
        /// Its idempotency key.
        package var key: String

        package init(apiKey: String?, key: String) {
            self.apiKey = apiKey
            self.key = key
        }
    }

    package init(
        id: MediaID, app: AppID, owner: UserID?, kind: MediaKind, name: String? = nil, bytes: Int64, createdAt: Int64,
        request: Request? = nil
    ) {
        self.id = id
        self.app = app
        self.owner = owner
        self.kind = kind
        self.name = name
        self.bytes = bytes
        self.createdAt = createdAt
        self.touchedAt = createdAt
        self.request = request
    }

    package func check() throws(InvalidField) {
        try InvalidField.check(self.bytes > 0 && 0...self.bytes ~= self.offset, "offset", "must be within the file")
    }

    package var isWhole: Bool { self.completedAt != nil }

    /// The bytes that count for a quota: all from the start, so that uploads side by side do not pass it together. A small file counts as
    /// much as a disk gives it.
    package var quotaBytes: Int64 { self.verdict == .rejected ? 0 : max(self.bytes, 4_096) }
}

/// The verdict of the app's backend, or of a scanner behind it, on a file.
package enum MediaVerdict: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    case approved
    /// Its bytes are deleted; that there was something is known for a while.
    case rejected
}

/// An operator's settings for media. Times are milliseconds.
package struct MediaLimits: Hashable, Sendable {
    package var bytesMax: Int64 = 26_214_400
    package var kinds: [MediaKind] = MediaKind.allCases.filter { $0 != .pdf }
    package var personBytesMax: Int64 = 1_073_741_824
    package var appBytesMax: Int64 = 107_374_182_400
    /// Files, whatever was said of them: each has a record in memory and on the disk.
    package var personFilesMax = 10_000
    package var appFilesMax = 1_000_000
    /// Unfinished ones of a person, and of the backend so many times more.
    package var personUploadsMax = 8
    package static let backendUploadsFactor = 32
    /// How long an unfinished upload is kept after its last byte.
    package var uploadTime: Int64 = 86_400_000
    /// How long a person's file is kept that no message names.
    package var unusedTime: Int64 = 86_400_000
    /// How old a file gets at most; 0 for as old as the messages that name it.
    package var lifetime: Int64 = 0
    /// Room that must be left on its disk.
    package var freeBytesMin: Int64 = 268_435_456
    /// Apps whose files nobody but the backend reads before it has approved them.
    package var appsWithApproval: Set<AppID> = []
    /// Apps whose people choose their own portraits: only files of their own, or an id that has leaked would open the backend's.
    package var appsWithOwnProfiles: Set<AppID> = []

    package init() {}

    func uploadsMax(of owner: UserID?) -> Int {
        owner == nil ? self.personUploadsMax * Self.backendUploadsFactor : self.personUploadsMax
    }
}

/// The present usage.
package struct MediaUsage: Hashable, Sendable {
    package var ownerBytes: Int64
    package var appBytes: Int64
    package var ownerFiles: Int
    package var appFiles: Int
    /// Unfinished ones of the owner.
    package var ownerUploads: Int
    /// Bytes that may still be written; nil if the system does not say.
    package var free: Int64?

    package init(
        ownerBytes: Int64 = 0, appBytes: Int64 = 0, ownerFiles: Int = 0, appFiles: Int = 0, ownerUploads: Int = 0,
        free: Int64? = nil
    ) {
        self.ownerBytes = ownerBytes
        self.appBytes = appBytes
        self.ownerFiles = ownerFiles
        self.appFiles = appFiles
        self.ownerUploads = ownerUploads
        self.free = free
    }
}

/// Why something is not done with media; nothing was changed.
package struct MediaFault: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// There is none of that id, or the caller may not know of it.
        case unknown
        case notApproved
        case rejected
        case tooLarge
        case kindRefused
        case quotaExceeded
        case tooManyUploads
        case wrongOffset
        /// Another request is writing it.
        case busy
        case storageFull
        case badRange
    }

    package var code: Code
    /// The field as in `InvalidField`.
    package var field: String
    package var rule: String

    package init(_ code: Code, _ field: String, _ rule: String) {
        self.code = code
        self.field = field
        self.rule = rule
    }
}
