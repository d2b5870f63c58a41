package import TidingsModel

extension LogEntry.Body {
    /// An upper estimate for both forms. JSON may write a byte as six (`\u0001`) and texts as twice as long;
    /// everything in a frame but texts and lists of people takes less than 512 bytes an entry, and a person less than
    /// 128.
    package var frameBytes: Int {
        switch self {
        case .message(let message): message.frameBytes
        case .custom(let message):
            512 + 2 * (message.content.utf8.count + JSONValue.object(message.extras).text.utf8.count)
        case .edit(let edit): 512 + 2 * edit.content.utf8.count
        // A name and a portrait may be longer than the rest.
        case .change(let change): 512 + 2_560 + 128 * change.action.people.count
        case .deletion(let deletion): 512 + 32 * deletion.messages.count
        case .conversationSettings(_, let settings): 512 + 2 * (settings.draft?.text.utf8.count ?? 0)
        case .read, .recall, .personSettings, .blocked, .unknown: 512
        }
    }
}

extension Message {
    /// An upper estimate of the binary form.
    package var frameBytes: Int {
        var bytes = 512 + 2 * (self.content.utf8.count + (self.pushText?.utf8.count ?? 0))
        bytes += 128 * self.recipients.count
        if let push = self.push { bytes += 2 * push.json.serialized.count }
        if case .users(let users) = self.mentions { bytes += 128 * users.count }
        return bytes
    }
}
