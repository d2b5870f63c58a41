import ClientCore
import OrderedCollections
import ServerCore
import TidingsModel

// The app's backend, at the HTTP API: it sends custom messages, and does what operators do.
extension World {
    mutating func backendActs() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .backend)
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
        let lifetime = self.lifetimeOfCustom()
        let message = CustomMessage(id: MessageID(rawValue: 0), content: name, sentAt: 0, expiresAt: lifetime)
        self.appendTrace(
            "the backend sends \(name) to \(Self.names(recipients))"
                + (lifetime.map { ", good for \($0) ms" } ?? ""))
        self.callAPI(
            .sendCustom(
                Self.app, message, recipients: recipients.isEmpty ? self.people : recipients,
                clientMessageID: ClientMessageID(name)))
    }

    /// In milliseconds: some for seconds, some for longer than anything breaks.
    private mutating func lifetimeOfCustom() -> Int64? {
        switch self.chance.number(0...5) {
        case 0: self.chance.number(1...60_000)
        case 1: self.chance.number(60_000...1_200_000)
        case 2: self.chance.number(3_600_000...14_400_000)
        default: nil
        }
    }

    private mutating func sendAsSomebody() {
        guard let sender = self.drawn(self.people), let conversation = self.drawn(self.groups) else { return }
        let name = "b\(self.time)"
        self.appendTrace("the backend sends \(name) to \(conversation) as \(sender)")
        var draft = Self.draft(name, to: conversation)
        draft.push = Self.loudOptions(of: name)
        self.callAPI(.send(UserKey(app: Self.app, user: sender), draft))
    }

    private mutating func recallAsBackend() {
        let messages = self.drawn(self.phones)?.disk.store.rows.messages.elements.suffix(5)
        guard let (message, _) = messages?.first(where: { !$0.value.isRecalled }) else { return }
        self.appendTrace("the backend recalls \(message)")
        self.callAPI(.request(Self.app, actor: nil, .recall(message)))
    }

    private mutating func changeMembersAsBackend() {
        guard let person = self.drawn(self.people), let conversation = self.drawn(self.groups) else { return }
        let action: ConversationAction =
            switch self.chance.number(0...7) {
            case 0...1: .remove([person])
            case 2: self.writingChange(of: person, closed: self.chance.chance(perMille: 700))
            default: .add([person])
            }
        self.appendTrace("the backend does \(action.name) \(Self.names(action.people)) in \(conversation)")
        self.callAPI(.request(Self.app, actor: nil, .change(conversation, action)))
    }

    mutating func callAPI(_ command: APICommand) {
        self.lastAPIRequest += 1
        self.callAPI(command, as: APIRequestID(self.lastAPIRequest))
        guard var chance = self.injectFault(.gateway, perMille: self.options.faults.http) else { return }
        self.repeatRequest(command, after: chance.number(5...max(5, self.options.faults.latencyMax)))
    }

    mutating func callAPI(_ command: APICommand, as request: APIRequestID) {
        guard self.server != nil else { return }
        self.openAPIRequests.insert(request)
        self.handle(ServerEvent.api(request, command))
    }

    mutating func repeatRequest(_ command: APICommand, after wait: Int64) {
        self.lastAPIRequest += 1
        let again = APIRequestID(self.lastAPIRequest)
        self.appendTrace("a request comes again in \(wait) ms, as \(again)")
        self.emit(.reached(.repeatedRequests))
        self.plan(.apiRequest(again, command), after: wait)
    }
}
