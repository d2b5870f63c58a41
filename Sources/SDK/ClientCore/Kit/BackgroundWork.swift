package import TidingsModel

/// What the app is awake for.
package enum BackgroundWork: Hashable, Sendable {
    /// Catch up with the server.
    case refresh
    /// Send an answer, then mark the conversation as read.
    case reply(String, to: ConversationID, upTo: LogPosition?, message: MessageID?)
    /// Mark the conversation as read.
    case markRead(ConversationID, upTo: LogPosition?, message: MessageID?)

    /// What the client is asked for.
    ///
    /// - Parameters:
    ///   - replyID: the identifier of an answer.
    ///   - position: where the local store has a message.
    ///   - newest: the newest position of a conversation in the local store.
    package func events(
        replyID: @autoclosure () -> ClientMessageID, position: (MessageID) -> LogPosition?,
        newest: (ConversationID) -> LogPosition?
    ) -> [ClientEvent] {
        /// Up to the position the notification tells, the place of its message in the store, or the newest message.
        func read(_ conversation: ConversationID, _ told: LogPosition?, _ message: MessageID?) -> [ClientEvent] {
            let found = told ?? message.flatMap(position) ?? newest(conversation)
            return found.map { [.markReadRequested(conversation, upTo: $0)] } ?? []
        }
        switch self {
        case .refresh: return []
        case .reply(let text, let conversation, let told, let message):
            let content = JSONValue.members([("content", .string(text))]).text
            let draft = MessageDraft(
                clientMessageID: replyID(), conversation: conversation, objectName: .text, content: content)
            return [.sendRequested(draft)] + read(conversation, told, message)
        case .markRead(let conversation, let told, let message): return read(conversation, told, message)
        }
    }
}
