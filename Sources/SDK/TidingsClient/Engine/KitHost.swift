package import ClientCore
package import TidingsModel

/// What the kit does for the client: everything that needs the app's providers, the notification centre or the system.
package protocol KitHost: Sendable {
    /// The names the app's providers know; nil where one is missing or does not know.
    func names(_ question: NameQuestion) async -> ResolvedNames
    /// Asks the app's custom callback (S3.4); true means that the app has handled the message.
    func handles(_ message: Message, senderName: String) async -> Bool
    /// Posts a local notification with this badge; nil leaves the badge alone.
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult
    /// The identifiers of the notifications in the notification centre.
    func deliveredIdentifiers() async -> Set<String>
    /// Takes a conversation's notifications out of the notification centre.
    func clearNotifications(_ conversation: ConversationID)
    /// Shows a number on the icon.
    func showBadge(_ number: Int)
    /// Asks the system not to suspend the app; repeating it changes nothing.
    func beginBackgroundTask()
    /// The app may be suspended.
    func endBackgroundTask()
}

/// The clock of a client. Tests put a virtual one in its place.
package protocol ClientClock: Sendable {
    /// Both readings of this moment.
    var now: Now { get }
    /// Waits until a time in monotonic milliseconds; returns early only when cancelled.
    func sleep(untilMonotonic deadline: Int64) async
}

/// The system's clocks.
package struct SystemClientClock: ClientClock {
    private static let start = ContinuousClock.now

    /// The system's clocks.
    package init() {}

    /// The continuous clock and the wall clock.
    package var now: Now {
        let monotonic = Self.start.duration(to: .now).milliseconds
        return Now(monotonic: monotonic, wall: WallClock.milliseconds)
    }

    /// Sleeps; time the process spends suspended counts.
    package func sleep(untilMonotonic deadline: Int64) async {
        let left = deadline - self.now.monotonic
        if left > 0 { try? await Task.sleep(for: .milliseconds(left)) }
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; durations beyond the range are clamped.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return thousands + attoseconds / 1_000_000_000_000_000
    }
}
