import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let help = ConversationID(type: .customerService, target: "help")
private let toBo = ConversationID(type: .customerService, target: "bo")

extension Opened {
    /// What comes of a message that somebody writes as the account "help", from a phone or through the backend (nil).
    fileprivate mutating func write(
        _ id: UInt64, by author: UserID?, from device: DeviceID? = "phone", in conversation: ConversationID = toBo,
        client: String? = nil
    ) throws -> String {
        let said = message(id, from: "help", in: conversation, client: client)
        switch try self.apply(.accept(message: said, senderDevice: device, author: author)) {
        case .accepted: return "accepted"
        case .duplicate: return "duplicate"
        case let other: return refused(other)
        }
    }

    fileprivate mutating func put(_ account: ServiceAccount) throws -> StoreResult {
        try self.apply(.putAccount("shop", account))
    }
}

@Suite struct `An account` {
    @Test func `is as it was put last, and called as its profile says`() throws {
        var opened = Opened()
        #expect(try opened.apply(.setAccount("shop", help, isDeclared: true)) == .done)
        #expect(try opened.apply(.readAccounts("shop")) == .accounts([AccountInfo(ServiceAccount(help))]))
        let full = ServiceAccount(help, owner: "ada", operators: ["cy", "bo", "cy"], audience: .followers)
        #expect(full.operators == ["bo", "cy"])
        #expect(try opened.put(full) == .done)
        let profile = Profile(name: "Help Desk", portrait: "https://a/h.png")
        _ = try opened.apply(.setProfiles("shop", [UserProfile("help", profile)], isOwn: false))
        #expect(try opened.apply(.readAccounts("shop", only: help)) == .accounts([AccountInfo(full, profile: profile)]))
        #expect(try opened.apply(.readAccounts("shop", only: toBo)) == .accounts([]))
        #expect(try opened.apply(.readAccounts("club")) == .accounts([]))
        // Declared once more by a program that knows no more than that.
        #expect(try opened.apply(.setAccount("shop", help, isDeclared: true)) == .done)
        #expect(try opened.apply(.readAccounts("shop")) == .accounts([AccountInfo(full, profile: profile)]))
        _ = try opened.apply(.setAccount("shop", help, isDeclared: false))
        _ = try opened.apply(.setAccount("shop", help, isDeclared: true))
        #expect(
            try opened.apply(.readAccounts("shop")) == .accounts([AccountInfo(ServiceAccount(help), profile: profile)]))
    }

    @Test func `is in a list page by page`() throws {
        var opened = Opened()
        let ids = ["c", "a", "b"].map { ConversationID(type: .publicService, target: $0) }
        for id in ids { _ = try opened.apply(.setAccount("shop", id, isDeclared: true)) }
        func page(after: Int? = nil, limit: Int) throws -> [String] {
            let command = StoreCommand.readAccounts("shop", after: after.map { ids[$0] }, limit: limit)
            guard case .accounts(let accounts) = try opened.apply(command) else { return [] }
            return accounts.map(\.account.id.target)
        }
        #expect(try page(limit: 2) == ["a", "b"])
        #expect(try page(after: 2, limit: 2) == ["c"])
        #expect(try page(after: 0, limit: 2) == [])
        #expect(try page(after: 1, limit: .max) == ["b", "c"])
        // Also after one that is gone.
        _ = try opened.apply(.setAccount("shop", ids[2], isDeclared: false))
        #expect(try page(after: 2, limit: 2) == ["c"])
    }

    @Test func `is refused with what breaks its rule, and then nothing changes`() throws {
        var opened = Opened()
        let before = opened.store.dump()
        let many = (0...ServiceAccount.operatorsMax).map { UserID("u\($0)") }
        for (account, answer) in [
            (ServiceAccount(toAda), "invalid_field kind"),
            (ServiceAccount(ConversationID(type: .system, target: "")), "invalid_field id"),
            (ServiceAccount(help, owner: "a b"), "invalid_field owner"),
            (ServiceAccount(help, operators: [""]), "invalid_field operators"),
            (ServiceAccount(help, operators: many), "invalid_field operators"),
        ] {
            #expect(refused(try opened.put(account)) == answer)
        }
        #expect(opened.store.dump() == before)
    }
}

