import APNsModel
package import StoreModel
package import TidingsModel

extension NotificationWords {
    func several(_ count: Int) -> String {
        guard let mark = self.several.firstRange(of: "{count}") else { return self.several }
        return self.several[..<mark.lowerBound] + "\(count)" + self.several[mark.upperBound...]
    }
}

package enum PushText {
    /// Bytes of JSON. A name has at most 256 of UTF-8 (`DisplayName`), but JSON may need two for one, and six for one of a group's that
    /// is older than that rule.
    package static let titleBytesMax = 512

    /// Bytes of JSON: more than any phone shows, and little enough for a payload of 4,096 bytes (apns.md §13).
    package static let bytesMax = 1_024

    /// The name of the group or discussion; otherwise what the sender is called. Nil where the server knows none: an id is nothing
    /// that a person reads.
    package static func title(of message: Message, _ names: MessageNames) -> String? {
        Self.shortName(message.conversation.type.isGroup ? names.conversation : names.sender)
    }

    /// Returns the sender's name where a text needs it: among several people. Nil if the server does not know it.
    package static func sender(of message: Message, _ names: MessageNames) -> String? {
        message.conversation.type.isGroup ? Self.shortName(names.sender) : nil
    }

    private static func shortName(_ name: String) -> String? {
        guard !name.isEmpty else { return nil }
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
