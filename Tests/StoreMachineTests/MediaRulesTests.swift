import StoreModel
import Testing
import TidingsModel

private let photo = MediaID("00112233445566778899aabbccddeeff")
private let other = MediaID(String(repeating: "a", count: 32))
private let cy = UserKey(app: "shop", user: "cy")

extension Opened {
    /// Ada and Bo in a team, where Ada has shown the photo in message 1.
    fileprivate static func showing(_ content: String? = nil) throws -> Opened {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.show(1, content: content)
        return opened
    }

    fileprivate mutating func show(
        _ id: UInt64, content: String? = nil, from sender: UserID = "ada", in conversation: ConversationID = team,
        device: DeviceID? = "phone", recipients: [UserID] = []
    ) throws -> StoreResult {
        var said = message(id, from: sender, in: conversation, recipients: recipients)
        said.content = content ?? "{\"imageUri\":\"\(photo.reference)\"}"
        return try self.apply(.accept(message: said, senderDevice: device))
    }

    fileprivate mutating func mayRead(_ key: UserKey, _ id: UInt64 = 1, _ media: MediaID = photo) throws -> Bool {
        let asked = StoreCommand.readMedia(key, media, in: MessageID(rawValue: id), room: RoomAccess(at: 9))
        guard case .mediaUse(let use) = try self.apply(asked) else { return false }
        return use != nil
    }

    fileprivate mutating func uses(by owner: UserID?) throws -> [UInt64] {
        guard case .mediaUses(let uses) = try self.apply(.readMediaUses("shop", photo, by: owner)) else { return [] }
        return uses.map(\.message.rawValue)
    }
}

@Suite struct `A message that names media` {
    @Test func `that lasts is told of beside any number of newer ones that end`() throws {
        var list = MediaUseList()
        func use(_ id: UInt64, _ end: Int64?) -> MediaUse {
            MediaUse(message: MessageID(rawValue: id), sender: "ada", isBackend: false, expiresAt: end)
        }
        func add(_ use: MediaUse) -> Bool { list.add(use) }
        for id in 0..<UInt64(MediaUse.listMax) {
            let matters = add(use(1_000 - id, 50))
            #expect(matters)
        }
        let newest = list.uses
        for (older, tail) in [(use(9, 40), []), (use(8, 60), [use(8, 60)])] {
            let matters = add(older)
            #expect(matters)
            #expect(list.uses == newest + tail)
        }
        let matters = add(use(7, nil))
        #expect(!matters)
        #expect(list.uses == newest + [use(7, nil)])
    }

    @Test func `and was sent by the backend is edited to name no others by the person in whose name it was`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.show(1, device: nil)
        let more = "{\"imageUri\":\"\(photo.reference)\",\"thumbnailUri\":\"\(other.reference)\"}"
        #expect(refused(try opened.edit(1, more, by: "ada")) == "invalid_field content")
        #expect(try !opened.mayRead(bo, 1, other))
        guard case .noted(.some, _) = try opened.edit(1, "{\"caption\":\"\(photo.reference)\"}", by: "ada"),
            case .noted(.some, _) = try opened.edit(1, more, by: nil)
        else { return #expect(Bool(false), "what it names already, and the backend, may") }
        #expect(try opened.mayRead(bo, 1, other))
        // Whose message it is may name their own.
        _ = try opened.show(2)
        guard case .noted(.some, _) = try opened.edit(2, more, by: "ada") else {
            return #expect(Bool(false), "her own message")
        }
    }

    @Test func `is there for whoever has it in their log, and for nobody else`() throws {
        var opened = try Opened.showing()
        #expect(try opened.mayRead(ada) && opened.mayRead(bo))
        #expect(try !opened.mayRead(cy))
        // Whoever comes later has not got it.
        _ = try opened.change(.add(["cy"]))
        #expect(try !opened.mayRead(cy))
        _ = try opened.show(2)
        #expect(try opened.mayRead(cy, 2))
        #expect(try !opened.mayRead(cy, 1))
        // Whoever was put out still has what they had.
        _ = try opened.change(.remove(["bo"]))
        #expect(try opened.mayRead(bo))
        #expect(try !opened.mayRead(UserKey(app: "club", user: "bo")))
    }

    @Test func `names nothing else, and neither does another message`() throws {
        var opened = try Opened.showing()
        #expect(try !opened.mayRead(bo, 1, other))
        _ = try opened.show(2, content: "{\"content\":\"hi\"}")
        #expect(try !opened.mayRead(bo, 2))
    }

    @Test(arguments: [
        "media:00112233445566778899AABBCCDDEEFF", "media:00112233445566778899aabbccddeef", "Media:\(photo)", "\(photo)",
        "edia:\(photo)", "media: \(photo)",
    ])
    func `names it by exactly its reference`(content: String) throws {
        var opened = try Opened.showing(content)
        #expect(try !opened.mayRead(bo))
    }

