package import TidingsModel

/// Which entries of the notification centre are ours, and which of them are read.
package enum NotificationClearing {
    /// Whether the kit or the server has made it: it carries an `rc` dictionary (S0.10) or what a push carries for the SDK.
    package static func isOurs(_ userInfo: JSONValue) -> Bool {
        userInfo[NotificationPayload.key] != nil || userInfo[PushInfo.key] != nil
    }

    /// Whether it tells of a conversation: by its `rc` dictionary, otherwise by its thread (S3.9).
    package static func isOf(_ conversation: ConversationID, _ userInfo: JSONValue, thread: String) -> Bool {
        guard let payload = try? NotificationPayload(userInfo: userInfo) else {
            return thread == conversation.description
        }
        return payload.conversation == conversation
    }

    /// What is put in the place of a recalled message's notification; nil if that one is only taken out. Before iOS 15 nothing
    /// is passive: a second notification would show a banner again (DESIGN P3).
    ///
    /// - Parameter major: the system's major version.
    package static func inPlace(_ replacement: LocalNotification?, major: Int) -> LocalNotification? {
        major >= 15 ? replacement : nil
    }

    /// Whether it tells of a message that "read up to here" covers (DESIGN P6). One whose position nobody knows is not.
    ///
    /// - Parameters:
    ///   - identifier: the request's identifier, the message id where the user info names none.
    ///   - position: up to and including this position of the person's log.
    ///   - stored: where the local store has a message.
    package static func isRead(
        _ userInfo: JSONValue, identifier: String, thread: String, in conversation: ConversationID,
        upTo position: LogPosition, stored: (MessageID) -> LogPosition?
    ) -> Bool {
        guard Self.isOf(conversation, userInfo, thread: thread) else { return false }
        if let info = PushInfo(userInfo: userInfo) { return info.position <= position }
        let named = (try? NotificationPayload(userInfo: userInfo))?.messageUID ?? identifier
        return (MessageID(named) ?? MessageID(identifier)).flatMap(stored).map { $0 <= position } ?? false
    }
}
