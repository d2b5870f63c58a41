import APNsCore
import Crypto
import Foundation

/// Verifies the signature of provider tokens and hands the result to the core as a fact (APNs reference, section 4).
struct TokenVerifier: Sendable {
    typealias Key = P256.Signing.PublicKey

    var keys: [String: Key]
    let isStrict: Bool

    func facts(_ authorization: String) -> ProviderTokenFacts {
        let token: ProviderToken
        do {
            token = try ProviderToken(authorization: authorization, isStrict: self.isStrict)
        } catch {
            return .unreadable(error.description)
        }
        return .read(
            keyID: token.keyID, teamID: token.teamID, issuedAt: token.issuedAt,
            signatureHolds: self.keys[token.keyID].map { self.holds(token, $0) } ?? false, text: authorization)
    }

    private func holds(_ token: ProviderToken, _ key: Key) -> Bool {
        let input = Data(token.signingInput)
        if token.signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.isValidSignature(signature, for: input)
        {
            return true
        }
        guard !self.isStrict, let signature = try? P256.Signing.ECDSASignature(derRepresentation: token.signature)
        else { return false }
        return key.isValidSignature(signature, for: input)
    }
}
