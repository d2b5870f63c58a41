import APNsCore
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import TidingsModel

extension TLSAlert {
    private static let fatal: UInt8 = 2

    /// The record as it goes over the wire before anything is encrypted (RFC 5246, section 7.2).
    var plainRecord: [UInt8] { [0x15, 3, 3, 0, 2, Self.fatal, self.code] }

    /// The record as the first one under a TLS 1.3 traffic secret (RFC 8446, section 5.2); nil for an unknown cipher
    /// suite.
    func record(secret: [UInt8], cipherSuite: UInt16) -> [UInt8]? {
        // The content, then its type: an alert.
        let inner: [UInt8] = [Self.fatal, self.code, 0x15]
        let head: [UInt8] = [0x17, 3, 3, 0, UInt8(inner.count + 16)]
        func sealed<Hash: HashFunction>(
            _ hash: Hash.Type, keyBytes: Int, _ seal: (SymmetricKey, [UInt8]) throws -> [UInt8]
        ) -> [UInt8]? {
            let key = Self.expand(secret, "key", keyBytes, hash)
            // The record's number is 0, so the nonce is the vector itself.
            let vector = Self.expand(secret, "iv", 12, hash)
            return (try? seal(SymmetricKey(data: key), vector)).map { head + $0 }
        }
        func gcm(_ key: SymmetricKey, _ vector: [UInt8]) throws -> [UInt8] {
            let box = try AES.GCM.seal(inner, using: key, nonce: AES.GCM.Nonce(data: vector), authenticating: head)
            return Array(box.ciphertext + box.tag)
        }
        switch cipherSuite {
        case 0x1301: return sealed(SHA256.self, keyBytes: 16, gcm)
        case 0x1302: return sealed(SHA384.self, keyBytes: 32, gcm)
        case 0x1303:
            return sealed(SHA256.self, keyBytes: 32) { key, vector in
                let nonce = try ChaChaPoly.Nonce(data: vector)
                let box = try ChaChaPoly.seal(inner, using: key, nonce: nonce, authenticating: head)
                return Array(box.ciphertext + box.tag)
            }
        default: return nil
        }
    }

    /// HKDF-Expand-Label with an empty context (RFC 8446, section 7.1).
    private static func expand<Hash: HashFunction>(
        _ secret: [UInt8], _ label: String, _ count: Int, _ hash: Hash.Type
    ) -> [UInt8] {
        let name = Array("tls13 \(label)".utf8)
        let info = [UInt8(count >> 8), UInt8(count & 255), UInt8(name.count)] + name + [0]
        let key = HKDF<Hash>.expand(pseudoRandomKey: secret, info: info, outputByteCount: count)
        return key.withUnsafeBytes { Array($0) }
    }
}

/// The traffic secrets of handshakes under way, which the TLS library tells in the lines of a key log. They are kept in
/// memory until the handshake is over, for the one alert it cannot send.
final class TrafficSecrets: Sendable {
    private let held = NIOLockedValueBox<[[UInt8]: [UInt8]]>([:])

    /// Takes a line: a label, the client's random number, the secret, both in hexadecimal (RFC 9850, section 2).
    func recordSecret(_ line: ByteBuffer) {
        let words = line.readableBytesView.split { $0 == 0x20 || $0 == 0x0a }
        guard words.count == 3, words[0].elementsEqual("SERVER_TRAFFIC_SECRET_0".utf8),
            let random = Hexadecimal.bytes(words[1]), let secret = Hexadecimal.bytes(words[2])
        else { return }
        self.held.withLockedValue { $0[random] = secret }
    }

    func secret(of random: ArraySlice<UInt8>) -> [UInt8]? { self.held.withLockedValue { $0[Array(random)] } }
    func forget(_ random: ArraySlice<UInt8>) { self.held.withLockedValue { $0[Array(random)] = nil } }
}