    @Test func `names several, and those in content of any kind`() throws {
        var opened = try Opened.showing("any \(photo.reference)\(other.reference)")
        #expect(try opened.mayRead(bo) && opened.mayRead(bo, 1, other))
    }

    @Test func `is gone once it was recalled, or deleted by the person`() throws {
        var opened = try Opened.showing()
        _ = try opened.show(2)
        _ = try opened.delete([1], of: bo, in: team)
        #expect(try !opened.mayRead(bo) && opened.mayRead(ada))
        _ = try opened.recall(2, as: 3, by: "ada")
        #expect(try !opened.mayRead(bo, 2) && !opened.mayRead(ada, 2))
        #expect(try opened.uses(by: "ada") == [1])
    }

    @Test func `names what it says now`() throws {
        var opened = try Opened.showing()
        _ = try opened.edit(1, "{\"imageUri\":\"\(other.reference)\"}", by: "ada")
        #expect(try !opened.mayRead(bo) && opened.mayRead(bo, 1, other))
        #expect(try opened.uses(by: "ada") == [])
    }

    @Test func `that is for some members is not there for the others`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy"]))
        _ = try opened.show(1, recipients: ["bo"])
        #expect(try opened.mayRead(ada) && opened.mayRead(bo))
        #expect(try !opened.mayRead(cy))
    }

    @Test func `of a chat room is there for whoever may come in`() throws {
        var opened = Opened()
        _ = try opened.apply(group([], hall))
        _ = try opened.show(1, in: hall)
        #expect(try opened.mayRead(cy))
        _ = try opened.change(.ban(["cy"], until: nil), in: hall)
        #expect(try !opened.mayRead(cy))
    }

    @Test func `speaks for its sender, and for the backend if that has sent it`() throws {
        var opened = try Opened.showing()
        _ = try opened.show(2, from: "bo")
        _ = try opened.show(3, device: nil)
        #expect(try opened.uses(by: "ada") == [3, 1])
        #expect(try opened.uses(by: "bo") == [2])
        #expect(try opened.uses(by: nil) == [3])
        #expect(try opened.uses(by: "cy") == [])
    }

    @Test func `speaks for nobody whose id only looks like the sender's`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["caf\u{e9}"]))
        _ = try opened.show(1, from: "caf\u{e9}")
        #expect(try opened.uses(by: "caf\u{e9}") == [1])
        #expect(try opened.uses(by: "cafe\u{301}") == [])
    }
}

@Suite struct `A portrait that is media` {
    /// Ada, whose portrait it is, has written message 1, which names nothing.
    private static func opened() throws -> Opened {
        var opened = try Opened.showing("{\"content\":\"hi\"}")
        try opened.choose(photo.reference)
        return opened
    }

    @Test func `is there with each message of that person, for whoever has the message`() throws {
        var opened = try Self.opened()
        #expect(try opened.use(bo)?.isPortrait == true)
        #expect(try opened.use(cy) == nil)
        #expect(try opened.use(bo, 1, other) == nil)
        _ = try opened.show(2, content: "{\"content\":\"hi\"}", from: "bo")
        #expect(try opened.use(bo, 2) == nil)
        // What the message names itself is no portrait.
        _ = try opened.show(3)
        #expect(try opened.use(bo, 3)?.isPortrait == false)
    }

    @Test func `is gone with the message, and once the person has another`() throws {
        var opened = try Self.opened()
        _ = try opened.show(2, content: "{\"content\":\"hi\"}")
        _ = try opened.recall(2, as: 3, by: "ada")
        #expect(try opened.use(bo, 2) == nil)
        try opened.choose(other.reference)
        #expect(try opened.use(bo) == nil)
    }

    @Test func `is kept as long as it is the person's, whatever their messages name`() throws {
        var opened = try Self.opened()
        #expect(try opened.uses(by: "ada") == [0])
        #expect(try opened.uses(by: "bo") == [])
        #expect(try opened.uses(by: nil) == [])
        _ = try opened.show(2)
        #expect(try opened.uses(by: "ada") == [0, 2])
        try opened.choose(nil)
        #expect(try opened.uses(by: "ada") == [2])
    }
}

extension Opened {
    fileprivate mutating func choose(_ portrait: String?) throws {
        let profile = UserProfile("ada", Profile(name: "Ada", portrait: portrait))
        _ = try self.apply(.setProfiles("shop", [profile], isOwn: false))
    }

    fileprivate mutating func use(_ key: UserKey, _ id: UInt64 = 1, _ media: MediaID = photo) throws -> MediaUse? {
        let asked = StoreCommand.readMedia(key, media, in: MessageID(rawValue: id), room: RoomAccess(at: 9))
        guard case .mediaUse(let use) = try self.apply(asked) else { return nil }
        return use
    }
}
