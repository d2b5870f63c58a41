import Crypto
import Foundation
import StoreModel
import TidingsModel

/// The keys under which secrets are sealed in the store, of which a copy of the database alone has none
/// (docs/inside/decisions/0043-apps-at-run-time.md): AES-256 in Galois/counter mode. What is sealed opens in its own place only.
struct MasterKeys: Sendable {
    struct Fault: Error, Equatable, CustomStringConvertible {
        /// In words that follow the name of what the keys came from.
        var rule: String
        var description: String { self.rule }
    }

    private struct Key {
        var id: String
        var key: SymmetricKey
    }

    /// The first one seals, the others only open.
    private let keys: [Key]

    static let bytes = 32
    static let countMax = 16
    static let idBytesMax = 32

    /// - Parameter text: a key a line, or with semicolons between: its id, a space, and 32 bytes in Base64.
    init(parsing text: String) throws(Fault) {
        var keys: [Key] = []
        for line in text.split(whereSeparator: { $0.isNewline || $0 == ";" }) {
            let words = line.split(separator: " ")
            guard !words.isEmpty else { continue }
            guard words.count == 2, Self.isID(words[0]), let bytes = Data(base64Encoded: String(words[1])),
                bytes.count == Self.bytes
            else {
                throw Fault(rule: "must hold in each line an id, a space and \(Self.bytes) bytes in Base64")
            }
            let id = String(words[0])
            guard !keys.contains(where: { $0.id == id }) else { throw Fault(rule: "must not name \"\(id)\" twice") }
            keys.append(Key(id: id, key: SymmetricKey(data: bytes)))
        }
        guard (1...Self.countMax).contains(keys.count) else {
            throw Fault(rule: "must hold 1 to \(Self.countMax) keys, got \(keys.count)")
        }
        self.keys = keys
    }

    private init(_ keys: [Key]) { self.keys = keys }

    /// Makes keys of this process alone.
    static func drawn() -> MasterKeys { MasterKeys([Key(id: "process", key: SymmetricKey(size: .bits256))]) }

    /// A new key as a line.
    static func drawLine(id: String) -> String {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
        return "\(id) \(key)\n"
    }

    private static func isID(_ text: Substring) -> Bool {
        (1...Self.idBytesMax).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// That of the key which seals.
    var sealingKeyID: String { self.keys[0].id }

    // MARK: - Sealing

    /// The kind of sealed content, as a part of its place: nothing opens as something else.
    enum Kind: String {
        case tokenSecret = "token_secret"
        case pushCredential = "push_credential"
        case installationSecret = "installation_secret"
        case webhookSecret = "webhook_secret"

        fileprivate var words: String {
            switch self {
            case .tokenSecret: "token secret"
            case .pushCredential: "push credential"
            case .installationSecret: "secret of anonymous people"
            case .webhookSecret: "secret of the webhook"
            }
        }
    }

    /// - Throws: nothing by the documentation of AES-GCM, for a key of 32 bytes.
    func seal(_ secret: String, _ kind: Kind = .tokenSecret, of app: AppID, id: String) throws -> SealedBytes {
        let box = try AES.GCM.seal(
            Data(secret.utf8), using: self.keys[0].key, authenticating: Self.place(of: id, kind, in: app))
        return SealedBytes(keyID: self.keys[0].id, bytes: Array(box.nonce) + Array(box.ciphertext) + Array(box.tag))
    }

    func unseal(
        _ sealed: SealedBytes, _ kind: Kind = .tokenSecret, of app: AppID, id: String
    ) throws(Fault) -> String {
        guard let key = self.keys.first(where: { $0.id == sealed.keyID }) else {
            throw Fault(
                rule:
                    "must hold the key \"\(sealed.keyID)\", under which the \(kind.words) \"\(id)\" of \"\(app)\" is kept"
            )
        }
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed.bytes)),
            let bytes = try? AES.GCM.open(box, using: key.key, authenticating: Self.place(of: id, kind, in: app)),
            let secret = String(validating: bytes, as: UTF8.self)
        else {
            throw Fault(
                rule:
                    "must hold another key \"\(sealed.keyID)\": with this one the \(kind.words) \"\(id)\" of \"\(app)\" cannot be opened"
            )
        }
        return secret
    }

    private static func place(of id: String, _ kind: Kind, in app: AppID) -> [UInt8] {
        let place: JSONValue = [.string(kind.rawValue), .string(app.rawValue), .string(id)]
        return place.serialized
    }

    // MARK: - Digests

    /// A digest of something that may hold secrets: without the key nobody can try what it is the digest of.
    func digest(of bytes: [UInt8]) -> [UInt8] { Self.digest(of: bytes, self.keys[0].key) }

    /// Returns true if it is a digest under any of the keys.
    func isDigest(_ digest: [UInt8], of bytes: [UInt8]) -> Bool {
        self.keys.contains { Self.digest(of: bytes, $0.key) == digest }
    }

    /// Returns true if it is a digest under a key that seals no more.
    func isOldDigest(_ digest: [UInt8], of bytes: [UInt8]) -> Bool {
        digest != self.digest(of: bytes) && self.isDigest(digest, of: bytes)
    }

    private static func digest(of bytes: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        // A key for one purpose is used for no other.
        let own = HMAC<SHA256>.authenticationCode(for: Data("digest of a section".utf8), using: key)
        return Array(HMAC<SHA256>.authenticationCode(for: Data(bytes), using: SymmetricKey(data: Data(own))))
    }
}
