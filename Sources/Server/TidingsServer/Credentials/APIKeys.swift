import Crypto
import Foundation
import TidingsModel

/// Checks the keys of the HTTP API against their hashes.
struct APIKeys: Sendable {
    /// What a key may do.
    enum Access: Equatable, Sendable {
        /// The key is one of the app's and has the scope. Its name is for logs.
        case granted(name: String)
        /// The key is none of the app's, or the app is unknown; which of the two is not told.
        case unknownKey
        /// The key is one of the app's, but lacks the scope. Its name is for logs.
        case missingScope(name: String)
    }

    private struct Key: Sendable {
        var name: String
        var hash: [UInt8]
        var scopes: [APIScope]
    }

    private let keys: [AppID: [Key]]

    /// Takes the hashes of all apps.
    init(apps: [ServerConfiguration.App]) {
        self.keys = Dictionary(
            apps.map { app in
                (
                    app.id,
                    app.apiKeys.map {
                        Key(name: $0.id, hash: Hexadecimal.bytes($0.sha256.utf8) ?? [], scopes: $0.scopes)
                    }
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Looks a key up in constant time: all keys of the app are compared, and each comparison takes as long as any other.
    func access(app: AppID, key: String, scope: APIScope) -> Access {
        let hash = SHA256.hash(data: Data(key.utf8))
        var found: Key?
        // Comparing a digest is swift-crypto's constant-time comparison.
        for candidate in self.keys[app] ?? [] where hash == candidate.hash { found = candidate }
        guard let found else { return .unknownKey }
        return found.scopes.contains(scope) ? .granted(name: found.name) : .missingScope(name: found.name)
    }
}
