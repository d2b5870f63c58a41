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
            content.relevanceScore = 0
        }
        if let userInfo = self.userInfo { content.userInfo = userInfo.objectValue ?? JSONObject() }
        content.badge = self.badge ?? content.badge
        content.title = self.title?.notificationText ?? content.title
        content.subtitle = self.subtitle?.notificationText ?? content.subtitle
        content.body = self.body?.notificationText ?? content.body
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
            title: self.message.text.title?.notificationText ?? "",
            subtitle: self.message.text.subtitle?.notificationText ?? "", body: self.message.text.body.notificationText,
            userInfo: self.message.userInfo(recipientTag: tag).objectValue ?? JSONObject())
        content.apply(self.message.manner(isSilent: self.isSilent))
        return NotificationRequest(identifier: self.message.message.description, content: content)
    }
}

extension PushLine {
    var notificationText: String {
        switch self {
        case .text(let text): text
        case .localized(let key, let arguments): LocalizedText.deferred(key: key, arguments: arguments)
        }
    }
}

extension NotificationContent {
    mutating func apply(_ manner: NotificationManner) {
        switch manner.sound {
        case .standard: self.sound = .standard
        case .named(let name): self.sound = .named(name)
        case .critical(let name): self.sound = .critical(name: name, volume: 1)
        case nil: self.sound = nil
        }
        switch manner.level {
        case .passive: self.interruptionLevel = .passive
        case .active: self.interruptionLevel = .active
        case .timeSensitive: self.interruptionLevel = .timeSensitive
        case .critical: self.interruptionLevel = .critical
        }
        self.relevanceScore = Double(manner.relevance) / 1_000
        self.categoryIdentifier = manner.category
        self.threadIdentifier = manner.thread
    }
}
