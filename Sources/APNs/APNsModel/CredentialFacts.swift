package import TidingsModel

/// What a file with a push credential holds: everything of it that may be shown (APNs reference, sections 4 and 5).
package struct CredentialFacts: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Topics and sides of a key stand nowhere in its file: APNs alone knows them.
        case tokenKey(keyID: String?, teamID: String?)
        case certificate(ProviderCertificate)
    }

    package var content: Content
    /// SHA-256 in lowercase hexadecimal: of the certificate, or of the key's public half, both in DER form.
    package var fingerprint: String

    package init(_ content: Content, fingerprint: String) {
        self.content = content
        self.fingerprint = fingerprint
    }

    package var teamID: String? {
        switch self.content {
        case .tokenKey(_, let teamID): teamID
        case .certificate(let certificate): certificate.teamID
        }
    }

    /// What is wrong with it at a time, as far as that can be seen without APNs; nil for nothing.
    ///
    /// - Parameter wall: milliseconds since 1970.
    package func fault(at wall: Int64) -> InvalidField? {
        switch self.content {
        case .tokenKey: nil
        case .certificate(let certificate): certificate.fault(at: wall)
        }
    }

    /// The id in the name that Apple gives a key's file, as in `AuthKey_ABC123DEFG.p8`; nil for another name.
    ///
    /// - Parameter name: with or without the folder.
    package static func keyID(inFileName name: String) -> String? {
        guard let place = name.firstRange(of: "AuthKey_"), !name[place.upperBound...].contains("/") else { return nil }
        let id = name[place.upperBound...].prefix { character in
            character.isASCII && (character.isNumber || character.isUppercase)
        }
        return id.count == 10 ? String(id) : nil
    }
}

extension CredentialFacts {
    /// - Parameter wall: milliseconds since 1970, for the fault.
    package func json(at wall: Int64) -> JSONValue {
        var members: [(String, JSONValue)]
        switch self.content {
        case .tokenKey(let keyID, let teamID):
            members = [
                ("kind", "token_key"), ("key_id", .optional(keyID)), ("team_id", .optional(teamID)),
            ]
        case .certificate(let certificate):
            members = [
                ("kind", "certificate"), ("name", .string(certificate.name)), ("issuer", .string(certificate.issuer)),
                ("team_id", .optional(certificate.teamID)), ("voip_only", .bool(certificate.isVoIP)),
                (
                    "topics",
                    .array(
                        certificate.topics.map { topic in
                            .members([
                                ("topic", .string(topic.name)), ("kinds", .array(topic.kinds.map { .string($0) })),
                                (
                                    "push_types",
                                    .array(certificate.pushTypes(to: topic.name).map { .string($0.rawValue) })
                                ),
                            ])
                        })
                ), ("environments", .array(certificate.environments.map { .string($0.rawValue) })),
                ("valid_from", .int(certificate.validFrom)), ("expires_at", .int(certificate.expiresAt)),
            ]
        }
        members.append(("fingerprint", .string(self.fingerprint)))
        members.append(
            (
                "fault",
                self.fault(at: wall).map { .members([("field", .string($0.field)), ("rule", .string($0.rule))]) }
                    ?? .null
            ))
        return .members(members)
    }
}
