import APNsModel
import ClientCore
import PhoneCore
import ServerCore
import SimulatedServer
import StoreModel
import TidingsModel

// The server of a scenario: what it is told and tells, and what happens at it.
extension ScenarioPhone {
    var serverLog: [LogEntry] { self.app.sdk.flatMap { self.server?.log(of: $0.setup.user) } ?? [] }
    var serverHead: LogPosition { self.app.sdk.flatMap { self.server?.unread(of: $0.setup.user).head } ?? 0 }

    mutating func handleServer(_ event: ServerEvent) {
        self.carryOut(self.server?.handle(event, at: self.now) ?? [])
    }

    mutating func disconnect(_ session: SessionID) {
        self.carryOut(self.server?.hangUp(session, at: self.now) ?? [])
    }

    mutating func receive(_ frame: ClientFrame, on number: ConnectionNumber) {
        guard let session = self.app.sdk?.session, self.app.sdk?.connection == number else { return }
        switch frame {
        case .hello(let hello): self.traceRunState(hello.runState)
        case .runState(let state): self.traceRunState(state)
        case .signOut: self.trace.append(server: "sign out", at: self.now.monotonic)
        case .ack, .sync, .ping, .markRead, .send, .opened, .registerPush, .deviceStatus, .request, .typing: break
        }
        self.carryOut(self.server?.receive(frame, on: session, at: self.now) ?? [])
    }

    private mutating func traceRunState(_ state: ReportedRunState) {
        let text =
            switch state {
            case .foreground: "foreground"
            case .background(let remaining): "background for \(remaining / 1_000) s"
            case .suspending: "suspending"
            }
        self.trace.append(server: text, at: self.now.monotonic)
    }

    private mutating func carryOut(_ outputs: [SimulatedServer.Output]) {
        for output in outputs {
            guard let sdk = self.app.sdk else { return }
            switch output {
            case .write(let session, let frame):
                guard session == sdk.session, let number = sdk.connection, let process = sdk.process else { continue }
                self.handleClient(.frameReceived(number, frame), in: process)
            case .close(let session):
                guard session == sdk.session else { continue }
                self.app.sdk?.session = nil
                self.loseConnection(reason: "closed by the server")
            case .probe(let session):
                guard session == sdk.session, sdk.connection != nil, !sdk.isSuspended else { continue }
                self.handleServer(.heard(session))
            case .push(let request): self.sendPush(request)
            case .stored(let command, let result): self.traceStored(command, result)
            case .fault(let text): self.traceFault("server: \(text)")
            case .reply: break
            }
        }
    }

    private mutating func sendPush(_ request: APNsRequest) {
        guard let payload = (try? JSONValue(parsing: request.payload))?.objectValue else {
            return self.traceFault("server: a payload that is no object")
        }
        let push = Push(
            delivery: 0, topic: request.topic, payload: payload, pushType: request.pushType.rawValue,
            priority: request.priority.rawValue, collapseID: request.collapseID)
        let id = request.collapseID.flatMap { MessageID($0) }
        let label = id.flatMap { self.app.sdk?.labels[$0] } ?? request.collapseID ?? "badge"
        self.sendPush(push, label: label, lifetime: request.expiration.map { max(0, $0 * 1_000 - self.now.wall) })
    }

    private mutating func traceStored(_ command: StoreCommand, _ result: StoreResult) {
        guard let sdk = self.app.sdk else { return }
        let moment = self.now.monotonic
        switch (command, result) {
        case (.endLeg(let ended), _):
            guard case .settled(let disposition) = ended.end, let label = sdk.labels[ended.leg.message] else { return }
            self.trace.append(.settled, "\(label): \(disposition.name)", kind: "settles", at: moment)
        case (.markRead(_, let conversation, let position, _), .read):
            self.trace.append(server: "read \(conversation) up to \(position)", at: moment)
        case (.accept(let message, .some, _, _, _, _), .accepted):
            let text = MessageSummary.text(of: message, in: sdk.words)
            self.trace.append(server: "message to \(message.conversation): \(text)", at: moment)
        case (.receipt(let leg, .opened, _), _):
            // The server keeps the first time; what may not have arrived is told again (docs/server/protocol.md).
            guard self.app.sdk?.opened.insert(leg.message).inserted == true else { return }
            self.trace.append(server: "opened \(self.labels.label(of: leg.message.description))", at: moment)
        case (.receipt(let leg, .shown, _), _):
            self.trace.append(server: "receipt of \(sdk.labels[leg.message] ?? leg.message.description)", at: moment)
        default: break
        }
    }

    // MARK: Steps

    mutating func run(_ step: SDKStep) {
        switch step {
        case .message(let message):
            if let person = message.recipient {
                // Who was signed in here before: their push still comes, with their recipient tag (design.md P7).
                let registration = PushRegistration(token: "0123", environment: .sandbox, topic: Self.bundle.rawValue)
                self.connectBriefly(person, SDKHost.device, [.registerPush(registration)])
            }
            // The server does not learn of it: it waits as long as for any answer.
            if message.isCatchUp { self.loseConnection() }
            self.sendMessage(message)
        case .read(let conversation):
            guard let process = self.running() else { return }
            self.handleClient(.markReadRequested(conversation, upTo: self.serverHead), in: process)
        case .readElsewhere(let conversation):
            guard let person = self.app.sdk?.setup.person else { return }
            self.connectBriefly(person, "tablet", [.markRead(conversation, upTo: self.serverHead)])
        case .signOut:
            guard let process = self.running() else { return }
            self.app.sdk?.isLeaving = true
            self.handleClient(.signOutRequested, in: process)
        case .signIn(let person):
            guard let process = self.running() else { return }
            self.signIn(person, in: process)
        }
        self.processQueue()
    }

