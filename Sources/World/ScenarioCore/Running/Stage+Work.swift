import ClientCore
import PhoneCore
import TidingsModel

// The kit's own actions: an answer, and that a conversation was read (ios-delivery.md §6.4).
extension Stage {
    /// The kit's actions as `registerCategories` registers them.
    static let kitCategory = NotificationCategory(
        identifier: MessageCategory.identifier,
        actions: [
            NotificationAction(identifier: MessageCategory.replyAction, title: "Reply", takesText: true),
            NotificationAction(identifier: MessageCategory.markReadAction, title: "Mark as Read"),
        ])

    mutating func accept(_ draft: MessageDraft, on number: ConnectionNumber, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        let position = sdk.head + 1
        let id = MessageID(
            wallMilliseconds: self.now.wall, node: 1, counter: UInt32(truncatingIfNeeded: position))
        let message = Message(
            id: id, app: SDKHost.app, sender: sdk.setup.person, conversation: draft.conversation,
            clientMessageID: draft.clientMessageID, objectName: draft.objectName, content: draft.content,
            flags: draft.flags, pushText: draft.pushText, sentAt: self.now.wall)
        self.app.sdk?.log.append(LogEntry(position: position, body: .message(message)))
        self.trace.told(
            server: "message to \(draft.conversation): \(MessageSummary.text(of: message, in: sdk.words))",
            at: self.now.monotonic)
        let accepted = ServerFrame.SendAccepted(
            clientMessageID: draft.clientMessageID, messageID: id, sentAt: self.now.wall, position: position)
        self.client(.frameReceived(number, .sendAccepted(accepted)), in: process)
    }
}
