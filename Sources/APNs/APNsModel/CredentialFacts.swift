package import TidingsModel

/// The facts of a file with a push credential that may be shown (APNs reference, sections 4 and 5).
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

    /// Returns its fault at a time, as far as that can be seen without APNs; nil for none.
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
        let content: JSONMembers =
            switch self.content {
            case .tokenKey(let keyID, let teamID): ["kind": "token_key", "key_id": keyID, "team_id": teamID]
            case .certificate(let certificate):
                [
                    "kind": "certificate", "name": certificate.name, "issuer": certificate.issuer,
                    "team_id": certificate.teamID, "voip_only": certificate.isVoIP,
                    "topics": certificate.topics.objects { topic in
                        [
                            "topic": topic.name, "kinds": topic.kinds,
                            "push_types": certificate.pushTypes(to: topic.name).map(\.rawValue),
                        ]
                    }, "environments": certificate.environments, "valid_from": certificate.validFrom,
                    "expires_at": certificate.expiresAt,
                ]
            }
        let fault = self.fault(at: wall).map { ["field": $0.field, "rule": $0.rule] as JSONMembers }
        return (content + ["fingerprint": self.fingerprint, "fault": fault]).json
    }
}
