public import TidingsModel

/// The actions the kit offers on a message's notification, as one category (ios-delivery.md §6.4).
public enum MessageCategory {
    /// The category's identifier.
    public static let identifier = PushInfo.category
    /// The person types an answer.
    public static let replyAction = "tidings.reply"
    /// The person has read it.
    public static let markReadAction = "tidings.mark_read"
    /// Apple's identifier of a tap.
    public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
    /// Apple's identifier of a dismissal.
    public static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"
}

/// Decides the steps that follow from a person's response to a notification.
public enum ResponseRule {
    /// One thing to do, in order.
    public enum Step: Hashable, Sendable {
        /// Tell the app's streams.
        case publish
        /// Open the screen.
        case open(Route)
        /// Send the answer, then mark as read; nil for a position the notification does not tell.
        case reply(String, to: ConversationID, upTo: LogPosition?)
        /// Mark as read.
        case markRead(ConversationID, upTo: LogPosition?)
    }

    /// An action of the app's own opens the screen like a tap; dismissing opens nothing (ios-delivery.md §6.3).
    ///
    /// - Parameter conversation: that of the notification's message, also where the route is another screen; nil for a push of another sender.
    public static func steps(
        action: String, text: String?, route: Route, conversation: ConversationID?, position: LogPosition?
    ) -> [Step] {
        switch action {
        case MessageCategory.dismissAction: return [.publish]
        case MessageCategory.replyAction:
            guard let conversation, let text, !text.isEmpty else { return [.publish] }
            return [.publish, .reply(text, to: conversation, upTo: position)]
        case MessageCategory.markReadAction:
            guard let conversation else { return [.publish] }
            return [.publish, .markRead(conversation, upTo: position)]
        default: return [.publish, .open(route)]
        }
    }
}
