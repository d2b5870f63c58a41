package import APNsModel
package import TidingsModel

/// What a shell has found out about a provider's client certificate (APNs reference, section 5). With one, provider
/// tokens are ignored.
package struct ClientCertificateFacts: Hashable, Sendable {
    /// A name for the certificate, to revoke it by: its SHA-256 in hexadecimal, or any text.
    package var fingerprint: String
    /// The topics: the subject's UID and what the extension lists, suffixes included.
    package var topics: APNsCertificateTopics
    /// The environments it is good for.
    package var environments: [PushEnvironment]
    /// UNIX milliseconds from which on it is expired.
    package var expiresAt: Int64
    /// Whether its issuer has revoked it.
    package var isRevoked: Bool
    /// Whether its issuer is one the service knows.
    package var isTrusted: Bool

    /// Facts as read from a certificate.
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
