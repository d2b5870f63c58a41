import ServerCore
import TidingsModel

/// When the small server pushes: the verdict is the real server's (DESIGN §5). Its own facts are that the device has a token and
/// that no connection carries the message.
enum PushRule {
    /// Whether a message is pushed to somebody who has set a level for its conversation.
    static func sends(_ message: Message, to person: UserID, level: NotificationLevel) -> Bool {
        var facts = PushFacts()
        facts.isNotifiable =
            message.flags.isSuperset(of: [.notified, .stored]) && message.conversation.type != .chatRoom
            && message.sender != person
        facts.isMuted = !level.allows(message.mentions, of: person)
        return PushVerdict(facts) == .send
    }
}
