import SwiftProtobuf
import TidingsModel

extension WireServerFrame {
    init(_ frame: ServerFrame) {
        switch frame {
        case .welcome(let welcome):
            self.welcome = .with {
                $0.version = welcome.version
                $0.serverTime = welcome.serverTime
                $0.head = welcome.head
                $0.unread = welcome.unread
                $0.heartbeatMs = welcome.heartbeatMilliseconds
                $0.frameBytesMax = welcome.frameBytesMax
                $0.recipientTag = welcome.recipientTag
                $0.extensionToken = welcome.extensionToken
            }
        case .sendAccepted(let accepted):
            self.sendAccepted = .with {
                $0.clientMessageID = accepted.clientMessageID.rawValue
                $0.messageID = accepted.messageID.description
                $0.sentAt = accepted.sentAt
                $0.position = accepted.position
            }
        case .sendRefused(let id, let problem):
            self.sendRefused = .with {
                $0.clientMessageID = id.rawValue
                $0.problem = WireProblem(problem, isFatal: false)
            }
        case .entry(let entry): self.entry = WireEntry(entry)
        case .page(let page):
            self.page = .with {
                $0.after = page.after
                $0.entries = page.entries.map(WireEntry.init)
                $0.head = page.head
                $0.unread = page.unread
            }
        case .pong(let nonce): self.pong = .with { $0.nonce = nonce }
        case .problem(let problem, let isFatal): self.problem = WireProblem(problem, isFatal: isFatal)
        case .reconnect(let after): self.reconnect = .with { $0.afterMs = after }
        }
    }

    func model() throws(FrameError) -> ServerFrame {
        switch self.frame {
        case nil: throw .empty
        case .welcome(let welcome):
            return .welcome(
                ServerFrame.Welcome(
                    version: welcome.version, serverTime: welcome.serverTime, head: welcome.head,
                    unread: welcome.unread, heartbeatMilliseconds: welcome.heartbeatMs,
                    frameBytesMax: welcome.frameBytesMax, recipientTag: welcome.recipientTag,
                    extensionToken: welcome.extensionToken))
        case .sendAccepted(let accepted):
            return .sendAccepted(
                ServerFrame.SendAccepted(
                    clientMessageID: ClientMessageID(accepted.clientMessageID),
                    messageID: try messageID(accepted.messageID, field: "message_id"), sentAt: accepted.sentAt,
                    position: accepted.position))
        case .sendRefused(let refused):
            return .sendRefused(ClientMessageID(refused.clientMessageID), try refused.problem.model())
        case .entry(let entry): return .entry(try entry.model())
        case .page(let page):
            var entries: [LogEntry] = []
            entries.reserveCapacity(page.entries.count)
            for entry in page.entries { entries.append(try entry.model()) }
            return .page(
                ServerFrame.Page(after: page.after, entries: entries, head: page.head, unread: page.unread))
        case .pong(let pong): return .pong(pong.nonce)
        case .problem(let problem): return .problem(try problem.model(), isFatal: problem.fatal)
        case .reconnect(let reconnect): return .reconnect(afterMilliseconds: reconnect.afterMs)
        }
    }
}

private func messageID(_ text: String, field: String) throws(FrameError) -> MessageID {
    guard let id = MessageID(text) else {
        throw .invalid(InvalidField(field: field, rule: "must be 13 digits of Crockford's base 32"), send: nil)
    }
    return id
}

extension WireProblem {
    fileprivate init(_ problem: ServerFrame.Problem, isFatal: Bool) {
        self.init()
        self.code = problem.code.rawValue
        self.field = problem.field
        self.rule = problem.rule
        self.fatal = isFatal
    }

    fileprivate func model() throws(FrameError) -> ServerFrame.Problem {
        guard let code = ServerFrame.Problem.Code(rawValue: self.code) else {
            throw .invalid(
                InvalidField(field: "problem.code", rule: "is not known to this build: \(self.code)"), send: nil)
        }
        return ServerFrame.Problem(code: code, field: self.field, rule: self.rule)
    }
}

