import GRDB
import StoreModel

/// Carries out what `WebhookSchedule` decides, in one transaction; what is to be sent is sent after it.
struct WebhookTurn {
    let file: WebhookFile
    let database: Database
    let now: Int64
    var sent: [(Int64, WebhookDelivery)] = []
    /// How many were deleted undelivered.
    var dropped: [WebhookKey: Int] = [:]

    mutating func carryOut(_ event: WebhookSchedule.Event, _ schedule: inout WebhookSchedule) throws {
        for effect in schedule.effects(of: event, now: self.now) {
            guard let answer = try self.carryOut(effect) else { continue }
            try self.carryOut(answer, &schedule)
        }
    }

    private mutating func carryOut(_ effect: WebhookSchedule.Effect) throws -> WebhookSchedule.Event? {
        let (file, database, now) = (self.file, self.database, self.now)
        switch effect {
        case .fetch(let key, let limit, let besides):
            return .fetched(key, try file.fetch(key, limit: limit, besides: besides, database))
        case .send(let key, let delivery):
            guard let found = try file.delivery(delivery.id, of: key, database) else {
                return .ended(key, delivery.id, .withdrawn, jitter: 0)
            }
            self.sent.append((delivery.id, found))
        case .remove(let key, let id): try file.removeDelivered(id, of: key, at: now, database)
        case .postpone(let key, let delivery, let failure):
            try file.postpone(delivery, of: key, failure, at: now, database)
        case .bury(let key, let delivery, let failure):
            try file.bury(delivery, of: key, failure, at: now, database)
            return .buried(key, dead: file.counts[key]?.dead ?? 0)
        case .buryOldest(let key, let count, let besides):
            try file.buryOldest(count, of: key, besides: besides, at: now, database)
            return .buried(key, dead: file.counts[key]?.dead ?? 0)
        case .removeOldestDead(let key, let count):
            self.noteDropped(try file.removeOldestDead(count, of: key, database), of: key)
        case .countHeld: return .held(file.counts)
        case .drop(let key, let dead, let pending, let besides):
            self.noteDropped(try file.removeOldestDead(dead, of: key, database), of: key)
            self.noteDropped(try file.removeOldestPending(pending, of: key, besides: besides, database), of: key)
        case .removeDead(let before): try file.removeDead(before: before, database)
        case .forget(let key): try file.forget(key, database)
        }
        return nil
    }

    private mutating func noteDropped(_ count: Int, of key: WebhookKey) {
        if count > 0 { self.dropped[key, default: 0] += count }
    }
}
