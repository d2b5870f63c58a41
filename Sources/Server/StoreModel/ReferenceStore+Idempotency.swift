extension ReferenceStore {
    func kept(_ key: IdempotencyKey, at now: Int64) -> KeptAnswer? {
        self.kept[key.app]?[key].flatMap { $0.isExpired(at: now) ? nil : $0 }
    }

    mutating func carryOut(_ command: StoreCommand, once request: IdempotentRequest) -> StoreResult {
        if let kept = self.kept(request.key, at: request.at) { return .kept(kept) }
        let app = request.key.app
        var all = self.kept[app] ?? [:]
        all[request.key] = nil
        let ages = all.values.map { ($0.at, $0.key) }.sorted { $0 < $1 }
        for (at, key) in ages.prefix(StoreRules.forgottenAtOnce) {
            guard let kept = all[key], at == kept.at, kept.isExpired(at: request.at) else { break }
            all[key] = nil
        }
        self.kept[app] = all.isEmpty ? nil : all
        if all.count >= request.keptMax, let oldest = all.values.map(\.at).min() {
            return .refused(StoreRules.tooManyKept(request, oldest: oldest))
        }
        let result = self.carryOut(command)
        if let answer = StoreRules.answer(to: command, result) {
            self.kept[app, default: [:]][request.key] = KeptAnswer(request, answer)
        }
        return result
    }
}
