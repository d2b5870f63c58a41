package import StoreModel
package import TidingsModel

// MARK: - People

extension MemoryRows {
    package func person(_ key: UserKey) -> PersonRow? {
        self.personNumbers[key.app, key.user].flatMap { self.person($0) }
    }

    package func person(_ number: Int64) -> PersonRow? {
        var row = self.people[number]
        row?.chunk = self.chunks[number].rows.last
        return row
    }

    package func personFacts(_ number: Int64) -> PersonFacts? {
        self.people[number].map { PersonFacts(key: $0.key, signedIn: $0.signedIn, labels: $0.labels) }
    }

    package func people(of app: AppID, after: UserID?, limit: Int) -> [PersonSummary] {
        let numbers = self.personNumbers[app]
        let summaries = numbers.rows[numbers.place(after: after)...].lazy.compactMap { number -> PersonSummary? in
            guard let row = self.people[number], row.isKnown else { return nil }
            return PersonSummary(
                id: row.key.user, ban: row.account.ban, devices: row.signedIn, unread: row.counts.unread)
        }
        return Array(summaries.prefix(limit))
    }

    package func allPeople() -> [UserKey] { self.people.all.rows.map(\.key) }

    package func entries(
        of person: Int64, from start: LogPosition, before end: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws {
        let chunks = self.chunks[person]
        for chunk in chunks.rows[max(0, chunks.place(after: start) - 1)...] where chunk.first < end {
            guard try chunk.forEach(body) else { return }
        }
    }

    package func chunk(
        of person: Int64, at position: LogPosition, _ body: (LogChunk.Entry) throws -> Bool
    ) throws -> LogPosition? {
        let chunks = self.chunks[person]
        let place = chunks.place(after: position) - 1
        guard place >= 0 else { return nil }
        try chunks.rows[place].forEach(body)
        return chunks.order[place]
    }

    package func conversationState(
        _ conversation: ConversationNumber, of person: Int64
    ) -> PersonState.ConversationState? {
        self.conversationStates[person, conversation.rawValue]
    }

    package func conversations(of person: Int64) -> [ConversationNumber] {
        self.conversationStates[person].order.map { ConversationNumber(rawValue: $0) }
    }

    package func newestConversations(
        of person: Int64, before: LogPosition, limit: Int
    ) -> [(number: ConversationNumber, listed: LogPosition)] {
        let states = self.conversationStates[person]
        let listed = zip(states.order, states.rows).filter { $0.1.listed > 0 && $0.1.listed < before }
        return listed.sorted { $0.1.listed > $1.1.listed }.prefix(limit).map {
            (number: ConversationNumber(rawValue: $0.0), listed: $0.1.listed)
        }
    }

    package func sentMessage(_ id: ClientMessageID, by person: Int64) -> PersonState.SentMessage? {
        self.sentMessages[person, id]
    }

    package func sentMessages(by person: Int64, limit: Int) -> [(id: ClientMessageID, message: MessageID)] {
        let sent = self.sentMessages[person]
        return zip(sent.order, sent.rows).prefix(limit).map { (id: $0.0, message: $0.1.id) }
    }

    package func devices(of person: Int64, _ key: UserKey) -> [DeviceRecord] { self.devices[person].rows }

    package func deviceStatuses(of person: Int64) -> [(device: DeviceID, status: ReportedStatus)] {
        self.devices[person].rows.filter { !$0.isSignedOut }.compactMap { device in
            device.status.map { (device: device.key.device, status: $0) }
        }
    }

    package func devices(with token: PushToken) -> [DeviceKey] { self.tokens[token].order }

    package func openLegs(of person: Int64, _ key: UserKey) -> [LegID: OpenLeg] {
        let legs = self.openLegs[person]
        return Dictionary(uniqueKeysWithValues: zip(legs.order, legs.rows))
    }

    package func has(_ fact: RowFact) -> Bool {
        let (group, key) = fact.place
        return self.facts[group, key] != nil
    }

    package func deletedMessages(of person: Int64) -> [MessageID] { self.facts[.deleted(person)].order.map(\.id) }

    package func pushesReached(of person: Int64) -> [PushJobID] { self.facts[.pushesReached(person)].order.map(\.id) }

    package func alias(_ key: AliasKey) -> UserID? { self.aliases[key.app, key.alias] }

    package func allAliases() -> [(key: AliasKey, user: UserID)] {
        // tidy: order does not leave: aliases are in any
        self.aliases.groups.flatMap { app, aliases in
            zip(aliases.order, aliases.rows).map { (key: AliasKey(app: app, alias: $0.0), user: $0.1) }
        }
    }

    package func followers(of account: ConversationKey, after: UserID?, limit: Int) -> [UserID] {
        let followers = self.facts[.followers(account)]
        let start = followers.place(after: after.map { FactKey(name: $0) })
        return followers.order[start...].prefix(limit).map(\.name)
    }

    package func allFollowers() -> [FollowerKey] {
        // tidy: order does not leave: followers are in any
        self.facts.groups.flatMap { group, facts in
            guard case .followers(let account) = group else { return [FollowerKey]() }
            return facts.order.map { FollowerKey(account: account, user: $0.name) }
        }
    }
}

extension PersonRow {
    fileprivate var isKnown: Bool {
        self.head > 0 || self.signedIn > 0 || self.account != AccountState() || !self.profile.isEmpty
            || !self.labels.isEmpty
    }
}

// MARK: - Conversations

extension MemoryRows {
    package func conversation(_ key: ConversationKey) throws -> ConversationRow? {
        try self.conversationNumbers[key.app, key.conversation].flatMap { try self.conversation($0) }
    }

