import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `An accepted message` {
    @Test func `stands in both logs of a one-to-one conversation and counts for the other`() throws {
        var opened = Opened()
        #expect(try opened.send(message(1)) == [at(1, "ada"), at(1, "bo", unread: 1)])
        #expect(
            try opened.send(message(2, from: "bo", in: toAda)) == [at(2, "ada", unread: 1), at(2, "bo", unread: 1)])
    }

    @Test func `to oneself stands there once and counts for nobody`() throws {
        var opened = Opened()
        #expect(try opened.send(message(1, in: toAda)) == [at(1, "ada")])
    }

    @Test(arguments: [
        ConversationType.direct, .customerService, .system, .appPublicService, .publicService, .pushService,
    ])
    func `needs no peer who is known already`(type: ConversationType) throws {
        var opened = Opened()
        _ = try opened.apply(.setAccount("shop", .init(type: type, target: "zoe"), isDeclared: true))
        #expect(
            try opened.send(message(1, in: .init(type: type, target: "zoe"))) == [
                at(1, "ada"), at(1, "zoe", unread: 1),
            ])
    }

    @Test func `reaches every member, in the order of their ids`() throws {
        var opened = Opened()
        #expect(try opened.apply(group(["cy", "ada", "bo", "cy"])) == .done)
        #expect(
            try opened.send(message(1, in: team)) == [at(1, "ada"), at(1, "bo", unread: 1), at(1, "cy", unread: 1)])
    }

    @Test func `that does not count leaves the unread count alone`() throws {
        var opened = Opened()
        #expect(try opened.send(message(1, flags: [.stored, .notified])) == [at(1, "ada"), at(1, "bo")])
    }

    @Test func `stands in the log even if it is not kept in history`() throws {
        var opened = Opened()
        #expect(try opened.send(message(1, flags: [])) == [at(1, "ada"), at(1, "bo")])
    }

    @Test(
        arguments: [
            ("RC:TxtMsg", #"{"content":"hi"}"#, true), ("RC:TxtMsg", "plain words", false), ("RC:TxtMsg", "{}", false),
            ("RC:TxtMsg", #""hi""#, false), ("RC:TxtMsg", #"{"content":7}"#, false),
            ("RC:TxtMsg", #"{"content":""}"#, false),
            ("RC:ReferenceMsg", #"{"content":""}"#, false), ("RC:ReferenceMsg", "{}", false),
            ("RC:ImgMsg", "{}", true), ("RC:InfoNtf", "[]", false), ("my:Card", "plain words", true),
            ("RC:TxtMsg", "", true),
        ] as [(ObjectName, String, Bool)])
    func `of a built-in type says what phones can show`(name: ObjectName, content: String, isGood: Bool) {
        #expect((StoreRules.rule(brokenBy: content, of: name) == nil) == isGood)
    }

    @Test func `is of a built-in type or of a registered one, once the app has registered any`() throws {
        var opened = Opened()
        func send(_ id: UInt64, _ name: ObjectName, app: AppID = "shop") throws -> String {
            var message = message(id, app: app)
            message.objectName = name
            let result = try opened.apply(.accept(message: message, senderDevice: nil))
            if case .accepted = result { return "accepted" }
            return refused(result)
        }
        #expect(try send(1, "my:Card") == "accepted")
        #expect(try opened.apply(.setObjectNames("shop", ["my:Poll", "my:Card", "my:Poll"])) == .done)
        #expect(try opened.apply(.readObjectNames("shop")) == .objectNames(["my:Card", "my:Poll"]))
        #expect(try send(2, "my:Card") == "accepted")
        #expect(try send(3, "my:Crad") == "unknown_object_name object_name")
        #expect(try send(3, "RC:ImgMsg") == "accepted")
        #expect(try send(4, "my:Crad", app: "club") == "accepted")
        let many = (0...StoreRules.objectNamesMax).map { ObjectName("my:\($0)") }
        #expect(refused(try opened.apply(.setObjectNames("shop", many))) == "invalid_field names")
        #expect(refused(try opened.apply(.setObjectNames("shop", ["a b"]))) == "invalid_field names")
        #expect(try send(5, "my:0") == "unknown_object_name object_name")
        #expect(try opened.apply(.setObjectNames("shop", [])) == .done)
        #expect(try send(5, "my:0") == "accepted")
    }

    @Test func `in a chat room stands in no log, and needs no membership of the backend`() throws {
        var opened = Opened()
        #expect(try opened.apply(group([], hall)) == .done)
        let result = try opened.apply(.accept(message: message(1, in: hall), senderDevice: nil))
        #expect(result == .accepted(deliveries: [], names: MessageNames(conversation: "Team")))
        #expect(try opened.user(ada)?.head == 0)
    }

    @Test(arguments: [ConversationType.group, .discussion, .chatRoom])
    func `is refused where the conversation does not exist`(type: ConversationType) throws {
        var opened = Opened()
        let nowhere = ConversationID(type: type, target: "nowhere")
        let result = try opened.apply(.accept(message: message(1, in: nowhere), senderDevice: nil))
        let kind = [.group: "a group", .discussion: "a discussion", .chatRoom: "a chat room"][type] ?? ""
        #expect(
            result
                == .refused(
                    .init(
                        code: .unknownConversation, field: "conversation.target",
                        rule: "must name \(kind) that exists in this app, got \"nowhere\"")))
    }

    @Test func `is refused in another app's group`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        let result = try opened.apply(.accept(message: message(1, in: team, app: "club"), senderDevice: nil))
        #expect(result == .refused(StoreRules.unknownConversation(team)))
    }

    @Test func `is refused from somebody who is not a member, and nothing is changed`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["bo", "cy"]))
        let before = opened.store.dump()
        let result = try opened.apply(.accept(message: message(1, in: team), senderDevice: nil))
        #expect(result == .refused(StoreRules.notAMember(of: team)))
        #expect(opened.store.dump() == before)
    }

    @Test func `has an id nobody had before`() throws {
        var opened = try Opened(sending: message(1))
        let result = try opened.apply(.accept(message: message(1, client: "other"), senderDevice: nil))
        #expect(result == .refused(StoreRules.usedMessageID(MessageID(rawValue: 1))))
    }
}

