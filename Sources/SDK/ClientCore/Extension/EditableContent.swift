package import TidingsModel

/// The members of a notification's content that the SDK sets, for Apple's type and the virtual iPhone's: a shell only says how to set each.
package protocol EditableContent {
    var title: String { get set }
    var subtitle: String { get set }
    var body: String { get set }
    var threadIdentifier: String { get set }
    var categoryIdentifier: String { get set }
    /// Nil leaves the icon alone.
    var badgeNumber: Int? { get set }
    /// Returns the text of a line; the system looks up texts from the app's tables when it shows the notification.
    static func text(of line: PushLine) -> String
    mutating func setUserInfo(_ userInfo: JSONValue)
    /// Nil is silence.
    mutating func setSound(_ sound: NotificationManner.Sound?)
    mutating func setLevel(_ level: PushOptions.InterruptionLevel)
    mutating func setRelevance(thousandths: Int)
    mutating func removeAttachments()
}

extension EditableContent {
    /// All but what `isDiscarded`, `communication`, `hasImage` and `hasPortrait` say: that makes another content.
    package mutating func apply(_ edit: ContentEdit) {
        if edit.isStripped {
            self.subtitle = ""
            self.badgeNumber = nil
            self.removeAttachments()
            // Neither whom it is about, nor an action that would answer them.
            self.threadIdentifier = ""
            self.categoryIdentifier = ""
            self.setRelevance(thousandths: 0)
        }
        if let userInfo = edit.userInfo { self.setUserInfo(userInfo) }
        if let badge = edit.badge { self.badgeNumber = badge }
        if let title = edit.title { self.title = Self.text(of: title) }
        if let subtitle = edit.subtitle { self.subtitle = Self.text(of: subtitle) }
        if let body = edit.body { self.body = Self.text(of: body) }
        if edit.isSilent {
            self.setSound(nil)
            self.setLevel(.passive)
        }
    }

    package mutating func apply(_ manner: NotificationManner) {
        self.setSound(manner.sound)
        self.setLevel(manner.level)
        self.setRelevance(thousandths: manner.relevance)
        self.categoryIdentifier = manner.category
        self.threadIdentifier = manner.thread
    }
}
