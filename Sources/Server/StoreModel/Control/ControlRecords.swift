package import TidingsModel

/// An app (tenant) with everything that may be changed of it while the server runs. A store keeps this and `OperatorRecord` as JSON, without
/// when keys were used last, which changes too often to be kept with them.
package struct ManagedApp: Hashable, Sendable, JSONCodable {
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
    /// The secret that signs the tokens of its anonymous people; nil for an app that has never had a client key.
    package var installationSecret: SealedBytes?
    /// Sorted by id.
    package var webhooks: [WebhookRecord] = []
    /// SHA-256 of the JSON form of the section of the configuration file that it was made from; nil for none.
    package var importedDigest: [UInt8]?

    private enum CodingKeys: String, CodingKey {
        case id, revision, createdAt, isSuspended = "suspended", settings, secrets, apiKeys, pushCredentials,
            clientKeys,
            installationSecret, webhooks, importedDigest = "imported"
    }
    package static let leftOutMembers = [
        "push_credentials", "client_keys", "installation_secret", "webhooks", "imported",
    ]

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

/// Bytes that only the server's shell can read: encrypted under one of its master keys (docs/inside/decisions/0043-apps-at-run-time.md).
package struct SealedBytes: Hashable, Sendable, Codable {
    /// Which master key.
    package var keyID: String
    package var bytes: [UInt8]

    private enum CodingKeys: String, CodingKey { case keyID = "key", bytes = "sealed" }

    package static let bytesMax = 4_096

    package init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}

/// Signs user tokens with HS256.
package struct TokenSecret: Hashable, Sendable, JSONCodable {
    /// Unique in its app; from the server.
    package var id: String
    package var sealed: SealedBytes
    package var createdAt: Int64
    /// Its tokens are good until then; nil for the newest, and for one without an end.
    package var endsAt: Int64?

    private enum CodingKeys: String, CodingKey { case id, sealed = "", createdAt, endsAt }
    package static let leftOutMembers = ["ends_at"]

    package init(id: String, sealed: SealedBytes, createdAt: Int64, endsAt: Int64? = nil) {
        self.id = id
        self.sealed = sealed
        self.createdAt = createdAt
        self.endsAt = endsAt
    }
}

/// The SHA-256 of a key, with that of the one it has replaced; the keys themselves are kept nowhere.
package struct KeyHashes: Hashable, Sendable, Codable {
    /// 32 bytes.
    package var current: [UInt8]
    package var previous: Previous?

    package struct Previous: Hashable, Sendable {
        package var hash: [UInt8]
        /// It is good until then.
        package var endsAt: Int64
    }

    package init(_ current: [UInt8], previous: Previous? = nil) {
        self.current = current
        self.previous = previous
    }

    private enum CodingKeys: String, CodingKey { case hash, previousHash, previousEndsAt }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try members.decode([UInt8].self, forKey: .hash))
        guard let hash = try members.decodeIfPresent([UInt8].self, forKey: .previousHash) else { return }
        self.previous = Previous(hash: hash, endsAt: try members.decode(Int64.self, forKey: .previousEndsAt))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(self.current, forKey: .hash)
        guard let previous = self.previous else { return }
        try members.encode(previous.hash, forKey: .previousHash)
        try members.encode(previous.endsAt, forKey: .previousEndsAt)
    }
}

/// A key of an app's backend for the HTTP API.
package struct APIKeyRecord: Hashable, Sendable, Codable {
    /// Unique in its app; 1 to 64 bytes of letters, digits, `-`, `_` and `.`.
    package var name: String
    package var hashes: KeyHashes
    /// Words of `APIScope`, sorted; at least one.
    package var scopes: [String]
    package var createdAt: Int64
    /// To the minute; nil for never.
    package var lastUsedAt: Int64?

    private enum CodingKeys: String, CodingKey { case name, hashes = "", scopes, createdAt }

    package static let scopesMax = 32

    package init(name: String, hashes: KeyHashes, scopes: [String], createdAt: Int64, lastUsedAt: Int64? = nil) {
        self.name = name
        self.hashes = hashes
        self.scopes = Set(scopes).sorted()
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}

/// The role of a person who runs the server; each may do all that those before it may.
package enum OperatorRole: String, Hashable, Sendable, CaseIterable, Comparable, Codable, JSONWritable {
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
package struct OperatorRecord: Hashable, Sendable, JSONCodable {
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

    private enum CodingKeys: String, CodingKey { case name, role, hashes = "", createdAt, password, sessions }
    package static let leftOutMembers = ["password", "sessions"]

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
