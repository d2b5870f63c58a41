import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

/// `docs/inside/decisions/0049-anonymous-people.md`
@Suite struct `An anonymous person` {
    static let guest: UserID = "anon-000102030405060708090a0b0c0d0e0f"
    static let other: UserID = "anon-f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

    static let notOpen = ServerFrame.Problem(
        code: .notAllowed, field: "request", rule: "must not be an anonymous person's: sign in for it")

    /// Every kind of request, with whether anonymous people may ask it.
    static let requests: [(request: ClientRequest, isOpen: Bool)] = {
        let group = ConversationID.group("team")
        let account = ConversationID(type: .publicService, target: "news")
        return [
            (.change(group, .join), false), (.change(group, .create(name: "Us", portrait: nil, members: [])), false),
            (.change(group, .leave), false), (.recall(MessageID(rawValue: 5)), false),
            (.edit(MessageID(rawValue: 5), content: "{}"), false),
            (.delete(Deletion(conversation: group, messages: [])), true),
            (.setConversationSettings(account, ConversationSettings()), true),
            (.setConversationState(account, .pinned(true)), true), (.setPersonSettings(PersonSettings()), true),
            (.setBlocked("bob", true), false), (.conversation(group), true), (.settings, true),
            (.history(account, before: nil, limit: 10), true),
            (.enterRoom(ConversationID(type: .chatRoom, target: "live"), history: 0), false),
            (.exitRoom(ConversationID(type: .chatRoom, target: "live")), false),
            (.receipts(MessageID(rawValue: 5)), false), (.watch(["bob"]), false), (.unwatch(["bob"]), false),
            (.renewToken("token"), true), (.setProfile(Profile()), false), (.profiles(["bob"]), false),
            (.registerVoIP(nil), true), (.devices, true), (.signOutDevice("tablet"), true),
            (.setFollowing(account, true), false), (.following, false), (.setTags([]), true),
        ]
    }()

    @Test func `asks for what is about their own phone, and for nothing that reaches others`() {
        for (request, isOpen) in Self.requests {
            let asked = Asked(
                requester: .session(SessionID(1), 1), app: ServerBench.app, actor: Self.guest)
            var refusal: ServerFrame.Problem?
            do throws(ServerFrame.Problem) { try AnonymousRules.check(request, asked) } catch { refusal = error }
            #expect(refusal == (isOpen ? nil : Self.notOpen), "\(request)")
            let others = Asked(requester: .session(SessionID(1), 1), app: ServerBench.app, actor: "bob")
            #expect(throws: Never.self, "\(request)") { try AnonymousRules.check(request, others) }
        }
        // Each kind has its row.
        #expect(Set(Self.requests.map { "\($0.request)".prefix { $0 != "(" } }).count == 25)
    }

    @Test func `connects, syncs, registers for pushes and is pushed to like everybody`() {
        var bench = ServerBench()
        let guest = bench.connect(Self.guest).session
        bench.run(.frame(guest, .registerPush(ServerBench.registration(Self.guest))))
        #expect(bench.run(.frame(guest, .sync(after: 0, limit: 10))).outside == ["s1 ← page [] head 0"])
        #expect(bench.ask(guest, 1, .settings).outside.last?.hasPrefix("s1 ← answer 1 settings") == true)
        let sent = bench.say(to: .direct(Self.guest.rawValue))
        #expect(sent.contains { $0.hasPrefix("s1 ← entry 1") }, "\(sent)")
    }

