import APNsModel
import ClientCore
import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

private let help = ConversationID(type: .customerService, target: "help")
private let helpToAnn = ConversationID(type: .customerService, target: "ann")
private let offersToAnn = ConversationID(type: .publicService, target: "ann")

/// Bob operates customer service, which writes to everybody, and the offers, which ann follows.
private func newStory() -> Story {
    var story = Story(AccountChecker())
    story.commit(.putAccount(World.app, ServiceAccount(help, operators: ["bob"])))
    story.commit(.putAccount(World.app, ServiceAccount(World.offered, owner: "bob", audience: .followers)))
    story.commit(.setProfiles(World.app, [UserProfile("offers", Profile(name: "Offers"))], isOwn: false))
    story.commit(.setFollowing(ann1.user, World.offered, true))
    return story
}

extension Story {
    /// From a phone of the author's, by default bob's; nil for the backend.
    @discardableResult
    fileprivate mutating func send(
        as account: UserID = "help", by author: UserID? = "bob", from device: DeviceID? = "bob-1",
        to conversation: ConversationID = helpToAnn
    ) -> Message {
        let message = self.message(from: account, to: conversation)
        self.commit(.accept(message: message, senderDevice: device, author: author))
        return message
    }

    /// As if the store had accepted what it should not, or gave it to others.
    fileprivate mutating func claimAccepted(
        _ message: Message, by author: UserID?, for users: [UserID] = ["ann", "help"]
    ) {
        let deliveries = users.map { Delivery(user: $0, position: 1, unread: 1) }
        self.emit(
            .committed(
                .accept(message: message, senderDevice: author.map { _ in "bob-1" }, author: author),
                .accepted(deliveries: deliveries)))
    }

    fileprivate mutating func show(_ message: Message, title: String, in place: ConversationID? = nil) {
        guard var payload = try? NotificationPayload(message: message, seenBy: "ann", at: 1) else { return }
        if let place { (payload.conversationType, payload.targetID) = (place.type, place.target) }
        let content = NotificationContent(
            title: title, body: "text", sound: .standard,
            userInfo: JSONObject([(NotificationPayload.key, .object(payload.dictionary))]))
        self.emit(.shown(NotificationRequest(identifier: message.id.description, content: content), on: ann1))
    }
}

@Suite struct `An account in a run` {
    @Test func `is written as by the backend and its operators, and to those it is for`() {
        var story = newStory()
        let message = story.send()
        story.send(by: nil, from: nil)
        story.send(as: "offers", to: offersToAnn)
        story.commit(.accept(message: story.message(from: "ann", to: help), senderDevice: "ann-1"))
        story.push(message, title: "Help", text: "Hello")
        story.show(message, title: "Help")
        #expect(story.broken == [])
        #expect(story.checkers.marks[.operatorMessages] == 2)
        #expect(story.checkers.marks[.accountMessages] == 1)
        #expect(story.checkers.marks[.messagesToAccounts] == 1)
    }

    @Test func `is found where somebody writes as it who does not operate it, or does no more`() {
        var story = newStory()
        story.claimAccepted(story.message(from: "help", to: helpToAnn), by: "ann")
        #expect(story.broken == ["accounts"])
        story.commit(.putAccount(World.app, ServiceAccount(help, operators: ["carl"])))
        story.claimAccepted(story.message(from: "help", to: helpToAnn), by: "bob")
        #expect(story.broken == ["accounts", "accounts"])
        story.commit(.setAccount(World.app, World.offered, isDeclared: false))
        story.claimAccepted(story.message(from: "offers", to: offersToAnn), by: "bob", for: ["ann", "offers"])
        #expect(story.broken.count == 3)
    }

    @Test func `is found where it writes to who follows it no more, and where others get it`() {
        var story = newStory()
        story.commit(.setFollowing(ann1.user, World.offered, false))
        story.send(as: "offers", by: nil, from: nil, to: offersToAnn)
        #expect(story.broken == [])
        story.claimAccepted(story.message(from: "offers", to: offersToAnn), by: nil, for: ["ann", "offers"])
        #expect(story.broken == ["accounts"])
        for users in [["ann", "bob", "help"], ["ann"], ["ann", "ann", "help"]] as [[UserID]] {
            let count = story.broken.count
            story.claimAccepted(story.message(from: "help", to: helpToAnn), by: "bob", for: users)
            #expect(story.broken.count == count + 1, "\(users)")
        }
    }

