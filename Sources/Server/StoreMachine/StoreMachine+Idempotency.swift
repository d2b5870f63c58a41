import StoreModel
import TidingsModel

/// Answers under idempotency keys, by the rules at `StoreMachine`. They are rows, not records of the journal: they are to be forgotten
/// after a day, and the journal forgets nothing. Each is written in the transaction of what it answers for.
extension StoreMachine {
    func execute(_ command: StoreCommand, once request: IdempotentRequest) throws -> StoreResult {
        let app = request.key.app
        if let kept = try self.rows.keptAnswer(request.key) {
            guard kept.isExpired(at: request.at) else { return .kept(kept) }
            try self.forget([kept.place])
        }
        let end = request.at - StoreRules.answerLifetime
        try self.forget(self.rows.keptAnswers(of: app, upTo: end, limit: StoreRules.forgottenAtOnce))
        if self.keptCounts[app, default: 0] >= request.keptMax,
            let oldest = try self.rows.keptAnswers(of: app, upTo: .max, limit: 1).first?.at
        {
            return .refused(StoreRules.tooManyKept(request, oldest: oldest))
        }
        let result = try self.execute(command)
        guard let answer = StoreRules.answer(to: command, result, at: request.at) else { return result }
        try self.writeAlong { try self.rows.put(.keptAnswer(request.key, KeptAnswer(request, answer))) }
        self.keptCounts[app, default: 0] += 1
        return result
    }

    /// Of one app.
    private func forget(_ answers: [KeptAnswerKey]) throws {
        guard let app = answers.first?.key.app else { return }
        try self.writeAlong { for answer in answers { try self.rows.put(.keptAnswer(answer.key, nil)) } }
        self.keptCounts[app, default: answers.count] -= answers.count
    }

    func allKept() throws -> [KeptAnswer] {
        let places = try self.rows.keptAnswers(of: nil, upTo: .max, limit: .max)
        return try places.compactMap { try self.rows.keptAnswer($0.key) }.sorted { $0.key < $1.key }
    }
}
