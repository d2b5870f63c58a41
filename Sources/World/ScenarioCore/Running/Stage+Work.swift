import ClientCore
import PhoneCore
import TidingsModel

// What the kit's own actions ask for: an answer, and that a conversation was read (ios-delivery.md §6.4).
extension Stage {
    /// The kit's actions as `registerCategories` registers them.
    static let kitCategory = NotificationCategory(
        identifier: MessageCategory.identifier,
        actions: [
            NotificationAction(identifier: MessageCategory.replyAction, title: "Reply", takesText: true),
            NotificationAction(identifier: MessageCategory.markReadAction, title: "Mark as Read"),
        ])

    /// Does what an action asked for, under a wake of its own; its handler is called when the server has heard of it.
    ///
    /// - Returns: whether the handler is called later.
    mutating func beginWork(of callback: Callback, _ number: CallbackNumber, in process: ProcessID) -> Bool {
        guard let work = self.app.sdk?.work, !work.isEmpty else { return false }
        self.app.sdk?.work = []
        // The file's own answer stands.
        let isAnswered: Bool
        if case .receiveResponse = callback {
            isAnswered = self.app.setup.answers[.didReceive] != nil
        } else {
            isAnswered = false
        }
        if !isAnswered { self.app.sdk?.actions.append(number) }
        for step in work {
            switch step {
            case .publish, .open: break
            case .reply(let text, let conversation, let position):
                self.reply(text, to: conversation, in: process)
                self.markRead(conversation, upTo: position, in: process)
            case .markRead(let conversation, let position): self.markRead(conversation, upTo: position, in: process)
            }
        }
        let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
        self.client(.wakeBegan(number, remainingMilliseconds: remaining), in: process)
        return !isAnswered
    }

    private mutating func reply(_ text: String, to conversation: ConversationID, in process: ProcessID) {
        let count = (self.app.sdk?.replies ?? 0) + 1
        self.app.sdk?.replies = count
        let content = JSONValue.members([("content", .string(text))]).text
        self.client(
            .sendWished(
                MessageDraft(
                    clientMessageID: ClientMessageID("reply-\(count)"), conversation: conversation, objectName: .text,
                    content: content)), in: process)
    }

    private mutating func markRead(_ conversation: ConversationID, upTo position: LogPosition?, in process: ProcessID) {
        guard let position = position ?? self.app.sdk?.store.stored else { return }
        self.client(.markReadWished(conversation, upTo: position), in: process)
    }

    /// The work of an action is done, or given up.
    mutating func finishWork(_ number: WakeNumber, in process: ProcessID) -> Bool {
        guard let index = self.app.sdk?.actions.firstIndex(of: number) else { return false }
        self.app.sdk?.actions.remove(at: index)
        self.follow(.process(process, .callbackCompleted(number, .returned)))
        return true
    }

    /// The small server takes a message in.
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
        self.trace.told(server: "message to \(draft.conversation): \(Gate.text(message))", at: self.now.monotonic)
        let accepted = ServerFrame.SendAccepted(
            clientMessageID: draft.clientMessageID, messageID: id, sentAt: self.now.wall, position: position)
        self.client(.frameReceived(number, .sendAccepted(accepted)), in: process)
    }
}
