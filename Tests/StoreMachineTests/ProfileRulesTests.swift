import StoreModel
import Testing
import TidingsModel

@Suite struct `The profile of a person` {
    private static func set(
        _ name: String?, of user: UserID = "ada", portrait: String? = nil, isOwn: Bool = false
    ) -> StoreCommand {
        .setProfiles("shop", [UserProfile(user, Profile(name: name, portrait: portrait))], isOwn: isOwn)
    }

    @Test func `is what was set last, of each app by itself`() throws {
        var opened = Opened()
        #expect(try opened.apply(Self.set("Ada", portrait: "https://a/b.png")) == .done)
        #expect(try opened.apply(Self.set("Ada L.")) == .done)
        #expect(
            try opened.apply(.readProfiles("shop", ["bo", "ada"]))
                == .profiles([UserProfile("bo", Profile()), UserProfile("ada", Profile(name: "Ada L."))]))
        #expect(try opened.apply(.readProfiles("club", ["ada"])) == .profiles([UserProfile("ada", Profile())]))
        #expect(try opened.user(ada)?.profile == Profile(name: "Ada L."))
        #expect(try opened.apply(Self.set(nil)) == .done)
        #expect(try opened.user(ada)?.profile == Profile())
    }

    @Test func `comes with a message that is accepted, a nickname before it`() throws {
        var opened = Opened()
        _ = try opened.apply(Self.set("Ada"))
        _ = try opened.apply(group(["ada", "bo"]))
        func names(_ message: Message) throws -> MessageNames? {
            guard case .accepted(_, let names, _) = try opened.apply(.accept(message: message, senderDevice: nil))
            else {
                return nil
            }
            return names
        }
        #expect(try names(message(1)) == MessageNames(sender: "Ada"))
        #expect(try names(message(2, in: team)) == MessageNames(conversation: "Team", sender: "Ada"))
        _ = try opened.change(.setNickname("ada", "Countess"))
        #expect(try names(message(3, in: team)) == MessageNames(conversation: "Team", sender: "Countess"))
        #expect(try names(message(4)) == MessageNames(sender: "Ada"))
    }

    @Test func `is refused with all others if one of them is`() throws {
        var opened = Opened()
        let good = UserProfile("ada", Profile(name: "Ada"))
        for (bad, field) in [
            (UserProfile("bo", Profile(name: "")), "name"), (UserProfile("bo", Profile(portrait: "")), "portrait"),
            (UserProfile("b o", Profile(name: "Bo")), "user"),
        ] {
            #expect(
                refused(try opened.apply(.setProfiles("shop", [good, bad], isOwn: false))) == "invalid_field \(field)")
        }
        #expect(refused(try opened.apply(.setProfiles("shop", [], isOwn: false))) == "invalid_field profiles")
        let many = Array(repeating: good, count: StoreRules.profilesMax + 1)
        #expect(refused(try opened.apply(.setProfiles("shop", many, isOwn: false))) == "invalid_field profiles")
        #expect(try opened.user(ada)?.profile == Profile())
    }

    @Test(arguments: ["Help Desk", "help desk", "HELP  DESK", "Help\u{200b}Desk"])
    func `may not have an account's name if the person chooses it`(name: String) throws {
        var opened = Opened()
        let desk = ConversationID(type: .customerService, target: "desk")
        _ = try opened.apply(.setAccount("shop", desk, isDeclared: true))
        _ = try opened.apply(Self.set("Help Desk", of: "desk"))
        _ = try opened.apply(group(["ada", "bo"]))
        #expect(refused(try opened.apply(Self.set(name, isOwn: true))) == "not_allowed name")
        #expect(refused(try opened.change(.setNickname("ada", name), by: "ada")) == "not_allowed nickname")
        #expect(try opened.apply(Self.set("Ada", isOwn: true)) == .done)
        // The backend knows what it does.
        #expect(try opened.apply(Self.set(name)) == .done)
        guard made(try opened.change(.setNickname("ada", name))) != nil else {
            return #expect(Bool(false), "the backend's nickname")
        }
        _ = try opened.apply(.setAccount("shop", desk, isDeclared: false))
        #expect(try opened.apply(Self.set(name, isOwn: true)) == .done)
    }
}
