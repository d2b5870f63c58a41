import Testing
import TidingsModel

@testable import ClientCore

private let using: KitSettings = {
    var kit = KitSettings()
    kit.usesCommunicationNotifications = true
    return kit
}()

private func payload(_ type: ConversationType, from sender: UserID = bob) -> NotificationPayload {
    do { return try NotificationPayload(message: message(7, from: sender, in: type), seenBy: alice, at: 3) } catch {
        fatalError("\(error)")
    }
}

private func form(
    _ type: ConversationType, _ text: PushInfo.Text, _ names: KnownNames = KnownNames()
) -> CommunicationForm? {
    CommunicationForm(payload(type), message: id(7), text: text, names: names, isMention: false, isReply: false)
}

private func sent(_ number: UInt64 = 9, in conversation: ConversationID = withBob) -> Message {
    Message(
        id: id(number), app: "demo", sender: alice, conversation: conversation, clientMessageID: "c1",
        objectName: .text, content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 77)
}

@Suite struct `A notification of a person` {
    private let direct = PushInfo.Text(title: "Bob", body: "hi")
    private let group = PushInfo.Text(title: "Team", sender: "Bob", body: "hi")

    @Test func `names sender and group apart from the text, by the app's names before the server's`() throws {
        let one = try #require(form(.direct, self.direct))
        #expect(one.sender == .init(id: bob, name: "Bob"))
        #expect(one.groupName == nil)
        #expect(one.conversation == withBob)
        #expect(one.recipientCount == 1)
        #expect(one.text == "hi")
        #expect(form(.direct, self.direct, KnownNames(sender: "Bobby"))?.sender?.name == "Bobby")
        for type in [ConversationType.group, .discussion] {
            let many = try #require(form(type, self.group, KnownNames(memberCount: 4)))
            #expect(many.sender?.name == "Bob")
            #expect(many.groupName == "Team")
            #expect(many.recipientCount == 3)
            #expect(many.text == "hi")
            let known = try #require(form(type, self.group, KnownNames(sender: "Bobby", group: "Our team")))
            #expect(known.sender?.name == "Bobby")
            #expect(known.groupName == "Our team")
            // With fewer the system takes it for a message to one person.
            #expect(known.recipientCount == 2)
            #expect(form(type, self.group, KnownNames(memberCount: 2))?.recipientCount == 2)
        }
    }

    @Test func `needs the names that the system shows`() {
        #expect(form(.direct, PushInfo.Text(body: "hi")) == nil)
        #expect(form(.direct, PushInfo.Text(title: "", body: "hi")) == nil)
        #expect(form(.group, PushInfo.Text(title: "Team", body: "hi")) == nil)
        #expect(form(.group, PushInfo.Text(sender: "Bob", body: "hi")) == nil)
        #expect(form(.group, PushInfo.Text(sender: "Bob", body: "hi"), KnownNames(group: "Team")) != nil)
    }

    @Test(
        arguments: [.customerService, .system, .appPublicService, .publicService, .pushService] as [ConversationType])
    func `is none of an account`(type: ConversationType) {
        #expect(form(type, self.direct, KnownNames(sender: "Shop", group: "Shop")) == nil)
    }

    @Test func `is none with a title that was chosen, which the name would replace`() {
        var chosen = self.direct
        chosen.isTitleChosen = true
        #expect(form(.direct, chosen, KnownNames(sender: "Bob")) == nil)
    }

    @Test(
        arguments: [
            (nil, false), ("14.8", false), ("15.0", true), ("15", true), ("26.1", true), ("x", false),
        ] as [(String?, Bool)])
    func `is known to the system from iOS 15`(version: String?, isKnown: Bool) {
        #expect(CommunicationForm.isKnown(to: version) == isKnown)
    }
}

