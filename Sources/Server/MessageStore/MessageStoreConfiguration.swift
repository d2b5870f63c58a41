import StoreModel

package struct MessageStoreConfiguration: Sendable {
    package enum Synchronous: String, Sendable {
        case full
        /// Dangerous: syncs at checkpoints only, so a power cut loses acknowledged messages. It exists so that the proof of the sync
        /// can fail.
        case normal

        /// What `PRAGMA synchronous` reads back.
        var pragma: Int { self == .full ? 2 : 1 }
    }

    package struct RoomHistory: Hashable, Sendable {
        package var messagesMax: Int
        /// Milliseconds before the newest message.
        package var ageMax: Int64

        package init(messagesMax: Int, ageMax: Int64) {
            self.messagesMax = messagesMax
            self.ageMax = ageMax
        }
    }

    /// Anything but `.full` breaks design.md P1.
    package var synchronous: Synchronous = .full
    /// Journal records that may wait before deriving goes on between any two batches. More make deriving cheaper per record, and
    /// recovery after a crash longer.
    package var tailRecordsMax = 65_536
    /// Log entries in memory that may wait to be derived: a record in a large group makes thousands.
    package var tailEntriesMax = 1_048_576
    /// People (or eight times as many log entries or index records) that one transaction of deriving covers at most; acks get their
    /// turn between two of them.
    package var derivationStepMax = 512
    /// The time one such transaction should take: it covers less where it takes longer, down to a sixteenth.
    package var derivationStepMilliseconds = 2
    /// How long the store must be idle before it derives a short tail.
    package var idleMilliseconds = 50
    package var cachedPeopleMax = 100_000
    /// The drafts of the people in memory: one person's may take 262,144 bytes.
    package var cachedDraftBytesMax = 67_108_864
    /// Log entries of push jobs that may wait to be derived, each counted by the person's devices: at most as many people are in memory
    /// because of them, and once more as many until the next round of deriving is done.
    package var pushEntriesInTailMax = 4_096
    /// Client message ids per person whose hash is kept in memory; with more, each send looks in the database.
    package var sentIDsInMemoryMax = 4_096
    package var journalRowBytes = 4_000
    package var logChunkBytes = 512
    /// Pages added to the write-ahead log before they are written back between two batches: few, since acks wait for it.
    package var checkpointPages = 512
    /// How long an erased text may still stand in the write-ahead log before that is written back and emptied.
    package var eraseMilliseconds: Int64 = 60_000
    /// A push to everybody fills it. What falls out of it is read from the system's cache of the file.
    package var cacheKibibytes = 16_384
    /// For a new file.
    package var pageBytes = 4_096
    /// Nil for as large as the disk.
    package var pagesMax: Int?
    /// Nil for everything. The rest is removed when the room's next messages are derived.
    package var roomHistory: RoomHistory?
    /// Draws the numbers of `StoreIdentity`, which nobody may guess.
    package var draw: @Sendable () -> UInt64 = { UInt64.random(in: StoreIdentity.numbers) }
    /// For tests of crashes: asked before each transaction of deriving, with its number from 1; after a false nothing more is
    /// derived.
    package var mayDerive: @Sendable (Int) -> Bool = { _ in true }

    package init() {}
}