@Suite struct `Who writes as an account` {
    @Test(arguments: [ConversationType.customerService, .system, .appPublicService, .publicService, .pushService])
    func `is its owner or one of its operators, from a phone`(type: ConversationType) throws {
        var opened = Opened()
        let place = ConversationID(type: type, target: "bo")
        let answer = "not_allowed account"
        #expect(try opened.write(1, by: "cy", in: place) == answer)
        let id = ConversationID(type: type, target: "help")
        _ = try opened.put(ServiceAccount(id, owner: "ada", operators: ["cy"]))
        #expect(try opened.write(1, by: "cy", in: place) == "accepted")
        #expect(try opened.write(2, by: "ada", in: place) == "accepted")
        #expect(try opened.write(3, by: "dan", in: place) == answer)
        #expect(try opened.write(3, by: "help", in: place) == answer)
        _ = try opened.put(ServiceAccount(id, operators: ["dan"]))
        #expect(try opened.write(3, by: "cy", in: place) == answer)
        #expect(try opened.write(3, by: "dan", in: place) == "accepted")
        // Another kind with the same id is another account.
        let other: ConversationType = type == .system ? .pushService : .system
        #expect(try opened.write(4, by: "dan", in: ConversationID(type: other, target: "bo")) == answer)
    }

    @Test func `is kept with the message and in its trace, and in nobody's log`() throws {
        var opened = Opened()
        _ = try opened.put(ServiceAccount(help, operators: ["cy"]))
        #expect(try opened.write(1, by: "cy") == "accepted")
        guard case .trace(let trace?) = try opened.apply(.trace("shop", MessageID(rawValue: 1))) else {
            return #expect(Bool(false), "it is there")
        }
        #expect(trace.author == "cy")
        #expect(trace.message?.sender == "help")
        #expect(trace.deliveries.map(\.user) == ["bo", "help"])
        #expect(opened.person(UserKey(app: "shop", user: "cy")) == nil)
    }

    @Test func `has a repeat of their own alone`() throws {
        var opened = Opened()
        _ = try opened.put(ServiceAccount(help, operators: ["cy", "dan"]))
        #expect(try opened.write(1, by: "cy", client: "x") == "accepted")
        #expect(try opened.write(2, by: "cy", client: "x") == "duplicate")
        #expect(try opened.write(2, by: "dan", client: "x") == "invalid_field client_message_id")
        #expect(try opened.write(2, by: nil, from: nil, client: "x") == "invalid_field client_message_id")
    }

    @Test func `is whom the backend names, for an account`() throws {
        var opened = Opened()
        #expect(try opened.write(1, by: "cy", from: nil) == "not_allowed author")
        _ = try opened.put(ServiceAccount(help))
        #expect(try opened.write(1, by: "cy", from: nil) == "accepted")
        let direct = ConversationID(type: .direct, target: "bo")
        #expect(try opened.write(2, by: "cy", from: nil, in: direct) == "not_allowed author")
    }

    @Test func `does not pass the block of the account, and is none of the blocked`() throws {
        var opened = Opened()
        _ = try opened.put(ServiceAccount(help, operators: ["cy"]))
        _ = try opened.apply(.setBlocked(bo, "cy", true, at: 9))
        #expect(try opened.write(1, by: "cy") == "accepted")
        _ = try opened.apply(.setBlocked(bo, "help", true, at: 9))
        #expect(try opened.write(2, by: "cy") == "blocked conversation.target")
    }
}

@Suite struct `An account that people follow` {
    private static let news = ConversationID(type: .publicService, target: "news")
    private static let toBo = ConversationID(type: .publicService, target: "bo")

    private static func opened(_ audience: ServiceAccount.Audience = .followers) throws -> Opened {
        var opened = Opened()
        _ = try opened.apply(.putAccount("shop", ServiceAccount(Self.news, operators: ["olga"], audience: audience)))
        return opened
    }