    private mutating func sendMessage(_ scripted: ScriptedMessage) {
        guard let sdk = self.app.sdk else { return }
        let person = scripted.recipient ?? sdk.setup.person
        let conversation = scripted.conversation ?? ConversationID(type: .direct, target: person.rawValue)
        if let recalled = scripted.recalls.flatMap({ self.labels.identifier(of: $0) }).flatMap({ MessageID($0) }) {
            return self.request(.request(SDKHost.app, actor: nil, .recall(recalled)))
        }
        if let edited = scripted.edits.flatMap({ self.labels.identifier(of: $0) }).flatMap({ MessageID($0) }) {
            let content = JSONValue.members([("content", .string(scripted.text ?? scripted.label))]).text
            return self.request(.request(SDKHost.app, actor: nil, .edit(edited, content: content)))
        }
        if let custom = scripted.custom {
            let message = CustomMessage(
                id: MessageID(rawValue: 0), title: custom["title"]?.stringValue,
                content: custom["content"]?.stringValue ?? "", extras: custom["extras"]?.objectValue ?? JSONObject(),
                sentAt: 0)
            return self.request(
                .sendCustom(
                    SDKHost.app, message, recipients: [person], clientMessageID: ClientMessageID(scripted.label)),
                for: scripted)
        }
        self.addMembers([person, scripted.sender], to: conversation)
        var flags: MessageFlags = .normal
        if scripted.isCommand { flags.remove([.stored, .counted]) }
        if !scripted.notifies { flags.remove(.notified) }
        let said = scripted.text ?? (scripted.type == .text ? scripted.label : "")
        let content = [("content", JSONValue.string(said))] + scripted.furtherContent
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(scripted.label), conversation: conversation, objectName: scripted.type,
            content: JSONValue.members(content).text, flags: flags,
            mentions: scripted.mentions, lifetimeMilliseconds: scripted.lifetime, push: scripted.push)
        self.request(.send(UserKey(app: SDKHost.app, user: scripted.sender), draft), for: scripted)
    }

    private mutating func addMembers(_ people: Set<UserID>, to conversation: ConversationID) {
        switch conversation.type {
        case .group, .discussion, .chatRoom:
            let members = (self.app.sdk?.members[conversation] ?? []).union(people)
            guard members != self.app.sdk?.members[conversation] else { return }
            self.app.sdk?.members[conversation] = members
            self.request(
                .putConversation(
                    ConversationRecord(
                        app: SDKHost.app, conversation: conversation, name: conversation.target,
                        members: members.sorted())))
            guard conversation.type == .chatRoom, let process = self.process else { return }
            self.handleClient(.requestSubmitted(1, .enterRoom(conversation, history: 0)), in: process)
        case .customerService, .publicService, .appPublicService:
            for person in people.sorted() where person.rawValue != conversation.target {
                let account = ConversationID(type: conversation.type, target: person.rawValue)
                self.request(.setAccount(SDKHost.app, account, isDeclared: true))
            }
        case .direct, .system, .pushService: break
        }
    }

    mutating func nextSession() -> SessionID? {
        self.app.sdk?.lastSession += 1
        return (self.app.sdk?.lastSession).map { SessionID($0) }
    }

    mutating func connectBriefly(_ person: UserID, _ device: DeviceID, _ frames: [ClientFrame]) {
        guard let session = self.nextSession() else { return }
        let hello = ClientFrame.Hello(
            versions: 1...1, token: person.rawValue, device: device, platform: "ios",
            runState: .background(remainingMilliseconds: 0), after: 0)
        for frame in [.hello(hello)] + frames {
            self.carryOut(self.server?.receive(frame, on: session, at: self.now) ?? [])
        }
        self.disconnect(session)
    }

    private mutating func request(_ command: APICommand, for scripted: ScriptedMessage? = nil) {
        guard let (answer, outputs) = self.server?.request(command, at: self.now) else { return }
        if case .accepted(let accepted, _)? = answer, let scripted { self.addName(accepted.messageID, as: scripted) }
        if case .refused(let problem)? = answer { self.halt("the server refuses: \(problem)") }
        self.carryOut(outputs)
    }

    private mutating func addName(_ id: MessageID, as scripted: ScriptedMessage) {
        self.labels.addName(id.description, scripted.label)
        self.app.sdk?.labels[id] = scripted.label
        self.app.sdk?.names[id] = .some(scripted.namesAfter)
        if let entry = self.app.sdk?.foreknown.removeValue(forKey: scripted.label) {
            self.app.sdk?.ledger.restore(id, entry)
        }
    }

    mutating func request(_ question: ExtensionRequest) -> APIResult? {
        guard let sdk = self.app.sdk, let token = sdk.recipient.flatMap({ Int64($0.extensionToken) }) else {
            return nil
        }
        let device = DeviceKey(user: sdk.setup.user, device: SDKHost.device)
        let command = APICommand.fromExtension(device, tokenIssuedAt: token, question)
        guard let (answer, outputs) = self.server?.request(command, at: self.now) else { return nil }
        self.carryOut(outputs)
        return answer
    }
}

extension ScriptedMessage {
    fileprivate var furtherContent: [(String, JSONValue)] {
        let mentioned: JSONValue? =
            switch self.contentMentions {
            case .none: nil
            case .everyone: ["type": .int(1)]
            case .users(let named): ["type": .int(2), "userIdList": .array(named.map { .string($0.rawValue) })]
            }
        return (self.imageURL.map { [("imageUri", .string($0))] } ?? [])
            + (mentioned.map { [("mentionedInfo", $0)] } ?? [])
            + (self.answered.map { [("referMsgUserId", .string($0.rawValue))] } ?? [])
    }
}
