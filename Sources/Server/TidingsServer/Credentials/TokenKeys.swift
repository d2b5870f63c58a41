import Foundation
import JWTKit
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import StoreModel
import TidingsModel

/// The public keys of apps whose user tokens are signed with ES256 or RS256, each app's from a file or an address. They are read
/// again at intervals, and when a token names an unknown key, so that keys are changed without a restart. A failed read leaves the
/// keys as they are.
final class TokenKeys: Sendable {
    enum Answer {
        case found(any JWTAlgorithm)
        case none
        /// There was none at the last read, which is a while ago; another one is on its way.
        case pending
    }

    private struct Entry {
        let source: AppSettings.KeySource
        var keys: [TokenKey] = []
        /// By the monotonic clock.
        var readAt: NIODeadline?
        var isWanted = false
    }

    /// How soon a token with an unknown key may cause another read: clients must not decide how often keys are read.
    static let rereadAfter: TimeAmount = .seconds(10)

    private let registry: AppRegistry
    private let entries = NIOLockedValueBox<[AppID: Entry]>([:])

    /// The apps of the registry have the keys.
    init(_ registry: AppRegistry) { self.registry = registry }

    /// The key named by `kid`; without one the only one of the algorithm. From any thread.
    /// - Parameter source: where the app's keys are by now.
    func key(
        for app: AppID, at source: AppSettings.KeySource, _ algorithm: TokenKey.Algorithm, _ id: String?,
        now: NIODeadline = .now()
    ) -> Answer {
        self.entries.withLockedValue { entries in
            guard let entry = entries[app], entry.source == source else {
                entries[app] = Entry(source: source, isWanted: true)
                return .pending
            }
            let fitting = entry.keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == id) }
            if let key = fitting.first { return fitting.count == 1 ? .found(key.verifier) : .none }
            if let readAt = entry.readAt, now < readAt + Self.rereadAfter { return .none }
            entries[app]?.isWanted = true
            return .pending
        }
    }

    /// The apps whose keys are to be read again, sorted.
    func due(every interval: TimeAmount, at now: NIODeadline = .now()) -> [AppID] {
        let sources = self.registry.keySources
        return self.entries.withLockedValue { entries in
            entries = entries.filter { app, entry in sources[app] == entry.source }
            for (app, source) in sources where entries[app] == nil { entries[app] = Entry(source: source) }
            return entries.filter { _, entry in
                guard let readAt = entry.readAt else { return true }
                return entry.isWanted || now >= readAt + interval
            }.keys.sorted()
        }
    }

    /// - Returns: whether the keys have changed in number or name.
    /// - Throws: if they cannot be read; the known ones stay.
    func refresh(_ app: AppID, group: any EventLoopGroup) async throws(TokenKey.Fault) -> Bool {
        guard let source = self.entries.withLockedValue({ $0[app]?.source }) else { return false }
        let result: Result<[TokenKey], TokenKey.Fault>
        do throws(TokenKey.Fault) {
            result = .success(try await TokenKey.set(try await Self.bytes(of: source, group: group)))
        } catch {
            result = .failure(error)
        }
        self.entries.withLockedValue { entries in
            guard entries[app]?.source == source else { return }
            entries[app]?.readAt = .now()
            entries[app]?.isWanted = false
        }
        let keys = try result.get()
        return self.entries.withLockedValue { entries in
            // Another place was named meanwhile.
            guard entries[app]?.source == source else { return false }
            let before = entries[app]?.keys.map(\.id)
            entries[app]?.keys = keys
            return before != keys.map(\.id)
        }
    }

    private static func bytes(
        of source: AppSettings.KeySource, group: any EventLoopGroup
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

    /// Reads all keys for the first time. A file must exist; an address may answer later.
    /// - Throws: every file that cannot be used, which only the configuration can have named.
    func load(group: any EventLoopGroup, logger: Logger) async throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        for app in self.due(every: .zero) {
            do throws(TokenKey.Fault) {
                _ = try await self.refresh(app, group: group)
            } catch {
                if case .file? = self.entries.withLockedValue({ $0[app]?.source }) {
                    faults.append(
                        field: "app.\(app).token_jwks", rule: error.rule,
                        remedy: "give the path of a JSON web key set with public keys")
                } else {
                    logger.log(.warning, "token keys cannot be read", [.app: app.rawValue, .reason: error.rule])
                }
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }
}

struct TokenKeyWatch: Service {
    let keys: TokenKeys
    let interval: TimeAmount
    let group: any EventLoopGroup
    let metrics: ServerMetrics
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for app in self.keys.due(every: self.interval) { await self.refresh(app) }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func refresh(_ app: AppID) async {
        do throws(TokenKey.Fault) {
            let isNew = try await self.keys.refresh(app, group: self.group)
            self.metrics.countKeyRefresh(.read)
            if isNew { self.logger.log(.notice, "token keys have changed", [.app: app.rawValue]) }
        } catch {
            self.metrics.countKeyRefresh(.failed)
            self.logger.log(.warning, "token keys cannot be read", [.app: app.rawValue, .reason: error.rule])
        }
    }
}
