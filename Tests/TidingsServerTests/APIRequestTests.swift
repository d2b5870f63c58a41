// swift-format-ignore-file: NeverForceUnwrap

import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

private let team = ConversationID(type: .group, target: "team")
private let first = MessageID("01qdq6qdr0000")!

private struct Asked: CustomTestStringConvertible, Sendable {
    var method: HTTPRequest.Method
    var path: String
    var body: String?
    var actor: UserID?
    var request: ClientRequest
    var testDescription: String { "\(self.method) \(self.path)" }

    init(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, as actor: UserID? = nil,
        asks request: ClientRequest
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.actor = actor
        self.request = request
    }
}

@Suite struct `A request of the HTTP API` {
    private static let settings = #"""
        {"levels":{"GRP":"mentions","SYS":"blocked"},"hides_content":true,"language":"zh-Hans",
         "may_be_added_by":"contacts","quiet_hours":{"start":1320,"end":420,"weekdays":[5,1,5],"time_zone":"Europe/Berlin","manner":"drop"}}
        """#

    private static let changes: [Asked] = [
        Asked(
            .post, "conversations/GRP/team?actor=alice", #"{"name":"Team","portrait":"u","members":["carol","bob"]}"#,
            as: "alice", asks: .change(team, .create(name: "Team", portrait: "u", members: ["bob", "carol"]))),
        Asked(.delete, "conversations/GRP/team", asks: .change(team, .dissolve)),
        Asked(.put, "conversations/GRP/team/name", #"{"name":"Team"}"#, asks: .change(team, .rename("Team"))),
        Asked(.put, "conversations/GRP/team/portrait", #"{"portrait":"u"}"#, asks: .change(team, .setPortrait("u"))),
        Asked(.put, "conversations/GRP/team/portrait", #"{"portrait":null}"#, asks: .change(team, .setPortrait(nil))),
        Asked(
            .post, "conversations/GRP/team/members?actor=bob", #"{"users":["dave","carol","dave"]}"#, as: "bob",
            asks: .change(team, .add(["carol", "dave"]))),
        Asked(.delete, "conversations/GRP/team/members/bob", asks: .change(team, .remove(["bob"]))),
        Asked(
            .put, "conversations/GRP/team/members/bob/role", #"{"role":"admin"}"#,
            asks: .change(team, .setRole("bob", .admin))),
        Asked(
            .put, "conversations/GRP/team/members/bob/nickname", #"{"nickname":"B"}"#,
            asks: .change(team, .setNickname("bob", "B"))),
        Asked(
            .put, "conversations/GRP/team/members/bob/nickname", "{}", asks: .change(team, .setNickname("bob", nil))),
        Asked(
            .put, "conversations/GRP/team/mutes/bob?actor=alice", #"{"until":1800000000005}"#, as: "alice",
            asks: .change(team, .mute(["bob"], until: 1_800_000_000_005))),
        Asked(.put, "conversations/GRP/team/mutes/bob", "{}", asks: .change(team, .mute(["bob"], until: nil))),
        Asked(.delete, "conversations/GRP/team/mutes/bob", asks: .change(team, .unmute(["bob"]))),
        Asked(
            .put, "conversations/GRP/team/only-admins-write", #"{"only_admins_write":true}"#,
            asks: .change(team, .setOnlyAdminsWrite(true))),
        Asked(
            .delete, "conversations/GRP/team/invitations/bob?actor=alice", as: "alice",
            asks: .change(team, .withdraw(["bob"]))),
        Asked(.delete, "messages/01qdq6qdr0000", asks: .recall(first)),
        Asked(.delete, "messages/01qdq6qdr0000?actor=alice", as: "alice", asks: .recall(first)),
        Asked(
            .put, "users/bob/settings", Self.settings, as: "bob",
            asks: .setPersonSettings(
                PersonSettings(
                    levels: [.group: .mentions, .system: .blocked],
                    quietHours: QuietHours(
                        start: 1_320, end: 420, weekdays: [1, 5], timeZone: "Europe/Berlin", manner: .drop),
                    hidesContent: true, language: "zh-Hans", mayBeAddedBy: .contacts))),
        Asked(.put, "users/bob/settings", "{}", as: "bob", asks: .setPersonSettings(PersonSettings())),
        Asked(
            .put, "users/bob/settings/GRP/team", #"{"level":"blocked","level_until":1763683260000}"#, as: "bob",
            asks: .setConversationSettings(team, ConversationSettings(level: .blocked, levelUntil: 1_763_683_260_000))),
        Asked(
            .delete, "users/bob/settings/GRP/team", as: "bob",
            asks: .setConversationSettings(team, ConversationSettings())),
        Asked(.put, "users/bj%C3%B6rn/blocked/a%2Fb", as: "björn", asks: .setBlocked("a/b", true)),
        Asked(
            .put, "accounts/MP/news/followers/bob", as: "bob",
            asks: .setFollowing(ConversationID(type: .publicService, target: "news"), true)),
        Asked(
            .delete, "accounts/MP/news/followers/bob", as: "bob",
            asks: .setFollowing(ConversationID(type: .publicService, target: "news"), false)),
        Asked(.put, "users/bob/blocked/mallory", as: "bob", asks: .setBlocked("mallory", true)),
        Asked(.delete, "users/bob/blocked/mallory", as: "bob", asks: .setBlocked("mallory", false)),
    ]

    @Test(arguments: changes) private func `asks the core for one change`(asked: Asked) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(asked.method, asked.path, asked.body)
        #expect(api.commands == [.request("demo", actor: asked.actor, asked.request)])
        #expect(answer.status == (asked.method == .post && asked.path.hasPrefix("conversations/GRP/team?") ? 201 : 204))
    }

    @Test(
        arguments: [
            (ObjectName.text, #"{"text":"x"}"#, nil), (.text, #"{"content":"{\"content\":\"x\"}"}"#, nil),
            (.text, #"{"content":{"content":"x"}}"#, nil), ("my:Card", #"{"content":{"content":"x"}}"#, nil),
            (.text, #"{"content":"plain words"}"#, "content"), (.image, #"{"text":"x"}"#, "text"),
        ] as [(ObjectName, String, String?)])
    func `edits what fits the type of the message`(name: ObjectName, body: String, fault: String?) async throws {
        let message = Message(
            id: first, app: "demo", sender: "alice", conversation: team, clientMessageID: "c", objectName: name,
            content: "{}", flags: .normal, pushText: nil, sentAt: 5)
        let trace = MessageTrace(of: .message(message), deliveries: [], open: [], ended: [], receipts: [])
        let api = try await APIDouble(message: trace)
        let answer = try await api.request(.patch, "messages/01qdq6qdr0000?actor=alice", body)
        let edit = ClientRequest.edit(first, content: #"{"content":"x"}"#)
        #expect(answer.status == (fault == nil ? 204 : 400))
        #expect(answer.json["field"] == fault.map { .string($0) })
        #expect(api.reads == [.readMessage("demo", first)])
        #expect(api.commands == (fault == nil ? [.request("demo", actor: "alice", edit)] : []))
    }

    @Test(arguments: [
        (#"{"conversation":{"type":"PR","target":"alice"},"up_to":"01qdq6qdr0000"}"#, first),
        (#"{"conversation":{"type":"PR","target":"alice"}}"#, nil),
        (#"{"conversation":{"type":"PR","target":"alice"},"up_to":null}"#, nil),
    ])
    private func `marks as read, up to a message or everything`(body: String, upTo: MessageID?) async throws {
        let api = try await APIDouble(answering: .done)
        let answer = try await api.request(.post, "users/bob/read", body)
        #expect(answer.status == 204)
        let conversation = ConversationID(type: .direct, target: "alice")
        #expect(api.commands == [.markRead(UserKey(app: "demo", user: "bob"), conversation, upTo: upTo)])
    }

    @Test(arguments: [
        ("{}", "conversation"), (#"{"conversation":{"type":"XX","target":"a"}}"#, "conversation.type"),
        (#"{"conversation":{"type":"PR","target":""}}"#, "conversation.target"),
        (#"{"conversation":{"type":"PR","target":"a","id":"b"}}"#, "conversation.id"),
        (#"{"conversation":{"type":"PR","target":"a"},"up_to":"x"}"#, "up_to"),
        (#"{"conversation":{"type":"PR","target":"a"},"upTo":"01qdq6qdr0000"}"#, "upTo"),
    ])
    func `does not mark as read what is not said well`(body: String, field: String) async throws {
        let api = try await APIDouble(answering: .done)
        let answer = try await api.request(.post, "users/bob/read", body)
        #expect(answer.status == 400)
        #expect(answer.json["field"] == .string(field))
        #expect(api.commands == [])
    }

    @Test func `sends with mentions, to some, for a while`() async throws {
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c", messageID: first, sentAt: 5, position: 7)
        let api = try await APIDouble(answering: .accepted(accepted))
        let answer = try await api.request(
            .post, "messages",
            #"""
            {"sender":"alice","client_message_id":"c","conversation":{"type":"group","target":"team"},"text":"x",
             "mentions":{"users":["carol","bob"]},"recipients":["carol","bob","bob"],"lifetime_ms":60000}
            """#)
        #expect(answer.status == 201)
        let draft = MessageDraft(
            clientMessageID: "c", conversation: team, objectName: .text, content: #"{"content":"x"}"#,
            mentions: .users(["bob", "carol"]), recipients: ["bob", "carol"], lifetimeMilliseconds: 60_000)
        #expect(api.commands == [.send(UserKey(app: "demo", user: "alice"), draft)])
    }

    @Test(
        arguments: [
            (#""ignores_blocks":true"#, .blocks), (#""ignores_blocks":false"#, []), (#""ignores_blocks":null"#, []),
            (#""ignores_ban":true"#, .ban), (#""ignores_ban":null,"ignores_blocks":true"#, .blocks),
        ] as [(String, PastRefusals)])
    func `sends past blocks and a ban only where it is told to`(words: String, past: PastRefusals) async throws {
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c", messageID: first, sentAt: 5, position: 0)
        let api = try await APIDouble(answering: .accepted(accepted))
        let answer = try await api.request(
            .post, "messages",
            #"{"sender":"alice","client_message_id":"c","conversation":{"type":"GRP","target":"team"},"content":{"content":"x"},"#
                + "\(words)}")
        #expect(answer.status == 201)
        let draft = MessageDraft(
            clientMessageID: "c", conversation: team, objectName: .text, content: #"{"content":"x"}"#)
        #expect(api.commands == [.send(UserKey(app: "demo", user: "alice"), draft, past: past)])
    }

    @Test func `sends as an account, and says who has written it`() async throws {
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c", messageID: first, sentAt: 5, position: 0)
        let api = try await APIDouble(answering: .accepted(accepted))
        let body = #"""
            {"sender":"help","client_message_id":"c","conversation":{"type":"CS","target":"bob"},"object_name":"text","text":"x","author":"AUTHOR"}
            """#
        let answer = try await api.request(.post, "messages", body.replacing("AUTHOR", with: "cy"))
        #expect(answer.status == 201)
        let draft = MessageDraft(
            clientMessageID: "c", conversation: ConversationID(type: .customerService, target: "bob"),
            objectName: .text,
            content: #"{"content":"x"}"#)
        #expect(api.commands == [.send(UserKey(app: "demo", user: "help"), draft, author: "cy")])
        let bad = try await api.request(.post, "messages", body.replacing("AUTHOR", with: "c y"))
        #expect(bad.problem == "author must not contain spaces or control characters")
    }

    @Test func `puts an account with what is said of it, or declares it`() async throws {
        let id = ConversationID(type: .publicService, target: "news")
        let api = try await APIDouble(answering: .done)
        #expect(try await api.request(.put, "accounts/MP/news").status == 204)
        #expect(try await api.request(.put, "accounts/MP/news", "{}").status == 204)
        let full = try await api.request(
            .put, "accounts/MP/news", #"{"owner":"ada","operators":["cy","bo","cy"],"audience":"followers"}"#)
        #expect(full.status == 204)
        #expect(try await api.request(.delete, "accounts/MP/news").status == 204)
        #expect(
            api.commands == [
                .setAccount("demo", id, isDeclared: true), .putAccount("demo", ServiceAccount(id)),
                .putAccount(
                    "demo", ServiceAccount(id, owner: "ada", operators: ["bo", "cy"], audience: .followers)),
                .setAccount("demo", id, isDeclared: false),
            ])
    }

    @Test(arguments: [
        (#"{"audience":"all"}"#, "audience must be one of everybody, followers"),
        (#"{"owner":"a b"}"#, "owner must not contain spaces or control characters"),
        (#"{"operators":["a",""]}"#, "operators[1] must not be empty"),
        (#"{"operator":["a"]}"#, "operator is not known here"),
    ])
    func `puts no account of which something breaks a rule`(body: String, problem: String) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(.put, "accounts/CS/help", body)
        #expect(answer.status == 400)
        #expect(answer.problem?.hasPrefix(problem) == true, "\(answer.problem ?? "")")
        #expect(api.commands == [])
    }

    @Test func `tells of one account, and of none`() async throws {
        let id = ConversationID(type: .system, target: "system")
        let account = AccountInfo(
            ServiceAccount(id, operators: ["cy"]), profile: Profile(name: "System", portrait: "https://a/s.png"),
            followers: 7)
        let api = try await APIDouble(reading: .accounts([account]))
        let answer = try await api.request(.get, "accounts/SYS/system")
        #expect(api.reads == [.readAccounts("demo", only: id)])
        #expect(
            answer.json == [
                "kind": "SYS", "kind_name": "system", "id": "system", "owner": .null, "operators": ["cy"],
                "audience": "everybody",
                "name": "System", "portrait": "https://a/s.png", "followers": 7,
            ])
        let none = try await APIDouble(reading: .accounts([])).request(.get, "accounts/PH/x")
        #expect(none.status == 404)
        #expect(none.json["code"] == "unknown_account")
        let kind = try await api.request(.get, "accounts/GRP/x")
        #expect(
            kind.problem
                == "type must be customer_service, system, app_public_service, public_service or push_service: others have no accounts"
        )
    }

    @Test(arguments: [(false, 201), (true, 200)])
    func `sends a custom message once`(isRepeat: Bool, status: Int) async throws {
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c", messageID: first, sentAt: 5, position: 0)
        let api = try await APIDouble(answering: .accepted(accepted, isRepeat: isRepeat))
        let answer = try await api.request(
            .post, "custom-messages",
            #"""
            {"recipients":["carol","bob"],"client_message_id":"c","title":"T","content":"x","content_type":"text",
             "extras":{"number":7}}
            """#)
        #expect(answer.status == status)
        #expect(answer.json["message_id"] == .string(first.description))
        #expect(answer.json["repeated"] == .bool(isRepeat))
        let message = CustomMessage(
            id: MessageID(rawValue: 0), title: "T", content: "x", contentType: "text",
            extras: JSONObject([("number", 7)]), sentAt: 0)
        #expect(
            api.commands == [.sendCustom("demo", message, recipients: ["bob", "carol"], clientMessageID: "c")])
    }

    @Test func `tells a conversation with its members`() async throws {
        var info = ConversationInfo(
            id: team, version: 3, name: "Team", portrait: nil,
            members: [Member("alice", role: .owner), Member("bob", nickname: "B", mute: Mute(until: 5))],
            isDissolved: false, onlyAdminsWrite: true)
        info.push = PushOptions(sound: "a.caf")
        let api = try await APIDouble(answering: .answer(.conversation(info)))
        let answer = try await api.request(.get, "conversations/GRP/team")
        #expect(api.commands == [.request("demo", actor: nil, .conversation(team))])
        #expect(
            answer.json == [
                "conversation": ["type": "GRP", "type_name": "group", "target": "team"], "version": 3, "name": "Team",
                "portrait": .null,
                "push": ["sound": "a.caf"], "is_dissolved": false,
                "members": [
                    [
                        "user": "alice", "role": "owner", "nickname": .null, "is_muted": false, "muted_until": .null,
                    ],
                    ["user": "bob", "role": "member", "nickname": "B", "is_muted": true, "muted_until": 5],
                ],
                "only_admins_write": true,
            ])
    }

    @Test func `names who was invited instead of being added`() async throws {
        let api = try await APIDouble(answering: .answer(.invited(["bob", "carol"], 7)))
        let added = try await api.request(.post, "conversations/GRP/team/members?actor=alice", #"{"users":["bob"]}"#)
        #expect(added.status == 200)
        #expect(added.json == ["invited": ["bob", "carol"]])
        let made = try await api.request(
            .post, "conversations/GRP/team?actor=alice", #"{"name":"T","members":["bob"]}"#)
        #expect(made.status == 201)
        #expect(
            made.json == ["type": "GRP", "type_name": "group", "target": "team", "invited": ["bob", "carol"]])
    }

    @Test func `lists who may not write, and who is asked`() async throws {
        var api = try await APIDouble(reading: .bans([Ban(user: "bob", until: nil), Ban(user: "carol", until: 5)]))
        var answer = try await api.request(.get, "conversations/GRP/team/mutes?actor=alice")
        func isAsked(_ kind: RestrictionKind, by actor: UserID?) -> Bool {
            guard case .readRestrictions(let asked, _, let place, let person, _)? = api.reads.first else {
                return false
            }
            return asked == kind && place == team && person == actor
        }
        #expect(isAsked(.mutes, by: "alice"))
        #expect(
            answer.json == [
                "mutes": [["user": "bob", "until": .null], ["user": "carol", "until": 5]], "next": .null,
            ])
        api = try await APIDouble(reading: .invited([Invitee(user: "bob", by: "alice", at: 5)]))
        answer = try await api.request(.get, "conversations/GRP/team/invitations")
        #expect(isAsked(.invitations, by: nil))
        #expect(answer.json == ["invitations": [["user": "bob", "by": "alice", "at": 5]], "next": .null])
    }

    @Test func `tells what a person can read`() async throws {
        let message = Message(
            id: first, app: "demo", sender: "alice", conversation: team, clientMessageID: "c", objectName: .text,
            content: "x", flags: .normal, pushText: nil, sentAt: 5, mentions: .everyone, recipients: ["bob"],
            expiresAt: 9, push: PushOptions(title: "Order"))
        let api = try await APIDouble(answering: .answer(.history([message], hasMore: true)))
        let answer = try await api.request(.get, "conversations/GRP/team/messages?user=bob&limit=20")
        let next = try #require(answer.json["next"]?.stringValue)
        _ = try await api.request(.get, "conversations/GRP/team/messages?user=bob&limit=20&cursor=\(next)")
        #expect(
            api.commands == [
                .request("demo", actor: "bob", .history(team, before: nil, limit: 20)),
                .request("demo", actor: "bob", .history(team, before: first, limit: 20)),
            ])
        #expect(
            answer.json == [
                "messages": [
                    [
                        "message_id": .string(first.description), "sender": "alice",
                        "conversation": ["type": "GRP", "type_name": "group", "target": "team"],
                        "object_name": "RC:TxtMsg",
                        "object_type": "text", "client_message_id": "c", "content": "x", "counted": true,
                        "notified": true, "unlisted": false,
                        "push_text": .null, "push": ["title": "Order"], "sent_at": 5,
                        "mentions": ["everyone": true], "recipients": ["bob"], "expires_at": 9,
                    ]
                ], "next": .string(next),
            ])
    }

    @Test func `tells who has got a message and who has read it`() async throws {
        let receipts = MessageReceipts(id: first, recipients: 3, delivered: ["bob", "carol"], read: ["bob"])
        let api = try await APIDouble(answering: .answer(.receipts(receipts)))
        let answer = try await api.request(.get, "messages/01qdq6qdr0000/receipts?actor=alice")
        #expect(api.commands == [.request("demo", actor: "alice", .receipts(first))])
        #expect(
            answer.json == [
                "message_id": .string(first.description), "recipients": 3, "delivered": ["bob", "carol"],
                "read": ["bob"],
            ])
    }
}
