package import APNsModel
import TidingsModel

package struct Refusal: Error, Hashable, Sendable {
    package var reason: APNsReason
    /// With `Unregistered` and `ExpiredToken`: milliseconds since 1970 at which the token was found to be no longer
    /// valid.
    package var timestamp: Int64?
    package var detail: String?

    init(_ reason: APNsReason, timestamp: Int64? = nil, detail: String? = nil) {
        self.reason = reason
        self.timestamp = timestamp
        self.detail = detail
    }
}

/// One provider's connection: which host it reached, what its first push bound it to, and how it behaves (APNs
/// reference, sections 3 and 4). What it announces as its stream limit:
///
/// ```text
///            first good token              refused, if so configured
///   unproven ────────────────▶ open ─────────────────────────────────▶ rejected
///   1 stream                   1,000  ◀───────────────────────────────  streamsAfterRejection
///      │                         ▲                accepted
///      └── with a certificate ───┘
///
///   a fault `stream_limit` holds over each of them, for its number of requests
///   stuck: once ExpiredProviderToken was answered, if so configured, each request is answered with it
///   ended: too many errors in a row, or an answer that ends connections: GOAWAY
/// ```
struct ProviderConnection: Sendable {
    let host: ProviderHost
    let certificate: ClientCertificateFacts?
    /// The stream limit announced last.
    private(set) var streamLimit: Int
    /// The newest stream, and the one before it.
    private(set) var lastStream: Int64 = 0
    private(set) var previousStream: Int64 = 0
    /// Monotonic milliseconds of the newest request, or of the opening.
    private(set) var activeAt: Int64

    /// The key of the first accepted token; the team follows from it.
    private var key: ProviderKey?
    /// The key whose topics `scope` holds.
    private var scopeKeyID: String?
    /// The bundle identifiers of the team at the first push; nil for all.
    private var bundleIDs: Set<String>?
    /// The bundle identifiers that may be used; nil for all.
    private var scope: Set<String>?
    /// The topic checked last with good result, for the stated type of push, and the type it was found to be: most
    /// connections send to one topic.
    var knownTopic: (topic: String, stated: APNsPushType?, pushType: APNsPushType)?
    /// The token of each key used last, by key id, and when it was first used on this connection (monotonic milliseconds).
    /// They are the connection's first key and the one related to it: each has a token of its own.
    private var tokens: [String: (text: String, since: Int64)] = [:]
    /// True if `ExpiredProviderToken` has been answered.
    private var hasExpired = false

    private var isOpen: Bool
    /// True if the newest answer was a refusal.
    private var isRefused = false
    private var errors = 0
    private var faultLimit: (limit: Int, requests: Int?)?

    init(host: ProviderHost, certificate: ClientCertificateFacts?, rules: APNsService.Configuration, at now: Now) {
        self.host = host
        self.certificate = certificate
        self.isOpen = certificate != nil
        self.streamLimit = rules.streamLimit(hasCertificate: certificate != nil)
        self.activeAt = now.monotonic
    }

    mutating func received(stream: Int64, at now: Now) {
        self.previousStream = self.lastStream
        self.lastStream = max(self.lastStream, stream)
        self.activeAt = now.monotonic
        guard let fault = self.faultLimit, let requests = fault.requests else { return }
        self.faultLimit = requests > 1 ? (fault.limit, requests - 1) : nil
    }

    mutating func limit(by fault: (limit: Int, requests: Int?)?) { self.faultLimit = fault }

    mutating func accepted() {
        self.isRefused = false
        self.errors = 0
    }

    /// A request was refused.
    ///
    /// - Returns: whether the connection has made too many errors in a row.
    mutating func refused(_ reason: APNsReason, status: Int, rules: APNsService.Configuration) -> Bool {
        self.isRefused = true
        switch status {
        case 410, 429: return false
        case 400..<500: self.errors += reason == .badDeviceToken ? 2 : 1
        default: return false
        }
        return rules.errorsMax.map { self.errors >= $0 } ?? false
    }

    /// The stream limit to announce; nil if it has not changed.
    mutating func changedStreamLimit(_ rules: APNsService.Configuration) -> Int? {
        let limit: Int
        if let fault = self.faultLimit {
            limit = fault.limit
        } else if !self.isOpen {
            limit = rules.streamsBeforeToken
        } else if self.isRefused, let rejected = rules.streamsAfterRejection {
            limit = rejected
        } else {
            limit = rules.streamsAfterToken
        }
        guard limit != self.streamLimit else { return nil }
        self.streamLimit = limit
        return limit
    }

    // MARK: Who is sending

    /// Checks the certificate, or the provider token, in the order of APNs reference, section 20, step 3, and binds the
    /// connection to its first good key.
    ///
    /// - Parameter skew: seconds by which the service's clock is wrong (the fault `clock_skew`).
    mutating func authenticate(
        _ facts: ProviderTokenFacts, credentials: Credentials, rules: APNsService.Configuration, skew: Int64,
        at now: Now
    ) throws(Refusal) {
        if let certificate = self.certificate {
            guard !credentials.revokedCertificates.contains(certificate.fingerprint), !certificate.isRevoked else {
                throw Refusal(.badCertificate, detail: "revoked")
            }
            guard now.wall < certificate.expiresAt else { throw Refusal(.badCertificate, detail: "expired") }
            return
        }
        guard !self.hasExpired else {
            throw Refusal(.expiredProviderToken, detail: "answered before on this connection")
        }
        do {
            let key = try self.key(by: facts, credentials: credentials, rules: rules, skew: skew, at: now)
            self.bind(to: key, credentials: credentials)
            self.isOpen = true
        } catch {
            if error.reason == .expiredProviderToken, rules.expiredTokenSticks { self.hasExpired = true }
            throw error
        }
    }

