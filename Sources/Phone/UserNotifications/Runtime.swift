package import PhoneCore
package import VirtualPhone

extension UNUserNotificationCenter {
    /// Calls `userNotificationCenter(_:willPresent:withCompletionHandler:)`,
    /// `userNotificationCenter(_:didReceive:withCompletionHandler:)` or `userNotificationCenter(_:openSettingsFor:)` on the
    /// delegate, on the main thread.
    ///
    /// - Returns: false if the callback is none of them.
    @MainActor package func perform(_ callback: Callback, _ reply: PhoneReply) -> Bool {
        self.noteLostDelegate()
        switch callback {
        case .willPresent(let notification):
            guard let delegate = self.delegate else {
                reply(.presentation([]))
                break
            }
            delegate.userNotificationCenter(self, willPresent: UNNotification(notification)) { options in
                reply(.presentation(WillPresentOptions(rawValue: options.rawValue)))
            }
        case .receiveResponse(let response):
            guard let delegate = self.delegate else {
                reply()
                break
            }
            delegate.userNotificationCenter(self, didReceive: UNNotificationResponse.make(response)) { reply() }
        case .openSettings(let notification):
            self.delegate?.userNotificationCenter(self, openSettingsFor: notification.map { UNNotification($0) })
            reply()
        default: return false
        }
        return true
    }
}
