import OrderedCollections
package import TidingsModel

/// The settings in the server's log, with what this device has changed since on top.
package struct Preferences: Hashable, Sendable {
    package private(set) var confirmed: AllSettings
    package private(set) var current: AllSettings
    private var pending: OrderedDictionary<String, Pending> = [:]

    private var last: UInt64 = 0

    private struct Pending: Hashable, Sendable {
        var telling: Telling
        var standing = Standing.waiting
    }

    private enum Standing: Hashable, Sendable {
        /// The server has not heard of it, or says that it has not taken it.
        case waiting
        case inFlight(isOvertaken: Bool)
        /// The connection ended before the answer: the server has taken it, or not.
        case unanswered
        /// Refused, and nowhere but here: told again at the next welcome.
        case refused
        /// At the log position that says the same, 0 for none.
        case taken(LogPosition)
    }

    package struct Telling: Hashable, Sendable {
        package var pendingChange: PendingSettingsChange
        package var number: UInt64
    }

    package struct Confirmation: Hashable, Sendable {
        package var pendingChange: PendingSettingsChange
        /// False if it was so already.
        package var isInLog: Bool
    }

    /// `told`: those an earlier process has told and not forgotten.
    package init(
        confirmed: AllSettings = AllSettings(), pendingChanges: [PendingSettingsChange] = [],
        told: Set<PendingSettingsChange> = []
    ) {
        self.confirmed = confirmed
        self.current = confirmed
        for pendingChange in pendingChanges {
            self.insert(pendingChange)
            if told.contains(pendingChange) { self.pending[pendingChange.key]?.standing = .unanswered }
        }
        if !pendingChanges.isEmpty { self.renew() }
    }

    /// In the order in which they were first set.
    package var pendingChanges: [PendingSettingsChange] { self.pending.values.map(\.telling.pendingChange) }

    package var untold: [Telling] {
        self.pending.values.filter { $0.standing == .waiting || $0.standing == .unanswered }.map(\.telling)
    }

    /// Told on a connection that has ended, and not answered.
    package var unanswered: Set<PendingSettingsChange> {
        Set(self.pending.values.filter { $0.standing == .unanswered }.map(\.telling.pendingChange))
    }

    /// How loud a conversation may be at a moment of the wall clock.
    package func level(of conversation: ConversationID, wall: Int64) -> NotificationLevel {
        self.current.person.level(of: conversation, self.current.conversations[conversation], wall: wall)
    }

    /// Returns true if a conversation does not count in the badge (S2.12). A level with an end holds until the log says that it has ended,
    /// because the server counts like this too and both must arrive at the same number.
    package func isMuted(_ conversation: ConversationID) -> Bool {
        let own = self.current.conversations[conversation]?.level
        return (own ?? self.current.person.levels[conversation.type] ?? .all).isMuted
    }

    package mutating func add(_ pendingChange: PendingSettingsChange) {
        self.insert(pendingChange)
        self.renew()
    }

    private mutating func insert(_ pendingChange: PendingSettingsChange) {
        self.last += 1
        let telling = Telling(pendingChange: pendingChange, number: self.last)
        self.pending[pendingChange.key] = Pending(telling: telling)
    }

    /// True if the server had not heard of it.
    package mutating func beginTelling(_ telling: Telling) -> Bool {
        let before = self.standing(of: telling)
        self.setStanding(.inFlight(isOvertaken: false), of: telling)
        return before == .waiting
    }

    /// The log says so at `position`, 0 for none. Nothing changes if the person has set something else since, which
    /// is still to be told.
    package mutating func told(_ telling: Telling, position: LogPosition) {
        self.setStanding(.taken(position), of: telling)
    }

    /// The server could not take it. False if the person has set something else since.
    package mutating func notTaken(_ telling: Telling) -> Bool { self.setStanding(.waiting, of: telling) }

    /// Takes a refusal for now: unlike `refused`, the change stays and is told again at the next welcome.
    package mutating func refusedForNow(_ telling: Telling) -> Bool { self.setStanding(.refused, of: telling) }

    /// No answer will come. Returns what something newer in the log has replaced.
    package mutating func unanswered(_ tellings: [Telling]) -> [PendingSettingsChange] {
        var dropped: [PendingSettingsChange] = []
        for telling in tellings {
            if self.standing(of: telling) == .inFlight(isOvertaken: true) {
                self.pending.removeValue(forKey: telling.pendingChange.key)
                dropped.append(telling.pendingChange)
            } else {
                self.setStanding(.unanswered, of: telling)
            }
        }
        if !dropped.isEmpty { self.renew() }
        return dropped
    }

    /// Has the refused changes told again.
    package mutating func welcomed() {
        for key in self.pending.keys where self.pending[key]?.standing == .refused {
            self.pending[key]?.standing = .waiting
        }
    }

    /// The log is heard from its start: what it says may be older than what was told.
    package mutating func forgetTold() { for key in self.pending.keys { self.pending[key]?.standing = .waiting } }

    private func standing(of telling: Telling) -> Standing? {
        guard let item = self.pending[telling.pendingChange.key], item.telling == telling else { return nil }
        return item.standing
    }

    @discardableResult
    private mutating func setStanding(_ standing: Standing, of telling: Telling) -> Bool {
        guard self.pending[telling.pendingChange.key]?.telling == telling else { return false }
        self.pending[telling.pendingChange.key]?.standing = standing
        return true
    }

    /// Drops a refused change, so that the log's setting holds again. Returns false if the person has set something else since.
    package mutating func refused(_ telling: Telling) -> Bool {
        guard self.pending[telling.pendingChange.key]?.telling == telling else { return false }
        self.pending.removeValue(forKey: telling.pendingChange.key)
        self.renew()
        return true
    }

    package mutating func confirm(storedUpTo stored: LogPosition) -> [Confirmation] {
        var done: [Confirmation] = []
        for (key, item) in self.pending {
            guard case .taken(let position) = item.standing, position <= stored else { continue }
            if position == 0 { item.telling.pendingChange.apply(to: &self.confirmed) }
            self.pending.removeValue(forKey: key)
            done.append(Confirmation(pendingChange: item.telling.pendingChange, isInLog: position > 0))
        }
        if !done.isEmpty { self.renew() }
        return done
    }

    package mutating func changeConfirmed(_ change: (inout AllSettings) -> Void) {
        change(&self.confirmed)
        self.renew()
    }

    /// Applies the log's next entry. Returns the changes of this device that it drops: the server may have taken them before, and told
    /// again they would undo what the person has set elsewhere since. `wall` is the server's clock.
    package mutating func apply(_ body: LogEntry.Body, wall: Int64) -> [PendingSettingsChange] {
        let before = self.confirmed
        self.confirmed.apply(body)
        return self.replace {
            $0.isReplaced(before, by: $1, wall: wall) || $0.isDraft(ofNothingElseIn: body, before: before)
        }
    }

    /// In place of a part of the log that is gone. Returns what it drops, as `apply`.
    package mutating func replaceConfirmed(_ all: AllSettings, wall: Int64) -> [PendingSettingsChange] {
        let before = self.confirmed
        self.confirmed = all
        return self.replace { $0.isReplaced(before, by: $1, wall: wall) }
    }

    private mutating func replace(
        _ isReplaced: (PendingSettingsChange, AllSettings) -> Bool
    ) -> [PendingSettingsChange] {
        var dropped: [PendingSettingsChange] = []
        for (key, item) in self.pending where isReplaced(item.telling.pendingChange, self.confirmed) {
            switch item.standing {
            case .waiting, .refused, .taken: break
            case .inFlight: self.pending[key]?.standing = .inFlight(isOvertaken: true)
            case .unanswered:
                self.pending.removeValue(forKey: key)
                dropped.append(item.telling.pendingChange)
            }
        }
        self.renew()
        return dropped
    }

    private mutating func renew() {
        self.current = self.confirmed
        for item in self.pending.values { item.telling.pendingChange.apply(to: &self.current) }
    }
}

extension AllSettings {
    package mutating func apply(_ body: LogEntry.Body) {
        switch body {
        case .conversationSettings(let conversation, let own): self.set(own, for: conversation)
        case .personSettings(let person): self.person = person
        case .blocked(let user, let isBlocked): self.setBlocked(user, isBlocked)
        case .message, .read, .custom, .recall, .edit, .deletion, .change, .unknown: break
        }
    }
}
