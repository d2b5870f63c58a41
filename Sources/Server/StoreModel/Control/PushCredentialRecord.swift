package import TidingsModel

/// What an app's pushes go out with: the credential itself, sealed, and beside it what may be shown of it.
///
/// ```text
///              activate                 another is activated in its place
///   uploaded ───────────▶ active ──────────────────────────────────────────▶ replaced
///                          ▲   │ ▲                                              │
///                 activate │   │ └──────────────────────────────────────────────┘
///                          │   ▼ roll back          the one after it is rolled back
///                        rolledBack
/// ```
package struct PushCredentialRecord: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case tokenKey = "token_key"
        case certificate
    }

    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Nothing goes out with it.
        case uploaded
        case active
        /// By the one whose `replaces` names it, or by nothing; kept for a roll-back.
        case replaced
        /// The one before it is active again.
        case rolledBack = "rolled_back"
    }

    /// What APNs said of it last on one side.
    package struct Proof: Hashable, Sendable {
        package var environment: PushEnvironment
        package var isGood: Bool
        /// Apple's word; nil without one.
        package var reason: String?
        package var at: Int64

        package init(_ environment: PushEnvironment, isGood: Bool, reason: String? = nil, at: Int64) {
            self.environment = environment
            self.isGood = isGood
            self.reason = reason
            self.at = at
        }
    }

    /// A topic to which APNs has accepted a push, which alone shows that the credential is for it.
    package struct ProvenTopic: Hashable, Sendable {
        package var topic: String
        package var environment: PushEnvironment
        /// Of the first one.
        package var at: Int64

        package init(_ topic: String, _ environment: PushEnvironment, at: Int64) {
            self.topic = topic
            self.environment = environment
            self.at = at
        }
    }

    /// Unique in its app; from the server.
    package var id: String
    package var kind: Kind
    /// Key, or certificates and key, in PEM form.
    package var sealed: SealedBytes
    /// SHA-256 of certificate or public key in lowercase hexadecimal: unique in its app.
    package var fingerprint: String
    /// Of a token key.
    package var keyID: String?
    /// A token key has one.
    package var teamID: String?
    /// The UID of a certificate's subject; nil for a key.
    package var subject: String?
    /// Those it is for, suffixes included; empty for a key of each topic of its team.
    package var topics: [String]
    /// As `PushEnvironment` has them in order; one for most keys, both for older ones.
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
    /// What APNs said; passed over for one that is gone.
    case noteProof(id: String, PushCredentialRecord.Proof)
    /// The first push to a topic was accepted; passed over for one that is gone, and for the pushes after the first.
    case noteAccepted(id: String, topic: String, PushEnvironment)
}
