// What a person can look up on the phone beside the screen itself.
extension PhoneCore {
    /// Whether Low Power Mode is on.
    package var isInLowPowerMode: Bool { self.lowPowerMode }

    /// The buttons a notification offers: those of its category, from iOS 8 (ios-delivery.md §6.4).
    package func actions(of entry: ListEntry) -> [NotificationAction] {
        guard self.version >= 8, let index = self.index(of: entry.app) else { return [] }
        return self.apps[index].category(of: entry.notification.request.content)?.actions ?? []
    }
}
