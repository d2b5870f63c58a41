import APNsModel
import ClientCore
import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

/// Bob is called Bo, and the group Team.
private func newStory(_ checker: some Checker) -> Story {
    var story = Story(checker)
    story.commit(.setProfiles(World.app, [UserProfile("bob", bo)], isOwn: false))
    story.commit(.putConversation(teamRecord))
    return story
}

private let portrait = "https://cdn.example.com/bob.jpg"
private let bo = Profile(name: "Bo", portrait: portrait)

extension Story {
    fileprivate mutating func show(
        _ message: Message, title: String, body: String? = nil, subtitle: String = "",
        as details: CommunicationDetails? = nil, sound: NotificationSound? = .standard, on key: DeviceKey = ann1
    ) {
        var content = NotificationContent(
            title: title, subtitle: subtitle, body: body ?? message.said, sound: sound)
        content.communication = details
        self.emit(.shown(NotificationRequest(identifier: message.id.description, content: content), on: key))
    }
}

extension Message {
    /// As a story's messages are.
    fileprivate var said: String { (try? JSONValue(parsing: self.content))?["content"]?.stringValue ?? "" }
}

@Suite struct `Names in a run` {
    private func push(_ message: Message, _ text: PushInfo.Text, portrait: String? = nil, in story: inout Story) {
        let info = PushInfo(
            message: message.id, position: 1, badgePosition: 1, recipientTag: "tag", text: text, portrait: portrait)
        let payload = JSONValue.members([
            ("aps", .members([("alert", .string("New message"))])), (PushInfo.key, info.dictionary),
        ])
        let request = APNsRequest(
            token: "00", topic: "com.example.chat", collapseID: message.id.description,
            payload: Array(payload.text.utf8), environment: .sandbox)
        story.emit(.pushed(SentPush(request), to: ann1))
    }

    @Test(arguments: ["Bo", "Contact bob", ""]) func `may be the sender's above a one-to-one message`(title: String) {
        var story = Story(NamesChecker())
        let message = story.accepted()
        story.commit(.setProfiles(World.app, [UserProfile("bob", bo)], isOwn: false))
        story.show(message, title: title)
        #expect(story.broken == [])
    }

    @Test(arguments: ["bob", "ann", "Contact ann", "Team"]) func `are neither an id nor another's`(title: String) {
        var story = newStory(NamesChecker())
        let message = story.accepted()
        story.show(message, title: title)
        #expect(story.broken == ["names"])
    }

    @Test func `are missing where the server knows one and nobody is named`() {
        var story = newStory(NamesChecker())
        let message = story.accepted()
        story.show(message, title: "")
        #expect(story.broken == ["names"])
        // A neutral text names nobody.
        story.show(message, title: "", body: NotificationWords.english.neutral)
        #expect(story.broken == ["names"])
        // What was taken away may be missing from then on.
        story.commit(.setProfiles(World.app, [UserProfile("bob", Profile())], isOwn: false))
        story.show(story.accepted(), title: "")
        #expect(story.broken == ["names"])
        // And is expected again once it was given again.
        story.commit(.setProfiles(World.app, [UserProfile("bob", bo)], isOwn: false))
        story.show(story.accepted(), title: "")
        #expect(story.broken == ["names", "names"])
    }

    @Test func `are the group's and before its text the sender's, in this group too`() {
        var story = newStory(NamesChecker())
        let message = story.accepted(to: team)
        story.show(message, title: "Team", body: "Bo: \(message.said)")
        story.show(message, title: "Chat team", body: "Contact bob: \(message.said)")
        let rename = ConversationAction.setNickname("bob", "Bobby")
        story.commit(
            .change(ConversationOperation(app: World.app, conversation: team, action: rename, actor: nil, at: 1)))
        story.show(message, title: "Team", body: "Bobby: \(message.said)")
        #expect(story.broken == [])
        story.show(message, title: "team", body: "Bo: \(message.said)")
        story.show(message, title: "Bo", body: "Bo: \(message.said)")
        story.show(message, title: "Team", body: "bob: \(message.said)")
        story.show(message, title: "Team")
        #expect(story.broken == ["names", "names", "names", "names"])
        // Elsewhere he is not called that.
        story.show(story.accepted(), title: "Bobby")
        #expect(story.broken.count == 5)
    }

