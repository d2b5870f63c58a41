import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `An installation without sign-in on the phone` {
    private static let now: Int64 = 1_800_000_000_000
    private static let kept = Installation(
        user: "anon-1", token: "old", expiresAt: now + 3_600_000, renewal: "renewal")
    private static let made: JSONValue = [
        "app": "demo", "user": "anon-1", "token": "old", "expires_at": .int(now + 3_600_000), "renewal": "renewal",
    ]

    @Test func `is made once, and its token is used while it is good for an hour`() {
        #expect(InstallationPlan.step(nil, isRepeated: false, at: Self.now) == .make)
        #expect(InstallationPlan.step(Self.kept, isRepeated: false, at: Self.now) == .use(Self.kept))
        #expect(InstallationPlan.step(Self.kept, isRepeated: false, at: Self.now + 1) == .renew(Self.kept))
        // What was given already was refused, or is about to end.
        #expect(InstallationPlan.step(Self.kept, isRepeated: true, at: Self.now) == .renew(Self.kept))
    }

    @Test func `keeps what the server has made, and of a renewal who they are`() {
        #expect(
            InstallationPlan.outcome(of: .make, status: 201, body: Self.made, retryAfter: nil) == .keep(Self.kept))
        let renewed = InstallationPlan.outcome(
            of: .renew(Self.kept), status: 200,
            body: ["token": "new", "expires_at": .int(Self.now + 86_400_000)], retryAfter: nil)
        var later = Self.kept
        (later.token, later.expiresAt) = ("new", Self.now + 86_400_000)
        #expect(renewed == .keep(later))
    }

    @Test func `is somebody else once the renewal is refused, and nobody without a good key`() {
        func outcome(_ step: InstallationPlan.Step, _ status: Int, _ body: JSONValue = .null, _ wait: Int64? = nil)
            -> InstallationPlan.Outcome
        { InstallationPlan.outcome(of: step, status: status, body: body, retryAfter: wait) }
        #expect(outcome(.renew(Self.kept), 401) == .forget)
        #expect(outcome(.make, 401) == .fail(.keyRefused))
        let banned: JSONValue = ["code": "disabled", "detail": "must not be banned"]
        #expect(
            outcome(.renew(Self.kept), 403, banned) == .fail(.refused(code: "disabled", rule: "must not be banned")))
        #expect(outcome(.make, 404) == .fail(.refused(code: "", rule: "status 404")))
        #expect(outcome(.make, 429, .null, 60) == .fail(.later(60_000)))
        #expect(outcome(.renew(Self.kept), 503) == .fail(.later(nil)))
        #expect(outcome(.make, 302) == .fail(.later(nil)))
        // An answer that says nothing of what was asked for, for example that of somebody's sign-in page.
        for body in [JSONValue.null, ["user": "anon-1"], ["token": "t", "expires_at": 1]] {
            #expect(outcome(.make, 200, body) == .fail(.later(nil)))
        }
        #expect(outcome(.renew(Self.kept), 200) == .fail(.later(nil)))
    }

    @Test func `comes back the same from what is kept`() throws {
        #expect(try Installation(line: Self.kept.json.serialized) == Self.kept)
        for text in ["", "{}", #"{"user":"anon-1","token":"t"}"#] {
            #expect(throws: InvalidField.self) { try Installation(line: text.utf8) }
        }
    }
}
