package import TidingsModel

/// APNs reference, section 4, "Key kinds".
package struct ProviderKey: Hashable, Sendable, JSONCodable {
    /// 10 characters at Apple's.
    package var keyID: String
    /// 10 characters at Apple's.
    package var teamID: String
    package var environments: [PushEnvironment]
    /// Bundle identifiers, at most 400; nil for a team-scoped key.
    package var topics: [String]?
    /// The one other key that may be used on the same connection; it holds for both of them.
    package var relatedKeyID: String?

    package static let leftOutMembers = ["topics", "related_key_id"]

    package init(
        keyID: String, teamID: String, environments: [PushEnvironment] = PushEnvironment.allCases,
        topics: [String]? = nil, relatedKeyID: String? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.environments = environments
        self.topics = topics
        self.relatedKeyID = relatedKeyID
    }

    package static let topicsMax = 400
    /// Topic-specific keys of a team in one environment.
    package static let topicKeysMax = 200
    /// Team-scoped keys of a team in one environment.
    package static let teamKeysMax = 2

    func isRelated(to other: ProviderKey) -> Bool {
        self.relatedKeyID == other.keyID || other.relatedKeyID == self.keyID
    }

    /// Checks the key, and that there are not too many of its kind.
    ///
    /// - Parameters:
    ///   - prefix: stands before the names of the members: `keys[2].`.
    ///   - keys: all there are then, with this one.
    func validate(prefix: String, among keys: [ProviderKey]) throws(InvalidField) {
        guard !self.keyID.isEmpty else { throw InvalidField(field: "\(prefix)key_id", rule: "must not be empty") }
        guard !self.teamID.isEmpty else { throw InvalidField(field: "\(prefix)team_id", rule: "must not be empty") }
        try InvalidField.check(
            keys.count(where: { $0.keyID == self.keyID }) <= 1, "\(prefix)key_id",
            "must be there only once, got \(self.keyID)")
        try InvalidField.check(!self.environments.isEmpty, "\(prefix)environments", "must not be empty")
        if let topics = self.topics { try InvalidField.check(topics.count, in: 1...Self.topicsMax, "\(prefix)topics") }
        let most = self.topics == nil ? Self.teamKeysMax : Self.topicKeysMax
        for environment in self.environments {
            let count = keys.count {
                $0.teamID == self.teamID && ($0.topics == nil) == (self.topics == nil)
                    && $0.environments.contains(environment)
            }
            try InvalidField.check(
                count <= most, "\(prefix)environments",
                "must leave at most \(most) keys of this kind in \(environment.rawValue), got \(count)")
        }
    }
}
