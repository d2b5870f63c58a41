import Crypto
import Foundation

/// Signs tokens with HS256, and checks them (RFC 7518 §3.2).
struct SharedKey: Sendable {
    private let key: SymmetricKey

    init(_ secret: String) { self.key = SymmetricKey(data: Data(secret.utf8)) }

    func signature(of bytes: some DataProtocol) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: self.key))
    }

    /// Takes as long for a wrong signature as for the right one.
    func hasMade(_ signature: [UInt8], of bytes: some DataProtocol) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: bytes, using: self.key)
    }
}
