extension APNsClient {
    /// How the client proves who it is (APNs reference, sections 4 and 5).
    public enum Credential: Sendable {
        /// A provider token in every request, signed with a `.p8` key: every push type, every topic of the team.
        case token(TokenCredential)
        /// A certificate presented in TLS: the topics that stand in it.
        case certificate(CertificateCredential)

        var summary: String {
            switch self {
            case .token(let token): "key \(token.keyID)"
            case .certificate: "certificate"
            }
        }
    }
}
