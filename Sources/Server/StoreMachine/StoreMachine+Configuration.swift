extension StoreMachine {
    /// How much is kept in memory, and how much is done at a time. What is answered is the same with any of it.
    package struct Configuration: Sendable {
        package struct RoomHistory: Hashable, Sendable {
            package var messagesMax: Int
            /// Milliseconds before the newest message.
            package var ageMax: Int64

            package init(messagesMax: Int, ageMax: Int64) {
                self.messagesMax = messagesMax
                self.ageMax = ageMax
            }
        }

        /// Journal records that may wait before deriving goes on between any two batches. More make deriving cheaper per record, and
        /// recovery after a crash longer.
        package var tailRecordsMax = 65_536
        /// Log entries in memory that may wait to be derived: a record in a large group makes thousands.
        package var tailEntriesMax = 1_048_576
        /// People (or eight times as many log entries or index records) that one transaction of deriving covers at most; acks get
        /// their turn between two of them.
        package var derivationStepMax = 512
        /// The time one such transaction should take: it covers less where it takes longer, down to a sixteenth.
        package var derivationStepMilliseconds = 2
        /// People in memory, without those whose rows are behind.
        package var cachedPeopleMax = 100_000
        /// Bytes of the drafts of the people in memory: one person's may take 262,144.
        package var cachedDraftBytesMax = 67_108_864
        /// Log entries of push jobs that may wait to be derived, each counted by the person's devices: at most as many people are in
        /// memory because of them, and once more as many until the next round of deriving is done.
        package var pushEntriesInTailMax = 4_096
        /// Client message ids per person whose hash is kept in memory; with more, each send looks in the rows.
        package var sentIDsInMemoryMax = 4_096
        /// A chunk of a person's log ends with the entry that reaches it.
        package var logChunkBytes = 512
        /// Nil for everything. The rest is removed when the room's next messages are derived.
        package var roomHistory: RoomHistory?

        package init() {}
    }
}
