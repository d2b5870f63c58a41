import JWTKit
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
    let algorithm: Algorithm
    let verifier: any JWTAlgorithm

    static let setBytesMax = 65_536
    static let countMax = 32
    /// In bits: no weaker (RFC 7518 §3.3), and none that takes long to check.
    private static let modulusBits = 2_048...8_192

    /// Keys for something else (`use`, `key_ops`, `alg`) or of an unknown kind are skipped (RFC 7517 §5).
    /// - Throws: if it is no key set, holds a private or a weak key, or none that can be used.
    static func set(_ bytes: some Collection<UInt8>) async throws(Fault) -> [TokenKey] {
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
            guard let key = try await Self.key(item, "keys[\(index)]") else { continue }
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

    private static func key(_ item: JSONValue, _ name: String) async throws(Fault) -> TokenKey? {
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
        let verifier: any JWTAlgorithm
        switch algorithm {
        case .es256: verifier = try await Self.curveKey(item, name)
        case .rs256: verifier = try await Self.modulusKey(item, name)
        }
        return TokenKey(id: item["kid"]?.stringValue, algorithm: algorithm, verifier: verifier)
    }

    private static func curveKey(_ item: JSONValue, _ name: String) async throws(Fault) -> any JWTAlgorithm {
        // RFC 7518 §6.2.1.2: as many bytes as the curve has.
        guard let x = item["x"]?.stringValue, let y = item["y"]?.stringValue,
            Base64.decode(x.utf8, isStrict: true)?.count == 32, Base64.decode(y.utf8, isStrict: true)?.count == 32
        else {
            throw Fault(rule: "must give x and y of a key on P-256 as 32 bytes each, in base64url; \(name) does not")
        }
        do {
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: try ES256PublicKey(parameters: (x, y)))
            return try await keys.getKey()
        } catch {
            throw Fault(rule: "must hold points on P-256, \(name) is none")
        }
    }

    private static func modulusKey(_ item: JSONValue, _ name: String) async throws(Fault) -> any JWTAlgorithm {
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
            let keys = JWTKeyCollection()
            await keys.add(rsa: try Insecure.RSA.PublicKey(modulus: n, exponent: e), digestAlgorithm: .sha256)
            return try await keys.getKey()
        } catch {
            throw Fault(rule: "must hold RSA keys that can be used, \(name) cannot")
        }
    }
}
