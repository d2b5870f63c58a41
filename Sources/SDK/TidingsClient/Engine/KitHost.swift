package import ClientCore
package import TidingsModel

package protocol KitHost: Sendable {
    var major: Int { get }
    func names(_ question: NameQuestion) async -> ResolvedNames
    /// S3.4; true means that the app has handled the message.
    func handles(_ message: Message, senderName: String) async -> Bool
    /// Nil leaves the badge alone.
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult
    /// Empty before iOS 10, where it cannot be seen.
    func deliveredNotifications() async -> [NotificationCenterQueue.Entry]
    func removeDeliveredNotifications(_ identifiers: [String])
    /// Takes back what of ours is scheduled; before iOS 10 also what was shown.
    func removeScheduledNotifications() async
    func deviceStatus() async -> DeviceStatus?
    /// Returns when the system has been told.
    func showBadge(_ number: Int) async
    /// Told before it returns where that is possible, because the process ends.
    func showBadgeNow(_ number: Int)
    /// Repeating it changes nothing.
    func beginBackgroundTask()
    func endBackgroundTask()
}

package protocol ClientClock: Sendable {
    var now: Now { get }
    func sleep(untilMonotonic deadline: Int64) async
}

package struct SystemClientClock: ClientClock {
    package init() {}

    package var now: Now {
        Now(monotonic: MonotonicClock.milliseconds, wall: WallClock.milliseconds)
    }

    package func sleep(untilMonotonic deadline: Int64) async {
        while !Task.isCancelled {
            let left = deadline - self.now.monotonic
            guard left > 0 else { return }
            let slice = min(left, Self.sliceMilliseconds)
            if #available(iOS 16, *) {
                try? await Task.sleep(for: .milliseconds(slice), clock: .continuous)
            } else {
                try? await Task.sleep(nanoseconds: UInt64(slice) * 1_000_000)
            }
        }
    }

    /// How long it sleeps at most before it looks at the clock again: a limit may be "never".
    private static let sliceMilliseconds: Int64 = 3_600_000
}

@available(iOS 16, *)
extension Duration {
    /// Whole milliseconds, rounded towards zero; durations beyond the range are clamped.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return thousands + attoseconds / 1_000_000_000_000_000
    }
}
