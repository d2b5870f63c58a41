package import ClientCore
package import TidingsModel

/// The kit's work for the client: everything that needs the app's providers, the notification centre or the system.
package protocol KitHost: Sendable {
    var major: Int { get }
    /// Nil where there is no provider or it does not know.
    func names(_ question: NameQuestion) async -> ResolvedNames
    /// The app's custom callback (S3.4); true if the app has handled the message.
    func handles(_ message: Message, senderName: String) async -> Bool
    /// S4.2: what the policy says is shown, played and vibrated.
    func ringInForeground(_ notification: LocalNotification)
    /// A nil badge leaves the icon alone.
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult
    /// Empty before iOS 10, where it cannot be seen.
    func deliveredNotifications() async -> [NotificationCenterQueue.Entry]
    func removeDeliveredNotifications(_ identifiers: [String])
    /// Takes back what of ours is scheduled; before iOS 10 also what was shown.
    func removeScheduledNotifications() async
    /// Nil if the system does not say.
    func deviceStatus() async -> DeviceStatus?
    /// Returns when the system has been told.
    func showBadge(_ number: Int) async
    /// Tells the system before it returns where that is possible, for the end of the process.
    func showBadgeNow(_ number: Int)
    func donate(_ form: CommunicationForm)
    func deleteDonations(_ scope: DonationScope)
    /// One task serves all engines: it lasts as long as one of them holds it. Repeating either changes nothing.
    func beginBackgroundTask(for engine: ObjectIdentifier)
    func endBackgroundTask(for engine: ObjectIdentifier)
}
