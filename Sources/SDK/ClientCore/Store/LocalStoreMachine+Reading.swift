package import TidingsModel

// What the store is asked.
extension LocalStoreMachine {
    package func restored() throws(Rows.Failure) -> ClientCore.Restored {
        let log = try self.rows.log
        let preferences = try self.preferences()
        let reads = try self.rows.readings.compactMap { reading in
            reading.pending.map { ClientCore.ReadPosition(conversation: reading.conversation, upTo: $0) }
        }
        return ClientCore.Restored(
            stored: log.stored, settled: log.settled, outbox: try self.rows.outbox,
            reads: reads.sorted { $0.conversation < $1.conversation }, unread: try self.counts().unread,
            preferences: preferences.confirmed, pendingChanges: preferences.pendingChanges,
            told: preferences.unanswered, hasCustomMessages: try self.hasCustomMessages(), origin: log.origin,
            owesSettings: log.owesSettings)
    }

    package func message(_ id: MessageID) throws(Rows.Failure) -> StoredMessage? { try self.rows.message(id) }

    /// Returns true if the store of this device has the message. This is the one meaning of "known", by which a push in the foreground does
    /// not ring again. It goes by the id, not by the position in the push:
    /// - A message is known once its entry was written, read or unread, and also when it was recalled since, or lost by the server.
    /// - What the server has trimmed from its log was passed over and never came: it is not known, though its position lies below
    ///   the stored one. Neither is anything after the store was begun anew.
    /// - A message the person has deleted is not known any more: nothing of it stays.
    package func isKnown(_ id: MessageID) throws(Rows.Failure) -> Bool { try self.message(id) != nil }

    /// Nil if the store does not have it, or it is in no log.
    package func position(of id: MessageID) throws(Rows.Failure) -> LogPosition? {
        try self.message(id).flatMap { $0.isOnlyHere ? nil : $0.position }
    }

    /// Oldest first: the newest `limit` before the position.
    package func history(
        _ conversation: ConversationID, before: LogPosition?, limit: Int
    ) throws(Rows.Failure) -> [StoredMessage] {
        var end: MessageID?
        if let before, let found = try self.rows.firstMessage(in: conversation, from: before),
            // Beyond the log a position says nothing about the order.
            found.position == before || !found.isOnlyHere
        {
            end = found.id
        }
        return try self.rows.messages(in: conversation, before: end, with: .stored, limit: limit)
    }

    /// Pinned ones first (`ConversationSummary.comesFirst`), archived ones too, hidden ones not. `wall` decides which levels have ended.
    package func conversations(wall: Int64) throws(Rows.Failure) -> [ConversationSummary] {
        let (counts, preferences, infos) = (try self.counts(), try self.preferences(), try self.rows.infos)
        var summaries: [ConversationSummary] = []
        for last in try self.rows.newestMessages(without: .unlisted) {
            let conversation = last.conversation
            let settings = preferences.current.conversations[conversation]
            if let settings, settings.hiddenUpTo != nil,
                settings.isHidden(newest: try self.newestInHistory(conversation))
            {
                continue
            }
            summaries.append(
                ConversationSummary(
                    conversation: conversation, last: last, count: counts.by[conversation] ?? LocalUnreadCounts.Count(),
                    level: preferences.level(of: conversation, wall: wall), settings: settings,
                    name: infos[conversation]?.name, portrait: infos[conversation]?.portrait,
                    isDissolved: infos[conversation]?.isDissolved ?? false))
        }
        return summaries.sorted(by: ConversationSummary.comesFirst)
    }

    /// The newest message that stays in the history and stands in lists.
    package func newestInHistory(_ conversation: ConversationID) throws(Rows.Failure) -> MessageID? {
        try self.rows.newestMessage(in: conversation, with: .stored, without: .unlisted)
    }

    /// Nil if the conversation has no message in the log.
    package func newest(_ conversation: ConversationID) throws(Rows.Failure) -> LogPosition? {
        try self.rows.lastPosition(in: conversation, before: StoredMessage.beyondLog)
    }

    /// Costs what is unread and what is set, whatever the number of messages.
    package func counts() throws(Rows.Failure) -> LocalUnreadCounts {
        let by = try self.rows.unreadCounts
        return by.isEmpty ? LocalUnreadCounts() : LocalUnreadCounts(by, try self.preferences())
    }

    /// Where the person is asked to come in, in the order of the log.
    package func invitations() throws(Rows.Failure) -> [Invitation] { try self.rows.invitations }

    /// Nil if nothing is known.
    package func info(_ conversation: ConversationID) throws(Rows.Failure) -> ConversationInfo? {
        guard let info = try self.rows.info(conversation) else { return nil }
        return ConversationInfo(
            id: conversation, version: info.version, name: info.name ?? "", portrait: info.portrait,
            members: try self.rows.members(of: conversation), isDissolved: info.isDissolved,
            onlyAdminsWrite: info.onlyAdminsWrite)
    }

    package func preferences() throws(Rows.Failure) -> Preferences {
        let pending = try self.rows.pendingChanges
        return Preferences(
            confirmed: try self.rows.settings, pendingChanges: pending.map(\.change),
            told: Set(pending.filter(\.isTold).map(\.change)))
    }
}
