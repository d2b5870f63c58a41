import ClientCore
import PhoneCore
import TidingsModel

// The small server of a scenario: it welcomes, writes entries live, pushes what is not settled, and notes what it is told.
extension Stage {
    mutating func serve(_ frame: ClientFrame, on number: ConnectionNumber, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.connection == number else { return }
        switch frame {
        case .hello(let hello):
            self.app.sdk?.isWelcome = true
            self.note(hello.runState)
            self.client(.frameReceived(number, sdk.welcome), in: process)
        case .runState(let state):
            self.note(state)
            if state == .suspending { self.app.sdk?.isWelcome = false }
        case .ack(let ack):
            for settlement in ack.settled {
                for position in sdk.unsettled.sorted() where position <= settlement.upTo {
                    self.app.sdk?.unsettled.remove(position)
                    guard case .message(let message) = sdk.log[Int(position) - 1].body else { continue }
                    let label = sdk.labels[message.id] ?? message.id.description
                    self.trace.settled("\(label): \(settlement.disposition.name)", at: self.now.monotonic)
                }
            }
        case .sync(let after, let limit):
            let entries = sdk.log.filter { $0.position > after }.prefix(Int(limit))
            let page = ServerFrame.Page(
                after: after, entries: Array(entries), head: sdk.head, unread: UInt32(sdk.unread),
                pushes: ServerFrame.Pushes(unsent: sdk.unsettled.filter { $0 > after }.sorted()))
            self.client(.frameReceived(number, .page(page)), in: process)
        case .ping(let nonce): self.client(.frameReceived(number, .pong(nonce)), in: process)
        case .markRead(let conversation, let position):
            self.trace.told(server: "read \(conversation) up to \(position)", at: self.now.monotonic)
        case .signOut: self.trace.told(server: "sign out", at: self.now.monotonic)
        case .send(let draft): self.accept(draft, on: number, in: process)
        case .opened(let message):
            // The server keeps the first time; what may not have arrived is told again (docs/protocol.md).
            guard self.app.sdk?.opened.insert(message).inserted == true else { return }
            self.trace.told(
                server: "opened \(self.labels.label(of: message.description))", at: self.now.monotonic)
        case .registerPush, .deviceStatus, .request, .typing: break
        }
    }

    private mutating func note(_ state: ReportedRunState) {
        let text =
            switch state {
            case .foreground: "foreground"
            case .background(let remaining): "background for \(remaining / 1_000) s"
            case .suspending: "suspending"
            }
        self.trace.told(server: text, at: self.now.monotonic)
    }

    /// The connection is gone; what was not settled is pushed at once.
    mutating func hangUp() {
        self.app.sdk?.connection = nil
        self.app.sdk?.isWelcome = false
        for position in (self.app.sdk?.unsettled ?? []).sorted() { self.pushUnsettled(position) }
    }

    mutating func perform(_ step: SDKStep) {
        switch step {
        case .message(let message): self.send(message)
        case .read(let conversation):
            guard let process = self.running(), let sdk = self.app.sdk else { return }
            self.client(.markReadRequested(conversation, upTo: sdk.head), in: process)
        }
        self.drain()
    }

    private mutating func send(_ scripted: ScriptedMessage) {
        guard let sdk = self.app.sdk else { return }
        if let other = scripted.recipient { return self.push(scripted, to: other) }
        let position = sdk.head + 1
        let id =
            sdk.reserved[scripted.label]
            ?? MessageID(wallMilliseconds: self.now.wall, node: 1, counter: UInt32(truncatingIfNeeded: position))
        self.labels.named(id.description, scripted.label)
        self.app.sdk?.labels[id] = scripted.label
        self.app.sdk?.names[id] = scripted.namesAfter
        let entry = LogEntry(position: position, body: self.body(of: scripted, id: id, to: sdk.setup.person))
        self.app.sdk?.log.append(entry)
        if scripted.isCatchUp {
            // The device may come back in a moment: the server waits as long as for an answer.
            self.app.sdk?.unsettled.insert(position)
            self.later(.serverDeadline(position), after: SDKHost.ackDeadline)
            self.loseConnection()
        } else if sdk.isWelcome, let number = sdk.connection, let process = self.process {
            self.app.sdk?.unsettled.insert(position)
            self.client(.frameReceived(number, .entry(entry)), in: process)
            self.later(.serverDeadline(position), after: SDKHost.ackDeadline)
        } else {
            self.push(entry)
        }
    }

    /// A message for somebody who was signed in here before: their push still comes, with their recipient tag (DESIGN P7).
    private mutating func push(_ scripted: ScriptedMessage, to person: UserID) {
        guard let sdk = self.app.sdk else { return }
        self.app.sdk?.strangers += 1
        let id = MessageID(
            wallMilliseconds: self.now.wall, node: 2, counter: UInt32(truncatingIfNeeded: sdk.strangers + 1))
        self.labels.named(id.description, scripted.label)
        let entry = LogEntry(position: 1, body: self.body(of: scripted, id: id, to: person))
        guard let payload = sdk.push(of: entry, to: person) else { return }
        let push = Push(
            delivery: 0, topic: Self.bundle.rawValue, payload: payload, collapseID: id.description)
        self.push(push, label: scripted.label)
    }

    private func body(of scripted: ScriptedMessage, id: MessageID, to person: UserID) -> LogEntry.Body {
        if let custom = scripted.custom {
            return .custom(
                CustomMessage(
                    id: id, title: custom["title"]?.stringValue, content: custom["content"]?.stringValue ?? "",
                    extras: custom["extras"]?.objectValue ?? JSONObject(), sentAt: self.now.wall))
        }
        let conversation =
            scripted.conversation ?? ConversationID(type: .direct, target: person.rawValue)
        if let recalled = scripted.recalls,
            let recalled = self.labels.identifier(of: recalled).flatMap({ MessageID($0) })
        {
            let seen =
                conversation.type.targetIsPeer
                ? ConversationID(type: conversation.type, target: scripted.sender.rawValue) : conversation
            return .recall(
                Recall(id: id, message: recalled, conversation: seen, sender: scripted.sender, at: self.now.wall))
        }
        var flags: MessageFlags = .normal
        if scripted.isCommand { flags.remove([.stored, .counted]) }
        if !scripted.notifies { flags.remove(.notified) }
        let said = scripted.text ?? (scripted.type == .text ? scripted.label : "")
        let content = JSONValue.members([("content", .string(said))])
        return .message(
            Message(
                id: id, app: SDKHost.app, sender: scripted.sender, conversation: conversation,
                clientMessageID: ClientMessageID(scripted.label), objectName: scripted.type, content: content.text,
                flags: flags, pushText: nil, sentAt: self.now.wall, mentions: scripted.mentions))
    }

    mutating func serverDeadline(_ position: LogPosition) {
        guard self.app.sdk?.unsettled.contains(position) == true else { return }
        self.pushUnsettled(position)
    }

    private mutating func pushUnsettled(_ position: LogPosition) {
        guard let entry = self.app.sdk?.log[Int(position) - 1] else { return }
        self.app.sdk?.unsettled.remove(position)
        self.push(entry)
    }

    private mutating func push(_ entry: LogEntry) {
        guard let sdk = self.app.sdk, let payload = sdk.push(of: entry), case .message(let message) = entry.body
        else { return }
        let push = Push(
            delivery: 0, topic: Self.bundle.rawValue, payload: payload, collapseID: message.id.description)
        self.push(push, label: sdk.labels[message.id] ?? message.id.description)
    }
}
