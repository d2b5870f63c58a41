import StoreModel
import Testing
import TidingsModel

@Suite struct `The account of a person` {
    private func signIn(_ issuedAt: Int64? = nil, _ opened: inout Opened) throws -> String {
        switch try opened.apply(.signIn(phone, platform: "ios", tokenIssuedAt: issuedAt, at: 7)) {
        case .device: "signed in"
        case .refused(let problem): problem.code.rawValue
        case let other: "\(other)"
        }
    }

    @Test func `bans them: every device is signed out, and nobody signs in`() throws {
        var opened = Opened()
        #expect(try self.signIn(nil, &opened) == "signed in")
        _ = try opened.send(message(1))
        #expect(try opened.apply(.changeAccount(bo, .ban(), at: 9)) == .done)
        #expect(try self.signIn(nil, &opened) == "disabled")
        #expect(try opened.ends(of: "phone", of: bo) == [1: .disabled])
        #expect(try opened.ended(1)?.at == 9)
        #expect(try opened.user(bo)?.devices.map(\.isSignedOut) == [true])
        #expect(try opened.user(bo)?.account == AccountState(ban: AccountBan()))
        // What is sent now is kept in the log; there is no device it could have a leg to.
        #expect(try opened.send(message(2)).map(\.user) == ["ada", "bo"])
        #expect(try opened.apply(.changeAccount(bo, .ban(), at: 10)) == .done)
        #expect(try opened.apply(.changeAccount(bo, .unban, at: 11)) == .done)
        #expect(try self.signIn(nil, &opened) == "signed in")
        #expect(try opened.user(bo)?.account == AccountState())
    }

    @Test func `is not the account of the app that has the same id`() {
        let banned = AccountState(ban: AccountBan())
        let news = ConversationID(type: .publicService, target: "news")
        func field(
            _ type: ConversationType, _ accounts: StoreRules.Accounts? = nil, _ past: PastRefusals = []
        ) -> String? {
            let said = message(1, from: "news", in: ConversationID(type: type, target: "bo"))
            return StoreRules.refusal(said, ofPerson: banned, past: past, among: accounts)?.field
        }
        #expect(field(.direct) == "sender" && field(.direct, nil, .ban) == nil)
        #expect(field(.publicService) == "sender")
        #expect(field(.publicService, [news: ServiceAccount(news)]) == nil)
        #expect(field(.system) == nil)
    }

    @Test func `keeps a banned author from writing as an account`() throws {
        var opened = Opened()
        let news = ConversationID(type: .publicService, target: "news")
        _ = try opened.apply(.putAccount("shop", ServiceAccount(news, operators: ["bo"])))
        _ = try opened.apply(.changeAccount(bo, .ban(), at: 1))
        let said = message(1, from: "news", in: ConversationID(type: .publicService, target: "ada"))
        func answer(_ past: PastRefusals = []) throws -> StoreResult {
            try opened.apply(.accept(message: said, senderDevice: nil, past: past, author: "bo"))
        }
        #expect(refused(try answer()) == "disabled author")
        #expect(refused(try answer(.ban)) != "disabled author")
    }

    @Test func `bans them until a time, and says why`() throws {
        var opened = Opened()
        let ban = AccountBan(reason: "spam", until: 20)
        #expect(try opened.apply(.changeAccount(bo, .ban(ban), at: 9)) == .done)
        #expect(try opened.apply(.readAccount(bo)) == .userAccount(AccountState(ban: ban)))
        #expect(AccountState(ban: ban).isBanned(at: 19) && !AccountState(ban: ban).isBanned(at: 20))
        func signIn(at: Int64) throws -> String {
            guard case .refused(let problem) = try opened.apply(.signIn(phone, platform: "ios", at: at)) else {
                return "signed in"
            }
            return problem.code.rawValue
        }
        #expect(try signIn(at: 19) == "disabled")
        #expect(try signIn(at: 20) == "signed in")
        // The next one takes its place.
        _ = try opened.apply(.changeAccount(bo, .ban(), at: 21))
        #expect(try opened.apply(.readAccount(bo)) == .userAccount(AccountState(ban: AccountBan())))
        #expect(throws: InvalidField.self) { try AccountBan(reason: "").validate() }
        #expect(throws: InvalidField.self) { try AccountBan(reason: String(repeating: "x", count: 513)).validate() }
    }

    @Test func `bans them from the backend's messages, too, unless it says otherwise`() throws {
        var opened = Opened()
        _ = try opened.apply(.changeAccount(ada, .ban(AccountBan(until: 2_000)), at: 9))
        func send(_ id: UInt64, _ past: PastRefusals, at: Int64 = 1_000, from device: DeviceID? = nil) throws -> String
        {
            var said = message(id)
            said.sentAt = at
            let result = try opened.apply(.accept(message: said, senderDevice: device, past: past))
            if case .accepted = result { return "accepted" }
            return refused(result)
        }
        #expect(try send(1, []) == "disabled sender")
        #expect(try send(1, .blocks) == "disabled sender")
        #expect(try send(1, .ban) == "accepted")
        #expect(try send(2, [], at: 2_000) == "accepted")
        // A device that writes is signed in: nobody looks at its account again.
        #expect(try send(3, [], from: "phone") == "accepted")
    }

    @Test func `revokes tokens issued before a time, which moves forward only`() throws {
        var opened = Opened()
        #expect(try opened.apply(.changeAccount(bo, .revokeTokens(before: 100, signsOut: false), at: 200)) == .done)
        #expect(try opened.apply(.changeAccount(bo, .revokeTokens(before: 50, signsOut: false), at: 201)) == .done)
        #expect(try opened.apply(.readAccount(bo)) == .userAccount(AccountState(tokensNotBefore: 100)))
        #expect(try self.signIn(99, &opened) == "token_revoked")
        #expect(try self.signIn(nil, &opened) == "token_revoked")
        #expect(try self.signIn(100, &opened) == "signed in")
    }

    @Test func `leaves devices alone when tokens are revoked, unless it signs them out`() throws {
        var opened = Opened()
        #expect(try self.signIn(nil, &opened) == "signed in")
        _ = try opened.send(message(1))
        _ = try opened.apply(.changeAccount(bo, .revokeTokens(before: 100, signsOut: false), at: 200))
        #expect(try opened.user(bo)?.devices.map(\.isSignedOut) == [false])
        _ = try opened.apply(.changeAccount(bo, .revokeTokens(before: 100, signsOut: true), at: 201))
        #expect(try opened.user(bo)?.devices.map(\.isSignedOut) == [true])
        #expect(try opened.ends(of: "phone", of: bo) == [1: .signedOut])
    }

    @Test func `is one's own in each app`() throws {
        var opened = Opened()
        _ = try opened.apply(.changeAccount(UserKey(app: "club", user: "bo"), .ban(), at: 9))
        #expect(try self.signIn(nil, &opened) == "signed in")
        #expect(try opened.apply(.readAccount(ada)) == .userAccount(AccountState()))
    }
}
