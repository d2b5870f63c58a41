import Crypto
import Foundation
import HTTPTypes
import StoreModel
import TidingsModel

/// Whose key a request has, and whether that opens what it asks for.
struct APIKeys: Sendable {
    enum Access: Equatable, Sendable {
        case granted(Caller)
        /// The key is good, and does not open this.
        case refused(Caller, Refusal)
        /// Also if the app is unknown; which of the two only an operator is told.
        case unknownKey
        case unknownApp
    }

    /// By name, for logs.
    enum Caller: Equatable, Sendable {
        case key(String)
        case ofOperator(String)
    }

    enum Refusal: Equatable, Sendable {
        case missingScope(APIScope)
        case missingRole(OperatorRole)
        case suspended
    }

    enum Kind: String {
        case ofApp = "an API key"
        case ofClient = "a client key"
        case ofOperator = "an operator's key"
    }

    /// How keys begin that the server has drawn, so that one that leaked can be found.
    static let prefix = "tk_"
    static let operatorPrefix = "to_"

    let registry: AppRegistry

    init(_ registry: AppRegistry) { self.registry = registry }

    /// Constant time: all keys of the app are compared, and each comparison takes as long as any other.
    /// - Parameter role: what an operator has to be, if not what scope and method say.
    func access(
        app id: AppID, key: String, scope: APIScope, method: HTTPRequest.Method = .get, role: OperatorRole? = nil,
        at now: Int64 = Clocks.now().wall
    ) -> Access {
        let hash = SHA256.hash(data: Data(key.utf8))
        let app = self.registry.app(id)
        var found: APIKeyRecord?
        for candidate in app?.record.apiKeys ?? [] where candidate.hashes.match(hash, at: now) { found = candidate }
        guard let found else { return self.operatorAccess(app, key, hash, scope, method, role, at: now) }
        self.registry.noteUse(of: .api(id, name: found.name), at: now)
        let caller = Caller.key(found.name)
        guard app?.record.isSuspended == false else { return .refused(caller, .suspended) }
        return found.scopes.contains(scope.rawValue) ? .granted(caller) : .refused(caller, .missingScope(scope))
    }

    private func operatorAccess(
        _ app: AppRegistry.App?, _ key: String, _ hash: SHA256.Digest, _ scope: APIScope, _ method: HTTPRequest.Method,
        _ role: OperatorRole?, at now: Int64
    ) -> Access {
        guard let record = self.operatorRecord(key, hash, at: now) else { return .unknownKey }
        return Self.access(app, record, role ?? scope.role(for: method), method)
    }

    /// Returns the access of an operator who is signed in to the console.
    func access(
        app id: AppID, _ record: OperatorRecord, scope: APIScope, method: HTTPRequest.Method, role: OperatorRole? = nil
    ) -> Access {
        Self.access(self.registry.app(id), record, role ?? scope.role(for: method), method)
    }

    private static func access(
        _ app: AppRegistry.App?, _ record: OperatorRecord, _ needed: OperatorRole, _ method: HTTPRequest.Method
    ) -> Access {
        guard let app else { return .unknownApp }
        let caller = Caller.ofOperator(record.name)
        guard record.role >= needed else { return .refused(caller, .missingRole(needed)) }
        // Operators look at it and clear up; nobody writes in it.
        guard !app.record.isSuspended || needed != .send || method != .post else { return .refused(caller, .suspended) }
        return .granted(caller)
    }

    /// Whose key it is; nil if it is no operator's.
    func operatorRecord(key: String, at now: Int64 = Clocks.now().wall) -> OperatorRecord? {
        self.operatorRecord(key, SHA256.hash(data: Data(key.utf8)), at: now)
    }

    private func operatorRecord(_ key: String, _ hash: SHA256.Digest, at now: Int64) -> OperatorRecord? {
        // All of them are drawn here: other keys need not be held against each.
        guard key.hasPrefix(Self.operatorPrefix) else { return nil }
        let found = self.registry.operatorRecord { $0.hashes.match(hash, at: now) }
        if let found { self.registry.noteUse(of: .ofOperator(name: found.name), at: now) }
        return found
    }

    /// Returns the kind of a key that is good somewhere, and its app, to tell its holder why it opens nothing here. Not looked for among keys of
    /// the kind that is `needed`.
    func kind(of key: String, but needed: Kind, at now: Int64 = Clocks.now().wall) -> (kind: Kind, app: AppID?)? {
        if needed != .ofClient, let app = self.registry.app(ofClientKey: key) { return (.ofClient, app.record.id) }
        let hash = SHA256.hash(data: Data(key.utf8))
        // Its use is not noted: it opens nothing.
        if needed != .ofOperator, key.hasPrefix(Self.operatorPrefix),
            self.registry.operatorRecord(where: { $0.hashes.match(hash, at: now) }) != nil
        {
            return (.ofOperator, nil)
        }
        guard needed != .ofApp else { return nil }
        for app in self.registry.apps where app.apiKeys.contains(where: { $0.hashes.match(hash, at: now) }) {
            return (.ofApp, app.id)
        }
        return nil
    }

    /// A new key, and what is kept of it.
    static func draw(_ prefix: String) -> (key: String, hash: [UInt8]) {
        let key = prefix + Base64.encode(Self.drawBytes(), .url)
        return (key, Self.hash(of: key))
    }

    static func drawBytes() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }

    static func hash(of key: String) -> [UInt8] { Array(SHA256.hash(data: Data(key.utf8))) }
}

extension APIKeys.Refusal {
    var problem: APIProblem {
        switch self {
        case .missingScope(let scope):
            APIProblem(
                .missingScope, field: "Authorization", rule: "needs a key with the scope \(scope.rawValue)")
        case .missingRole(let role):
            APIProblem(
                .missingRole, field: "Authorization",
                rule: "needs the key of an operator with the role \(role.rawValue)")
        case .suspended:
            APIProblem(.appSuspended, field: "app", rule: "must not be suspended: an operator may resume it")
        }
    }
}

extension APIScope {
    /// Returns the role that an operator needs to do with their own key what a backend does with a key of this scope.
    func role(for method: HTTPRequest.Method) -> OperatorRole {
        let isReading = method == .get || method == .head
        return switch self {
        case .conversations, .settings, .trace, .accounts: isReading ? .view : .administer
        case .history: .content
        case .media: isReading ? .content : .administer
        case .messages: method == .post ? .send : .administer
        case .tokens: .administer
        }
    }
}

extension KeyHashes {
    /// Comparing a digest is swift-crypto's constant-time comparison.
    fileprivate func match(_ digest: SHA256.Digest, at now: Int64) -> Bool {
        let isCurrent = digest == self.current
        guard let previous = self.previous, now < previous.endsAt else { return isCurrent }
        let isPrevious = digest == previous.hash
        return isCurrent || isPrevious
    }
}
