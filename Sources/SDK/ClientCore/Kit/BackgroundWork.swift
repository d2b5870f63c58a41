package import TidingsModel

package enum BackgroundWork: Hashable, Sendable {
    case refresh
    case reply(String, to: ConversationID, upTo: LogPosition?, message: MessageID?)
    case markRead(ConversationID, upTo: LogPosition?, message: MessageID?)

    /// `position` and `newest` look in the local store.
    package func events(
        replyID: @autoclosure () -> ClientMessageID, position: (MessageID) -> LogPosition?,
        newest: (ConversationID) -> LogPosition?
    ) -> [ClientEvent] {
        /// Up to the position the notification names, the place of its message in the store, or the newest message.
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
