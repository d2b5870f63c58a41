import StoreModel

/// The settings of a message store. The defaults are for a server; tests make the bounds small.
package struct MessageStoreConfiguration: Sendable {
    /// When SQLite syncs.
    package enum Synchronous: String, Sendable {
        /// With every commit: what DESIGN P1 promises.
        case full
        /// Dangerous: at checkpoints only. What was acked is lost when the power goes. It exists so that the proof of the sync can be
        /// seen to fail, and for nothing else.
        case normal

        /// The number `PRAGMA synchronous` reads back.
        var pragma: Int { self == .full ? 2 : 1 }
    }

    /// How much of a chat room's history is kept.
    package struct RoomHistory: Hashable, Sendable {
        /// How many messages, 0 or more.
        package var messagesMax: Int
        /// How much older than the newest one, in milliseconds.
        package var ageMax: Int64

        /// Limits.
        package init(messagesMax: Int, ageMax: Int64) {
            self.messagesMax = messagesMax
            self.ageMax = ageMax
        }
    }

    /// When SQLite syncs; anything but `.full` breaks DESIGN P1.
    package var synchronous: Synchronous = .full
    /// How many journal records may wait to be derived before deriving goes on between any two batches. More make deriving cheaper
    /// per record, and recovery after a crash longer.
    package var tailRecordsMax = 65_536
    /// How many log entries in memory may wait to be derived: a record in a large group makes thousands.
    package var tailEntriesMax = 1_048_576
    /// How many people, or eight times as many log entries or records of the message index, one transaction of deriving covers at most;
    /// between two of them acks get their turn.
    package var derivationStepMax = 512
    /// How long one such transaction should take, in milliseconds: less is covered where it takes longer, down to a sixteenth.
    package var derivationStepMilliseconds = 2
    /// How long the store must have had nothing to do before it derives a short tail, in milliseconds.
    package var idleMilliseconds = 50
    /// How many people are kept in memory between uses.
    package var cachedPeopleMax = 100_000
    /// Of how many of a person's client message ids a hash is kept in memory; with more, each send looks in the database.
    package var sentIDsInMemoryMax = 4_096
    /// How large a row of the journal may get before the next one starts, in bytes.
    package var journalRowBytes = 4_000
    /// How large a stored run of one person's log may get before the next one starts, in bytes.
    package var logChunkBytes = 512
    /// How many pages are added to the write-ahead log before they are written back, between two batches: few, since acks wait for it.
    package var checkpointPages = 512
    /// How long after it was overwritten a text that nobody may read any more may still stand in the write-ahead log, in milliseconds:
    /// then the log is written back and emptied.
    package var eraseMilliseconds: Int64 = 60_000
    /// SQLite's page cache in kibibytes.
    package var cacheKibibytes = 65_536
    /// The database's page size in bytes, for a new file.
    package var pageBytes = 4_096
    /// The largest database in pages; nil for as large as the disk.
    package var pagesMax: Int?
    /// What is kept of chat rooms; nil for everything. The rest is removed when the room's next messages are derived.
    package var roomHistory: RoomHistory?
    /// Draws the numbers of `StoreIdentity`: nobody may guess them. Tests give their own.
    package var draw: @Sendable () -> UInt64 = { UInt64.random(in: StoreIdentity.numbers) }
    /// For tests of crashes: asked before each transaction of deriving, with its number from 1; after a false nothing is derived
    /// any more, also not when the store is closed.
    package var mayDerive: @Sendable (Int) -> Bool = { _ in true }

    /// The defaults.
    package init() {}
}
