import APNsCore
import Crypto
import Foundation

/// Verifies the signature of provider tokens and hands the result to the core as a fact (apns.md §4).
struct TokenVerifier: Sendable {
    let keyID: String
    let publicKey: P256.Signing.PublicKey
    let isStrict: Bool

    func facts(_ authorization: String?) -> ProviderTokenFacts {
        guard let authorization else { return .absent }
        let token: ProviderToken
        do {
            token = try ProviderToken(authorization: authorization, isStrict: self.isStrict)
        } catch {
            return .unreadable(error.description)
        }
        return .read(
            keyID: token.keyID, teamID: token.teamID, issuedAt: token.issuedAt,
            signatureHolds: token.keyID == self.keyID && self.holds(token), text: authorization)
    }

    private func holds(_ token: ProviderToken) -> Bool {
        let input = Data(token.signingInput)
        if token.signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            self.publicKey.isValidSignature(signature, for: input)
        {
            return true
        }
        guard !self.isStrict, let signature = try? P256.Signing.ECDSASignature(derRepresentation: token.signature)
        else { return false }
        return self.publicKey.isValidSignature(signature, for: input)
    }
}
