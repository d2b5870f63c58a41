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
        case found(TokenKey.Verifier)
        case none
        /// There was none at the last read, which is a while ago, or nothing was read: another read is on its way.
        case pending
    }

    private struct Entry {
        let source: AppSettings.KeySource
        var keys: [TokenKey] = []
        /// By the monotonic clock.
        var readAt: NIODeadline?
        /// The last read has given them.
        var isSure = false
        var isWanted = false
        var isBeingRead = false
    }

    /// Gives the bytes of a key set.
    typealias Read = @Sendable (AppSettings.KeySource, AppID) async throws(TokenKey.Fault) -> [UInt8]

    /// How soon a token with an unknown key may cause another read: clients must not decide how often keys are read.
    static let rereadAfter: TimeAmount = .seconds(10)
    /// How many are read at the same time.
    static let readsMax = 16

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
            let mayBeRead = entry.readAt.map { now >= $0 + Self.rereadAfter } ?? true
            if mayBeRead { entries[app]?.isWanted = true }
            return mayBeRead || !entry.isSure ? .pending : .none
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

    /// The next app whose keys are to be read, by `refresh`: the one that has waited longest. Of a host one is read at a time, so that one which
    /// does not answer keeps none but its own waiting. Nil while there is none, or enough are being read.
    func takeDue(every interval: TimeAmount, at now: NIODeadline = .now()) -> AppID? {
        let due = self.due(every: interval, at: now)
        return self.entries.withLockedValue { entries in
            let busy = entries.values.filter(\.isBeingRead)
            guard busy.count < Self.readsMax else { return nil }
            let hosts = Set(busy.map { Self.host(of: $0.source) })
            let free = due.filter { app in entries[app].map { !hosts.contains(Self.host(of: $0.source)) } ?? false }
            // The first of those that were never read, by name.
            let next = free.min { (entries[$0]?.readAt ?? .distantPast) < (entries[$1]?.readAt ?? .distantPast) }
            if let next { entries[next]?.isBeingRead = true }
            return next
        }
    }

    /// Empty for files.
    private static func host(of source: AppSettings.KeySource) -> String {
        guard case .address(let address, _) = source else { return "" }
        return TokenKeyDownload.address(address)?.host.lowercased() ?? address
    }

    /// - Returns: whether the keys have changed in number or name.
    /// - Throws: if they cannot be read; the known ones stay.
    func refresh(_ app: AppID, by read: Read) async throws(TokenKey.Fault) -> Bool {
        guard let source = self.entries.withLockedValue({ $0[app]?.source }) else { return false }
        let result: Result<[TokenKey], TokenKey.Fault>
        do throws(TokenKey.Fault) {
            result = .success(try TokenKey.set(try await read(source, app)))
        } catch {
            result = .failure(error)
        }
        let isNew = self.entries.withLockedValue { entries in
            // Another place was named meanwhile.
            guard var entry = entries[app], entry.source == source else { return false }
            let before = entry.keys.map(\.id)
            (entry.readAt, entry.isWanted, entry.isBeingRead, entry.isSure) = (.now(), false, false, false)
            if case .success(let keys) = result { (entry.keys, entry.isSure) = (keys, true) }
            entries[app] = entry
            return before != entry.keys.map(\.id)
        }
        _ = try result.get()
        return isNew
    }

    /// Reads the keys of files for the first time. Those of addresses are read by `TokenKeyWatch`: nobody waits for them.
    /// - Throws: every file that cannot be used, which only the configuration can have named.
    func loadFiles(by read: Read) async throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        for app in self.due(every: .zero) {
            guard case .file? = self.entries.withLockedValue({ $0[app]?.source }) else { continue }
            do throws(TokenKey.Fault) {
                _ = try await self.refresh(app, by: read)
            } catch {
                faults.append(
                    field: "app.\(app).token_jwks", rule: error.rule,
                    remedy: "give the path of a JSON web key set with public keys")
            }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    }
}

/// Has key sets read when they are due, side by side.
struct TokenKeyWatch: Service {
    let keys: TokenKeys
    let interval: TimeAmount
    let read: TokenKeys.Read
    let metrics: ServerMetrics
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { reads in
                while !Task.isCancelled {
                    self.begin(&reads)
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    /// Begins what is due; what is due when one has ended follows it at once.
    func begin(_ reads: inout DiscardingTaskGroup) {
        while let app = self.keys.takeDue(every: self.interval) {
            reads.addTask {
                var next: AppID? = app
                while let app = next {
                    await self.refresh(app)
                    next = Task.isCancelled ? nil : self.keys.takeDue(every: self.interval)
                }
            }
        }
    }

    private func refresh(_ app: AppID) async {
        do throws(TokenKey.Fault) {
            let isNew = try await self.keys.refresh(app, by: self.read)
            self.metrics.countKeyRefresh(.read)
            if isNew { self.logger.log(.notice, "token keys have changed", [.app: app.rawValue]) }
        } catch {
            // The server stops.
            guard !Task.isCancelled else { return }
            self.metrics.countKeyRefresh(.failed)
            self.logger.log(.warning, "token keys cannot be read", [.app: app.rawValue, .reason: error.rule])
        }
    }
}
