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
    /// Silently replaces the delivered notification of a message that was recalled, or removes it.
    func recall(_ message: MessageID, replacement: LocalNotification?, badge: Int?) async
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
