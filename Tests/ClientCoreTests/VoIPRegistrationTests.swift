import ClientCore
import Testing
import TidingsModel

@Suite struct `The token for calls` {
    private let first = PushRegistration(token: "ab01", environment: .production, topic: "com.example.chat.voip")
    private let second = PushRegistration(token: "cd02", environment: .production, topic: "com.example.chat.voip")

    private static func told(_ effects: [ClientEffect]) -> [(number: RequestNumber, registration: PushRegistration?)] {
        effects.compactMap { effect in
            guard case .sendFrame(_, .request(let number, .registerVoIP(let registration))) = effect else { return nil }
            return (number, registration)
        }
    }

    @Test func `is told while connected, each once, and the last one when one was under way`() throws {
        var core = ClientCore.online()
        let told = Self.told(core.handle(.voIPRegistrationSet(self.first), at: at(1)))
        #expect(told.map(\.registration) == [self.first])
        #expect(core.handle(.voIPRegistrationSet(self.first), at: at(2)) == [])
        #expect(Self.told(core.handle(.voIPRegistrationSet(self.second), at: at(3))).isEmpty)
        let number = try #require(told.first?.number)
        let again = Self.told(core.handle(.frameReceived(1, .answer(number, .done(0))), at: at(4)))
        #expect(again.map(\.registration) == [self.second])
        let last = try #require(again.first?.number)
        #expect(core.handle(.frameReceived(1, .answer(last, .done(0))), at: at(5)) == [])
        #expect(core.handle(.voIPRegistrationSet(self.second), at: at(6)) == [])
    }

    @Test func `is told with each connection, also that there is none, and nothing if the app said nothing`() {
        for (event, expected) in [
            (ClientEvent.voIPRegistrationSet(self.first), [self.first] as [PushRegistration?]),
            (.voIPRegistrationSet(nil), [nil]), (.pushRegistrationSet(self.first), []),
        ] {
            var core = ClientCore.fresh()
            #expect(core.handle(event, at: at(0)) == [])
            core.openConnection()
            #expect(Self.told(core.handle(.frameReceived(1, welcome()), at: at(1))).map(\.registration) == expected)
        }
    }

    @Test func `is a problem of the app's when the server refuses it, once for each fault`() throws {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(code: .invalidField, field: "topic", rule: "must be a topic of the app")
        let number = try #require(Self.told(core.handle(.voIPRegistrationSet(self.first), at: at(1))).first?.number)
        #expect(
            core.handle(.frameReceived(1, .answer(number, .refused(problem))), at: at(2))
                == [.publishProblem(.pushRegistrationRefused(problem))])
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(5))
        _ = core.handle(.deadlineReached, at: at(10_000))
        _ = core.handle(.connectionOpened(2), at: at(10_000))
        let again = try #require(
            Self.told(core.handle(.frameReceived(2, welcome()), at: at(10_000))).first?.number)
        #expect(core.handle(.frameReceived(2, .answer(again, .refused(problem))), at: at(10_001)) == [])
    }

    @Test func `is told again when the server could not take it`() throws {
        var core = ClientCore.online()
        let problem = ServerFrame.Problem(
            code: .unavailable, rule: "must wait", retryAfterMilliseconds: 2_000)
        let number = try #require(Self.told(core.handle(.voIPRegistrationSet(self.first), at: at(1))).first?.number)
        #expect(Self.told(core.handle(.frameReceived(1, .answer(number, .refused(problem))), at: at(2))).isEmpty)
        #expect(Self.told(core.handle(.deadlineReached, at: at(4))).map(\.registration) == [self.first])
    }
}

private struct Facts: KitFacts {
    var signIn: ExtensionDecision.SignIn
    var hasPerson = true
    func isKnown(_ message: MessageID) -> Bool { false }
}

@Suite struct `What becomes of a VoIP push` {
    private static let info = CallInfo(
        id: "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01", caller: "bob", callerName: "Bob", hasVideo: false,
        recipientTag: "t1")

    private static func decide(
        _ facts: Facts, _ payload: JSONValue = .members([("tidings", info.dictionary)]), known: String? = nil
    ) -> CallDecision {
        CallDecision(payload: payload, nameKnownHere: { $0 == "bob" ? known : nil }, facts: facts)
    }

    @Test func `follows who is signed in`() {
        let here = Facts(signIn: .signedIn(recipientTag: "t1"))
        #expect(Self.decide(here) == .ring(Self.info, callerName: "Bob"))
        #expect(Self.decide(here, known: "Bobby") == .ring(Self.info, callerName: "Bobby"))
        #expect(Self.decide(Facts(signIn: .signedIn(recipientTag: "t2"))) == .refuse(Self.info))
        #expect(Self.decide(Facts(signIn: .signedOut)) == .refuse(Self.info))
        // Before the first unlock the files cannot be read.
        #expect(Self.decide(Facts(signIn: .unknown)) == .ring(Self.info, callerName: "Bob"))
        #expect(Self.decide(Facts(signIn: .unknown, hasPerson: false)) == .refuse(Self.info))
    }

    @Test(
        arguments: [
            [:], ["tidings": ["mid": "1"]], ["tidings": ["call": "7", "from": "bob", "to": "t1"]],
            ["tidings": ["call": "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01", "to": "t1"]],
            ["tidings": ["call": "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01", "from": "bob"]],
        ] as [JSONValue])
    func `is the app's where the push is not a call of ours`(payload: JSONValue) {
        #expect(Self.decide(Facts(signIn: .signedIn(recipientTag: "t1")), payload) == .leave)
    }
}
