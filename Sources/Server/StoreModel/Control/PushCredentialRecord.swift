package import TidingsModel

/// An app's push credential: the credential itself, sealed, and beside it the facts that may be shown.
///
/// ```text
///              activate                 another is activated in its place
///   uploaded ───────────▶ active ──────────────────────────────────────────▶ replaced
///                          ▲   │ ▲                                              │
///                 activate │   │ └──────────────────────────────────────────────┘
///                          │   ▼ roll back          the one after it is rolled back
///                        rolledBack
/// ```
package struct PushCredentialRecord: Hashable, Sendable, JSONCodable {
    package enum Kind: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
        case tokenKey = "token_key"
        case certificate
    }

    package enum State: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
        /// Nothing goes out with it.
        case uploaded
        case active
        /// By the one whose `replaces` names it, or by nothing; kept for a roll-back.
        case replaced
        /// The one before it is active again.
        case rolledBack = "rolled_back"
    }

    /// APNs's last verdict on it on one side.
    package struct Proof: Hashable, Sendable, JSONCodable {
        package var environment: PushEnvironment
        package var isGood: Bool
        /// Apple's word; nil without one.
        package var reason: String?
        package var at: Int64

        private enum CodingKeys: String, CodingKey { case environment, isGood = "good", reason, at }
        package static let leftOutMembers = ["reason"]

        package init(_ environment: PushEnvironment, isGood: Bool, reason: String? = nil, at: Int64) {
            self.environment = environment
            self.isGood = isGood
            self.reason = reason
            self.at = at
        }
    }

    /// A topic to which APNs has accepted a push, which alone shows that the credential is for it.
    package struct ProvenTopic: Hashable, Sendable, Codable {
        package var topic: String
        package var environment: PushEnvironment
        /// The time of the first push.
        package var at: Int64
    }

    /// Unique in its app; from the server.
    package var id: String
    package var kind: Kind
    /// Key, or certificates and key, in PEM form.
    @SealedFile package var sealed: SealedBytes
    /// SHA-256 of certificate or public key in lowercase hexadecimal: unique in its app.
    package var fingerprint: String
    /// The id of a token key.
    package var keyID: String?
    /// A token key has one.
    package var teamID: String?
    /// The UID of a certificate's subject; nil for a key.
    package var subject: String?
    /// The topics that it is for, suffixes included; empty for a key of each topic of its team.
    package var topics: [String]
    /// The environments in the order of `PushEnvironment`; one for most keys, both for older ones.
    package var environments: [PushEnvironment]
    package var createdAt: Int64
    /// A key has none.
    package var expiresAt: Int64?
    package internal(set) var state: State
    /// The active one that it has replaced, as long as that is kept.
    package internal(set) var replaces: String?
    /// At most one for each side, in the order of `PushEnvironment`.
    package internal(set) var proofs: [Proof] = []
    /// Sorted by topic, then by side.
    package internal(set) var provenTopics: [ProvenTopic] = []

    private enum CodingKeys: String, CodingKey {
        case id, kind, sealed = "", fingerprint, keyID, teamID, subject, topics, environments, createdAt, expiresAt,
            state,
            replaces, proofs, provenTopics
    }
    package static let leftOutMembers = [
        "key_id", "team_id", "subject", "expires_at", "replaces", "proofs", "proven_topics",
    ]

    package static let sealedBytesMax = 32_768
    /// Apple's most for a key (APNs reference, section 4).
    package static let topicsMax = 400

    package init(
        id: String, kind: Kind, sealed: SealedBytes, fingerprint: String, keyID: String? = nil, teamID: String? = nil,
        subject: String? = nil, topics: [String] = [], environments: [PushEnvironment] = PushEnvironment.allCases,
        createdAt: Int64, expiresAt: Int64? = nil, state: State = .uploaded
    ) {
        self.id = id
        self.kind = kind
        self.sealed = sealed
        self.fingerprint = fingerprint
        self.keyID = keyID
        self.teamID = teamID
        self.subject = subject
        self.topics = topics
        self.environments = environments
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.state = state
    }

    package func proof(in environment: PushEnvironment) -> Proof? {
        self.proofs.first { $0.environment == environment }
    }

    package func isProven(_ topic: String, in environment: PushEnvironment) -> Bool {
        self.provenTopics.contains { $0.topic == topic && $0.environment == environment }
    }

    package func isExpired(at wall: Int64) -> Bool { self.expiresAt.map { $0 <= wall } ?? false }
}

/// Keeps sealed bytes in Base64, not in digits: files are long.
@propertyWrapper package struct SealedFile: Hashable, Sendable, Codable {
    package var wrappedValue: SealedBytes

    package init(wrappedValue: SealedBytes) { self.wrappedValue = wrappedValue }

    private enum CodingKeys: String, CodingKey { case key, sealed }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        guard let bytes = Base64.decode(Array(try members.decode(String.self, forKey: .sealed).utf8), isStrict: true)
        else {
            throw InvalidField(field: "sealed", rule: "must be base64 without padding")
        }
        self.wrappedValue = SealedBytes(keyID: try members.decode(String.self, forKey: .key), bytes: bytes)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(self.wrappedValue.keyID, forKey: .key)
        try members.encode(Base64.encode(self.wrappedValue.bytes, .url), forKey: .sealed)
    }
}

/// A change of one app's push credentials; each answers the app.
package enum PushCredentialChange: Hashable, Sendable {
    /// Refused with `exists` for an id or a fingerprint that the app has.
    indirect case add(PushCredentialRecord)
    /// Pushes go out with it from now on, and no longer with the other one, which is kept. Refused with `not_allowed` without a good
    /// proof, unless `unproven`, and for one that has expired.
    case activate(id: String, inPlaceOf: String?, unproven: Bool)
    /// Pushes go out with it no longer, though nothing takes its place.
    case retire(id: String)
    /// The one that it has replaced is active again.
    case rollBack(id: String)
    /// Refused for an active one.
    case remove(id: String)
    /// Notes APNs's verdict; passed over for a credential that is gone.
    case noteProof(id: String, PushCredentialRecord.Proof)
    /// The first push to a topic was accepted; passed over for one that is gone, and for the pushes after the first.
    case noteAccepted(id: String, topic: String, PushEnvironment)
}
