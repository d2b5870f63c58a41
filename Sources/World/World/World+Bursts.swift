import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

// What comes fast: several messages within a moment, and notifications that are cleared as soon as they are there.
extension World {
    mutating func maybeBurst() {
        guard self.chance.chance(perMille: 250), let sender = self.drawn(self.people),
            let peer = self.drawn(self.people)
        else { return }
        let group = self.chance.chance(perMille: 500) ? self.drawn(self.groups) : nil
        let conversation = group ?? ConversationID(type: .direct, target: peer.rawValue)
        guard group != nil || peer != sender else { return }
        self.appendTrace("the backend writes several messages to \(conversation) as \(sender)")
        self.emit(.reached(.bursts))
        var wait: Int64 = 0
        for number in 0..<self.chance.number(2...8) {
            let name = "s\(self.time)-\(number)"
            var draft = Self.draft(name, to: conversation)
            if conversation.hasMembers, self.chance.chance(perMille: 150) { draft.mentions = .everyone }
            self.lastAPIRequest += 1
            self.plan(
                .apiRequest(
                    APIRequestID(self.lastAPIRequest), .send(UserKey(app: Self.app, user: sender), draft)), after: wait)
            wait += self.chance.number(0...40)
        }
    }

    mutating func maybeWriteMore(to conversation: ConversationID, in process: ProcessID, on index: Int) {
        guard self.chance.chance(perMille: 150) else { return }
        var wait: Int64 = 0
        for number in 0..<self.chance.number(2...5) {
            let draft = Self.draft("m\(index)-\(self.time)-\(number)", to: conversation)
            self.appendTrace("person on phone \(index) writes \(draft.clientMessageID) to \(conversation)")
            self.phones[index].drafts[draft.clientMessageID] = draft
            self.emit(.written(draft, by: self.phones[index].key))
            wait += self.chance.number(1...400)
            self.plan(.client(index, process, .sendRequested(draft)), after: wait)
        }
    }

    mutating func maybeRecallSoon(_ message: Message, on index: Int) {
        guard self.phones[index].regrets.remove(message.clientMessageID) != nil else { return }
        self.plan(.recallsWritten(index, message.id), after: self.phones[index].chance.number(20...2_000))
    }

    mutating func recallWritten(_ message: MessageID, on index: Int) {
        guard self.phones[index].isSignedIn, let process = self.phones[index].core.process(of: Self.bundle),
            self.phones[index].core.state(of: Self.bundle)?.isInForeground == true
        else { return }
        self.sendRequest(.recall(message), in: process, on: index)
    }

    mutating func deletesNewest(in process: ProcessID, on index: Int) -> Bool {
        let person = self.phones[index].person
        guard self.chance.chance(perMille: 150),
            let (message, item) = self.phones[index].disk.store.rows.messages.elements.last(where: {
                $0.value.message.sender != person
            })
        else { return false }
        self.sendRequest(
            .delete(Deletion(conversation: item.conversation, messages: [message])), in: process, on: index)
        return true
    }

    static func draft(_ name: String, to conversation: ConversationID, saying text: String? = nil) -> MessageDraft {
        MessageDraft(
            clientMessageID: ClientMessageID(name), conversation: conversation, objectName: .text,
            content: JSONValue.members([("content", .string(text ?? name))]).text)
    }

    /// Everything that may not stay where its message is not meant to be seen or heard.
    static func loudOptions(of name: String) -> PushOptions {
        PushOptions(
            title: .text("title of \(name)"), subtitle: .text("subtitle of \(name)"), sound: "horn.caf",
            interruptionLevel: .timeSensitive, relevance: 900, threadID: "desk",
            custom: JSONObject([("order", .string(name))]))
    }

    static let pushRules = {
        var rules = PushRules()
        rules.entitlements = [.timeSensitive]
        rules.clientOptions = Set(PushRules.clientOptionNames)
        rules.clientSounds = ["horn.caf"]
        rules.imageHosts = Self.imageHosts
        return rules
    }()

    mutating func planClearing(of presentation: PresentationRecord, on index: Int) {
        guard self.phones[index].behaviour == .clearsNotifications, presentation.list else { return }
        let key = NotificationKey(app: Self.bundle, identifier: presentation.identifier)
        self.plan(.clears(index, key), after: self.phones[index].chance.number(200...4_000))
    }

    /// Has a person clear a notification of the kit's while the network goes, before the server is told that it was shown.
    mutating func maybeClearUnsettled(_ message: MessageID, in process: ProcessID, on index: Int) {
        guard var chance = self.injectFault(.dismissal(index), perMille: self.options.faults.phone) else { return }
        self.appendTrace("phone \(index) loses its connection, and \(message) is cleared")
        self.emit(.reached(.clearedUnsettled))
        for connection in self.phones[index].openConnections where self.connections[connection].process == process {
            self.connections[connection].isDead = true
        }
        let key = NotificationKey(app: Self.bundle, identifier: message.description)
        self.plan(.clears(index, key), after: chance.number(300...3_000))
    }

    mutating func clearNotification(_ key: NotificationKey, on index: Int) {
        guard self.phones[index].core.screen.list.contains(where: { $0.key == key }) else { return }
        self.emit(.reached(.cleared))
        self.handle(PhoneEvent.person(.notificationDismissed(key)), on: index)
    }
}
