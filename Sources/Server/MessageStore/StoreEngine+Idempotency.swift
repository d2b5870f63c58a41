import StoreModel
import TidingsModel

/// Answers under idempotency keys, by the rules of `ReferenceStore`. They are rows, not records of the journal: they are to be forgotten
/// after a day, and the journal forgets nothing. Each is written in the transaction of what it answers for.
extension StoreEngine {
    func loadKeptCounts() throws {
        while try self.sql.keptCounts.step() {
            self.keptCounts[AppID(self.sql.keptCounts.text(0))] = Int(try self.sql.keptCounts.count(1))
        }
    }

    /// Also one that has expired.
    func kept(_ key: IdempotencyKey) throws -> KeptAnswer? {
        try self.sql.keptAnswer.bind(key.app.rawValue, key.apiKey, key.text).first { try $0.keptAnswer() }
    }

    func execute(_ command: StoreCommand, once request: IdempotentRequest) throws -> StoreResult {
        let app = request.key.app
        if let kept = try self.kept(request.key) {
            guard kept.isExpired(at: request.at) else { return .kept(kept) }
            try self.writeAlong {
                try self.sql.forgetKeptAnswer.bind(app.rawValue, request.key.apiKey, request.key.text).run()
            }
            self.keptCounts[app, default: 1] -= 1
        }
        try self.forgetExpired(of: app, at: request.at)
        if self.keptCounts[app, default: 0] >= request.keptMax,
            let oldest = try self.sql.oldestAnswer.bind(app.rawValue).first({ $0.isNull(0) ? nil : $0.int(0) }) ?? nil
        {
            return .refused(StoreRules.tooManyKept(request, oldest: oldest))
        }
        let result = try self.execute(command)
        guard let answer = StoreRules.answer(to: command, result) else { return result }
        try self.writeAlong { try self.insert(KeptAnswer(request, answer)) }
        self.keptCounts[app, default: 0] += 1
        return result
    }

    private func forgetExpired(of app: AppID, at now: Int64) throws {
        let (end, most) = (now - StoreRules.answerLifetime, StoreRules.forgottenAtOnce)
        let count = try self.sql.expiredAnswers.bind(app.rawValue, end, most).first { Int(try $0.count(0)) } ?? 0
        guard count > 0 else { return }
        try self.writeAlong { try self.sql.forgetExpiredAnswers.bind(app.rawValue, end, most).run() }
        self.keptCounts[app, default: count] -= count
    }

    private func insert(_ kept: KeptAnswer) throws {
        let row = self.sql.putKeptAnswer
        row.bind(kept.key.app.rawValue, kept.key.apiKey, kept.key.text, kept.fingerprint)
        switch kept.answer {
        case .done, .invited: row.bind(at: 5, kept.at, Int64?.none, Int64(0), false)
        case .accepted(let message, let sentAt, let isRepeat):
            row.bind(at: 5, kept.at, message.rawValue, sentAt, isRepeat)
        }
        var invited = ByteWriter()
        if case .invited(let users) = kept.answer { invited.write(users) }
        try row.bind(at: 9, invited.bytes.isEmpty ? nil : invited.bytes).run()
    }

    func allKept() throws -> [KeptAnswer] {
        try self.sql.allKeptAnswers.all { try $0.keptAnswer() }.sorted { $0.key < $1.key }
    }
}

extension SQLStatement {
    fileprivate func keptAnswer() throws -> KeptAnswer {
        var answer: IdempotentAnswer =
            self.isNull(4)
            ? .done
            : .accepted(MessageID(rawValue: self.position(4)), sentAt: self.int(5), isRepeat: self.int(6) != 0)
        if !self.isNull(8) {
            var reader = ByteReader(self.blob(8))
            answer = .invited(try reader.read())
        }
        return KeptAnswer(
            key: IdempotencyKey(app: AppID(self.text(7)), apiKey: self.text(0), text: self.text(1)),
            fingerprint: self.bytes(2), answer: answer, at: self.int(3))
    }
}
