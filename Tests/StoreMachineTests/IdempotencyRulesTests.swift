import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let key = IdempotencyKey(app: "shop", apiKey: "backend", text: "k1")
private let day = StoreRules.answerLifetime

@Suite struct `A request under an idempotency key` {
    private func once(
        _ command: StoreCommand, _ key: IdempotencyKey = key, _ fingerprint: [UInt8] = [1], keptMax: Int = 10,
        at: Int64 = 5
    ) -> StoreCommand {
        .once(IdempotentRequest(key: key, fingerprint: fingerprint, keptMax: keptMax, at: at), command)
    }

    private func send(_ id: UInt64) -> StoreCommand { .accept(message: message(id), senderDevice: nil) }

    @Test func `is carried out the first time, and answers what the command answers`() throws {
        var opened = Opened()
        #expect(try opened.apply(.readKept(key, at: 5)) == .kept(nil))
        guard case .accepted(let deliveries, _, _) = try opened.apply(self.once(self.send(1))) else {
            Issue.record("it was not accepted")
            return
        }
        #expect(deliveries.map(\.user) == ["ada", "bo"])
        let kept = KeptAnswer(
            key: key, fingerprint: [1],
            answer: .accepted(MessageID(rawValue: 1), sentAt: message(1).sentAt, isRepeat: false),
            at: 5)
        #expect(try opened.apply(.readKept(key, at: 6)) == .kept(kept))
        #expect(opened.store.dump().kept == [kept])
    }

    @Test func `changes nothing the second time, whatever it asks for`() throws {
        var opened = Opened()
        _ = try opened.apply(self.once(self.send(1)))
        let before = opened.store.dump()
        guard case .kept(let kept?) = try opened.apply(self.once(self.send(2), key, [2], at: 9)) else {
            Issue.record("the first answer was not given")
            return
        }
        #expect(kept.fingerprint == [1])
        #expect(opened.store.dump() == before)
    }

    @Test func `keeps that a client message id was used before`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(self.once(self.send(1)))
        guard case .kept(let kept?) = try opened.apply(.readKept(key, at: 5)) else { throw EndedTwice() }
        #expect(kept.answer == .accepted(MessageID(rawValue: 1), sentAt: message(1).sentAt, isRepeat: true))
    }

    @Test func `keeps nothing of a refusal, which is judged anew`() throws {
        var opened = Opened()
        let rename = ConversationOperation(
            app: "shop", conversation: team, action: .rename("Team"), actor: nil, at: 5)
        guard case .refused(let problem) = try opened.apply(self.once(.change(rename))) else { throw EndedTwice() }
        #expect(problem.code == .unknownConversation)
        #expect(opened.store.dump().kept == [])
        _ = try opened.change(.create(name: "T", portrait: nil, members: ["ada"]))
        guard case .changed = try opened.apply(self.once(.change(rename))) else { throw EndedTwice() }
        #expect(opened.store.dump().kept.map(\.answer) == [.done])
    }

    @Test func `keeps nothing of a question, but that somebody may have a token`() throws {
        var opened = Opened()
        _ = try opened.apply(self.once(.readUnread(bo, nil)))
        #expect(opened.store.dump().kept == [])
        _ = try opened.apply(.changeAccount(bo, .ban(), at: 5))
        _ = try opened.apply(self.once(.readAccount(bo)))
        #expect(opened.store.dump().kept == [])
        _ = try opened.apply(self.once(.readAccount(ada)))
        #expect(opened.store.dump().kept.map(\.answer) == [.done])
    }

    @Test func `is another one for another app, another API key, or another text`() throws {
        var opened = Opened()
        let keys = [
            key, IdempotencyKey(app: "club", apiKey: "backend", text: "k1"),
            IdempotencyKey(app: "shop", apiKey: "robot", text: "k1"),
            IdempotencyKey(app: "shop", apiKey: "backend", text: "k2"),
        ]
        for key in keys { #expect(try opened.apply(self.once(.changeAccount(bo, .ban(), at: 5), key)) == .done) }
        #expect(opened.store.dump().kept.map(\.key) == keys.sorted())
    }

    @Test func `is forgotten after a day, not a moment before`() throws {
        var opened = Opened()
        _ = try opened.apply(self.once(.changeAccount(bo, .ban(), at: 5)))
        guard case .kept(.some) = try opened.apply(.readKept(key, at: 5 + day - 1)) else { throw EndedTwice() }
        #expect(try opened.apply(.readKept(key, at: 5 + day)) == .kept(nil))
        #expect(try opened.apply(self.once(.changeAccount(bo, .unban, at: 9), key, [2], at: 5 + day)) == .done)
        #expect(opened.store.dump().kept.map(\.fingerprint) == [[2]])
    }

    @Test func `is refused where the app has as many as it may, until the oldest is forgotten`() throws {
        var opened = Opened()
        func use(_ number: Int, at: Int64) throws -> StoreResult {
            let key = IdempotencyKey(app: "shop", apiKey: "backend", text: "k\(number)")
            return try opened.apply(self.once(.changeAccount(bo, .ban(), at: 5), key, keptMax: 2, at: at))
        }
        #expect(try use(1, at: 10) == .done)
        #expect(try use(2, at: 20) == .done)
        guard case .refused(let problem) = try use(3, at: 30) else { throw EndedTwice() }
        #expect(problem.code == .rateLimited)
        #expect(problem.field == "Idempotency-Key")
        #expect(problem.retryAfterMilliseconds == UInt32(day - 20))
        // A known one is answered all the same.
        guard case .kept(.some) = try use(2, at: 30) else { throw EndedTwice() }
        #expect(try use(3, at: 10 + day) == .done)
        #expect(opened.store.dump().kept.map(\.key.text) == ["k2", "k3"])
    }

    @Test func `takes no longer however many have expired`() throws {
        var opened = Opened()
        let many = 2 * StoreRules.forgottenAtOnce + 50
        for number in 0..<many {
            let key = IdempotencyKey(app: "shop", apiKey: "backend", text: "old\(number)")
            _ = try opened.apply(
                self.once(.changeAccount(bo, .ban(), at: 5), key, keptMax: many + 1, at: Int64(number)))
        }
        _ = try opened.apply(self.once(.changeAccount(bo, .ban(), at: 5), key, keptMax: many + 1, at: 2 * day))
        #expect(opened.store.dump().kept.count == many - StoreRules.forgottenAtOnce + 1)
    }
}
