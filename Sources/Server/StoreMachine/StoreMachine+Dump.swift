package import StoreModel
import TidingsModel

extension StoreMachine {
    /// People with push work: by their rows, and for those in the tail by memory.
    func pending() throws -> [UserKey] {
        var pending = Set(try self.rows.pending())
        // tidy: order does not leave: they go into a set
        for person in self.peopleByKey.values where person.isDirty {
            let isBehind = try self.devices(of: person).contains {
                !$0.isSignedOut && max($0.settled, $0.decided) < person.head
            }
            let isPending = try isBehind || !self.openLegs(of: person).isEmpty
            if isPending { pending.insert(person.key) } else { pending.remove(person.key) }
        }
        return pending.sorted()
    }

    /// Returns everything in the order that `StoreDump` tells. `withMessages` includes the life of each message, which costs more than all
    /// else, and what became of it.
    package func dump(withMessages: Bool = true) throws -> StoreDump {
        var people: [StoreDump.Person] = []
        for key in try self.allKeys() {
            guard let person = try self.find(key) else { continue }
            let record = try self.loadUser(key)
            guard
                record.head > 0 || !record.devices.isEmpty || !record.openLegs.isEmpty
                    || record.account != AccountState() || !record.profile.isEmpty || !record.labels.isEmpty
            else { continue }
            people.append(
                StoreDump.Person(
                    record: record, counts: person.counts, log: try self.readLog(key, after: 0, limit: .max).entries,
                    cursors: try self.cursors(of: person), deleted: try self.deletedMessages(of: person),
                    reachedBy: try self.pushesReached(of: person)))
        }
        let conversations = try self.allConversationNumbers().map { try self.stored(try self.conversation($0)) }
        let ids = withMessages ? Set(self.indexTail.map(\.message)).union(try self.storedMessages()) : []
        let messages = try ids.sorted().compactMap { try self.trace(of: $0, in: nil) }
        return StoreDump(
            epoch: self.epoch, lastMessageID: self.lastMessageID, people: people,
            conversations: conversations.sorted {
                ($0.record.app, $0.record.conversation) < ($1.record.app, $1.record.conversation)
            },
            messages: messages, objectNames: self.objectNames, accounts: self.accounts,
            followers: try self.allFollowers(), control: self.control, audit: try self.allAudit(),
            revisions: try self.revisions(of: messages.map(\.id)), kept: try self.allKept(),
            pushes: try self.allPushJobs(), aliases: try self.allAliases(),
            storage: self.appStorage.mapValues(\.row.use))
    }

    func allKeys() throws -> [UserKey] { Set(self.newPeople.map(\.key)).union(try self.rows.allPeople()).sorted() }

    func allConversationNumbers() throws -> [Int64] {
        Set(self.newVersions.map(\.conversation.number)).union(try self.rows.allConversations()).sorted()
    }

    /// Messages with rows in the index, sorted.
    func storedMessages() throws -> [MessageID] {
        let end = MessageID(rawValue: UInt64(Int64.max))
        return try self.rows.messages(before: end, notBefore: MessageID(rawValue: 0), limit: .max).reversed()
    }

    private func revisions(of messages: [MessageID]) throws -> [StoreDump.Revision] {
        try messages.compactMap { message in
            let revision = try self.revision(of: message)
            guard revision != MessageRevision() else { return nil }
            return StoreDump.Revision(
                message: message, content: revision.recalled > 0 ? nil : try self.editedContent(revision),
                isRecalled: revision.recalled > 0)
        }
    }

    func deletedMessages(of person: PersonState) throws -> [MessageID] {
        try person.deleted.union(self.rows.deletedMessages(of: person.number)).sorted()
    }

    func cursors(of person: PersonState) throws -> [StoreDump.Cursor] {
        try self.conversations(of: person).map { number in
            guard let state = try self.conversationState(number, of: person) else {
                throw StoredBytesFault.missing("conversation \(number.rawValue) of \(person.key)")
            }
            return StoreDump.Cursor(
                conversation: try self.conversationID(of: number), unread: state.unread, mentions: state.mentions,
                upTo: state.read, hasWritten: state.hasWritten)
        }.sorted { $0.conversation < $1.conversation }
    }
}