extension WireEntry {
    fileprivate init(_ entry: LogEntry) {
        self.init()
        self.position = entry.position
        switch entry.body {
        case .message(let message): self.message = WireMessage(message)
        case .read(let conversation, let upTo):
            self.read = .with {
                $0.conversation = WireConversation(conversation)
                $0.upTo = upTo
            }
        case .custom(let message): self.custom = WireCustom(message)
        case .recall(let recall):
            self.recall = .with {
                $0.message = recall.message.description
                $0.conversation = WireConversation(recall.conversation)
                $0.sender = recall.sender.rawValue
                $0.at = recall.at
            }
        }
    }

    fileprivate func model() throws(FrameError) -> LogEntry {
        guard self.position > 0 else {
            throw .invalid(InvalidField(field: "entry.position", rule: "must be at least 1"), send: nil)
        }
        switch self.body {
        case nil: throw .empty
        case .message(let message):
            return LogEntry(position: self.position, body: .message(try message.model()))
        case .read(let read):
            let conversation = try read.conversation.model(field: "read.conversation")
            return LogEntry(position: self.position, body: .read(conversation: conversation, upTo: read.upTo))
        case .custom(let message):
            return LogEntry(position: self.position, body: .custom(try message.model()))
        case .recall(let recall):
            let withdrawn = Recall(
                message: try messageID(recall.message, field: "recall.message"),
                conversation: try recall.conversation.model(field: "recall.conversation"),
                sender: UserID(recall.sender), at: recall.at)
            return LogEntry(position: self.position, body: .recall(withdrawn))
        }
    }
}

extension WireCustom {
    fileprivate init(_ message: CustomMessage) {
        self.init()
        self.id = message.id.description
        if let title = message.title { self.title = title }
        self.content = message.content
        if let type = message.contentType { self.contentType = type }
        self.extras = JSONValue.object(message.extras).text
        self.sentAt = message.sentAt
    }

    fileprivate func model() throws(FrameError) -> CustomMessage {
        // Written by a program without extras, the text may be missing.
        guard let extras = self.extras.isEmpty ? JSONObject() : (try? JSONValue(parsing: self.extras))?.objectValue
        else {
            throw .invalid(InvalidField(field: "custom.extras", rule: "must be a JSON object"), send: nil)
        }
        return CustomMessage(
            id: try messageID(self.id, field: "custom.id"), title: self.hasTitle ? self.title : nil,
            content: self.content, contentType: self.hasContentType ? self.contentType : nil, extras: extras,
            sentAt: self.sentAt)
    }
}

extension WireMessage {
    fileprivate init(_ message: TidingsModel.Message) {
        self.init()
        self.id = message.id.description
        self.sender = message.sender.rawValue
        self.conversation = WireConversation(message.conversation)
        self.clientMessageID = message.clientMessageID.rawValue
        self.objectName = message.objectName.rawValue
        self.content = message.content
        self.notStored = !message.flags.contains(.stored)
        self.notCounted = !message.flags.contains(.counted)
        self.notNotified = !message.flags.contains(.notified)
        if let text = message.pushText { self.pushText = text }
        self.sentAt = message.sentAt
        self.app = message.app.rawValue
    }

    fileprivate func model() throws(FrameError) -> TidingsModel.Message {
        TidingsModel.Message(
            id: try messageID(self.id, field: "message.id"), app: AppID(self.app), sender: UserID(self.sender),
            conversation: try self.conversation.model(field: "message.conversation"),
            clientMessageID: ClientMessageID(self.clientMessageID), objectName: ObjectName(self.objectName),
            content: self.content,
            flags: MessageFlags(
                notStored: self.notStored, notCounted: self.notCounted, notNotified: self.notNotified),
            pushText: self.hasPushText ? self.pushText : nil, sentAt: self.sentAt)
    }
}