    @Test func `stand in the places of a person's notification`() {
        var story = newStory(NamesChecker())
        let message = story.accepted(to: team)
        let details = CommunicationDetails(sender: "Bo", group: "Team", conversation: team.description)
        story.show(message, title: "Bo", subtitle: "Team", as: details)
        #expect(story.broken == [])
        story.show(message, title: "Team", subtitle: "Team", as: details)
        story.show(message, title: "Bo", subtitle: "team", as: details)
        story.show(story.accepted(), title: "Bo", subtitle: "Team", as: details)
        #expect(story.broken == ["names", "names", "names"])
    }

    @Test func `give way to a title that was chosen for the message`() {
        var story = newStory(NamesChecker())
        var message = story.message(to: toAnn)
        message.push = PushOptions(title: .text("Sale"))
        story.accept(message)
        story.show(message, title: "Sale")
        #expect(story.broken == [])
        story.show(message, title: "Sales")
        #expect(story.broken == ["names"])
    }

    @Test func `are in a push where the server knows them`() {
        var story = newStory(NamesChecker())
        let message = story.accepted()
        self.push(message, PushInfo.Text(title: "Bo", body: "1"), portrait: portrait, in: &story)
        #expect(story.broken == [])
        self.push(message, PushInfo.Text(body: "1"), in: &story)
        self.push(message, PushInfo.Text(title: "bob", body: "1"), in: &story)
        self.push(
            message, PushInfo.Text(title: "Bo", body: "1"), portrait: "https://cdn.example.com/ann.jpg", in: &story)
        #expect(story.broken == ["names", "names", "names"])
        let inTeam = story.accepted(to: team)
        self.push(inTeam, PushInfo.Text(title: "Team", sender: "Bo", body: "2"), in: &story)
        self.push(inTeam, PushInfo.Text(title: "Team", body: "2 new messages"), in: &story)
        #expect(story.broken.count == 3)
        self.push(inTeam, PushInfo.Text(title: "Team", body: "2"), in: &story)
        self.push(inTeam, PushInfo.Text(title: "Team", sender: "bob", body: "2"), in: &story)
        #expect(story.broken.count == 5)
    }

    @Test func `let nothing be posted where the app knows none`() throws {
        var story = newStory(NamesChecker())
        story.emit(.lacksNames(ann2.device))
        let message = story.accepted()
        story.emit(.posted(try notification(message), on: ann1, story.disk(of: ann1)))
        story.emit(.posted(try notification(message, isSilent: true), on: ann2, story.disk(of: ann2)))
        #expect(story.broken == [])
        story.emit(.posted(try notification(message), on: ann2, story.disk(of: ann2)))
        #expect(story.broken == ["names"])
    }

    @Test func `excuse a message from ringing where the app knows none`() {
        var story = Story(RingDueChecker())
        let registration = PushRegistration(token: "0a", environment: .sandbox, topic: "com.example.chat")
        story.commit(.setPushState(ann1, .registered(registration, at: story.now)))
        let message = story.accepted()
        story.emit(.away(message.id, [AwayPhone(key: ann1, token: "0a")]))
        story.emit(.nameless(message.id, on: ann1))
        story.wait(RingDueChecker.bound + 1)
        story.emit(.heard)
        #expect(story.broken == [])
        #expect(story.checkers.marks[.excusedRings] == 1)
    }
}

@Suite struct `A notification of a person in a run` {
    private func details(
        group: String? = nil, recipients: Int = 1, mention: Bool = false, reply: Bool = false,
        conversation: ConversationID = withBob
    ) -> CommunicationDetails {
        CommunicationDetails(
            sender: "Bo", group: group, conversation: conversation.description, recipientCount: recipients,
            mentionsPerson: mention, isReply: reply)
    }

    @Test func `has what its message has`() {
        var story = newStory(CommunicationChecker())
        story.show(story.accepted(), title: "Bo", as: self.details())
        let mention = story.accepted(to: team, mentions: .users(["ann"]))
        story.show(
            mention, title: "Bo", as: self.details(group: "Team", recipients: 2, mention: true, conversation: team))
        #expect(story.broken == [])
    }

