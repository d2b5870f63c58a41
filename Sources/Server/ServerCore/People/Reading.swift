import StoreModel
import TidingsModel

// What a person has read, told by a device of theirs or by the app's backend: by their reading on a web page, for example.
extension ServerCore {
    /// The person is loaded first: legs of devices that are away end by it, and their badges fall.
    mutating func markRead(
        _ conversation: ConversationID, of user: UserKey, upTo message: MessageID?, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        let command = APICommand.markRead(user, conversation, upTo: message)
        guard self.busySlot(of: user, for: request, command) != nil else { return }
        try self.admitCommand(.requests, of: user.app, "request")
        try self.turn.checkBacklog(of: .backend(user.app))
        if let message {
            self.turn.ask(
                .trace(user.app, message), for: .api(request, .findRead(user, conversation, message)),
                by: .backend(user.app))
        } else {
            self.turn.ask(
                .readUnread(user, conversation), for: .api(request, .findUnread(user, conversation)),
                by: .backend(user.app))
        }
    }

    /// Each reading is an entry of the log, too: without this a repeat would read the one before, again and again. To where the cursor
    /// stands it changes nothing, and has an answer that can be kept.
    mutating func finishFindUnread(
        _ conversation: ConversationID, of user: UserKey, _ report: UnreadReport, for request: APIRequestID
    ) {
        let read = report.conversation?.readUpTo ?? 0
        let hasUnread = report.conversation.map { $0.unread > 0 } ?? true
        let isNews = read == 0 || hasUnread || self.hasUnfinishedLegs(of: user, in: conversation, after: read)
        self.moveReadCursor(conversation, of: user, upTo: isNews ? report.head : read, for: request)
    }

    /// Returns true if messages after `read` are on their way, such as do not count as unread. Messages before the cursor are read.
    private func hasUnfinishedLegs(
        of user: UserKey, in conversation: ConversationID, after read: LogPosition
    ) -> Bool {
        guard let slot = self.slots[user] else { return false }
        return self.people[slot].devices.contains { device in
            (0..<device.legs.count).contains { index in
                let leg = device.legs[index]
                return leg.position > read && leg.conversation(seenBy: user.user) == conversation
            }
        }
    }

    mutating func finishFindRead(
        _ conversation: ConversationID, of user: UserKey, upTo message: MessageID, _ trace: MessageTrace?,
        for request: APIRequestID
    ) {
        guard let trace, trace.message?.conversation(seenBy: user.user) == conversation,
            let delivery = trace.deliveries.first(where: { $0.user == user.user })
        else {
            let unknown = ServerFrame.Problem(
                code: .unknownMessage, field: "up_to",
                rule: "must be a message of \(conversation) in this person's log, got \(message)")
            return self.turn.emit(.reply(request, .refused(unknown)))
        }
        self.moveReadCursor(conversation, of: user, upTo: delivery.position, for: request)
    }

    private mutating func moveReadCursor(
        _ conversation: ConversationID, of user: UserKey, upTo: LogPosition, for request: APIRequestID
    ) {
        self.turn.ask(
            .markRead(user, conversation, upTo: upTo, at: self.turn.now.wall),
            for: .api(request, .markRead(user, conversation, upTo: upTo)), by: .backend(user.app))
    }

    /// `position` is that of the entry; nil if the cursor stood there already.
    mutating func publishRead(
        _ conversation: ConversationID, of user: UserKey, upTo: LogPosition, at position: LogPosition?, unread: Int
    ) {
        guard let position else { return }
        let delivery = Delivery(user: user.user, position: position, unread: unread)
        self.publishEntry(.read(conversation: conversation, upTo: upTo), [delivery], in: user.app)
        self.requestReadReceipt(user, conversation, upTo: upTo)
    }
}
