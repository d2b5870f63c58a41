package import ClientCore
package import TidingsModel

/// What the kit does for the client: everything that needs the app's providers, the notification centre or the
/// system.
package protocol KitHost: Sendable {
    /// Nil where there is no provider or it does not know.
    func names(_ question: NameQuestion) async -> ResolvedNames
    /// The app's custom callback (S3.4); true if the app has handled the message.
    func handles(_ message: Message, senderName: String) async -> Bool
    /// A nil badge leaves the icon alone.
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult
    func deliveredIdentifiers() async -> Set<String>
    /// Removes delivered notifications of a conversation up to a position (DESIGN P6). `stored` looks up the position
    /// of messages whose notifications do not tell.
    func clearNotifications(
        _ conversation: ConversationID, upTo position: LogPosition,
        stored: @escaping @Sendable (MessageID) -> LogPosition?
    ) async
    /// Removes all of our notifications, delivered and pending (DESIGN P7).
    func clearAllNotifications() async
    /// Silently replaces the delivered notification of a message that was withdrawn, or removes it.
    func withdraw(_ message: MessageID, replacement: LocalNotification?, badge: Int?) async
    /// Nil if the system does not say.
    func deviceStatus() async -> DeviceStatus?
    /// Returns when the system has been told.
    func showBadge(_ number: Int) async
    /// Tells the system before it returns where that is possible, for the end of the process.
    func showBadgeNow(_ number: Int)
    /// Repeating it changes nothing.
    func beginBackgroundTask()
    func endBackgroundTask()
}

package protocol ClientClock: Sendable {
    var now: Now { get }
    /// Returns early only when cancelled.
    func sleep(untilMonotonic deadline: Int64) async
}

package struct SystemClientClock: ClientClock {
    package init() {}

    package var now: Now {
        Now(monotonic: MonotonicClock.milliseconds, wall: WallClock.milliseconds)
    }

    /// Time the process spends suspended counts.
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

    /// Sleeps at most this long before it looks at the clock again: a limit may be "never".
    private static let sliceMilliseconds: Int64 = 3_600_000
}

@available(iOS 16, *)
extension Duration {
    /// Rounded towards zero and clamped.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return thousands + attoseconds / 1_000_000_000_000_000
    }
}
