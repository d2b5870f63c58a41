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
    package var communication: CommunicationForm?
    package var hasImage = false
    package var hasPortrait = false

    init(_ changes: ExtensionDecision.Changes, of push: ExtensionMachine.ReceivedPush) {
        self.isStripped = changes.isStripped
        self.userInfo = changes.isStripped ? ExtensionDecision.strippedUserInfo : push.userInfo.withoutPushText
        self.badge = changes.badge
        self.title = changes.title ?? (changes.isStripped ? "" : nil)
        self.subtitle = changes.subtitle
        self.body = changes.body
        self.isSilent = changes.isSilent
        self.isDiscarded = changes.isDiscarded
        // Only a message that rings is shown as a person's: not one that is silent, recalled, hidden, or for another person.
        if push.usesCommunicationNotifications, changes.reason == .rings { self.communication = changes.communication }
    }
}

extension JSONValue {
    private static let shownMembers = ["text", "image", "portrait"]

    /// Real text and images of a push stand in the content by now. Nil if there are none.
    fileprivate var withoutPushText: JSONValue? {
        guard let all = self.objectValue, let info = self[PushInfo.key]?.objectValue,
            info["text"] != nil || info["image"] != nil
        else { return nil }
        let bare = JSONValue.members(
            info.members.filter { !Self.shownMembers.contains($0.key) }.map { ($0.key, $0.value) })
        return .members(all.members.map { ($0.key, $0.key == PushInfo.key ? bare : $0.value) })
    }
}
