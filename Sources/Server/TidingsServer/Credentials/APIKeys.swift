import Crypto
import Foundation
import TidingsModel

struct APIKeys: Sendable {
    enum Access: Equatable, Sendable {
        /// The name is for logs.
        case granted(name: String)
        /// Also if the app is unknown; which of the two is not told.
        case unknownKey
        case missingScope(name: String)
    }

    private struct Key: Sendable {
        var name: String
        var hash: [UInt8]
        var scopes: [APIScope]
    }

    private let keys: [AppID: [Key]]

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

    /// Constant time: all keys of the app are compared, and each comparison takes as long as any other.
    func access(app: AppID, key: String, scope: APIScope) -> Access {
        let hash = SHA256.hash(data: Data(key.utf8))
        var found: Key?
        // Comparing a digest is swift-crypto's constant-time comparison.
        for candidate in self.keys[app] ?? [] where hash == candidate.hash { found = candidate }
        guard let found else { return .unknownKey }
        return found.scopes.contains(scope) ? .granted(name: found.name) : .missingScope(name: found.name)
    }
}