    @Test func `is found where it is refused what it may send`() {
        var story = newStory()
        let problem = ServerFrame.Problem(code: .notAllowed, field: "account", rule: "must be another")
        var draft = World.draft("c1", to: helpToAnn)
        draft.account = "help"
        let ofAnn = story.send(by: "ann", from: "ann-1")
        draft.clientMessageID = ofAnn.clientMessageID
        story.emit(.refused(draft, problem, to: ann1))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.refusedOperators] == 1)
        let message = story.message(from: "help", to: helpToAnn)
        story.emit(
            .committed(.accept(message: message, senderDevice: "bob-1", author: "bob"), .refused(problem)))
        draft.clientMessageID = message.clientMessageID
        story.emit(.refused(draft, problem, to: bob1))
        #expect(story.broken == ["accounts", "accounts"])
    }

    @Test(arguments: ["bob writes", "Bo (bob)", #"{"from":"bob"}"#])
    func `is found where its recipient is told who has written it`(text: String) throws {
        var story = newStory()
        let message = story.send()
        story.push(message, title: "Help", text: text)
        #expect(story.broken == ["accounts"])
        story.show(message, title: text)
        #expect(story.broken.count == 2)
        var told = message
        told.content = text
        story.emit(.applied([LogEntry(position: 1, body: .message(told))], on: ann1))
        #expect(story.broken.count == 3)
        story.emit(.answered(1, .answered(.history([told], hasMore: false)), to: ann1))
        #expect(story.broken.count == 4)
        let entry: JSONValue = ["message_id": .string(message.id.description), "text": .string(text)]
        story.emit(.toldMissed(["entries": [entry]], to: ann1))
        #expect(story.broken.count == 5)
    }

    @Test func `is found where its recipient is told who has written it, also once it was taken back`() {
        var story = Story(AccountChecker())
        story.commit(.putAccount(World.app, ServiceAccount(help, operators: ["bob"])))
        let message = story.send()
        story.commit(.setAccount(World.app, help, isDeclared: false))
        story.push(message, title: "Help", text: "bob writes")
        #expect(story.broken == ["accounts"])
    }

    @Test func `may show an id that only begins like its operator's, and shows operators what they please`() {
        var story = newStory()
        story.push(story.send(), title: "Help", text: "bobby, robbob")
        let toBob = ConversationID(type: .customerService, target: "bob")
        story.push(story.send(to: toBob), to: bob1, text: "bob")
        #expect(story.broken == [])
    }

    @Test func `is found where a recall of it is another's`() throws {
        var story = newStory()
        let message = story.send()
        let recall = story.recall(message)
        let recalled = try #require(recall)
        #expect(story.broken == [])
        story.emit(
            .committed(
                .recall(
                    RecallOperation(
                        id: recalled.id, app: World.app, message: message.id, actor: "bob", window: 1, at: 1)),
                .recalled(
                    Recall(id: recalled.id, message: message.id, conversation: helpToAnn, sender: "bob", at: 1),
                    of: message, deliveries: [], shown: [])))
        #expect(story.broken == ["accounts"])
        let entry = Recall(id: recalled.id, message: message.id, conversation: help, sender: "bob", at: 1)
        story.emit(.applied([LogEntry(position: 2, body: .recall(entry))], on: ann1))
        #expect(story.broken == ["accounts", "accounts"])
    }

    @Test func `is found where somebody edits it who may not, or it was left by who got it`() {
        var story = newStory()
        func edit(_ message: Message, by actor: UserID, in story: inout Story) {
            let edit = Edit(message: message.id, conversation: message.conversation, content: "{}", at: 1)
            story.emit(
                .committed(
                    .edit(
                        EditOperation(
                            app: World.app, message: message.id, actor: actor, content: "{}", window: 1, at: 1)),
                    .noted(.edit(edit), deliveries: [])))
        }
        let message = story.send(by: nil, from: nil)
        edit(message, by: "bob", in: &story)
        #expect(story.broken == [])
        #expect(story.checkers.marks[.colleagueRevisions] == 1)
        edit(message, by: "ann", in: &story)
        #expect(story.broken == ["accounts"])
        let offer = story.send(as: "offers", to: offersToAnn)
        story.commit(.setFollowing(ann1.user, World.offered, false))
        edit(offer, by: "bob", in: &story)
        #expect(story.broken == ["accounts", "accounts"])
    }

    @Test func `is found in another place than the conversation with it, and on a phone of another`() {
        var story = newStory()
        let message = story.send()
        story.show(message, title: "Help", in: ConversationID(type: .direct, target: "help"))
        #expect(story.broken == ["accounts"])
        story.push(message, to: bob1, title: "Help", text: "Hello")
        #expect(story.broken == ["accounts", "accounts"])
    }

    @Test func `is told what people write to it`() {
        var story = newStory()
        story.commit(.accept(message: story.message(from: "ann", to: help), senderDevice: "ann-1"))
        let asked = StoreCommand.readHistory(
            UserKey(app: World.app, user: "help"), helpToAnn, before: nil, limit: 20)
        story.commit(asked)
        #expect(story.broken == [])
        story.emit(.committed(asked, .history([], hasMore: false)))
        #expect(story.broken == ["accounts"])
    }

    @Test func `shows its card to people of another app where it is offered and there`() {
        var story = newStory()
        let card = UserProfile(World.offeredName, Profile(name: "Offers"))
        story.emit(.toldProfiles([card, UserProfile("ours/help", Profile())], in: World.otherTenant))
        story.emit(.toldProfiles([World.cardOfOther, UserProfile("bob", Profile(name: "Bo"))], in: World.app))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.cards] == 1)
        #expect(story.checkers.marks[.offeredCards] == 1)
        let others = [
            UserProfile(World.offeredName, Profile(name: "Bo")), UserProfile("ours/help", Profile(name: "Help")),
            UserProfile("ours/bob", Profile(name: "Bo")),
        ]
        for other in others { story.emit(.toldProfiles([other], in: World.otherTenant)) }
        story.emit(.toldProfiles([UserProfile("theirs/storms", Profile(name: "Storms"))], in: World.app))
        #expect(story.broken.count == 4)
        story.commit(.setAccount(World.app, World.offered, isDeclared: false))
        story.emit(.toldProfiles([card], in: World.otherTenant))
        #expect(story.broken.count == 5)
    }
}
