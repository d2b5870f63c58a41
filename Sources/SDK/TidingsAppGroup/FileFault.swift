#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file of the app group could not be used; nothing was changed.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Work: String, Hashable, Sendable {
        case folder = "made"
        /// The code is `ETIMEDOUT` if another process did not release it in time.
        case lock = "locked"
        /// Before the first unlock the code is `EPERM` (ios-delivery.md §10).
        case read
        case write = "written"
        case staying = "touched: the system is about to suspend the process"
    }

    package var path: String
    package var work: Work
    /// `errno`; 0 if the system gave none.
    package var code: Int32

    package var description: String {
        guard self.code != 0 else { return "\(self.path) cannot be \(self.work.rawValue)" }
        return "\(self.path) cannot be \(self.work.rawValue): \(String(cString: strerror(self.code)))"
    }
}
