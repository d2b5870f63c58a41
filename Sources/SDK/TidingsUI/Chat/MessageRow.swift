public import Foundation
public import TidingsModel

/// A message as its cell shows it.
public struct MessageRow: Hashable, Sendable, Identifiable {
    /// The message it quotes, in a line.
    public struct Quote: Hashable, Sendable {
        /// The message; nil where the sender's app does not say.
        public var message: MessageID?
        /// Whose it is.
        public var name: String
        /// What it says.
        public var text: String
    }

    /// Which row of the screen it is.
    public var id: ChatRow.ID
    /// The message; nil while it is not on the server.
    public var message: Message?
    /// The type of what it says.
    public var objectName: ObjectName
    /// What it says.
    public var content: MessageContent
    /// What it says as text: its own, or what stands for its type, such as `[File]`.
    public var text: String
    /// Who has written it.
    public var sender: UserID
    /// What they are called.
    public var senderName: String
    /// Whether name and portrait are shown: at the first of a person's messages in a row.
    public var showsSender: Bool
    /// Whether this person has written it.
    public var isOwn: Bool
    /// The time of day it was sent.
    public var time: String
    /// Wall milliseconds since 1970.
    public var sentAt: Int64
    /// Whether its sender has changed it.
    public var isEdited: Bool
    /// What it answers.
    public var quote: Quote?
    /// What has become of it, for own messages.
    public var state: SendState?
    /// The image's file, while it is not on the server.
    public var file: URL?

    /// What VoiceOver says of it.
    public func spoken(in words: ChatWords) -> String {
        var parts = [self.isOwn ? words.you : self.senderName]
        if let quote { parts.append("\(words.replyTo.filled([("name", quote.name)])): \(quote.text)") }
        if case .image = self.content { parts.append(words.image) } else { parts.append(self.text) }
        parts.append(self.time)
        return parts.joined(separator: ", ")
    }

    /// What stands below it beside the time, and what VoiceOver says it is set to; empty for nothing.
    public func footer(in words: ChatWords) -> String {
        let edited = self.isEdited ? words.edited : nil
        return [edited, self.state?.text(in: words)].compactMap(\.self).joined(separator: " · ")
    }
}

/// A line in the place of a message that was recalled.
public struct ChatNotice: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// What it says.
    public var text: String
    /// The person's own text, to be typed again; nil for none.
    public var recalledText: String?
}

/// A row of the screen of a conversation.
public enum ChatRow: Hashable, Sendable, Identifiable {
    /// The messages of a day begin: when, in milliseconds since 1970, and what it is called.
    case day(Int64, String)
    /// Below are the messages that were unread.
    case unread(String)
    /// A message was recalled, or somebody's app says something about the conversation.
    case notice(ChatNotice)
    /// A message.
    case message(MessageRow)

    /// What makes a row the same one when it changes.
    public enum ID: Hashable, Sendable {
        /// A day's header.
        case day(Int64)
        /// The line above unread messages.
        case unread
        /// A message that is on the server.
        case message(MessageID)
        /// A message that is not.
        case outgoing(ClientMessageID)
    }

    /// What makes it the same row when it changes.
    public var id: ID {
        switch self {
        case .day(let start, _): .day(start)
        case .unread: .unread
        case .notice(let notice): .message(notice.message)
        case .message(let row): row.id
        }
    }
}

extension ObjectName {
    /// A line of the app's backend about the conversation.
    static let information = ObjectName("RC:InfoNtf")
}
