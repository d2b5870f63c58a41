package import TidingsModel

/// An app (tenant) with everything that may be changed of it while the server runs.
package struct ManagedApp: Hashable, Sendable {
    package var id: AppID
    /// Counts the changes of the app, from 1; not those of `lastUsedAt`.
    package var revision: Int64
    /// Wall milliseconds, as all times of the control part.
    package var createdAt: Int64
    /// Nobody connects to it, its keys are refused, and its pushes wait.
    package var isSuspended: Bool
    package var settings: AppSettings
    /// The newest first: it signs, the others are only checked by.
    package var secrets: [TokenSecret]
    /// Sorted by name.
    package var apiKeys: [APIKeyRecord]
    /// In the order in which they were added.
    package var pushCredentials: [PushCredentialRecord] = []
    /// In the order in which they were added.
    package var clientKeys: [ClientKeyRecord] = []
    /// What the tokens of its anonymous people are signed with; nil for an app that has never had a client key.
    package var installationSecret: SealedBytes?
    /// Sorted by id.
    package var webhooks: [WebhookRecord] = []
    /// SHA-256 of the JSON form of the section of the configuration file that it was made from; nil for none.
    package var importedDigest: [UInt8]?

    package static let secretsMax = 4
    package static let apiKeysMax = 100
    package static let pushCredentialsMax = 16

    package init(id: AppID, settings: AppSettings = AppSettings(), secrets: [TokenSecret] = [], createdAt: Int64) {
        self.id = id
        self.revision = 1
        self.createdAt = createdAt
        self.isSuspended = false
        self.settings = settings
        self.secrets = secrets
        self.apiKeys = []
        self.importedDigest = nil
    }
}

/// Bytes that only the server's shell can read: encrypted under one of its master keys (docs/decisions/0043-apps-at-run-time.md).
package struct SealedBytes: Hashable, Sendable {
    /// Which master key.
    package var keyID: String
    package var bytes: [UInt8]

    package static let bytesMax = 4_096

    package init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}

/// Signs user tokens with HS256.
package struct TokenSecret: Hashable, Sendable {
    /// Unique in its app; from the server.
    package var id: String
    package var sealed: SealedBytes
    package var createdAt: Int64
    /// Its tokens are good until then; nil for the newest, and for one without an end.
    package var endsAt: Int64?

    package init(id: String, sealed: SealedBytes, createdAt: Int64, endsAt: Int64? = nil) {
        self.id = id
        self.sealed = sealed
        self.createdAt = createdAt
        self.endsAt = endsAt
    }
}

/// The SHA-256 of a key, with that of the one it has replaced; the keys themselves are kept nowhere.
package struct KeyHashes: Hashable, Sendable {
    /// 32 bytes.
    package var current: [UInt8]
    package var previous: Previous?

    package struct Previous: Hashable, Sendable {
        package var hash: [UInt8]
        /// It is good until then.
        package var endsAt: Int64

        package init(hash: [UInt8], endsAt: Int64) {
            self.hash = hash
            self.endsAt = endsAt
        }
    }

    package init(_ current: [UInt8], previous: Previous? = nil) {
        self.current = current
        self.previous = previous
    }
}

/// A key of an app's backend for the HTTP API.
package struct APIKeyRecord: Hashable, Sendable {
    /// Unique in its app; 1 to 64 bytes of letters, digits, `-`, `_` and `.`.
    package var name: String
    package var hashes: KeyHashes
    /// Words of `APIScope`, sorted; at least one.
    package var scopes: [String]
    package var createdAt: Int64
    /// To the minute; nil for never.
    package var lastUsedAt: Int64?

    package static let scopesMax = 32

    package init(name: String, hashes: KeyHashes, scopes: [String], createdAt: Int64, lastUsedAt: Int64? = nil) {
        self.name = name
        self.hashes = hashes
        self.scopes = Set(scopes).sorted()
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}

/// What a person who runs the server may do, each of them what the ones before may.
package enum OperatorRole: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Sees everything but what messages say.
    case view
    /// Reads messages, too.
    case content
    /// Sends, too.
    case send
    /// Changes apps, keys and operators, too.
    case administer

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .view: 0
        case .content: 1
        case .send: 2
        case .administer: 3
        }
    }
}

/// A person who runs the server, or a program of theirs.
package struct OperatorRecord: Hashable, Sendable {
    /// Unique on the server; 1 to 64 bytes of letters, digits, `-`, `_`, `.` and `@`.
    package var name: String
    package var role: OperatorRole
    package var hashes: KeyHashes
    package var createdAt: Int64
    /// To the minute; nil for never.
    package var lastUsedAt: Int64?
    /// Nil for who signs in with a key alone.
    package var password: PasswordHash?
    /// In the order in which they were added.
    package var sessions: [OperatorSession] = []

    package init(
        name: String, role: OperatorRole, hashes: KeyHashes, createdAt: Int64, lastUsedAt: Int64? = nil
    ) {
        self.name = name
        self.role = role
        self.hashes = hashes
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}
