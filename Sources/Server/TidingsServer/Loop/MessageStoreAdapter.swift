import Logging
import MessageStore
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

/// The loop's view of a store: `MessageStore`, or a test's own.
protocol BatchStore: Sendable {
    /// Carries the commands out in order. `completion` is called once, on any thread, with one result per command, after the sync.
    func submit(_ commands: [StoreCommand], completion: @escaping @Sendable ([StoreResult]) -> Void)
}

extension BatchStore {
    /// Carries one command out.
    func carryOut(_ command: StoreCommand) async -> StoreResult {
        await withCheckedContinuation { continuation in
            self.submit([command]) { continuation.resume(returning: $0.first ?? .failed("it gave no result")) }
        }
    }
}

struct MessageStoreAdapter: BatchStore {
    private let store: MessageStore

    /// The schema of the databases that this build writes.
    static var schema: Int { MessageStore.schema }

    var opening: StoreOpening { self.store.opening }

    /// - Throws: `ConfigurationFaults` naming `store.path`.
    init(_ server: ServerConfiguration, logger: Logger) throws(ConfigurationFaults) {
        let settings = server.store
        var configuration = MessageStoreConfiguration()
        configuration.machine.roomHistory = .init(
            messagesMax: server.core.roomHistoryMax, ageMax: server.core.roomHistoryAge)
        configuration.eraseMilliseconds = settings.eraseMilliseconds
        configuration.synchronous = .init(rawValue: settings.synchronous) ?? .full
        do throws(MessageStoreError) {
            self.store = try MessageStore(path: settings.path, configuration: configuration, logger: logger)
        } catch {
            let words = "\(error)"
            let remedy = ": \(error.remedy)"
            throw ConfigurationFaults(
                field: "store.path",
                rule: "must be a file the server can use, but "
                    + (words.hasSuffix(remedy) ? String(words.dropLast(remedy.count)) : words),
                remedy: error.remedy)
        }
    }

    func submit(_ commands: [StoreCommand], completion: @escaping @Sendable ([StoreResult]) -> Void) {
        self.store.submit(commands, completion: completion)
    }

    /// Nil where the server keeps none. To be closed before the store.
    func openSearch(_ server: ServerConfiguration, logger: Logger) -> (any MessageSearch)? {
        guard !server.search.path.isEmpty else { return nil }
        var configuration = SearchIndexConfiguration()
        // The store's time began with the recall, before the index learned of it.
        configuration.eraseMilliseconds = server.store.eraseMilliseconds / 2
        return SearchIndex(
            path: server.search.path, of: self.store, configuration: configuration, logger: logger)
    }

    /// To be closed before the store.
    func openWebhooks(
        _ server: ServerConfiguration, logger: Logger, countDropped: @escaping @Sendable (Int) -> Void,
        send: @escaping WebhookDesk.Sender
    ) -> WebhookDesk {
        var desk = WebhookDeskConfiguration()
        desk.rules.waits = Array(desk.rules.waits.prefix(server.webhooks.attemptsMax - 1))
        return WebhookDesk(
            path: server.webhooksPath, of: self.store, configuration: desk, logger: logger, now: { Clocks.now().wall },
            countDropped: countDropped, send: send)
    }

    func backUp(to path: String) async throws { try await self.store.backUp(to: path) }

    /// Writes what was submitted and closes the file; waits for it.
    func close() { self.store.close() }
}