    package func conversation(_ number: Int64) throws -> ConversationRow? {
        guard var row = self.conversations[number] else { return nil }
        row.members = try self.members(of: number, version: row.stored.version)
        return row
    }

    package func members(of conversation: Int64, version: UInt64) throws -> [Int64] {
        let versions = self.members[conversation]
        let place = versions.place(after: version) - 1
        guard place >= 0 else {
            throw StoredBytesFault.missing("membership version \(version) of conversation \(conversation)")
        }
        return versions.rows[place]
    }

    package func conversations(
        of app: AppID, after: ConversationID?, limit: Int
    ) -> [(summary: ListedConversation, number: Int64, version: UInt64)] {
        let numbers = self.conversationNumbers[app]
        return numbers.rows[numbers.place(after: after)...].prefix(limit).compactMap { number in
            self.conversations[number].map { row in
                let record = row.stored.record
                let summary = ListedConversation(
                    id: record.conversation, name: record.name, portrait: record.portrait, members: 0,
                    isDissolved: row.stored.isDissolved)
                return (summary: summary, number: number, version: row.stored.version)
            }
        }
    }

    package func allConversations() -> [Int64] { self.conversations.all.order }

    package func roomMessages(
        of room: Int64, before: JournalPosition, _ body: (JournalPosition) throws -> Bool
    ) throws {
        let messages = self.roomMessages[room]
        for record in messages.order[..<messages.place(of: before)].reversed() {
            guard try body(record) else { return }
        }
    }
}

// MARK: - Messages and pushes

extension MemoryRows {
    package func records(of message: MessageID) -> [JournalPosition] {
        let index = self.index.all
        var place = index.place(of: IndexKey(message: message, first: 0))
        var records: [JournalPosition] = []
        while place < index.order.count, index.order[place].message == message {
            records += index.rows[place]
            place += 1
        }
        return records
    }

    package func messages(before end: MessageID, notBefore oldest: MessageID, limit: Int) -> [MessageID] {
        let index = self.index.all
        var place = index.place(of: IndexKey(message: end, first: 0))
        var messages: [MessageID] = []
        while place > 0, messages.count < limit, index.order[place - 1].message >= oldest {
            place -= 1
            let message = index.order[place].message
            if messages.last != message { messages.append(message) }
        }
        return messages
    }

    package func revision(of message: MessageID) -> MessageRevision? { self.revisions[message] }

    package func customMessage(_ key: CustomKey) -> PersonState.SentMessage? { self.customMessages[key.app, key.id] }

    package func mediaUses(of media: MediaID, by sender: String) -> [MessageID] {
        self.mediaUses[MediaKey(media: media, sender: UserID(sender))].order
    }

    package func push(_ id: PushJobID) -> PushRow? { self.pushes[id] }

    package func pushes(of app: AppID?, before: PushJobID, limit: Int) -> [PushJobID] {
        let pushes = self.pushes.all
        let found = pushes.rows[..<pushes.place(of: before)].reversed().lazy.filter { app == nil || $0.app == app }
        return found.prefix(limit).map(\.id)
    }

    package func pushStep(_ number: Int, of job: PushJobID) -> JournalPosition? { self.pushSteps[job, number] }
}
