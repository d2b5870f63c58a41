/// The quote in an answer of the message it answers, as `RC:ReferenceMsg` carries it.
public struct MessageQuote: Hashable, Sendable {
    /// The message; nil where the sender's app does not say.
    public var message: MessageID?
    /// Whose message it is.
    public var sender: UserID
    /// The type of its content.
    public var objectName: ObjectName
    /// The quoted text, `textMax` characters at most; nil if it was no text.
    public var text: String?

    /// The longest text that is quoted, in characters.
    public static let textMax = 200

    /// A quote from its parts; a longer text is cut.
    public init(message: MessageID?, sender: UserID, objectName: ObjectName, text: String?) {
        self.message = message
        self.sender = sender
        self.objectName = objectName
        self.text = text.map { $0.count > Self.textMax ? $0.prefix(Self.textMax - 1) + "…" : $0 }
    }

    /// Makes a quote of a message. Files are not quoted: nobody may open one by a message of another person's.
    public init(of message: Message) {
        let text = message.text
        self.init(
            message: message.id, sender: message.sender, objectName: text == nil ? message.objectName : .text,
            text: text)
    }
}

extension MessageContent {
    /// A text that answers a message: `RC:ReferenceMsg`, whose notification counts as one of an answer.
    ///
    /// - Parameters:
    ///   - text: what is answered, not empty.
    ///   - quote: the message it answers.
    public static func reply(_ text: String, to quote: MessageQuote) -> MessageContent {
        let said: [(String, JSONValue)] = quote.text.map { [("content", .string($0))] } ?? []
        var members: [(String, JSONValue)] = [
            ("content", .string(text)), ("referMsgUserId", .string(quote.sender.rawValue)),
            ("objName", .string(quote.objectName.rawValue)), ("referMsg", .members(said)),
        ]
        if let message = quote.message { members.append(("referMsgUid", .string(message.description))) }
        return .custom(.reference, JSONValue.members(members).text)
    }
}

extension Message {
    /// The text of a text message or of an answer; nil for other types.
    public var text: String? {
        guard self.objectName == .text || self.objectName == .reference else { return nil }
        return (try? JSONValue(parsing: self.content))?["content"]?.stringValue
    }

    /// The quote of the message that it answers; nil if it answers none.
    public var quote: MessageQuote? {
        guard self.objectName == .reference, let content = try? JSONValue(parsing: self.content),
            let sender = content["referMsgUserId"]?.stringValue
        else { return nil }
        return MessageQuote(
            message: content["referMsgUid"]?.stringValue.flatMap { MessageID($0) }, sender: UserID(sender),
            objectName: ObjectName(content["objName"]?.stringValue ?? ""),
            text: content["referMsg"]?["content"]?.stringValue)
    }
}