    @Test func `is found with another conversation, mention, reply, number of recipients or portrait`() {
        var story = newStory(CommunicationChecker())
        let message = story.accepted()
        var foreign = self.details()
        foreign.portrait = "https://cdn.example.com/ann.jpg"
        let wrong = [
            self.details(conversation: toAnn), self.details(mention: true), self.details(reply: true),
            self.details(recipients: 2), self.details(group: "Team"), foreign,
        ]
        for details in wrong { story.show(message, title: "Bo", as: details) }
        #expect(story.broken.count == wrong.count)
        let inTeam = story.accepted(to: team)
        story.show(inTeam, title: "Bo", as: self.details(group: "Team", recipients: 1, conversation: team))
        story.show(inTeam, title: "Bo", as: self.details(recipients: 2, conversation: team))
        #expect(story.broken.count == wrong.count + 2)
    }

    @Test func `rings, on a system that knows it`() {
        var story = newStory(CommunicationChecker())
        let message = story.accepted()
        story.show(message, title: "Bo", as: self.details(), sound: nil)
        #expect(story.broken == ["communication"])
        story.emit(.lacksLevels(ann2.device))
        story.show(message, title: "Bo", as: self.details(), on: ann2)
        #expect(story.broken == ["communication", "communication"])
    }
}

@Suite struct `What the system knows of messages` {
    private func donation(
        _ message: Message, of user: UserID = "ann", sender: String? = "Bo", group: String? = nil,
        to recipients: [String] = []
    ) -> DonatedMessage {
        let conversation = message.conversation(seenBy: user).description
        return DonatedMessage(
            identifier: message.id.description, group: conversation, isOutgoing: message.sender == user,
            conversation: conversation, sender: sender, recipients: recipients, groupName: group)
    }

    /// What all promises find in the end if ann's first phone knows this.
    private func broken(_ donations: [DonatedMessage], in story: Story) -> [String] {
        var (ended, ending) = (story, story.ending())
        ending.phones[0].donations = donations
        ended.emit(.looked(ending))
        return ended.broken
    }

    @Test func `is of the person's messages, and true`() {
        var story = newStory(CommunicationChecker())
        let (came, inTeam) = (story.accepted(), story.accepted(to: team))
        let sent = story.accepted(from: "ann", to: withBob)
        let all = [
            self.donation(came), self.donation(inTeam, group: "Team"), self.donation(sent, sender: nil, to: ["Bo"]),
        ]
        #expect(self.broken(all, in: story) == [])
        let wrong = [
            self.donation(came, sender: "bob"), self.donation(came, sender: nil), self.donation(inTeam),
            self.donation(inTeam, group: "team"), self.donation(sent, sender: "Bo"),
            self.donation(sent, sender: nil, to: ["Contact ann"]),
            self.donation(story.message()), self.donation(story.accepted(from: "bob", to: toCarl)),
        ]
        for donation in wrong { #expect(self.broken([donation], in: story) == ["communication"], "\(donation)") }
    }

    @Test func `is gone with a recall, a deletion, hidden content and a sign-out`() {
        // Each makes its own: copies would share a store.
        func told() -> (story: Story, message: Message) {
            var story = newStory(CommunicationChecker())
            let message = story.accepted()
            return (story, message)
        }
        let (story, message) = told()
        #expect(self.broken([self.donation(message)], in: story) == [])
        var recalled = told().story
        _ = recalled.recall(message)
        #expect(self.broken([self.donation(message)], in: recalled) == ["communication"])
        #expect(self.broken([], in: recalled) == [])
        var deleted = told().story
        let deletion = Deletion(conversation: withBob, messages: [message.id])
        deleted.commit(.delete(ann1.user, deletion, at: story.now))
        #expect(self.broken([self.donation(message)], in: deleted) == ["communication"])
        var hidden = told().story
        hidden.commit(.setPersonSettings(ann1.user, PersonSettings(hidesContent: true), at: story.now))
        #expect(self.broken([self.donation(message)], in: hidden) == ["communication"])
        var left = told().story
        left.emit(.signedOut(ann1))
        #expect(self.broken([self.donation(message)], in: left) == ["communication"])
        left.emit(.signedIn(ann1))
        #expect(self.broken([self.donation(message)], in: left) == [])
    }
}

private let toCarl = ConversationID(type: .direct, target: "carl")
