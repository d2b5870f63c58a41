import Foundation

#if TIDINGS_UIKIT
    import UserNotifications
#endif

/// Keeps the system from suspending this process while it holds a lock in the app group, for which it would be killed
/// (0xDEAD10CC; ios-delivery.md §14, Q13). On Apple's systems this is `performExpiringActivity`, in app and extension
/// alike: it begins on the thread that locks, before the lock is taken. A background task could only be begun on the
/// main thread, which may itself be waiting for the lock.
package protocol SuspensionGuard: Sendable {
    /// Runs `work` on this thread at once. Returns false, without running it, if the system refuses.
    func run(_ work: () -> Void) -> Bool
}

package struct SystemSuspensionGuard: SuspensionGuard {
    package init() {}

    package func run(_ work: () -> Void) -> Bool {
        #if os(iOS) || os(tvOS) || os(watchOS)
            let activity = ExpiringActivity()
            guard activity.begin() else { return false }
            defer { activity.end() }
        #endif
        work()
        return true
    }
}

#if os(iOS) || os(tvOS) || os(watchOS) || TIDINGS_UIKIT
    /// One `performExpiringActivity`: its block, on a queue of the system, only waits while another thread works.
    /// On Linux it is built and tested over the virtual phone's own; nothing there is suspended while it works.
    final class ExpiringActivity: Sendable {
        private let answered = DispatchSemaphore(value: 0)
        private let finished = DispatchSemaphore(value: 0)
        private let isGranted = Locked(false)

        func begin() -> Bool {
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Tidings app group") { isExpired in
                // Called a second time, with true, when the time runs out: the work is short and is left to end.
                if !isExpired { self.isGranted.withLock { $0 = true } }
                self.answered.signal()
                if !isExpired { self.finished.wait() }
            }
            self.answered.wait()
            return self.isGranted.withLock { $0 }
        }

        func end() { self.finished.signal() }
    }
#endif
