package import APNsModel
package import TidingsModel

/// The facts of a provider's certificate (APNs reference, section 5). With one, provider tokens are ignored.
package struct ClientCertificateFacts: Hashable, Sendable {
    /// SHA-256 in hexadecimal, or any text.
    package var fingerprint: String
    /// The subject's UID and what the extension lists, suffixes included.
    package var topics: APNsCertificateTopics
    package var environments: [PushEnvironment]
    package var expiresAt: Int64
    package var isRevoked: Bool
    package var isTrusted: Bool

    package init(
        fingerprint: String, topics: APNsCertificateTopics, environments: [PushEnvironment] = PushEnvironment.allCases,
        expiresAt: Int64, isRevoked: Bool = false, isTrusted: Bool = true
    ) {
        self.fingerprint = fingerprint
        self.topics = topics
        self.environments = environments
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
        self.isTrusted = isTrusted
    }
}
