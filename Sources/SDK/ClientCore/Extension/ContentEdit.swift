package import TidingsModel

/// What an extension changes of a notification's content, in the order of its members. A shell carries it over to Apple's type.
package struct ContentEdit: Hashable, Sendable {
    /// Whether everything that tells of the message and the person is taken away first: subtitle, badge, attachments, thread and category.
    package var isStripped: Bool
    /// In place of the whole user info; nil leaves it.
    package var userInfo: JSONValue?
    /// In place of the badge; nil leaves it.
    package var badge: Int?
    /// In place of the title; nil leaves it.
    package var title: String?
    /// In place of the text; nil leaves it.
    package var body: String?
    /// Whether the sound is taken away and the level made passive.
    package var isSilent: Bool
    /// Whether nothing is shown: an empty content with the badge. A badge on otherwise empty content is still applied
    /// (ios-delivery.md §10).
    package var isDiscarded: Bool
    /// Whether it is made a notification of a person; nil if not.
    package var communication: Communication?
    /// Whether the image that was fetched is attached, in place of all attachments.
    package var hasImage = false

    /// Who a notification is from (ios-delivery.md §11).
    package struct Communication: Hashable, Sendable {
        /// The `rc` dictionary.
        package var payload: NotificationPayload
        /// The names of sender and conversation.
        package var names: KnownNames
        /// The text without the sender's name; nil for the one the content has.
        package var body: String?
    }

    /// The changes of a push as one edit.
    init(_ changes: ExtensionDecision.Changes, of push: ExtensionMachine.Push, names: KnownNames) {
        self.isStripped = changes.isStripped
        self.userInfo = changes.isStripped ? ExtensionDecision.strippedUserInfo : push.userInfo.withoutPushText
        self.badge = changes.badge
        self.title = changes.title ?? (changes.isStripped ? "" : nil)
        self.body = changes.body
        self.isSilent = changes.isSilent
        self.isDiscarded = changes.isDiscarded
        if push.usesCommunicationNotifications, changes.reason == .rings, changes.body != nil, !changes.isDiscarded,
            let payload = try? NotificationPayload(userInfo: push.userInfo)
        {
            self.communication = Communication(
                payload: payload, names: names, body: PushInfo(userInfo: push.userInfo)?.text?.body)
        }
    }
}

extension JSONValue {
    /// A user info without the real text and image of a push, which stand in the content now; nil if there are none.
    fileprivate var withoutPushText: JSONValue? {
        guard let all = self.objectValue, let info = self[PushInfo.key]?.objectValue,
            info["text"] != nil || info["image"] != nil
        else { return nil }
        let bare = JSONValue.members(
            info.members.filter { $0.key != "text" && $0.key != "image" }.map { ($0.key, $0.value) })
        return .members(all.members.map { ($0.key, $0.key == PushInfo.key ? bare : $0.value) })
    }
}
