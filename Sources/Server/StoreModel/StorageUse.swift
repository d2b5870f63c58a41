/// The amounts of what the store keeps of an app. Bytes are those of contents in UTF-8, as people and backends have written them, not those of
/// the file.
package struct StorageUse: Hashable, Sendable {
    package struct Amount: Hashable, Sendable {
        package var number = 0
        package var bytes = 0

        /// Adds numbers that may be negative; no sum falls below 0.
        package mutating func add(_ number: Int, bytes: Int) {
            self.number = max(0, self.number + number)
            self.bytes = max(0, self.bytes + bytes)
        }
    }

    /// Messages accepted and not recalled, as they read now; without those of push jobs.
    package var messages = Amount()
    package var customMessages = Amount()
    /// Jobs, also recalled ones, which say nothing any more. What a job's messages say is kept once.
    package var pushes = Amount()
    /// Entries of all people's logs.
    package var logEntries = 0
    /// Groups, discussions and chat rooms, also dissolved ones.
    package var conversations = 0
    /// Also those who were only named.
    package var people = 0
    /// Signed in, or kept after they have signed out.
    package var devices = 0
    /// Also those that have expired and are not forgotten.
    package var keptAnswers = 0

    package init() {}
}
