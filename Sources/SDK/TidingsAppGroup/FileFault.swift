#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file of the app group that could not be used; then nothing was changed.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried.
    package enum Work: String, Hashable, Sendable {
        /// Making the folder.
        case folder = "made"
        /// Waiting for the lock; the system's number is `ETIMEDOUT` if another process did not give it back in time.
        case lock = "locked"
        /// Reading. Before the first unlock the system's number is `EPERM` (ios-delivery.md §10).
        case read
        /// Writing.
        case write = "written"
        /// Asking the system not to suspend this process meanwhile.
        case staying = "touched: the system is about to suspend the process"
    }

    /// The file.
    package var path: String
    /// What was tried.
    package var work: Work
    /// What the system said; 0 if it said nothing.
    package var code: Int32

    /// The file and what the system said.
    package var description: String {
        guard self.code != 0 else { return "\(self.path) cannot be \(self.work.rawValue)" }
        return "\(self.path) cannot be \(self.work.rawValue): \(String(cString: strerror(self.code)))"
    }
}
