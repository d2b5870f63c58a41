import Foundation
import JWTKit
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import TidingsModel

/// The public keys of apps whose user tokens are signed with ES256 or RS256, each app's from a file or an address. They are looked at
/// again now and then, and when a token names a key that is not known: so that keys are changed without a restart. A look that
/// fails leaves the keys as they are.
final class TokenKeys: Sendable {
    /// What is known of a key.
    enum Answer {
        case found(any JWTAlgorithm)
        /// There is no such key.
        case none
        /// There was none at the last look, which is a while ago; another look is on its way.
        case lookedFor
    }

    private struct Entry {
        let source: ServerConfiguration.KeySource
        var keys: [TokenKey] = []
        /// When it was looked at last, by the monotonic clock.
        var lookedAt: NIODeadline?
        var isWanted = false
    }

    /// How soon after a look the next one may be caused by a token that names an unknown key: whoever sends such tokens must not
    /// decide how often.
    static let wantedAfter: TimeAmount = .seconds(10)

    private let entries: NIOLockedValueBox<[AppID: Entry]>

    init(apps: [ServerConfiguration.App]) {
        var entries: [AppID: Entry] = [:]
        for app in apps {
            if let source = app.tokens.keySource { entries[app.id] = Entry(source: source) }
        }
        self.entries = NIOLockedValueBox(entries)
    }

    /// Whether any app has public keys.
    var isEmpty: Bool { self.entries.withLockedValue { $0.isEmpty } }

    /// The key a token is signed with: that of its `kid`; without one the only one of the algorithm. From any thread.
    func key(for app: AppID, _ algorithm: TokenKey.Algorithm, _ id: String?, at now: NIODeadline = .now()) -> Answer {
        self.entries.withLockedValue { entries in
            guard let entry = entries[app] else { return .none }
            let fitting = entry.keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
            if let key = fitting.first { return fitting.count == 1 ? .found(key.verifier) : .none }
            if let lookedAt = entry.lookedAt, now < lookedAt + Self.wantedAfter { return .none }
            entries[app]?.isWanted = true
            return .lookedFor
        }
    }

    /// The apps whose keys are to be looked at: not looked at for so long, or wanted. Sorted.
    func due(every interval: TimeAmount, at now: NIODeadline = .now()) -> [AppID] {
        self.entries.withLockedValue { entries in
            entries.filter { _, entry in
                guard let lookedAt = entry.lookedAt else { return true }
                return entry.isWanted || now >= lookedAt + interval
            }.keys.sorted()
        }
    }

    /// Looks at the keys of an app.
    ///
    /// - Returns: whether they have changed in number or name.
    /// - Throws: `TokenKey.Fault` if they cannot be read; those there are stay.
    func look(_ app: AppID, group: any EventLoopGroup) async throws(TokenKey.Fault) -> Bool {
        guard let source = self.entries.withLockedValue({ $0[app]?.source }) else { return false }
        let result: Result<[TokenKey], TokenKey.Fault>
        do throws(TokenKey.Fault) {
            result = .success(try await TokenKey.set(try await Self.bytes(of: source, group: group)))
        } catch {
            result = .failure(error)
        }
        self.entries.withLockedValue { entries in
            entries[app]?.lookedAt = .now()
            entries[app]?.isWanted = false
        }
        let keys = try result.get()
        return self.entries.withLockedValue { entries in
            let before = entries[app]?.keys.map(\.id)
            entries[app]?.keys = keys
            return before != keys.map(\.id)
        }
    }

    private static func bytes(
        of source: ServerConfiguration.KeySource, group: any EventLoopGroup
    ) async throws(TokenKey.Fault) -> [UInt8] {
        switch source {
        case .file(let path):
            guard let file = FileHandle(forReadingAtPath: path) else {
                throw TokenKey.Fault(rule: "must name a readable file, got \"\(path)\"")
            }
            defer { try? file.close() }
            guard let data = try? file.read(upToCount: TokenKey.setBytesMax + 1) else {
                throw TokenKey.Fault(rule: "must name a file with keys, \"\(path)\" is empty or cannot be read")
            }
            return Array(data)
        case .address(let address, let trustRoots):
            do {
                return try await TokenKeyDownload(address, trustRootsPath: trustRoots, group: group).run()
            } catch {
                throw TokenKey.Fault(rule: "must name an address that gives a key set, \(address): \(error)")
            }
        }
    }

    /// The first look at all keys. A file must be there; an address may come later.
    ///
    /// - Throws: `ConfigurationFaults` with every file that cannot be used.
    func load(group: any EventLoopGroup, logger: Logger) async throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        for app in self.due(every: .zero) {
            do throws(TokenKey.Fault) {
                _ = try await self.look(app, group: group)
            } catch {
                if case .file? = self.entries.withLockedValue({ $0[app]?.source }) {
                    faults.append(
                        ConfigurationFault(
                            field: "app.\(app).token_jwks", rule: error.rule,
                            remedy: "give the path of a JSON web key set with public keys"))
                } else {
                    logger.log(.warning, "token keys cannot be read", [.app: app.rawValue, .reason: error.rule])
                }
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }
}

/// Looks at the apps' public keys while the server runs.
struct TokenKeyWatch: Service {
    let keys: TokenKeys
    let interval: TimeAmount
    let group: any EventLoopGroup
    let metrics: ServerMetrics
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for app in self.keys.due(every: self.interval) { await self.look(app) }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func look(_ app: AppID) async {
        do throws(TokenKey.Fault) {
            let isNew = try await self.keys.look(app, group: self.group)
            self.metrics.keysLookedAt(.read)
            if isNew { self.logger.log(.notice, "token keys have changed", [.app: app.rawValue]) }
        } catch {
            self.metrics.keysLookedAt(.failed)
            self.logger.log(.warning, "token keys cannot be read", [.app: app.rawValue, .reason: error.rule])
        }
    }
}