@Suite struct `The kit's notification of a person` {
    private func post(
        _ kit: KitSettings, _ change: (inout Message) -> Void = { _ in },
        names: ResolvedNames = ResolvedNames(user: "Bob", group: "Team", memberCount: 3)
    ) -> LocalNotification? {
        var said = message(101, in: .group)
        change(&said)
        var core = ClientCore.inBackground(kit: kit)
        _ = core.hear(entry(1, said), at: at(11))
        _ = core.handle(.namesResolved(id(101), names), at: at(11))
        guard case .postNotification(let posted)? = core.handle(.ringClaimed(id(101), .granted), at: at(11)).first
        else { return nil }
        return posted
    }

    @Test func `is beside the text as it is without`() throws {
        let posted = try #require(self.post(using))
        #expect(posted.title == "Team")
        #expect(posted.body == "Bob: hi")
        var expected = try #require(
            CommunicationForm(
                posted.payload, message: id(101), text: .init(title: "Team", sender: "Bob", body: "hi"),
                names: KnownNames(memberCount: 3), isMention: false, isReply: false))
        #expect(posted.communication == expected)
        expected.isMention = true
        #expect(self.post(using, { $0.mentions = .users([alice]) })?.communication == expected)
        let reply = self.post(using) {
            $0.objectName = .reference
            $0.content = #"{"content":"yes","referMsgUserId":"alice"}"#
        }
        #expect(reply?.communication?.isReply == true)
        #expect(
            self.post(using, { $0.content = #"{"content":"hi","referMsgUserId":"alice"}"# })?.communication?.isReply
                == false)
    }

    @Test func `is none unless the app wants it, nor where content is hidden`() {
        #expect(self.post(KitSettings()).map { $0.communication == nil } == true)
        var hidden = using
        hidden.showsContent = false
        #expect(self.post(hidden).map { $0.communication == nil } == true)
        #expect(self.post(using, { $0.push = PushOptions(title: "Order") }).map { $0.communication == nil } == true)
    }
}

@Suite struct `A message that the person sends` {
    private func online(_ kit: KitSettings? = using) -> ClientCore {
        var core = ClientCore.online()
        _ = core.handle(.kitConfigured(kit), at: at(0))
        return core
    }

