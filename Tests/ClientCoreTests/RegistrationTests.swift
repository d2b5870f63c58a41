import ClientCore
import Requirements
import Testing
import TidingsModel

@Suite struct `A device's push registration` {
    private let first = PushRegistration(token: "ab01", environment: .production, topic: "com.example.chat")
    private let second = PushRegistration(token: "cd02", environment: .production, topic: "com.example.chat")

    @Test(.requirement("S2.7")) func `reports a token that comes while it is connected, and each one once`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.pushRegistrationSet(self.first), at: at(1)).unnumbered == [
                .sendFrame(1, .registerPush(self.first))
            ])
        #expect(core.handle(.pushRegistrationSet(self.first), at: at(2)) == [])
        #expect(
            core.handle(.pushRegistrationSet(self.second), at: at(3)).unnumbered == [
                .sendFrame(1, .registerPush(self.second))
            ])
    }

    @Test(.requirement("S2.7")) func `is not reported before the connection has succeeded, and then the last one is`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        #expect(core.handle(.pushRegistrationSet(self.first), at: at(0)) == [])
        #expect(core.handle(.connectionOpened(1), at: at(1)) == [.sendFrame(1, hello())])
        #expect(core.handle(.pushRegistrationSet(self.second), at: at(1)) == [])
        let effects = core.handle(.frameReceived(1, welcome()), at: at(2))
        #expect(effects.unnumbered.contains(.sendFrame(1, .registerPush(self.second))))
        #expect(!effects.unnumbered.contains(.sendFrame(1, .registerPush(self.first))))
    }

    @Test func `is taken back with the next connection when the app wants no pushes any more`() {
        var core = ClientCore.fresh()
        #expect(core.handle(.pushRegistrationSet(nil), at: at(0)) == [])
        core.openConnection()
        #expect(
            core.handle(.frameReceived(1, welcome()), at: at(1)).unnumbered.contains(.sendFrame(1, .registerPush(nil))))
    }

    /// The number under which a registration is told on a connection.
    private static func number(_ effects: [ClientEffect]) -> RequestNumber? {
        for case .sendFrame(_, .registerPush(_, let number)) in effects { return number }
        return nil
    }

    @Test func `is a problem of the app's when the server refuses it, once for each fault`() throws {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(
            code: .invalidField, field: "push_registration.topic", rule: "must be a topic of the app")
        let number = try #require(Self.number(core.handle(.pushRegistrationSet(self.first), at: at(1))))
        let refusal = ServerFrame.answer(number, .refused(problem))
        #expect(
            core.handle(.frameReceived(1, refusal), at: at(2)) == [.publishProblem(.pushRegistrationRefused(problem))])
        #expect(core.handle(.frameReceived(1, refusal), at: at(2)) == [])
        // The next connection tells it again, and hears the same.
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(5))
        _ = core.handle(.deadlineReached, at: at(10_000))
        _ = core.handle(.connectionOpened(2), at: at(10_000))
        let again = try #require(Self.number(core.handle(.frameReceived(2, welcome()), at: at(10_000))))
        #expect(core.handle(.frameReceived(2, .answer(again, .refused(problem))), at: at(10_001)) == [])
        let other = try #require(Self.number(core.handle(.pushRegistrationSet(self.second), at: at(10_002))))
        #expect(
            core.handle(.frameReceived(2, .answer(other, .refused(problem))), at: at(10_003))
                == [.publishProblem(.pushRegistrationRefused(problem))])
    }

    @Test func `is told again later when the server has no room for it`() throws {
        var core = ClientCore.online()
        let number = try #require(Self.number(core.handle(.pushRegistrationSet(self.first), at: at(1))))
        let full = ServerFrame.Problem(code: .rateLimited, rule: "must wait", retryAfterMilliseconds: 2_000)
        #expect(core.handle(.frameReceived(1, .answer(number, .refused(full))), at: at(2)) == [])
        #expect(core.nextDeadline.map { $0 <= at(2).monotonic + 2_000 } == true)
        #expect(
            core.handle(.deadlineReached, at: at(4)).unnumbered.contains(.sendFrame(1, .registerPush(self.first))))
    }

    @Test func `is the server's to forget when the person signs out`() {
        var core = ClientCore.online()
        #expect(core.handle(.signOutRequested, at: at(1)).contains(.sendFrame(1, .signOut)))
    }
}
