import StoreMachine
import StoreModel
import TidingsModel

// Commands under idempotency keys: few keys, so that they meet, and now and then a day later.
extension CommandGenerator {
    mutating func idempotencyKey() -> IdempotencyKey {
        IdempotencyKey(
            app: self.app(), apiKey: self.pick(["backend", "robot"]), text: self.pick(["k1", "k1", "k2", "k3"]))
    }

    mutating func once() -> StoreCommand {
        let command = self.plain()
        // Times of the commands stay; only what was kept is older.
        let at = self.chance(25) ? self.time() + StoreRules.answerLifetime : self.time()
        let request = IdempotentRequest(
            key: self.idempotencyKey(), fingerprint: self.chance(70) ? [1, 2] : [3], keptMax: self.number(1..<5), at: at
        )
        return .once(request, command)
    }
}
