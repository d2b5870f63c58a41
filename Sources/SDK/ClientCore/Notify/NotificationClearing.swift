package import TidingsModel

package enum NotificationClearing {
    /// It carries an `rc` dictionary (S0.10) or what a push carries for the SDK.
    package static func isOurs(_ userInfo: JSONValue) -> Bool {
        userInfo[NotificationPayload.key] != nil || userInfo[PushInfo.key] != nil
    }

    /// By the `rc` dictionary, otherwise by the thread (S3.9).
    package static func isOf(_ conversation: ConversationID, _ userInfo: JSONValue, thread: String) -> Bool {
        guard let payload = try? NotificationPayload(userInfo: userInfo) else {
            return thread == conversation.description
        }
        return payload.conversation == conversation
    }

    /// Nil if the recalled message's notification is only removed. Before iOS 15 nothing is passive: a second
    /// notification would show a banner again (design.md P3).
    package static func inPlace(_ replacement: LocalNotification?, major: Int) -> LocalNotification? {
        major >= 15 ? replacement : nil
    }

    /// Returns true if "read up to here" covers the notification (design.md P6). One whose position is not known is not covered. Its
    /// message is named by the user info, else by the request's identifier.
    package static func isRead(
        _ userInfo: JSONValue, identifier: String, thread: String, in conversation: ConversationID,
        upTo position: LogPosition, stored: (MessageID) -> LogPosition?
    ) -> Bool {
        // A number that no extension has taken out of the list says nothing that is not known by now.
        if BadgeInfo(userInfo: userInfo) != nil { return true }
        guard Self.isOf(conversation, userInfo, thread: thread) else { return false }
        if let info = PushInfo(userInfo: userInfo) { return info.position <= position }
        let named = (try? NotificationPayload(userInfo: userInfo))?.messageUID ?? identifier
        return (MessageID(named) ?? MessageID(identifier)).flatMap(stored).map { $0 <= position } ?? false
    }
}
