import StoreModel
import TidingsModel

extension StoreEngine {
    /// People with push work: by their rows, and for those in the tail by memory.
    func pending() throws -> [UserKey] {
        var pending: Set<UserKey>
        do {
            pending = Set(try self.sql.pending.all { $0.userKey(0) })
        } catch {
            guard Self.damage(error) != nil else { throw error }
            self.sql.resetAll()
            pending = try self.pendingOneByOne()
        }
        for person in self.peopleByKey.values where person.isDirty {
            let isBehind = try self.devices(of: person).contains {
                !$0.isSignedOut && max($0.settled, $0.decided) < person.head
            }
            let isPending = try isBehind || !self.openLegs(of: person).isEmpty
            if isPending { pending.insert(person.key) } else { pending.remove(person.key) }
        }
        return pending.filter { self.peopleByKey[$0]?.isSetAside != true }.sorted()
    }

    /// Leaves out everybody whose rows cannot be read; they are noticed when they are needed.
    private func pendingOneByOne() throws -> Set<UserKey> {
        var pending: Set<UserKey> = []
        let row = self.sql.pendingPerson
        for number in 0...self.lastPersonNumber {
            row.bind(number)
            do {
                while try row.step() { pending.insert(row.userKey(0)) }
            } catch {
                guard Self.damage(error) != nil else { throw error }
                row.reset()
            }
        }
        return pending
    }

    /// In the order of `ReferenceStore.dump()`.
    func dump() throws -> StoreDump {
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
        let ids = Set(self.indexTail.map(\.message)).union(
            try self.sql.allIndexed.all { MessageID(rawValue: $0.position(0)) })
        let messages = try ids.sorted().compactMap { try self.trace(of: $0, in: nil) }
        return StoreDump(
            epoch: self.epoch, lastMessageID: self.lastMessageID, people: people,
            conversations: conversations.sorted {
                ($0.record.app, $0.record.conversation) < ($1.record.app, $1.record.conversation)
            },
            messages: messages, objectNames: self.objectNames, accounts: self.accounts,
            followers: try self.allFollowers(), control: self.control, audit: try self.allAudit(),
            revisions: try self.revisions(of: messages.map(\.id)), kept: try self.allKept(),
            pushes: try self.allPushJobs(), aliases: try self.allAliases())
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
        let stored = try self.sql.allDeleted.bind(person.number).all { MessageID(rawValue: $0.position(0)) }
        return person.deleted.union(stored).sorted()
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