    @Test func `is refused a group on a connection, and by name`() {
        var bench = ServerBench()
        let guest = bench.connect(Self.guest).session
        #expect(
            bench.ask(guest, 1, .change(.group("team"), .join)) == [
                "s1 ← answer 1 refused(not_allowed: request must not be an anonymous person's: sign in for it)"
            ])
    }

    @Test func `writes to nobody, and is written to by the backend alone`() {
        var bench = ServerBench()
        let guest = bench.connect(Self.guest).session
        let bob = bench.connect("bob").session
        #expect(
            bench.run(.frame(guest, .send(bench.draft("hi", .direct("bob"))))) == [
                "s1 ← refused c1 not_allowed: send must not be an anonymous person's: sign in for it"
            ])
        #expect(
            bench.run(.frame(bob, .send(bench.draft("hi", .direct(Self.guest.rawValue))))) == [
                "s2 ← refused c2 not_allowed: conversation.target must not be an anonymous person: the app's backend alone writes to them"
            ])
        #expect(
            bench.run(
                .api(
                    APIRequestID(1),
                    .send(UserKey(app: ServerBench.app, user: Self.guest), bench.draft("hi", .direct("bob")))))
                == ["reply refused invalid_field sender"])
        // Nor is anybody told that they type.
        #expect(bench.run(.frame(guest, .typing(.direct("bob"), isTyping: true))) == [])
        #expect(bench.run(.frame(bob, .typing(.direct(Self.guest.rawValue), isTyping: true))) == [])
    }

    @Test func `is made nothing of by the backend that only others can be`() {
        var bench = ServerBench()
        let app = ServerBench.app
        let guest = Self.guest
        let record = ConversationRecord(
            app: app, conversation: .group("team"), name: "Us", portrait: nil,
            members: [Member("bob", role: .owner), Member(guest)])
        let account = ConversationID(type: .publicService, target: "news")
        let commands: [(APICommand, String)] = [
            (.putConversation(record), "reply refused invalid_field members"),
            (
                .request(app, actor: nil, .change(.group("team"), .add([guest]))),
                "reply answer refused(invalid_field: users must not name an anonymous person (anon-…), got \"\(guest)\")"
            ),
            (
                .request(app, actor: guest, .change(.group("team"), .join)),
                "reply answer refused(invalid_field: actor must not name an anonymous person (anon-…), got \"\(guest)\")"
            ),
            (
                .putAccount(app, ServiceAccount(account, owner: guest)), "reply refused invalid_field owner"
            ),
            (
                .putAccount(app, ServiceAccount(account, owner: "bob", operators: [guest])),
                "reply refused invalid_field operators"
            ),
            (.setProfiles(app, [UserProfile(guest, Profile(name: "Guest"))]), "reply refused invalid_field profiles"),
            (
                .ring(app, Call(id: CallID("c1"), caller: guest, callee: "bob")), "reply refused invalid_field from"
            ),
            (.issueToken(UserKey(app: app, user: guest)), "reply refused invalid_field user"),
        ]
        for (command, answer) in commands {
            #expect(bench.run(.api(APIRequestID(1), command)) == [answer], "\(command)")
        }
    }

    @Test func `is signed out, banned and labelled by the backend as others are`() {
        var bench = ServerBench()
        bench.connect(Self.guest)
        let user = UserKey(app: ServerBench.app, user: Self.guest)
        #expect(bench.run(.api(APIRequestID(1), .signOutAll(user))).contains("reply done"))
        #expect(bench.run(.api(APIRequestID(2), .changeAccount(user, .ban()))).contains("reply done"))
    }
}

@Suite struct `Signing in` {
    private static let guest = `An anonymous person`.guest
    private static let token = ServerBench.registration("phone")

    @Test func `moves the phone's token to the person, and ends by name what waited for the anonymous one`() {
        var bench = ServerBench()
        let before = bench.connect(Self.guest).session
        bench.run(.frame(before, .registerPush(Self.token)))
        bench.run(.frame(before, .runState(.suspending)))
        bench.run(.disconnected(before))
        bench.say(to: .direct(Self.guest.rawValue))
        #expect(bench.pushes.map(\.device.user.user) == [Self.guest])
        let after = bench.connect("bob").session
        let moved = bench.run(.frame(after, .registerPush(Self.token)))
        #expect(moved.contains("store token of bob/phone is registered"), "\(moved)")
        bench.acceptPush()
        // What comes for the anonymous person now has no phone to go to, whether or not the app has signed them out.
        let said = bench.say(to: .direct(Self.guest.rawValue))
        #expect(said.contains("store end m2 \(Self.guest)/phone no_token"), "\(said)")
        #expect(bench.pushes.isEmpty)
        bench.run(.frame(after, .runState(.suspending)))
        bench.run(.disconnected(after))
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.map(\.device.user.user) == ["bob"])
    }

    @Test func `leaves the anonymous person without a device once the app has signed them out`() {
        var bench = ServerBench()
        let before = bench.connect(Self.guest).session
        bench.run(.frame(before, .registerPush(Self.token)))
        let after = bench.connect("bob").session
        bench.run(.frame(after, .registerPush(Self.token)))
        let again = bench.connect(Self.guest).session
        #expect(bench.run(.frame(again, .signOut)).contains("store sign out \(Self.guest)/phone"))
        let said = bench.say(to: .direct(Self.guest.rawValue))
        #expect(said.contains { $0.contains("no_device") }, "\(said)")
        bench.run(.frame(after, .runState(.suspending)))
        bench.run(.disconnected(after))
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.map(\.device.user.user) == ["bob"])
    }
}

