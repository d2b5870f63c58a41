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
    /// Takes the notifications of a conversation's messages up to a position out of the notification centre (DESIGN P6).
    ///
    /// - Parameter stored: where the local store has a message, for notifications that do not tell.
    func clearNotifications(
        _ conversation: ConversationID, upTo position: LogPosition,
        stored: @escaping @Sendable (MessageID) -> LogPosition?
    ) async
    /// Takes everything of ours out of the notification centre, delivered and pending: the person has left (DESIGN P7).
    func clearAllNotifications() async
    /// A message was withdrawn: if its notification is in the notification centre, puts the replacement there, silently, or
    /// takes it out.
    func recall(_ message: MessageID, replacement: LocalNotification?, badge: Int?) async
    /// What the person allows; nil if the system does not say.
    func deviceStatus() async -> DeviceStatus?
    /// Shows a number on the icon; returns when the system has been told.
    func showBadge(_ number: Int) async
    /// The same, told before it returns where that is possible: at the end of the process there is no later moment.
    func showBadgeNow(_ number: Int)
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
    /// The system's clocks.
    package init() {}

    /// The continuous clock and the wall clock.
    package var now: Now {
        Now(monotonic: MonotonicClock.milliseconds, wall: WallClock.milliseconds)
    }

    /// Sleeps; time the process spends suspended counts.
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
