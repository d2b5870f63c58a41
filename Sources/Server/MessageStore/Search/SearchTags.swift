import Foundation
import StoreModel
import TidingsModel

/// The tags by which a message is found besides its words: a column of its own in the index, a word for each. A word is a hash, so that ids
/// need no alphabet of the index's; ids that share a hash by chance are sorted out when the messages are read again.
enum SearchTags {
    static func indexed(_ message: Message) -> String {
        var people: Set<UserID> = [message.sender]
        if message.conversation.type.targetIsPeer {
            people.insert(UserID(message.conversation.target))
        } else {
            people.formUnion(message.recipients)
        }
        let tags = [
            Self.tag(of: message.app),
            Self.tag(of: message.conversation, with: message.sender, in: message.app),
        ]
        return (tags + people.sorted().map { Self.tag(of: $0, in: message.app) }).joined(separator: " ")
    }

    /// A query of FTS5 (sqlite.org/fts5.html §3) for everything that a question names; nil if its text has no words.
    static func query(_ question: MessageQuestion) -> String? {
        guard let words = SearchWords.question(nfkc: question.text.precomposedStringWithCompatibilityMapping) else {
            return nil
        }
        var tags: [String] = []
        if let user = question.user { tags.append(Self.tag(of: user, in: question.app)) }
        if let conversation = question.conversation {
            tags.append(Self.tag(of: conversation, with: question.user ?? "", in: question.app))
        }
        // The others have the app in them.
        if tags.isEmpty { tags.append(Self.tag(of: question.app)) }
        return "tags : (\(tags.joined(separator: " AND "))) AND words : (\(words))"
    }

    static func words(_ message: Message) -> String {
        SearchWords.indexed(nfkc: (message.text ?? "").precomposedStringWithCompatibilityMapping)
    }

    private static func tag(of app: AppID) -> String { Self.tag("a", [app.rawValue]) }

    private static func tag(of user: UserID, in app: AppID) -> String { Self.tag("u", [app.rawValue, user.rawValue]) }

    /// Both of two see the same conversation under different names.
    private static func tag(of conversation: ConversationID, with user: UserID, in app: AppID) -> String {
        let place = [app.rawValue, conversation.type.rawValue]
        guard conversation.type.targetIsPeer else { return Self.tag("c", place + [conversation.target]) }
        return Self.tag("c", place + [conversation.target, user.rawValue].sorted())
    }

    private static func tag(_ kind: String, _ parts: [String]) -> String {
        var hash = FNV1a()
        for part in parts {
            hash.feed(part)
            // No id has it.
            hash.feed(0 as UInt8)
        }
        return kind + Hexadecimal.text(hash.value)
    }
}
