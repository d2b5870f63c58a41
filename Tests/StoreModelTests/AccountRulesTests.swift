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
        #expect(try opened.apply(.changeAccount(bo, .ban, at: 9)) == .done)
        #expect(try self.signIn(nil, &opened) == "disabled")
        #expect(try opened.ends(of: "phone", of: bo) == [1: .disabled])
        #expect(try opened.ended(1)?.at == 9)
        #expect(try opened.user(bo)?.devices.map(\.isSignedOut) == [true])
        #expect(try opened.user(bo)?.account == AccountState(isBanned: true))
        // What is sent now is kept in the log; there is no device it could have a leg to.
        #expect(try opened.send(message(2)).map(\.user) == ["ada", "bo"])
        #expect(try opened.apply(.changeAccount(bo, .ban, at: 10)) == .done)
        #expect(try opened.apply(.changeAccount(bo, .unban, at: 11)) == .done)
        #expect(try self.signIn(nil, &opened) == "signed in")
        #expect(try opened.user(bo)?.account == AccountState())
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
        _ = try opened.apply(.changeAccount(UserKey(app: "club", user: "bo"), .ban, at: 9))
        #expect(try self.signIn(nil, &opened) == "signed in")
        #expect(try opened.apply(.readAccount(ada)) == .userAccount(AccountState()))
    }
}
