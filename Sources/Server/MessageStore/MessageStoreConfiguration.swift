package import StoreMachine

package struct MessageStoreConfiguration: Sendable {
    package enum Synchronous: String, Sendable {
        case full
        /// Dangerous: syncs at checkpoints only, so a power cut loses acknowledged messages. It exists so that the proof of the sync
        /// can fail.
        case normal

        /// The value that `PRAGMA synchronous` reads back.
        var pragma: Int { self == .full ? 2 : 1 }
    }

    /// Anything but `.full` breaks design.md P1.
    package var synchronous: Synchronous = .full
    /// What does not depend on the file.
    package var machine = StoreMachine.Configuration()
    /// How long the store must be idle before it derives a short tail.
    package var idleMilliseconds = 50
    package var journalRowBytes = 4_000
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
    /// For tests of crashes: asked before each transaction of deriving, with its number from 1; after a false nothing more is
    /// derived.
    package var mayDerive: @Sendable (Int) -> Bool = { _ in true }

    package init() {}
}
