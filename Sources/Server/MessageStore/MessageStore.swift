import GRDB
package import Logging
package import StoreModel
import Synchronization
import TidingsModel

/// The durable store on SQLite (design.md §3 "Journal first"); it answers as `MemoryStore` does. A thread of its own takes everything
/// submitted since its last turn, carries it out in one transaction with one sync, and then hands out the results (design.md P1).
/// People's logs, unread counts, cursors, devices and legs are derived behind the journal on the same thread, when it is idle or the
/// underived part has grown to a bound. A store that is dropped without `close()` stops as after a crash: nothing answered is lost,
/// but the next opening recovers more.
package final class MessageStore: Sendable {
    /// The number of the form in which this build writes a store.
    package static var schema: Int { Schema.version }

    package let opening: StoreOpening
    /// A `-wal` file stands beside it while the store is open, and after a crash.
    package let path: String
    /// The value of `PRAGMA synchronous` read back on the writer's connection: 2 for FULL.
    package let synchronous: Int
    private let writer: StoreWriter

    /// Makes a new store if there is no file, and recovers what a crash left underived.
    package init(
        path: String, configuration: MessageStoreConfiguration = MessageStoreConfiguration(), logger: Logger
    ) throws(MessageStoreError) {
        self.path = path
        if configuration.synchronous != .full {
            logger.warning("acks are not durable", metadata: ["synchronous": "\(configuration.synchronous.rawValue)"])
        }
        let queue: DatabaseQueue
        (queue, self.synchronous) = try Schema.open(path: path, configuration: configuration)
        WorkFolder.removeLeft(beside: path)
        (self.writer, self.opening) = try StoreWriter.start(
            queue, path: path, configuration: configuration, logger: logger)
    }

    deinit { self.writer.stop(.abandon, andWait: false) }

    /// Callable from every thread; never waits. Batches are carried out in the order of their submission. `completion` gets one
    /// result per command, after the sync, on the writer's thread: it must not take long. With an `epoch` older than that of
    /// `opening`, and after `close()`, every answer is `.failed`.
    package func submit(
        _ commands: [StoreCommand], epoch: UInt64? = nil,
        completion: @escaping @Sendable ([StoreResult]) -> Void
    ) {
        if let epoch, epoch != self.opening.epoch {
            let stale = StaleEpoch(presented: epoch, current: self.opening.epoch)
            return self.writer.enqueue(.refusal(stale, count: commands.count, completion))
        }
        self.writer.enqueue(.batch(commands, completion))
    }

    package func apply(_ commands: [StoreCommand], epoch: UInt64? = nil) async throws(StaleEpoch) -> [StoreResult] {
        if let epoch, epoch != self.opening.epoch {
            throw StaleEpoch(presented: epoch, current: self.opening.epoch)
        }
        return await withCheckedContinuation { continuation in
            self.submit(commands) { continuation.resume(returning: $0) }
        }
    }

    /// Carries out what was submitted, derives everything, and closes the file. Waits; must not be called from a completion.
    package func close() { self.writer.stop(.close, andWait: true) }

    /// Stops as a killed process would, for tests of crashes: waiting batches are not carried out. Waits until the file is closed.
    package func abandon() { self.writer.stop(.abandon, andWait: true) }

    /// Copies the store into a new file, for its owner alone, while it goes on: a part at a time, between batches.
    package func backUp(to path: String) async throws(MessageStoreError) {
        let result = await withCheckedContinuation { continuation in
            self.writer.enqueue(.backup(path: path) { continuation.resume(returning: $0) })
        }
        try result.get()
    }

    func enqueue(_ look: StoreLook) { self.writer.enqueue(.look(look)) }

    /// The last record of the journal; to be read at any time from any thread.
    var lastRecord: JournalPosition { self.writer.lastRecord.load(ordering: .acquiring) }

    /// Reads every row: for tests and small stores.
    package func dump() async throws(MessageStoreError) -> StoreDump {
        let result = await withCheckedContinuation { continuation in
            self.writer.enqueue(.dump { continuation.resume(returning: $0) })
        }
        return try result.get()
    }
}
