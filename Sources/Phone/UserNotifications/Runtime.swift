package import PhoneCore
package import VirtualPhone

extension UNUserNotificationCenter {
    /// On the main thread. Returns false if the callback is none of the centre's.
    @MainActor package func handle(_ callback: Callback, _ reply: PhoneReply) -> Bool {
        self.reportLostDelegate()
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
