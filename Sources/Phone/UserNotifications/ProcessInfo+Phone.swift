public import Foundation
import PhoneCore
import Synchronization
import VirtualPhone

// What Foundation has on Apple's systems only.

extension ProcessInfo {
    /// Asks for time to finish a piece of work; for extensions, which have no background tasks (ios-delivery.md §8).
    ///
    /// The block runs at once on a thread of its own with `false`. When the time is up before it has returned it is called
    /// again, with `true`: stop.
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        let process = PhoneProcess.current
        let activity = process.nextNumber()
        process.facade(ExpiringActivities.self) { ExpiringActivities() }.begin(activity, block, in: process)
    }

    /// True if Low Power Mode is on.
    public var isLowPowerModeEnabled: Bool {
        guard case .lowPowerMode(let isOn) = PhoneProcess.current.queryNow(.lowPowerMode) else { return false }
        return isOn
    }
}

private final class ExpiringActivities: Sendable {
    private let blocks = Mutex<[UInt64: @Sendable (Bool) -> Void]>([:])
    private let isListening = Mutex(false)

    func begin(_ activity: UInt64, _ block: @escaping @Sendable (Bool) -> Void, in process: PhoneProcess) {
        self.blocks.withLock { $0[activity] = block }
        let isFirst = self.isListening.withLock { isListening in
            defer { isListening = true }
            return !isListening
        }
        if isFirst {
            process.addFacadeHandler { [self] callback, reply in
                guard case .expiringActivityExpired(let activity) = callback else { return false }
                self.blocks.withLock { $0[activity] }?(true)
                reply()
                return true
            }
        }
        process.report(.expiringActivityBegan(activity))
        let thread = Thread {
            withPhoneProcess(process) { block(false) }
            self.blocks.withLock { $0[activity] = nil }
            process.report(.expiringActivityEnded(activity))
        }
        thread.name = "expiring activity"
        thread.start()
    }
}
