import TidingsModel

/// What one device keeps of one person: the rules, over rows on SQLite (`LocalStore`) or in memory (`MemoryLocalStore`). Both answer equal,
/// whatever happens between two commands.
///
/// - A command is carried out whole or not at all, and what it answered outlives the process. Entries of the log and the position up to
///   which it is stored are one transaction.
/// - A reading position never goes back.
/// - Custom messages are handed over at most once: it is remembered before they are returned, and outlives every loss of the store.
package struct LocalStoreMachine<Rows: LocalRows> {
    package internal(set) var rows: Rows

    package init(rows: Rows) { self.rows = rows }

    /// Carries out a command, in a transaction of who keeps the rows. Who keeps them sets them aside or forgets them, too: `.beginAnew` and
    /// `.forgetPerson` change nothing here.
    package mutating func apply(_ command: LocalStoreCommand) throws(Rows.Failure) -> LocalStoreOutcome {
        switch command {
        case .write(let entries, let person): return .written(try self.write(entries, for: person))
        case .skip(let position, let end): return .written(try self.skip(after: position, upTo: end))
        case .settle(let position): try self.changeLog { $0.settled = position }
        case .keepOutgoing(let draft): try self.rows.insert(draft)
        case .removeOutgoing(let id): try self.rows.removeDraft(id)
        case .markRead(let conversation, let position):
            try self.markRead(conversation, upTo: position) { max($0 ?? 0, position) }
            return .counted(try self.counts().unread)
        case .addPendingChange(let pendingChange):
            try self.rows.save(LocalPendingChange(pendingChange))
            return .counted(try self.counts().unread)
        case .markPendingChange(let pendingChange, let isTold):
            guard try self.isPending(pendingChange) else { break }
            try self.rows.save(LocalPendingChange(pendingChange, isTold: isTold))
        case .removePendingChange(let pendingChange, let isKept):
            if isKept { try self.keep(pendingChange) }
            if try self.isPending(pendingChange) { try self.rows.removePendingChange(pendingChange.key) }
            return .counted(try self.counts().unread)
        case .replaceSettings(let all):
            try self.rows.replaceSettings(all)
            try self.changeLog { $0.owesSettings = false }
            return .counted(try self.counts().unread)
        case .keepConversation(let info): try self.keep(info)
        case .resetLog(let origin): try self.resetLog(origin)
        case .keepOrigin(let origin): try self.changeLog { $0.origin = origin }
        case .takeCustomMessages(let wall): return .custom(try self.takeCustomMessages(wall: wall))
        case .beginAnew, .forgetPerson: break
        }
        return .done
    }

    private mutating func changeLog(_ change: (inout LocalLog) -> Void) throws(Rows.Failure) {
        var log = try self.rows.log
        change(&log)
        try self.rows.save(log)
    }

    private mutating func skip(
        after position: LogPosition, upTo end: LogPosition
    ) throws(Rows.Failure) -> LocalStoreOutcome.Written {
        var log = try self.rows.log
        if log.stored == position, end > position {
            (log.stored, log.owesSettings) = (end, true)
            try self.rows.save(log)
            // What changed in between is not known.
            try self.rows.markInfosIncomplete(ofAnotherLog: false)
        }
        return .init(stored: log.stored, unread: try self.counts().unread)
    }

    private func isPending(_ pendingChange: PendingSettingsChange) throws(Rows.Failure) -> Bool {
        try self.rows.pendingChanges.contains { $0.change == pendingChange }
    }

    private mutating func keep(_ pendingChange: PendingSettingsChange) throws(Rows.Failure) {
        var all = try self.rows.settings
        pendingChange.apply(to: &all)
        switch pendingChange {
        case .conversation(let conversation, _), .state(let conversation, _, _):
            try self.rows.save(all.conversations[conversation] ?? ConversationSettings(), of: conversation)
        case .level, .quietHours, .hidesContent, .language, .mayBeAddedBy: try self.rows.save(all.person)
        }
    }

    private mutating func keep(_ info: ConversationInfo) throws(Rows.Failure) {
        guard try self.rows.info(info.id)?.version ?? 0 <= info.version else { return }
        var row = LocalInfo(info.id)
        (row.version, row.name, row.portrait) = (info.version, info.name, info.portrait)
        (row.isDissolved, row.onlyAdminsWrite, row.isComplete) = (info.isDissolved, info.onlyAdminsWrite, true)
        try self.rows.save(row)
        let before = try self.rows.members(of: info.id)
        try self.rows.replaceMembers(before, by: info.members, of: info.id)
    }

    /// A reading position never goes back. `pending` says what is still to be confirmed by the log.
    mutating func markRead(
        _ conversation: ConversationID, upTo position: LogPosition, pending: (LogPosition?) -> LogPosition? = { $0 }
    ) throws(Rows.Failure) {
        let before = try self.rows.reading(of: conversation)
        var reading = before
        reading.upTo = max(before.upTo, position)
        reading.pending = pending(before.pending)
        guard reading != before else { return }
        try self.rows.save(reading)
        if reading.upTo > before.upTo { try self.rows.markMessagesRead(in: conversation, upTo: position) }
    }

    /// The server's log begins anew: its database was restored, or it is another server. Each message gets its place in the new log when it
    /// comes again; those the server has lost have none.
    private mutating func resetLog(_ origin: LogOrigin?) throws(Rows.Failure) {
        // First: a process that ends in between would skip custom messages of the new log for good. Their ids prevent handing over one of
        // the old log twice.
        let handedOver = try self.rows.handedOver
        if handedOver.position > 0 { try self.rows.save(LocalHandOver(newest: handedOver.newest)) }
        for reading in try self.rows.readings {
            let newest = try self.rows.newestMessage(in: reading.conversation, upTo: reading.upTo)
            let last = [reading.readBefore, newest].compactMap(\.self).max()
            try self.rows.save(LocalReading(reading.conversation, readBefore: last))
        }
        try self.rows.moveMessagesBeyondLog()
        try self.rows.removeCustomMessages(upTo: .max)
        for invitation in try self.rows.invitations { try self.rows.removeInvitation(to: invitation.id) }
        try self.rows.markInfosIncomplete(ofAnotherLog: true)
        try self.rows.replaceSettings(AllSettings())
        for pending in try self.rows.pendingChanges where pending.isTold {
            try self.rows.save(LocalPendingChange(pending.change))
        }
        try self.rows.save(LocalLog(origin))
    }

    // MARK: Custom messages

    private mutating func takeCustomMessages(wall: Int64?) throws(Rows.Failure) -> [CustomMessage] {
        let before = try self.rows.handedOver
        var waiting = try self.rows.customMessages(after: before.position)[...]
        if wall == nil { waiting = waiting.prefix { $0.message.expiresAt == nil } }
        let last = waiting.last?.position ?? before.position
        // Before they are returned: at most once, also when the process ends now.
        if last > before.position {
            let newest = waiting.reduce(before.newest) { max($0, $1.message.id) }
            try self.rows.save(LocalHandOver(position: last, newest: newest))
        }
        try self.rows.removeCustomMessages(upTo: last)
        // Those of before the log began anew come again: their ids are no newer than what was handed over.
        return waiting.map(\.message).filter { message in
            message.id > before.newest && !(wall.map { message.isExpired(at: $0) } ?? false)
        }
    }

    func hasCustomMessages() throws(Rows.Failure) -> Bool {
        let handedOver = try self.rows.handedOver
        return try self.rows.customMessages(after: handedOver.position).contains { $0.message.id > handedOver.newest }
    }
}

extension LocalStoreMachine: Equatable, Hashable where Rows: Hashable {}
extension LocalStoreMachine: Sendable where Rows: Sendable {}