@Suite struct `A repeated send` {
    @Test func `answers with the first message and writes nothing`() throws {
        var opened = Opened()
        _ = try opened.send(message(1, client: "x"))
        let before = opened.store.dump()
        let result = try opened.apply(.accept(message: message(2, client: "x"), senderDevice: nil))
        #expect(result == .duplicate(MessageID(rawValue: 1), sentAt: 10))
        #expect(opened.store.dump() == before)
    }

    @Test func `is one also after the sender left the group`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.send(message(1, in: team, client: "x"))
        _ = try opened.apply(group(["bo"]))
        let result = try opened.apply(.accept(message: message(2, in: team, client: "x"), senderDevice: nil))
        #expect(result == .duplicate(MessageID(rawValue: 1), sentAt: 10))
    }

    @Test func `is refused with other words, in another conversation, or of another type`() throws {
        var opened = Opened()
        _ = try opened.send(message(1, client: "x"))
        let before = opened.store.dump()
        var other = message(2, client: "x")
        other.content = "something else"
        var elsewhere = message(2, client: "x")
        elsewhere.conversation = ConversationID(type: .direct, target: "cy")
        var command = message(2, client: "x")
        command.objectName = "RC:CmdMsg"
        for again in [other, elsewhere, command] {
            let result = try opened.apply(.accept(message: again, senderDevice: "pad"))
            #expect(refused(result) == "invalid_field client_message_id")
            #expect(opened.store.dump() == before)
        }
    }

    @Test func `is one also after the message was edited or recalled`() throws {
        var opened = Opened()
        _ = try opened.send(message(1, client: "x"))
        _ = try opened.apply(
            .edit(
                EditOperation(
                    app: "shop", message: MessageID(rawValue: 1), actor: nil, content: #"{"content":"new"}"#, window: 0,
                    at: 20)))
        var result = try opened.apply(.accept(message: message(2, client: "x"), senderDevice: nil))
        #expect(result == .duplicate(MessageID(rawValue: 1), sentAt: 10))
        _ = try opened.apply(
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: 9), app: "shop", message: MessageID(rawValue: 1), actor: nil, window: 0,
                    at: 30)))
        result = try opened.apply(.accept(message: message(2, client: "x"), senderDevice: nil))
        #expect(result == .duplicate(MessageID(rawValue: 1), sentAt: 10))
    }

    @Test func `is none when somebody else, or somebody in another app, uses the same client message id`() throws {
        var opened = Opened()
        _ = try opened.send(message(1, client: "x"))
        #expect(try opened.send(message(2, from: "cy", client: "x")).count == 2)
        #expect(try opened.send(message(3, client: "x", app: "club")).count == 2)
    }
}

