import ClientCore
import Foundation
import TidingsKit
import TidingsModel

/// Which rows a screen shows of which messages.
struct ChatRows {
    var conversation: ConversationID
    var person: UserID
    /// From the oldest to the newest.
    var messages: [StoredMessage] = []
    /// The messages that are not on the server, in the order of writing.
    var outgoing: [OutgoingMessage] = []
    /// Above this one stands the line of unread messages.
    var firstUnread: MessageID?
    var marks = ReceiptMarks()
    var showsMarks = true
    var isConnected = true
    /// Who has recalled what, as far as this screen has seen it.
    var recallers: [MessageID: UserID] = [:]
    var recalledTexts: [MessageID: String] = [:]
    var words: ChatWords
    var kinds: NotificationWords
    var times: ChatTimes
    var now: Int64
    /// Returns the name of a person.
    var name: (UserID) -> String

    private struct Run {
        var sender: UserID?
        var day: Int64?
    }

    func rows() -> [ChatRow] {
        var rows: [ChatRow] = []
        var run = Run()
        var sent: Set<ClientMessageID> = []
        var recalled: Set<MessageID> = []
        for stored in self.messages where stored.isRecalled { recalled.insert(stored.id) }
        for stored in self.messages {
            let message = stored.message
            guard message.objectName != .command else { continue }
            if message.sender == self.person { sent.insert(message.clientMessageID) }
            self.beginDay(of: message.sentAt, &run, &rows)
            if stored.id == self.firstUnread {
                rows.append(.unread(self.words.unreadHere))
                run.sender = nil
            }
            if let notice = self.notice(of: stored) {
                rows.append(.notice(notice))
                run.sender = nil
                continue
            }
            rows.append(.message(self.row(of: stored, isFirst: run.sender != message.sender, recalled)))
            run.sender = message.sender
        }
        for item in self.outgoing where !sent.contains(item.id) {
            // Nobody reads a command, unless something is to be done about it.
            guard item.objectName != .command || item.failure != nil else { continue }
            self.beginDay(of: item.writtenAt, &run, &rows)
            rows.append(.message(self.row(of: item, isFirst: run.sender != self.person, recalled)))
            run.sender = self.person
        }
        return rows
    }

    private func beginDay(of time: Int64, _ run: inout Run, _ rows: inout [ChatRow]) {
        let start = self.times.dayStart(time)
        // A phone's clock may be behind the server's: a day begins once.
        guard start > run.day ?? .min else { return }
        run = Run(sender: nil, day: start)
        rows.append(.day(start, self.times.day(time, now: self.now)))
    }

    private func notice(of stored: StoredMessage) -> ChatNotice? {
        let message = stored.message
        if stored.isRecalled {
            return ChatNotice(
                message: stored.id, text: self.recallText(of: message), recalledText: self.recalledTexts[stored.id])
        }
        guard message.objectName == .information else { return nil }
        let text = (try? JSONValue(parsing: message.content))?["message"]?.stringValue
        return ChatNotice(message: stored.id, text: text ?? self.kinds.other)
    }

    /// Where nobody knows whether it was the sender or an admin, it says neither.
    private func recallText(of message: Message) -> String {
        let known = self.recallers[message.id] ?? (self.conversation.type.targetIsPeer ? message.sender : nil)
        guard let recaller = known else { return self.kinds.recalled }
        guard recaller != self.person else { return self.words.recalledByYou }
        return self.words.recalledBy.filled([("name", self.name(recaller))])
    }

    private func row(of stored: StoredMessage, isFirst: Bool, _ recalled: Set<MessageID>) -> MessageRow {
        let message = stored.message
        let isOwn = message.sender == self.person
        return MessageRow(
            id: .message(stored.id), message: message, objectName: message.objectName, content: message.typedContent,
            text: message.text ?? MessageSummary.text(of: message, in: self.kinds), sender: message.sender,
            senderName: self.name(message.sender), showsSender: isFirst && !isOwn, isOwn: isOwn,
            time: self.times.time(message.sentAt), sentAt: message.sentAt, isEdited: stored.isEdited,
            quote: message.quote.map { self.line(of: $0, recalled) },
            state: isOwn ? (self.showsMarks ? self.marks.state(of: stored.id) : .sent) : nil)
    }

    private func row(of item: OutgoingMessage, isFirst: Bool, _ recalled: Set<MessageID>) -> MessageRow {
        // As it will be when the server has it.
        let message = Message(
            id: MessageID(rawValue: 0), app: "", sender: self.person, conversation: self.conversation,
            clientMessageID: item.id, objectName: item.objectName, content: item.content, flags: .normal, pushText: nil,
            sentAt: item.writtenAt)
        let content = item.file == nil ? message.typedContent : .image(.init(url: ""))
        return MessageRow(
            id: .outgoing(item.id), message: nil, objectName: item.objectName, content: content,
            text: message.text ?? MessageSummary.text(of: message, in: self.kinds), sender: self.person,
            senderName: self.name(self.person), showsSender: false, isOwn: true, time: self.times.time(item.writtenAt),
            sentAt: item.writtenAt, isEdited: false, quote: message.quote.map { self.line(of: $0, recalled) },
            state: self.state(of: item), file: item.file)
    }

    private func state(of item: OutgoingMessage) -> SendState {
        if let failure = item.failure { return .failed(failure) }
        if item.isUploading { return .uploading(percent: item.percent) }
        return self.isConnected ? .sending : .waiting
    }

    private func line(of quote: MessageQuote, _ recalled: Set<MessageID>) -> MessageRow.Quote {
        let isGone = quote.message.map { recalled.contains($0) } ?? false
        let text = quote.text ?? self.kinds.kinds[quote.objectName] ?? self.kinds.other
        return MessageRow.Quote(
            message: quote.message, name: quote.sender == self.person ? self.words.you : self.name(quote.sender),
            text: isGone ? self.words.quoteGone : text)
    }
}