    @Test func `writes to its followers, whoever writes as it`() throws {
        var opened = try Self.opened()
        let none = "not_a_follower conversation.target"
        func said(_ id: UInt64, by author: UserID?, from device: DeviceID?) throws -> String {
            let said = message(id, from: "news", in: Self.toBo)
            let result = try opened.apply(.accept(message: said, senderDevice: device, author: author))
            if case .accepted = result { return "accepted" }
            return refused(result)
        }
        #expect(try said(1, by: nil, from: nil) == none)
        #expect(try said(1, by: "olga", from: "phone") == none)
        #expect(try opened.apply(.setFollowing(bo, Self.news, true)) == .done)
        #expect(try said(1, by: nil, from: nil) == "accepted")
        #expect(try said(2, by: "olga", from: "phone") == "accepted")
        #expect(try opened.apply(.setFollowing(bo, Self.news, false)) == .done)
        #expect(try said(3, by: nil, from: nil) == none)
        // A repeat of what was accepted gets its answer.
        guard
            case .duplicate = try opened.apply(
                .accept(message: message(1, from: "news", in: Self.toBo), senderDevice: nil))
        else { return #expect(Bool(false), "it is a repeat") }
        // Whoever does not follow it may write to it.
        #expect(try opened.send(message(4, from: "bo", in: Self.news)).map(\.user) == ["bo", "news"])
    }

    @Test func `is followed by nobody with another audience, and those who did are kept`() throws {
        var opened = try Self.opened()
        _ = try opened.apply(.setFollowing(bo, Self.news, true))
        _ = try opened.apply(.putAccount("shop", ServiceAccount(Self.news)))
        #expect(refused(try opened.apply(.setFollowing(ada, Self.news, true))) == "not_allowed account")
        #expect(try opened.send(message(1, from: "news", in: .init(type: .publicService, target: "ada"))).count == 2)
        _ = try opened.apply(.setAccount("shop", Self.news, isDeclared: false))
        #expect(refused(try opened.apply(.setFollowing(ada, Self.news, true))) == "not_allowed account")
        _ = try opened.apply(.putAccount("shop", ServiceAccount(Self.news, audience: .followers)))
        #expect(
            try opened.apply(.readFollowers("shop", Self.news, after: nil, limit: 5))
                == .followers(["bo"], hasMore: false))
        // Whoever follows nothing may say so.
        #expect(try opened.apply(.setFollowing(ada, team, false)) == .done)
    }

    @Test func `tells its followers in pages, and how many there are`() throws {
        var opened = try Self.opened()
        for user: UserID in ["d", "a", "c", "b", "a"] {
            _ = try opened.apply(.setFollowing(UserKey(app: "shop", user: user), Self.news, true))
        }
        func page(after: UserID?) throws -> StoreResult {
            try opened.apply(.readFollowers("shop", Self.news, after: after, limit: 3))
        }
        #expect(try page(after: nil) == .followers(["a", "b", "c"], hasMore: true))
        #expect(try page(after: "c") == .followers(["d"], hasMore: false))
        #expect(try page(after: "bb") == .followers(["c", "d"], hasMore: false))
        guard case .accounts(let accounts) = try opened.apply(.readAccounts("shop")) else {
            return #expect(Bool(false), "they are told")
        }
        #expect(accounts.map(\.followers) == [4])
        // Another app's account of that name has none.
        #expect(
            try opened.apply(.readFollowers("club", Self.news, after: nil, limit: 3)) == .followers([], hasMore: false))
    }

    @Test func `is told to who follows it, as long as it is there`() throws {
        var opened = try Self.opened()
        let tips = ConversationID(type: .appPublicService, target: "tips")
        let desk = ConversationID(type: .customerService, target: "desk")
        for id in [tips, desk] { _ = try opened.put(ServiceAccount(id, audience: .followers)) }
        for id in [Self.news, tips] { _ = try opened.apply(.setFollowing(bo, id, true)) }
        _ = try opened.apply(.setFollowing(ada, desk, true))
        #expect(try opened.apply(.readFollowing(bo)) == .following([tips, Self.news]))
        #expect(try opened.apply(.readFollowing(UserKey(app: "club", user: "bo"))) == .following([]))
        // With another audience they could stop following it.
        _ = try opened.put(ServiceAccount(tips))
        #expect(try opened.apply(.readFollowing(bo)) == .following([tips, Self.news]))
        _ = try opened.apply(.setAccount("shop", tips, isDeclared: false))
        _ = try opened.apply(.setFollowing(bo, Self.news, false))
        #expect(try opened.apply(.readFollowing(bo)) == .following([]))
        #expect(try opened.apply(.readFollowing(ada)) == .following([desk]))
    }
}

@Suite struct `What was sent as an account` {
    private static let photo = MediaID("00112233445566778899aabbccddeeff")
    private static let other = MediaID(String(repeating: "a", count: 32))

