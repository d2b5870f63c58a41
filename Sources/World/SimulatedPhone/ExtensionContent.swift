package import ClientCore
package import PhoneCore
import TidingsModel

// What the shipped extension carries over to Apple's types, carried over to the virtual iPhone's.

extension ContentEdit {
    /// Images and senders are not simulated.
    package func applied(to original: NotificationContent) -> NotificationContent {
        var content = original
        if self.isStripped {
            content.subtitle = ""
            content.badge = nil
            content.threadIdentifier = ""
            content.categoryIdentifier = ""
        }
        if let userInfo = self.userInfo { content.userInfo = userInfo.objectValue ?? JSONObject() }
        content.badge = self.badge ?? content.badge
        content.title = self.title ?? content.title
        content.body = self.body ?? content.body
        if self.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        return self.isDiscarded ? NotificationContent(badge: content.badge) : content
    }
}

extension MissedDecision.Post {
    package func request(recipientTag tag: String) -> NotificationRequest {
        var content = NotificationContent(
            title: self.message.text.title ?? "", body: self.message.text.body, sound: self.isSilent ? nil : .standard,
            userInfo: self.message.userInfo(recipientTag: tag).objectValue ?? JSONObject(),
            threadIdentifier: self.message.conversation.description)
        if self.isSilent { content.interruptionLevel = .passive }
        return NotificationRequest(identifier: self.message.message.description, content: content)
    }
}