    /// At place 0 of the log it is the answer to a repeat.
    private func send(
        to conversation: ConversationID = withBob, at position: LogPosition = 1, in core: inout ClientCore
    ) -> [ClientEffect] {
        _ = core.handle(.sendRequested(draft("c1", to: conversation)), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: position)
        return core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(1))
    }

    private let asked = ClientEffect.nameSent(id(9), NameQuestion(sender: bob, group: nil))

    @Test func `is donated once the server has accepted it, and the app has said who gets it`() {
        var core = self.online()
        #expect(
            self.send(in: &core) == [
                .removeOutgoing("c1"), .finishSend("c1", .accepted(sent())), self.asked,
                .storeEntries([LogEntry(position: 1, body: .message(sent()))]),
            ])
        let form = CommunicationForm(sent: sent(), names: ResolvedNames(user: "Bob"), words: .english)
        #expect(form?.sender == nil)
        #expect(form?.recipient == .init(id: bob, name: "Bob"))
        #expect(form?.text == "hi")
        #expect(
            core.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2))
                == form.map { [ClientEffect.donate($0)] })
        #expect(core.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2)) == [])
    }

    /// Found by the World (`--seed 19 --phones 10 --hours 2 --faults swarm`): the recall had come with the log, before the answer.
    @Test func `is not donated by the answer to a repeat, since it may have been recalled meanwhile`() {
        var core = self.online()
        #expect(
            self.send(at: 0, in: &core) == [
                .removeOutgoing("c1"), .finishSend("c1", .accepted(sent())), .sendFrame(1, .sync(after: 0, limit: 200)),
            ])
    }

    @Test func `to a group is donated with its name`() {
        var core = self.online()
        #expect(
            self.send(to: team, in: &core).contains(.nameSent(id(9), NameQuestion(sender: alice, group: team))))
        let names = ResolvedNames(user: "Alice", group: "Team", memberCount: 5)
        guard case .donate(let form)? = core.handle(.sentNamed(id(9), names), at: at(2)).first else {
            return #expect(Bool(false))
        }
        #expect(form.groupName == "Team")
        #expect(form.recipientCount == 4)
        #expect(form.recipient == nil)
        let unknown = CommunicationForm(
            sent: sent(in: team), names: ResolvedNames(group: "Team"), words: .english)
        #expect(unknown?.recipientCount == 2)
    }

    @Test func `is not donated without a name, where the app does not want it, or content is hidden`() {
        var core = self.online()
        _ = self.send(in: &core)
        #expect(core.handle(.sentNamed(id(9), ResolvedNames()), at: at(2)) == [])
        for kit in [nil, KitSettings()] {
            var other = self.online(kit)
            #expect(!self.send(in: &other).contains(self.asked))
        }
        var hidden = using
        hidden.showsContent = false
        var hiding = self.online(hidden)
        #expect(!self.send(in: &hiding).contains(self.asked))
    }

    @Test(arguments: [.customerService, .system, .publicService, .chatRoom] as [ConversationType])
    func `to an account or a room is not donated`(type: ConversationType) {
        #expect(CommunicationForm.question(ofSent: sent(in: ConversationID(type: type, target: "x"))) == nil)
    }

    @Test func `that is not stored, or rings for nobody, is not donated`() {
        for flag in [MessageFlags.stored, .notified] {
            var message = sent()
            message.flags.remove(flag)
            #expect(CommunicationForm.question(ofSent: message) == nil)
        }
        #expect(CommunicationForm.question(ofSent: sent()) == NameQuestion(sender: bob, group: nil))
    }

    @Test func `is not donated when it was recalled, or the person has left, before the app said who gets it`() {
        var core = self.online()
        _ = self.send(in: &core)
        _ = core.handle(.entriesStored(upTo: 1, unread: 0), at: at(1))
        let recall = Recall(id: id(10), message: id(9), conversation: withBob, sender: alice, at: 1)
        _ = core.hear(LogEntry(position: 2, body: .recall(recall)), at: at(2))
        #expect(core.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2)) == [])
        var leaving = self.online()
        _ = self.send(in: &leaving)
        _ = leaving.handle(.signOutRequested, at: at(2))
        #expect(leaving.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2)) == [])
    }

    @Test func `is forgotten by the system with everything else where content becomes hidden`() {
        var core = self.online()
        _ = self.send(in: &core)
        var hidden = using
        hidden.showsContent = false
        #expect(core.handle(.kitConfigured(hidden), at: at(2)) == [.deleteDonations(.all)])
        #expect(core.handle(.kitConfigured(hidden), at: at(2)) == [])
        #expect(core.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2)) == [])
        var other = self.online()
        let person = PendingSettingsChange.hidesContent(true)
        #expect(other.handle(.settingRequested(person), at: at(3)).contains(.deleteDonations(.all)))
        var none = self.online(KitSettings())
        #expect(!none.handle(.settingRequested(person), at: at(3)).contains(.deleteDonations(.all)))
    }

    @Test func `is forgotten by the system with everything else where the app wants it no more`() {
        var core = self.online()
        _ = self.send(in: &core)
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(2)) == [.deleteDonations(.all)])
        #expect(core.handle(.kitConfigured(KitSettings()), at: at(2)) == [])
        #expect(core.handle(.kitConfigured(using), at: at(2)) == [])
        // What the app had not named yet is not told later.
        #expect(core.handle(.sentNamed(id(9), ResolvedNames(user: "Bob")), at: at(2)) == [])
        // Both at once are one deletion.
        var hidden = KitSettings()
        hidden.showsContent = false
        #expect(core.handle(.kitConfigured(hidden), at: at(2)) == [.deleteDonations(.all)])
        var none = self.online(KitSettings())
        #expect(none.handle(.kitConfigured(KitSettings()), at: at(2)) == [])
    }

    @Test func `is forgotten with the conversation the person has been put out of`() {
        var core = self.online()
        let change = ConversationChange(conversation: team, version: 2, action: .remove([alice]), by: bob, at: 1)
        let effects = core.hear(LogEntry(position: 1, body: .change(change)), at: at(2))
        #expect(effects.contains(.deleteDonations(.conversation(team))))
    }
}