@Suite struct `A token of an anonymous person` {
    static let user = UserKey(app: ServerBench.app, user: `An anonymous person`.guest)

    static func settings(burst: Int = 600) -> ServerSettings {
        var settings = ServerBench.plain
        settings.limits[.address, .installations] = RateLimit(perSecond: 1, burst: burst)
        return settings
    }

    static func ask(
        _ bench: inout ServerBench, _ issuedAt: Int64? = nil, from address: String = "192.0.2.1",
        of user: UserKey = user
    ) -> String {
        bench.run(.api(APIRequestID(9), .installation(user, renewalIssuedAt: issuedAt, from: address))).last ?? ""
    }

    @Test func `is given without anything being kept of the person`() {
        var bench = ServerBench(settings: Self.settings())
        let before = bench.store.dump()
        #expect(Self.ask(&bench) == "reply may issue a token at \(bench.now.wall - ServerBench.started)")
        #expect(bench.store.dump() == before)
    }

    @Test func `is given to ten new people of an address at once, and to one a minute`() {
        var bench = ServerBench(settings: Self.settings())
        for _ in 0..<10 { #expect(Self.ask(&bench).hasPrefix("reply may issue")) }
        #expect(
            bench.run(.api(APIRequestID(9), .installation(Self.user, renewalIssuedAt: nil, from: "192.0.2.1"))) == [
                "refuse installations of address", "reply refused rate_limited installation",
            ])
        // Who has had enough may still renew, as soon as there is anything; and another address is another one.
        bench.pass(1_000)
        #expect(Self.ask(&bench, ServerBench.started).hasPrefix("reply may issue"))
        #expect(Self.ask(&bench, from: "192.0.2.2").hasPrefix("reply may issue"))
        bench.pass(59_000)
        #expect(Self.ask(&bench) == "reply refused rate_limited installation")
        bench.pass(1_000)
        #expect(Self.ask(&bench).hasPrefix("reply may issue"))
    }

    @Test func `is not limited for an address of which nobody knows whose it is`() {
        var bench = ServerBench(settings: Self.settings(burst: 60))
        for _ in 0..<5 { #expect(Self.ask(&bench, from: "").hasPrefix("reply may issue")) }
        #expect(bench.core.quotas(.installations(from: ""), bench.now) == [])
    }

    @Test func `is told with what is left for the address`() {
        var bench = ServerBench(settings: Self.settings())
        _ = Self.ask(&bench)
        #expect(
            bench.core.quotas(.installations(from: "192.0.2.1"), bench.now) == [
                RateQuota(
                    scope: .address, kind: .installations, limit: RateLimit(perSecond: 1, burst: 600), remaining: 540,
                    fullIn: 60_000)
            ])
    }

    @Test func `is not renewed for somebody who is banned, nor after a revocation`() {
        var bench = ServerBench(settings: Self.settings())
        let made = bench.now.wall
        bench.pass(10)
        bench.run(
            .api(APIRequestID(1), .changeAccount(Self.user, .revokeTokens(before: bench.now.wall, signsOut: true))))
        #expect(Self.ask(&bench, made) == "reply refused token_revoked token")
        #expect(Self.ask(&bench, bench.now.wall).hasPrefix("reply may issue"))
        bench.run(.api(APIRequestID(2), .changeAccount(Self.user, .ban())))
        #expect(Self.ask(&bench, bench.now.wall) == "reply refused disabled user")
    }

    @Test func `is given to nobody else`() {
        var bench = ServerBench(settings: Self.settings())
        #expect(Self.ask(&bench, of: ServerBench.key("bob")) == "reply refused invalid_field user")
    }
}
