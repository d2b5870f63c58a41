import Crypto
import CryptoExtras
import Foundation
import TidingsModel

/// A public key that user tokens are signed with, from a JSON web key set (RFC 7517).
struct TokenKey: Sendable {
    /// RFC 7518 §3.1.
    enum Algorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    struct Fault: Error, Equatable, CustomStringConvertible {
        /// In words that follow the set's name.
        var rule: String
        var description: String { self.rule }
    }

    /// The header's `kid` of the tokens it signs.
    let id: String?
    let verifier: Verifier
    var algorithm: Algorithm { self.verifier.algorithm }

    /// Checks signatures (RFC 7518 §3.3, §3.4).
    enum Verifier: Sendable {
        case es256(P256.Signing.PublicKey)
        case rs256(_RSA.Signing.PublicKey)

        var algorithm: Algorithm {
            switch self {
            case .es256: .es256
            case .rs256: .rs256
            }
        }

        func isSignature(_ signature: [UInt8], of bytes: some DataProtocol) -> Bool {
            switch self {
            case .es256(let key):
                guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                    return false
                }
                return key.isValidSignature(signature, for: bytes)
            case .rs256(let key):
                return key.isValidSignature(
                    .init(rawRepresentation: signature), for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            }
        }
    }

    static let setBytesMax = 65_536
    static let countMax = 32
    /// In bits: no weaker (RFC 7518 §3.3), and none that takes long to check.
    private static let modulusBits = 2_048...8_192

    /// Keys for something else (`use`, `key_ops`, `alg`) or of an unknown kind are skipped (RFC 7517 §5).
    /// - Throws: if it is no key set, holds a private or a weak key, or none that can be used.
    static func set(_ bytes: some Collection<UInt8>) throws(Fault) -> [TokenKey] {
        guard bytes.count <= Self.setBytesMax else {
            throw Fault(rule: "must be at most \(Self.setBytesMax) bytes, got \(bytes.count)")
        }
        let text: String
        do throws(InvalidField) {
            text = try FileText.read(bytes, field: "set")
        } catch {
            throw Fault(rule: error.rule)
        }
        guard let list = (try? JSONValue(parsing: text))?["keys"]?.arrayValue else {
            throw Fault(rule: "must be a JSON object with a list \"keys\" (RFC 7517)")
        }
        var keys: [TokenKey] = []
        for (index, item) in list.enumerated() {
            guard let key = try Self.key(item, "keys[\(index)]") else { continue }
            guard !keys.contains(where: { $0.id == key.id && $0.algorithm == key.algorithm }) else {
                throw Fault(rule: "must give each key of one algorithm its own \"kid\", keys[\(index)] repeats one")
            }
            keys.append(key)
        }
        guard (1...Self.countMax).contains(keys.count) else {
            throw Fault(
                rule: "must hold 1 to \(Self.countMax) public keys for ES256 or RS256, got \(keys.count)")
        }
        return keys
    }

    private static func key(_ item: JSONValue, _ name: String) throws(Fault) -> TokenKey? {
        guard item["d"] == nil, item["k"] == nil else {
            throw Fault(rule: "must hold public keys only, \(name) is a private or secret one")
        }
        if let use = item["use"], use != "sig" { return nil }
        if let uses = item["key_ops"]?.arrayValue, !uses.contains("verify") { return nil }
        let algorithm: Algorithm
        switch item["kty"]?.stringValue {
        case "EC" where item["crv"] == "P-256": algorithm = .es256
        case "RSA": algorithm = .rs256
        default: return nil
        }
        if let said = item["alg"], said != .string(algorithm.rawValue) { return nil }
        let verifier: Verifier =
            switch algorithm {
            case .es256: .es256(try Self.curveKey(item, name))
            case .rs256: .rs256(try Self.modulusKey(item, name))
            }
        return TokenKey(id: item["kid"]?.stringValue, verifier: verifier)
    }

    private static func curveKey(_ item: JSONValue, _ name: String) throws(Fault) -> P256.Signing.PublicKey {
        // RFC 7518 §6.2.1.2: as many bytes as the curve has.
        let point = ["x", "y"].compactMap { item[$0]?.stringValue }.compactMap {
            Base64.decode($0.utf8, isStrict: true)
        }
        guard point.map(\.count) == [32, 32] else {
            throw Fault(rule: "must give x and y of a key on P-256 as 32 bytes each, in base64url; \(name) does not")
        }
        do {
            return try P256.Signing.PublicKey(rawRepresentation: point.flatMap(\.self))
        } catch {
            throw Fault(rule: "must hold points on P-256, \(name) is none")
        }
    }

    private static func modulusKey(_ item: JSONValue, _ name: String) throws(Fault) -> _RSA.Signing.PublicKey {
        guard let n = item["n"]?.stringValue, let e = item["e"]?.stringValue,
            let modulus = Base64.decode(n.utf8, isStrict: true)?.drop(while: { $0 == 0 }), let first = modulus.first,
            let exponent = Base64.decode(e.utf8, isStrict: true), (1...8).contains(exponent.count)
        else { throw Fault(rule: "must give n and e of an RSA key in base64url; \(name) does not") }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard Self.modulusBits.contains(bits) else {
            throw Fault(
                rule:
                    "must hold RSA keys of \(Self.modulusBits.lowerBound) to \(Self.modulusBits.upperBound) bits, \(name) has \(bits)"
            )
        }
        do {
            return try _RSA.Signing.PublicKey(n: Data(modulus), e: Data(exponent))
        } catch {
            throw Fault(rule: "must hold RSA keys that can be used, \(name) cannot")
        }
    }
}