    private mutating func key(
        by facts: ProviderTokenFacts, credentials: Credentials, rules: APNsService.Configuration, skew: Int64,
        at now: Now
    ) throws(Refusal) -> ProviderKey {
        let keyID: String
        let teamID: String
        let issuedAt: Int64
        let text: String
        switch facts {
        case .absent: throw Refusal(.missingProviderToken)
        case .unreadable(let detail): throw Refusal(.invalidProviderToken, detail: detail)
        case .read(_, _, _, signatureHolds: false, _):
            throw Refusal(.invalidProviderToken, detail: "the signature does not hold, or the key is unknown")
        case .read(let readKeyID, let readTeamID, let readIssuedAt, signatureHolds: true, let readText):
            (keyID, teamID, issuedAt, text) = (readKeyID, readTeamID, readIssuedAt, readText)
        }
        guard let key = credentials.keys[keyID] else {
            throw Refusal(.invalidProviderToken, detail: "unknown key \(keyID)")
        }
        guard key.teamID == teamID else {
            throw Refusal(.invalidProviderToken, detail: "the key belongs to team \(key.teamID), not \(teamID)")
        }
        // `iat` comes from outside: the subtraction must not overflow.
        let (age, overflows) = (now.wall / 1_000 + skew).subtractingReportingOverflow(issuedAt)
        guard !overflows, age.magnitude <= UInt64(rules.tokenAgeMaxSeconds) else {
            throw Refusal(.expiredProviderToken, detail: "iat is \(age) s away, at most \(rules.tokenAgeMaxSeconds)")
        }
        if let bound = self.key, bound.keyID != keyID, bound.teamID != teamID || !bound.isRelated(to: key) {
            throw Refusal(.unrelatedKeyIDInToken, detail: "the connection belongs to key \(bound.keyID)")
        }
        guard key.environments.contains(self.host.environment) else { throw Refusal(.badEnvironmentKeyIDInToken) }
        guard let token = self.tokens[keyID] else {
            self.tokens[keyID] = (text, now.monotonic)
            return key
        }
        guard token.text != text else { return key }
        let used = now.monotonic - token.since
        guard used >= rules.tokenUpdateMinSeconds * 1_000 else {
            throw Refusal(.tooManyProviderTokenUpdates, detail: "the token before it was used for \(used) ms only")
        }
        self.tokens[keyID] = (text, now.monotonic)
        return key
    }

    private mutating func bind(to key: ProviderKey, credentials: Credentials) {
        if self.key == nil {
            self.key = key
            self.bundleIDs = credentials.bundleIDs[key.teamID]
        }
        guard self.scopeKeyID != key.keyID else { return }
        self.scopeKeyID = key.keyID
        self.knownTopic = nil
        let topics = key.topics.map { Set($0) }
        // tidy: order does not leave: this maps an optional set, not its elements.
        self.scope = topics.map { topics in self.bundleIDs.map { topics.intersection($0) } ?? topics } ?? self.bundleIDs
    }

    /// The topic of a push without `apns-topic`: the certificate's only one.
    ///
    /// - Throws: `MissingTopic`.
    func onlyTopic() throws(Refusal) -> String {
        guard let topic = self.certificate?.topics.onlyTopic else { throw Refusal(.missingTopic) }
        return topic
    }

    func maySend(_ pushType: APNsPushType, topic: String, bundleID: String) -> Bool {
        if let certificate = self.certificate {
            return pushType.maySend(to: topic, with: .certificate(certificate.topics))
        }
        return self.scope?.contains(bundleID) ?? true
    }

    func mayBroadcast(_ bundleID: String) -> Bool {
        if let topics = self.certificate?.topics {
            return topics.subject == bundleID || topics.listed.contains(bundleID)
        }
        return self.scope?.contains(bundleID) ?? true
    }
}

extension APNsService.Configuration {
    func streamLimit(hasCertificate: Bool) -> Int { hasCertificate ? self.streamsAfterToken : self.streamsBeforeToken }
}

struct Credentials: Sendable {
    var keys: [String: ProviderKey] = [:]
    var revokedCertificates: Set<String> = []
    /// By team; a team that is not there may use every topic.
    var bundleIDs: [String: Set<String>] = [:]

    init(_ rules: APNsService.Configuration) {
        for key in rules.keys { self.keys[key.keyID] = key }
        self.bundleIDs = rules.bundleIDsOfTeams.mapValues { Set($0) }
    }

    /// Why the TLS handshake with a certificate fails; nil if it is good.
    func alert(on certificate: ClientCertificateFacts, at now: Now) -> TLSAlert? {
        if !certificate.isTrusted { return .unknownCA }
        if certificate.isRevoked || self.revokedCertificates.contains(certificate.fingerprint) {
            return .certificateRevoked
        }
        return now.wall >= certificate.expiresAt ? .certificateExpired : nil
    }
}
