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
        /// The text of the quoted message.
        public var text: String
    }

    /// Which row of the screen it is.
    public var id: ChatRow.ID
    /// The message; nil while it is not on the server.
    public var message: Message?
    /// The type of what it says.
    public var objectName: ObjectName
    /// The content of the message.
    public var content: MessageContent
    /// The content as text: its own, or the words for its type, such as `[File]`.
    public var text: String
    /// Who has written it.
    public var sender: UserID
    /// The sender's name.
    public var senderName: String
    /// True if name and portrait are shown: at the first of a person's messages in a row.
    public var showsSender: Bool
    /// True if this person has written it.
    public var isOwn: Bool
    /// The time of day it was sent.
    public var time: String
    /// Wall milliseconds since 1970.
    public var sentAt: Int64
    /// True if its sender has changed it.
    public var isEdited: Bool
    /// The message that it answers.
    public var quote: Quote?
    /// The state of sending, for own messages.
    public var state: SendState?
    /// The image's file, while it is not on the server.
    public var file: URL?

    /// Returns the text that VoiceOver speaks.
    public func spoken(in words: ChatWords) -> String {
        var parts = [self.isOwn ? words.you : self.senderName]
        if let quote { parts.append("\(words.replyTo.filled([("name", quote.name)])): \(quote.text)") }
        if case .image = self.content { parts.append(words.image) } else { parts.append(self.text) }
        parts.append(self.time)
        return parts.joined(separator: ", ")
    }

    /// Returns the text below the message beside the time, which VoiceOver reads as its value; empty for none.
    public func footer(in words: ChatWords) -> String {
        let edited = self.isEdited ? words.edited : nil
        return [edited, self.state?.text(in: words)].compactMap(\.self).joined(separator: " · ")
    }
}

/// A line in the place of a message that was recalled.
public struct ChatNotice: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// The text of the notice.
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
    /// A notice: a message was recalled, or a person's app says something about the conversation.
    case notice(ChatNotice)
    /// A message.
    case message(MessageRow)

    /// The identity by which a row stays the same when it changes.
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

    /// The identity by which the row stays the same when it changes.
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
