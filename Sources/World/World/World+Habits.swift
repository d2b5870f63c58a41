import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import TidingsModel

// What comes fast: several messages within a moment, and notifications that are cleared as soon as they are there.
extension World {
    /// The app's backend writes several messages at once, some of which mention everybody.
    mutating func maybeBurst() {
        guard self.chance.chance(perMille: 250), let sender = self.drawn(self.people),
            let peer = self.drawn(self.people)
        else { return }
        let group = self.chance.chance(perMille: 500) ? self.drawn(self.groups) : nil
        let conversation = group ?? ConversationID(type: .direct, target: peer.rawValue)
        guard group != nil || peer != sender else { return }
        self.note("the backend writes several messages to \(conversation) as \(sender)")
        self.see(.reached(.bursts))
        var wait: Int64 = 0
        for number in 0..<self.chance.number(2...8) {
            let name = "s\(self.time)-\(number)"
            var draft = Self.text(name, to: conversation)
            if conversation.hasMembers, self.chance.chance(perMille: 150) { draft.mentions = .everyone }
            self.lastAPIRequest += 1
            self.plan(
                .apiRequest(
                    APIRequestID(self.lastAPIRequest), .send(UserKey(app: Self.app, user: sender), draft)), after: wait)
            wait += self.chance.number(0...40)
        }
    }

    /// A person goes on writing, to the same conversation, faster than the server may answer.
    mutating func maybeWriteMore(to conversation: ConversationID, in process: ProcessID, on index: Int) {
        guard self.chance.chance(perMille: 150) else { return }
        var wait: Int64 = 0
        for number in 0..<self.chance.number(2...5) {
            let draft = Self.text("m\(index)-\(self.time)-\(number)", to: conversation)
            self.note("person on phone \(index) writes \(draft.clientMessageID) to \(conversation)")
            self.phones[index].drafts[draft.clientMessageID] = draft
            self.see(.written(draft, by: self.phones[index].key))
            wait += self.chance.number(1...400)
            self.plan(.client(index, process, .sendRequested(draft)), after: wait)
        }
    }

    /// A person thinks better of it, while what was written is still on its way to the others.
    mutating func takeBackSoon(_ message: Message, on index: Int) {
        guard self.phones[index].regrets.remove(message.clientMessageID) != nil else { return }
        self.plan(.takesBack(index, message.id), after: self.phones[index].chance.number(20...2_000))
    }

    mutating func takeBack(_ message: MessageID, on index: Int) {
        guard self.phones[index].isSignedIn, let process = self.phones[index].core.process(of: Self.bundle),
            self.phones[index].core.state(of: Self.bundle)?.isInForeground == true
        else { return }
        self.ask(.recall(message), in: process, on: index)
    }

    /// A person does away with the newest message instead of reading it.
    mutating func deletesNewest(in process: ProcessID, on index: Int) -> Bool {
        let person = self.phones[index].person
        guard self.chance.chance(perMille: 150),
            let (message, item) = self.phones[index].disk.store.messages.elements.last(where: {
                $0.value.message.sender != person
            })
        else { return false }
        self.ask(.delete(Deletion(conversation: item.conversation, messages: [message])), in: process, on: index)
        return true
    }

    private static func text(_ name: String, to conversation: ConversationID) -> MessageDraft {
        MessageDraft(
            clientMessageID: ClientMessageID(name), conversation: conversation, objectName: .text,
            content: JSONValue.members([("content", .string(name))]).text)
    }

    /// Some clear every notification within seconds.
    mutating func tidy(_ presentation: PresentationRecord, on index: Int) {
        guard self.phones[index].habit == .tidiness, presentation.list else { return }
        let key = NotificationKey(app: Self.bundle, identifier: presentation.identifier)
        self.plan(.clears(index, key), after: self.phones[index].chance.number(200...4_000))
    }

    mutating func clear(_ key: NotificationKey, on index: Int) {
        guard self.phones[index].core.screen.list.contains(where: { $0.key == key }) else { return }
        self.see(.reached(.cleared))
        self.handle(PhoneEvent.person(.notificationDismissed(key)), on: index)
    }
}