@Suite struct `Reading a conversation` {
    @Test func `counts down what was unread in it, and tells the other devices by an entry`() throws {
        var opened = Opened()
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        _ = try opened.send(message(4, from: "cy"))
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 2, at: 9)) == .read(position: 5, unread: 2))
        #expect(
            try opened.apply(.readLog(bo, after: 4, limit: 9))
                == .page(
                    LogPage(
                        entries: [LogEntry(position: 5, body: .read(conversation: toAda, upTo: 2))], head: 5, unread: 2)
                ))
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 5, at: 9)) == .read(position: 6, unread: 1))
    }

    @Test func `is told in all and for each conversation, with and without muted ones, and with mentions`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.send(message(1))
        _ = try opened.send(message(2, in: team))
        _ = try opened.send(message(3, in: team, mentions: .users(["bo"])))
        _ = try opened.level(.blocked, of: team)
        let counts = UnreadCounts(unread: 1, unreadWithMuted: 3, mentions: 1)
        #expect(try opened.apply(.readUnread(bo, nil)) == .unread(UnreadReport(counts: counts, head: 4)))
        let there = UnreadReport.Conversation(id: team, unread: 2, mentions: 1, readUpTo: 0, isMuted: true)
        #expect(
            try opened.apply(.readUnread(bo, team))
                == .unread(UnreadReport(counts: counts, head: 4, conversation: there)))
        _ = try opened.apply(.markRead(bo, team, upTo: 2, at: 9))
        #expect(
            try opened.apply(.readUnread(bo, team))
                == .unread(
                    UnreadReport(
                        counts: UnreadCounts(unread: 1, unreadWithMuted: 2, mentions: 1), head: 5,
                        conversation: .init(id: team, unread: 1, mentions: 1, readUpTo: 2, isMuted: true))))
        let stranger = UnreadReport.Conversation(id: circle, unread: 0, mentions: 0, readUpTo: 0, isMuted: false)
        #expect(
            try opened.apply(.readUnread(UserKey(app: "shop", user: "zoe"), circle))
                == .unread(UnreadReport(counts: UnreadCounts(), head: 0, conversation: stranger)))
    }

    @Test func `tells the present names of its groups and senders`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        let (toTeam, toBo) = (message(1, in: team), message(2))
        _ = try opened.send(toTeam)
        _ = try opened.send(toBo)
        _ = try opened.change(.rename("Crew"))
        #expect(try opened.names(after: 0) == [ConversationSender(of: toTeam): MessageNames(conversation: "Crew")])
        #expect(try opened.names(after: 1) == [:])
        _ = try opened.apply(.setProfiles("shop", [UserProfile("ada", Profile(name: "Ada"))], isOwn: false))
        _ = try opened.change(.setNickname("ada", "Countess"))
        #expect(
            try opened.names(after: 0) == [
                ConversationSender(of: toTeam): MessageNames(conversation: "Crew", sender: "Countess"),
                ConversationSender(of: toBo): MessageNames(sender: "Ada"),
            ])
    }

    @Test func `does not go back`() throws {
        var opened = Opened()
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        _ = try opened.apply(.markRead(bo, toAda, upTo: 2, at: 9))
        let before = opened.store.dump()
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 2, at: 9)) == .read(position: nil, unread: 1))
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 1, at: 9)) == .read(position: nil, unread: 1))
        #expect(opened.store.dump() == before)
    }

    @Test func `ends at the head of the log`() throws {
        var opened = try Opened(sending: message(1))
        #expect(
            try opened.apply(.markRead(bo, toAda, upTo: 2, at: 9))
                == .refused(
                    .init(
                        InvalidField(field: "up_to", rule: "must not be past the head of the log, which is 1, got 2"))))
    }

    @Test func `needs something to read`() throws {
        var opened = try Opened(sending: message(1))
        for conversation in [team, ConversationID(type: .direct, target: "cy")] {
            let result = try opened.apply(.markRead(bo, conversation, upTo: 1, at: 9))
            #expect(result == .refused(StoreRules.nothingToRead(conversation)))
        }
    }
}

extension Opened {
    fileprivate mutating func names(after position: LogPosition) throws -> [ConversationSender: MessageNames] {
        guard case .page(let page) = try self.apply(.readLog(bo, after: position, limit: 9)) else { return [:] }
        return page.names
    }
}
