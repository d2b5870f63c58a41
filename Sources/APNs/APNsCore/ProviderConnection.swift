package import APNsModel
package import TidingsModel

/// A signing key the service knows (apns.md §4, "Key kinds").
package struct ProviderKey: Hashable, Sendable {
    /// The key's id, 10 characters at Apple's.
    package var keyID: String
    /// The team it belongs to, 10 characters at Apple's.
    package var teamID: String
    /// The environments it is good for.
    package var environments: [PushEnvironment]
    /// The bundle identifiers it is good for; nil for a team-scoped key.
    package var topics: [String]?

    /// A key.
    package init(
        keyID: String, teamID: String, environments: [PushEnvironment] = PushEnvironment.allCases,
        topics: [String]? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.environments = environments
        self.topics = topics
    }
}

/// Why a request is refused.
package struct Refusal: Error, Hashable, Sendable {
    /// Apple's reason.
    package var reason: APNsReason
    /// With `Unregistered` and `ExpiredToken`: milliseconds since 1970 at which the token was found to be no longer
    /// valid.
    package var timestamp: Int64?
    /// More than Apple would say, for the delivery log.
    package var detail: String?

    init(_ reason: APNsReason, timestamp: Int64? = nil, detail: String? = nil) {
        self.reason = reason
        self.timestamp = timestamp
        self.detail = detail
    }
}

/// One provider's connection: which environment it reached, and the team and key its first push bound it to (apns.md
/// §4).
struct ProviderConnection: Sendable {
    let environment: PushEnvironment
    /// The key of the first accepted token; team and topics follow from it.
    private var key: ProviderKey?
    /// The token used last, and when it was first used on this connection (monotonic milliseconds).
    private var token: (text: String, since: Int64)?
    /// The stream limit announced last.
    var streamLimit: Int

    init(environment: PushEnvironment, streamLimit: Int) {
        self.environment = environment
        self.streamLimit = streamLimit
    }

    /// Checks a provider token in the order of apns.md §20, step 3, and binds the connection to the first good one.
    ///
    /// - Returns: the key, whose topics the caller checks.
    mutating func authenticate(
        _ facts: ProviderTokenFacts, rules: APNsService.Configuration, at now: Now
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
        guard let key = rules.keys.first(where: { $0.keyID == keyID }) else {
            throw Refusal(.invalidProviderToken, detail: "unknown key \(keyID)")
        }
        guard key.teamID == teamID else {
            throw Refusal(.invalidProviderToken, detail: "the key belongs to team \(key.teamID), not \(teamID)")
        }
        // `iat` comes from outside: the subtraction must not overflow.
        let (age, overflows) = (now.wall / 1_000).subtractingReportingOverflow(issuedAt)
        guard !overflows, age.magnitude <= UInt64(rules.tokenAgeMaxSeconds) else {
            throw Refusal(.expiredProviderToken, detail: "iat is \(age) s away, at most \(rules.tokenAgeMaxSeconds)")
        }
        if let bound = self.key, bound.keyID != keyID {
            throw Refusal(.unrelatedKeyIDInToken, detail: "the connection belongs to key \(bound.keyID)")
        }
        guard key.environments.contains(self.environment) else { throw Refusal(.badEnvironmentKeyIDInToken) }
        if let token = self.token, token.text != text {
            let used = now.monotonic - token.since
            guard used >= rules.tokenUpdateMinSeconds * 1_000 else {
                throw Refusal(.tooManyProviderTokenUpdates, detail: "the token before it was used for \(used) ms only")
            }
            self.token = (text, now.monotonic)
        } else if self.token == nil {
            self.token = (text, now.monotonic)
        }
        self.key = key
        return key
    }
}
