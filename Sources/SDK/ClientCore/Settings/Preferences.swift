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
        /// The log position that says the same, 0 for none; nil while the server has not answered.
        var position: LogPosition?
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

    package init(confirmed: AllSettings = AllSettings(), pendingChanges: [PendingSettingsChange] = []) {
        self.confirmed = confirmed
        self.current = confirmed
        for pendingChange in pendingChanges { _ = self.add(pendingChange) }
        if !pendingChanges.isEmpty { self.renew() }
    }

    /// In the order in which they were first set.
    package var pendingChanges: [PendingSettingsChange] { self.pending.values.map(\.telling.pendingChange) }

    package var untold: [Telling] { self.pending.values.filter { $0.position == nil }.map(\.telling) }

    /// How loud a conversation may be at a moment of the wall clock.
    package func level(of conversation: ConversationID, wall: Int64) -> NotificationLevel {
        self.current.person.level(of: conversation, self.current.conversations[conversation], wall: wall)
    }

    /// Whether a conversation does not count in the badge (S2.12). A level with an end holds until the log says that
    /// it has ended, because the server counts like this too and both must arrive at the same number.
    package func isMuted(_ conversation: ConversationID) -> Bool {
        let own = self.current.conversations[conversation]?.level
        return (own ?? self.current.person.levels[conversation.type] ?? .all).isMuted
    }

    package mutating func pendingChange(_ pendingChange: PendingSettingsChange) -> Telling {
        let telling = self.add(pendingChange)
        self.renew()
        return telling
    }

    private mutating func add(_ pendingChange: PendingSettingsChange) -> Telling {
        self.last += 1
        let telling = Telling(pendingChange: pendingChange, number: self.last)
        self.pending[pendingChange.key] = Pending(telling: telling)
        return telling
    }

    /// The log says so at `position`, 0 for none. Nothing changes if the person has set something else since, which
    /// is still to be told.
    package mutating func told(_ telling: Telling, position: LogPosition) {
        guard self.pending[telling.pendingChange.key]?.telling == telling else { return }
        self.pending[telling.pendingChange.key]?.position = position
    }

    /// What the log has holds again. False if the person has set something else since.
    package mutating func refused(_ telling: Telling) -> Bool {
        guard self.pending[telling.pendingChange.key]?.telling == telling else { return false }
        self.pending.removeValue(forKey: telling.pendingChange.key)
        self.renew()
        return true
    }

    package mutating func confirm(storedUpTo stored: LogPosition) -> [Confirmation] {
        var done: [Confirmation] = []
        for (key, item) in self.pending {
            guard let position = item.position, position <= stored else { continue }
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
