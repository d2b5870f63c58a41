import OrderedCollections
import ServerCore
import StoreModel
import TidingsModel

// The app's backend, at the HTTP API: it makes groups, sends custom messages, and does what operators do.
extension World {
    /// One group with an owner and one discussion that everybody is in.
    mutating func beginGroups() {
        for type in [ConversationType.group, .discussion] {
            let conversation = ConversationID(type: type, target: type == .group ? "team" : "talk")
            self.groups.append(conversation)
            var members = self.people.map { Member($0) }
            if type == .group { members[0].role = .owner }
            self.call(
                .putConversation(
                    ConversationRecord(
                        app: Self.app, conversation: conversation, name: conversation.target, portrait: nil,
                        members: members)))
        }
    }

    mutating func backendActs() {
        guard !self.hasHealed else { return }
        self.takeTurn(.backend)
        self.plan(.backendActs, after: self.chance.number(10_000...90_000))
        guard self.server != nil, self.happens() else { return }
        switch self.chance.number(0...9) {
        case 0...4: self.sendCustom()
        case 5: self.sendAsSomebody()
        case 6: self.recallAsBackend()
        default: self.changeMembersAsBackend()
        }
        self.maybeBurst()
    }

    private mutating func sendCustom() {
        let name = "c\(self.time)"
        let recipients = self.people.filter { _ in self.chance.chance(perMille: 600) }
        let message = CustomMessage(id: MessageID(rawValue: 0), content: name, sentAt: 0)
        self.note("the backend sends \(name) to \(Self.names(recipients))")
        self.call(
            .sendCustom(
                Self.app, message, recipients: recipients.isEmpty ? self.people : recipients,
                clientMessageID: ClientMessageID(name)))
    }

    private mutating func sendAsSomebody() {
        guard let sender = self.drawn(self.people), let conversation = self.drawn(self.groups) else { return }
        let name = "b\(self.time)"
        self.note("the backend sends \(name) to \(conversation) as \(sender)")
        self.call(
            .send(
                UserKey(app: Self.app, user: sender),
                MessageDraft(
                    clientMessageID: ClientMessageID(name), conversation: conversation, objectName: .text,
                    content: JSONValue.members([("content", .string(name))]).text)))
    }

    private mutating func recallAsBackend() {
        let messages = self.drawn(self.phones)?.disk.messages.elements.suffix(5)
        guard let (message, _) = messages?.first(where: { !$0.value.isRecalled }) else { return }
        self.note("the backend withdraws \(message)")
        self.call(.request(Self.app, actor: nil, .recall(message)))
    }

    private mutating func changeMembersAsBackend() {
        guard let person = self.drawn(self.people), let conversation = self.drawn(self.groups) else { return }
        let action: ConversationAction = self.chance.chance(perMille: 250) ? .remove([person]) : .add([person])
        self.note("the backend does \(action.name) \(Self.names(action.people)) in \(conversation)")
        self.call(.request(Self.app, actor: nil, .change(conversation, action)))
    }

    mutating func call(_ command: ApiCommand) {
        self.lastApiRequest += 1
        self.handle(ServerEvent.api(ApiRequestID(self.lastApiRequest), command))
        if let again = self.repeatedRequest() { self.plan(.apiRequest(again, command), after: self.latencyToApple()) }
    }

    /// The number under which a request comes once more, sent again by something on the way; nil if it does not.
    mutating func repeatedRequest() -> ApiRequestID? {
        guard !self.hasHealed, self.roadChance.chance(perMille: self.options.faults.http) else { return nil }
        self.lastApiRequest += 1
        self.see(.reached(.repeatedRequests))
        return ApiRequestID(self.lastApiRequest)
    }
}
