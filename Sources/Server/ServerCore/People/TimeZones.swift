import StoreModel
import TidingsModel

struct LoadedZone: Sendable {
    struct Pending: Sendable {
        let asked: Asked
        let user: UserKey
        let settings: PersonSettings
    }

    var facts: TimeZoneFacts?
    var isAsked = true
    var waiting: [Pending] = []
}

extension ServerCore {
    /// Milliseconds after which a longer level is checked again: no timer outlives its person for longer, and a wall
    /// clock that is set is followed.
    static let clockCheckInterval: Int64 = 600_000

    /// Returns true if the zone of new settings is known; if not, the settings wait for the shell.
    mutating func hasTimeZone(of settings: PersonSettings, orQueue pending: LoadedZone.Pending) -> Bool {
        guard let name = settings.quietHours?.timeZone, self.turn.zones[name]?.facts == nil else { return true }
        if self.turn.zones[name]?.isAsked != true {
            self.turn.zones[name] = LoadedZone()
            self.turn.emit(.readTimeZone(name))
        }
        self.turn.zones[name]?.waiting.append(pending)
        return false
    }

    mutating func handleTimeZone(_ name: String, _ facts: TimeZoneFacts?) {
        guard let zone = self.turn.zones[name], zone.isAsked else {
            self.turn.emit(.flagBug("the time zone \(name) was read without being asked for"))
            return
        }
        self.turn.zones[name] = LoadedZone(facts: facts, isAsked: false)
        for pending in zone.waiting {
            if facts == nil {
                let invalid = InvalidField(
                    field: "quiet_hours.time_zone",
                    rule: "must be a zone of the time-zone database such as Europe/Berlin, got \"\(name)\"")
                self.answer(pending.asked, .refused(.init(invalid)))
            } else {
                self.turn.ask(
                    .setPersonSettings(pending.user, pending.settings, at: self.turn.now.wall),
                    for: .clientRequest(.setPersonSettings(pending.settings), pending.asked))
            }
        }
        let users = self.people.indices.filter { slot in
            self.people[slot].state.isReady && self.people[slot].state.settings.person.quietHours?.timeZone == name
        }
        if facts == nil, users.isEmpty { self.turn.zones.removeValue(forKey: name) }
        for slot in users {
            self.people[slot].pumpAll(&self.turn)
            self.people[slot].arm(&self.turn)
        }
    }
}

extension Turn {
    /// Milliseconds before known facts end at which a zone is read again.
    private static let zoneRenewal: Int64 = 30 * 86_400_000

    fileprivate mutating func requestTimeZone(_ name: String) {
        if let zone = self.zones[name] {
            guard let facts = zone.facts, !zone.isAsked, self.now.wall > facts.until - Self.zoneRenewal else { return }
            self.zones[name]?.isAsked = true
        } else {
            self.zones[name] = LoadedZone()
        }
        self.emit(.readTimeZone(name))
    }
}

extension PersonState {
    mutating func followSettings(_ turn: inout Turn) {
        if let zone = self.settings.person.quietHours?.timeZone { turn.requestTimeZone(zone) }
        // tidy: order does not leave: the least of them is the same in every order.
        let until = self.settings.conversations.values.compactMap(\.levelUntil).min()
        self.setLevelEnd(until, turn.now)
    }

    private mutating func setLevelEnd(_ until: Int64?, _ now: Now) {
        self.levelDueAt = until.map { now.monotonic + min(max(0, $0 - now.wall), ServerCore.clockCheckInterval) }
    }

    mutating func endLevels(_ turn: inout Turn) {
        let now = turn.now
        let limited = self.settings.conversations.filter { $0.value.levelUntil != nil }
        let over = limited.filter { ($0.value.levelUntil ?? .max) <= now.wall }
        for conversation in over.keys.sorted() {
            turn.ask(
                .endLevel(self.key, conversation, at: now.wall),
                for: .clientRequest(
                    .setConversationSettings(conversation, ConversationSettings()),
                    Asked(requester: .core, app: self.key.app, actor: self.key.user)))
        }
        // tidy: order does not leave: the least of them is the same in every order.
        self.setLevelEnd(limited.values.compactMap(\.levelUntil).filter { $0 > now.wall }.min(), now)
    }

    /// `until` is wall milliseconds; nil if not known yet.
    mutating func quiet(at wall: Int64, _ zones: [String: LoadedZone]) -> (hold: PushFacts.QuietHold, until: Int64?) {
        guard let hours = self.settings.person.quietHours, let zone = zones[hours.timeZone] else { return (.none, nil) }
        guard let facts = zone.facts else { return (zone.isAsked ? .defer : .none, nil) }
        guard let end = hours.end(at: wall, in: facts) else { return (.none, nil) }
        switch hours.manner {
        case .defer: return (.defer, end)
        case .drop: return (.drop, end)
        }
    }
}
