package import TidingsModel

/// In the order of its members. A shell carries it over to Apple's type.
package struct ContentEdit: Hashable, Sendable {
    /// Subtitle, badge, attachments, thread, category and relevance go before anything else is set.
    package var isStripped: Bool
    package var userInfo: JSONValue?
    package var badge: Int?
    package var title: PushLine?
    package var subtitle: PushLine?
    package var body: PushLine?
    package var isSilent: Bool
    /// A badge on otherwise empty content is still applied (ios-delivery.md §10).
    package var isDiscarded: Bool
    package var communication: Communication?
    package var hasImage = false

    /// Who a notification is from (ios-delivery.md §11). Without `body` the content's own text stays.
    package struct Communication: Hashable, Sendable {
        package var payload: NotificationPayload
        package var names: KnownNames
        package var body: String?
    }

    init(_ changes: ExtensionDecision.Changes, of push: ExtensionMachine.Push, names: KnownNames) {
        self.isStripped = changes.isStripped
        self.userInfo = changes.isStripped ? ExtensionDecision.strippedUserInfo : push.userInfo.withoutPushText
        self.badge = changes.badge
        self.title = changes.title ?? (changes.isStripped ? "" : nil)
        self.subtitle = changes.subtitle
        self.body = changes.body
        self.isSilent = changes.isSilent
        self.isDiscarded = changes.isDiscarded
        // The system would put the sender's name in place of a title that was chosen.
        if push.usesCommunicationNotifications, changes.reason == .rings, changes.body != nil, !changes.isTitleChosen,
            let payload = try? NotificationPayload(userInfo: push.userInfo)
        {
            self.communication = Communication(
                payload: payload, names: names, body: changes.message)
        }
    }
}

extension JSONValue {
    /// Real text and image of a push stand in the content by now. Nil if there are none.
    fileprivate var withoutPushText: JSONValue? {
        guard let all = self.objectValue, let info = self[PushInfo.key]?.objectValue,
            info["text"] != nil || info["image"] != nil
        else { return nil }
        let bare = JSONValue.members(
            info.members.filter { $0.key != "text" && $0.key != "image" }.map { ($0.key, $0.value) })
        return .members(all.members.map { ($0.key, $0.key == PushInfo.key ? bare : $0.value) })
    }
}
