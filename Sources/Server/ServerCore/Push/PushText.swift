import APNsModel
package import TidingsModel

extension NotificationWords {
    func several(_ count: Int) -> String {
        guard let mark = self.several.firstRange(of: "{count}") else { return self.several }
        return self.several[..<mark.lowerBound] + "\(count)" + self.several[mark.upperBound...]
    }
}

package enum PushText {
    /// Bytes of JSON: a name has at most 256 bytes of UTF-8, but JSON may need six for one.
    package static let titleBytesMax = 512

    /// Bytes of JSON: more than any phone shows, and little enough for a payload of 4,096 bytes (apns.md §13).
    package static let bytesMax = 1_024

    /// The name of the group or discussion, or the id of the other person, which the kit replaces because the server
    /// knows no names. An empty `name` stands for none; then the conversation's id is used.
    package static func title(of message: Message, seenBy user: UserID, conversationName name: String) -> String {
        guard !name.isEmpty else { return message.conversation(seenBy: user).target }
        return APNsPayload.escapedCount(name.utf8) <= Self.titleBytesMax
            ? name : APNsPayload.shortened(name, bytesMax: Self.titleBytesMax)
    }

    /// Shortened at the end of a character if need be.
    package static func shortText(of message: Message, in words: NotificationWords) -> String {
        let text = MessageSummary.text(of: message, in: words)
        return APNsPayload.escapedCount(text.utf8) <= Self.bytesMax
            ? text : APNsPayload.shortened(text, bytesMax: Self.bytesMax)
    }
}