    private static func opened(_ type: ConversationType = .customerService) throws -> Opened {
        var opened = Opened()
        let id = ConversationID(type: type, target: "help")
        _ = try opened.put(ServiceAccount(id, owner: "ada", operators: ["cy", "dan"]))
        for number: UInt64 in [1, 2] {
            #expect(
                try opened.write(number, by: "cy", in: ConversationID(type: type, target: "bo")) == "accepted")
        }
        return opened
    }

    @Test(arguments: [ConversationType.customerService, .system, .appPublicService, .publicService, .pushService])
    func `is recalled and edited by its operators of now, in its name`(type: ConversationType) throws {
        var opened = try Self.opened(type)
        let id = ConversationID(type: type, target: "help")
        guard case .noted(.edit(let edit)?, let deliveries) = try opened.edit(1, "new", by: "dan"),
            case .recalled(let recall, _, _, _) = try opened.recall(2, as: 5, by: "ada")
        else { return #expect(Bool(false), "both may") }
        #expect(edit.content == "new")
        #expect(deliveries.map(\.user) == ["bo", "help"])
        #expect(recall.sender == "help")
        guard case .recall(let seen)? = opened.last(of: bo) else { return #expect(Bool(false), "it is told") }
        #expect(seen.sender == "help")
        #expect(seen.conversation == id)
        for user: UserID in ["cy", "dan"] { #expect(opened.person(UserKey(app: "shop", user: user)) == nil) }

        let answer = "not_allowed message"
        #expect(refused(try opened.edit(1, "x", by: "eve")) == answer)
        #expect(refused(try opened.recall(1, as: 6, by: "eve")) == answer)
        // Who has written it is no operator any more.
        _ = try opened.put(ServiceAccount(id, operators: ["dan"]))
        #expect(refused(try opened.edit(1, "x", by: "cy")) == answer)
        #expect(refused(try opened.recall(1, as: 6, by: "cy")) == answer)
        _ = try opened.apply(.setAccount("shop", id, isDeclared: false))
        #expect(refused(try opened.recall(1, as: 6, by: "dan")) == answer)
    }

    @Test func `passes the checks of what a person recalls and edits`() throws {
        var opened = try Self.opened()
        #expect(refused(try opened.edit(1, "x", by: "cy", at: 9_999)) == "too_late message")
        #expect(refused(try opened.recall(1, as: 5, by: "cy", at: 9_999)) == "too_late message")
        _ = try opened.apply(.setBlocked(bo, "help", true, at: 9))
        #expect(refused(try opened.edit(1, "x", by: "cy")) == "blocked conversation.target")
        #expect(refused(try opened.recall(1, as: 5, by: "cy")) == "blocked conversation.target")
        _ = try opened.apply(.setBlocked(bo, "help", false, at: 9))
        // The same once more changes nothing, and is no fault.
        guard case .recalled = try opened.recall(1, as: 5, by: "cy") else {
            return #expect(Bool(false), "it is the account's")
        }
        #expect(try opened.recall(1, as: 6, by: "dan") == .noted(nil, deliveries: []))
        #expect(refused(try opened.edit(1, "x", by: "cy")) == "unknown_message message")
    }

    @Test func `reaches followers alone when it is edited, and is recalled for everybody`() throws {
        var opened = try Self.opened()
        _ = try opened.put(ServiceAccount(help, operators: ["cy"], audience: .followers))
        #expect(refused(try opened.edit(1, "x", by: "cy")) == "not_a_follower conversation.target")
        #expect(refused(try opened.edit(1, "x", by: "help")) == "not_a_follower conversation.target")
        guard case .noted(.some, _) = try opened.edit(1, "x", by: nil),
            case .recalled = try opened.recall(1, as: 5, by: "cy")
        else { return #expect(Bool(false), "the backend may edit, and who has sent it take it back") }
        _ = try opened.apply(.setFollowing(bo, help, true))
        guard case .noted(.some, _) = try opened.edit(2, "x", by: "cy") else {
            return #expect(Bool(false), "now it reaches bo")
        }
    }

    /// Who may read the files of whom is decided by who has written the message.
    @Test func `names no more files than before after an edit of somebody else's`() throws {
        var opened = try Self.opened()
        func uses(_ media: MediaID, by owner: UserID) throws -> [UInt64] {
            guard case .mediaUses(let uses) = try opened.apply(.readMediaUses("shop", media, by: owner)) else {
                return []
            }
            return uses.map(\.message.rawValue)
        }
        guard case .noted(.some, _) = try opened.edit(1, Self.photo.reference, by: "cy") else {
            return #expect(Bool(false), "it is theirs")
        }
        let both = Self.photo.reference + " " + Self.other.reference
        for user: UserID in ["dan", "help"] {
            #expect(refused(try opened.edit(1, both, by: user)) == "invalid_field content")
            guard case .noted = try opened.edit(1, "by \(user): " + Self.photo.reference, by: user) else {
                return #expect(Bool(false), "it names no more")
            }
        }
        #expect(try uses(Self.photo, by: "cy") == [1])
        #expect(try uses(Self.photo, by: "help") == [])
        #expect(try uses(Self.other, by: "cy") == [])
        // What the backend has sent opens the backend's files, whomever it names as the author.
        #expect(try opened.write(3, by: "cy", from: nil) == "accepted")
        #expect(refused(try opened.edit(3, Self.photo.reference, by: "cy")) == "invalid_field content")
    }
}

/// The one thing of an app that people of another app on the server may see; all else is held apart by the tests of each command.
@Suite struct `The card of an account that is offered to other apps` {
    private static func asked(_ ids: [UserID], _ opened: inout Opened) throws -> [Profile] {
        let offered = [
            "shop/news": UserKey(app: "shop", user: "news"), "shop/desk": UserKey(app: "shop", user: "desk"),
        ]
        let asked = StoreCommand.readProfiles(
            "club", ids, offered: Dictionary(uniqueKeysWithValues: offered.map { (UserID($0), $1) }))
        guard case .profiles(let found) = try opened.apply(asked) else { return [] }
        #expect(found.map(\.id) == ids)
        return found.map(\.profile)
    }

    @Test func `is its name and portrait, and crosses only while it is declared a public service`() throws {
        var opened = Opened()
        let profile = Profile(name: "The News", portrait: "https://a/n.png")
        let all = ["news", "desk", "ada"].map { UserProfile(UserID($0), profile) }
        _ = try opened.apply(.setProfiles("shop", all, isOwn: false))
        let ids: [UserID] = ["shop/news", "shop/desk", "shop/ada", "news"]
        let none = Profile()
        #expect(try Self.asked(ids, &opened) == [none, none, none, none])
        let account = ServiceAccount(
            ConversationID(type: .publicService, target: "news"), owner: "ada", operators: ["bo"], audience: .followers)
        _ = try opened.put(account)
        // Another kind is not offered, whatever the operator of the server writes.
        _ = try opened.put(ServiceAccount(ConversationID(type: .customerService, target: "desk")))
        #expect(try Self.asked(ids, &opened) == [profile, none, none, none])
        // A file of the app opens for nobody of another one.
        let file = Profile(name: "The News", portrait: "media:00112233445566778899aabbccddeeff")
        _ = try opened.apply(.setProfiles("shop", [UserProfile("news", file)], isOwn: false))
        #expect(try Self.asked(["shop/news"], &opened) == [Profile(name: "The News")])
        _ = try opened.apply(.setAccount("shop", account.id, isDeclared: false))
        #expect(try Self.asked(ids, &opened) == [none, none, none, none])
    }

    @Test func `is all that crosses: nobody there follows it, writes to it or reads of it`() throws {
        var opened = Opened()
        _ = try opened.put(
            ServiceAccount(ConversationID(type: .publicService, target: "news"), audience: .followers))
        _ = try opened.apply(.setFollowing(bo, ConversationID(type: .publicService, target: "news"), true))
        let before = opened.store.dump()
        let there = UserKey(app: "club", user: "bo")
        for id in ["news", "shop/news"] {
            let place = ConversationID(type: .publicService, target: id)
            #expect(refused(try opened.apply(.setFollowing(there, place, true))) == "not_allowed account")
            let said = message(1, from: "bo", in: place, app: "club")
            #expect(
                refused(try opened.apply(.accept(message: said, senderDevice: "phone")))
                    == "not_allowed conversation.target")
            #expect(try opened.apply(.readFollowing(there)) == .following([]))
            #expect(try opened.apply(.readAccounts("club", only: place)) == .accounts([]))
            #expect(
                try opened.apply(.readFollowers("club", place, after: nil, limit: 9)) == .followers([], hasMore: false))
        }
        #expect(opened.store.dump() == before)
    }

    @Test func `stands behind a profile of the app's own of that id`() throws {
        var opened = Opened()
        _ = try opened.put(ServiceAccount(ConversationID(type: .publicService, target: "news")))
        _ = try opened.apply(.setProfiles("shop", [UserProfile("news", Profile(name: "Theirs"))], isOwn: false))
        _ = try opened.apply(.setProfiles("club", [UserProfile("shop/news", Profile(name: "Ours"))], isOwn: false))
        #expect(try Self.asked(["shop/news"], &opened) == [Profile(name: "Ours")])
    }
}
