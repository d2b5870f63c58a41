import GRDB
package import Logging
package import StoreModel

/// The durable store on SQLite (DESIGN §3 "Journal first").
///
/// A thread of its own writes: it takes everything that was submitted since it last looked, carries it out in one transaction with one
/// sync, and only then hands out the results (DESIGN P1). What it answers is what `ReferenceStore` answers. People's logs, unread
/// counts, cursors, devices and legs are derived behind the journal, in the same thread, when it has nothing else to do or when the
/// part not yet derived has grown to a bound.
///
/// `close()` it when done. A store that is only dropped stops at once, as after a crash: nothing that was answered is lost, but the next
/// opening has more to recover.
///
/// One process owns the file: a second one that opens it is refused (`MessageStoreError.Reason.inUse`), so that a mistake at the
/// command line cannot take a running server's store away.
package final class MessageStore: Sendable {
    /// What was found when the store was opened.
    package let opening: StoreOpening
    /// The database file; a `-wal` file stands beside it while the store is open, and after a crash.
    package let path: String
    /// What `PRAGMA synchronous` read back on the writer's connection: 2 for FULL.
    package let synchronous: Int
    private let writer: StoreWriter

    /// Opens the store, makes a new one if there is no file, and recovers what a crash left underived.
    ///
    /// - Throws: `MessageStoreError` naming the file and the remedy.
    package init(
        path: String, configuration: MessageStoreConfiguration = MessageStoreConfiguration(), logger: Logger
    ) throws(MessageStoreError) {
        self.path = path
        if configuration.synchronous != .full {
            logger.warning("acks are not durable", metadata: ["synchronous": "\(configuration.synchronous.rawValue)"])
        }
        let queue: DatabaseQueue
        (queue, self.synchronous) = try Schema.open(path: path, configuration: configuration)
        (self.writer, self.opening) = try StoreWriter.start(
            queue, path: path, configuration: configuration, logger: logger)
    }

    deinit { self.writer.stop(.abandon, andWait: false) }

    /// Hands a batch to the writer; callable from every thread, and never waits.
    ///
    /// Batches are carried out in the order of their submission; those that were waiting share one transaction.
    /// - Parameters:
    ///   - commands: carried out in order.
    ///   - epoch: the owner's epoch; nil for the one of `opening`. With an older one every answer is `.failed` and nothing is done.
    ///   - completion: called with one result per command, after the sync, on the writer's thread: it must not take long. After
    ///     `close()` it is called at once, with `.failed` for every command.
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

    /// The same for a caller that can wait.
    ///
    /// - Throws: `StaleEpoch` if `epoch` is given and not the one of `opening`.
    package func apply(_ commands: [StoreCommand], epoch: UInt64? = nil) async throws(StaleEpoch) -> [StoreResult] {
        if let epoch, epoch != self.opening.epoch {
            throw StaleEpoch(presented: epoch, current: self.opening.epoch)
        }
        return await withCheckedContinuation { continuation in
            self.submit(commands) { continuation.resume(returning: $0) }
        }
    }

    /// Carries out what was submitted, derives everything, and closes the file. Waits for it; must not be called from a completion.
    package func close() { self.writer.stop(.close, andWait: true) }

    /// Stops as a killed process would: batches that wait are not carried out, nothing more is derived. Waits until the file is
    /// closed. For tests of crashes.
    package func abandon() { self.writer.stop(.abandon, andWait: true) }

    /// Copies the store as it is into a new file, for its owner alone, while it goes on: a part at a time, between batches.
    ///
    /// - Parameter path: of a file that does not exist yet.
    /// - Throws: `MessageStoreError` naming the new file; nothing is left of it.
    package func backUp(to path: String) async throws(MessageStoreError) {
        let result = await withCheckedContinuation { continuation in
            self.writer.enqueue(.backup(path: path) { continuation.resume(returning: $0) })
        }
        try result.get()
    }

    /// Everything in the store, for comparing it with `ReferenceStore`. Reads every row: for tests and small stores.
    ///
    /// - Throws: `MessageStoreError` if a row cannot be read, or the store is closed.
    package func dump() async throws(MessageStoreError) -> StoreDump {
        let result = await withCheckedContinuation { continuation in
            self.writer.enqueue(.dump { continuation.resume(returning: $0) })
        }
        return try result.get()
    }
}
