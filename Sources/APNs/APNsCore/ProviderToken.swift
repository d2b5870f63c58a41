import TidingsModel

/// A provider token (JWT) taken apart: what it claims, and what a shell needs to verify its signature (APNs
/// reference, section 4).
///
/// Reading is lenient where the service is: standard base64 besides base64url, padding, `iat` as a numeric string or
/// a fraction, further members, and a signature in DER form are all in use by clients that work. `isStrict` refuses
/// them.
package struct ProviderToken: Hashable, Sendable {
    package var keyID: String
    package var teamID: String
    /// UNIX seconds.
    package var issuedAt: Int64
    /// The first two segments with the dot between them.
    package var signingInput: [UInt8]
    /// The signature as it came: 64 bytes r‖s, or DER.
    package var signature: [UInt8]

    package struct Fault: Error, Hashable, Sendable {
        package var description: String
    }

    /// Reads the value of the header `authorization`.
    ///
    /// - Parameters:
    ///   - authorization: `bearer` in any case, one space, the JWT.
    ///   - isStrict: accept only base64url without padding, a whole number as `iat`, and a signature of 64 bytes.
    /// - Throws: `Fault` saying which part is wrong.
    package init(authorization: String, isStrict: Bool) throws(Fault) {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Fault(description: "authorization is not \"bearer\" and a token")
        }
        let segments = parts[1].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3 else { throw Fault(description: "the token has \(segments.count) segments, not 3") }
        let header = try Self.object(segments[0], named: "header", isStrict: isStrict)
        let claims = try Self.object(segments[1], named: "claims", isStrict: isStrict)
        guard header["alg"]?.stringValue == "ES256" else { throw Fault(description: "alg is not ES256") }
        guard let keyID = header["kid"]?.stringValue, !keyID.isEmpty else {
            throw Fault(description: "kid is missing")
        }
        guard let teamID = claims["iss"]?.stringValue, !teamID.isEmpty else {
            throw Fault(description: "iss is missing")
        }
        guard let signature = Base64.decode(segments[2], isStrict: isStrict), signature.count >= 8 else {
            throw Fault(description: "the signature is not base64url")
        }
        guard !isStrict || signature.count == 64 else { throw Fault(description: "the signature is not 64 bytes") }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = try Self.seconds(claims["iat"], isStrict: isStrict)
        self.signingInput = Array(segments[0]) + [UInt8(ascii: ".")] + Array(segments[1])
        self.signature = signature
    }

    private static func object(
        _ segment: some Collection<UInt8>, named name: String, isStrict: Bool
    ) throws(Fault) -> JSONValue {
        guard let bytes = Base64.decode(segment, isStrict: isStrict) else {
            throw Fault(description: "the \(name) segment is not base64url")
        }
        guard let value = try? JSONValue(parsing: bytes, depthMax: 4), value.objectValue != nil else {
            throw Fault(description: "the \(name) segment is not a JSON object")
        }
        return value
    }

    private static func seconds(_ value: JSONValue?, isStrict: Bool) throws(Fault) -> Int64 {
        if let whole = value?.intValue { return whole }
        if !isStrict {
            if let text = value?.stringValue, let whole = Int64(text) { return whole }
            if case .number(let number)? = value, number.double.magnitude < 1e15 { return Int64(number.double) }
        }
        throw Fault(description: "iat is not a number of seconds")
    }
}

/// Signatures enter a core as checked facts.
package enum ProviderTokenFacts: Hashable, Sendable {
    case absent
    case unreadable(String)
    /// It was read. `text` is the whole header, to recognise the same token again; `signatureHolds` is false for an
    /// unknown key too.
    case read(keyID: String, teamID: String, issuedAt: Int64, signatureHolds: Bool, text: String)
}
