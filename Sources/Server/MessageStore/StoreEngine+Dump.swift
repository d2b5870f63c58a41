import StoreModel
import TidingsModel

/// What is read of everybody.
extension StoreEngine {
    /// People with push work: as their rows say, and for those in the tail as memory says.
    func pending() throws -> [UserKey] {
        var pending: Set<UserKey> = []
        do {
            while try self.sql.pending.step() {
                pending.insert(UserKey(app: AppID(self.sql.pending.text(0)), user: UserID(self.sql.pending.text(1))))
            }
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

    /// The same where not everybody's rows can be read: without those whose cannot. They are noticed when they are needed.
    private func pendingOneByOne() throws -> Set<UserKey> {
        var pending: Set<UserKey> = []
        let row = self.sql.pendingPerson
        for number in 0...self.lastPersonNumber {
            row.bind(1, number)
            do {
                while try row.step() { pending.insert(UserKey(app: AppID(row.text(0)), user: UserID(row.text(1)))) }
            } catch {
                guard Self.damage(error) != nil else { throw error }
                row.reset()
            }
        }
        return pending
    }

    /// Everything in the store, in the order of `ReferenceStore.dump()`.
    func dump() throws -> StoreDump {
        var people: [StoreDump.Person] = []
        for key in try self.allKeys() {
            guard let person = try self.find(key) else { continue }
            let record = try self.loadUser(key)
            guard
                record.head > 0 || !record.devices.isEmpty || !record.openLegs.isEmpty
                    || record.account != AccountState()
            else { continue }
            people.append(
                StoreDump.Person(
                    record: record, counts: person.counts, log: try self.readLog(key, after: 0, limit: .max).entries,
                    cursors: try self.cursors(of: person), deleted: try self.deletedMessages(of: person)))
        }
        let conversations = try self.allConversationNumbers().map { try self.stored(try self.conversation($0)) }
        var ids = Set(self.indexTail.map(\.message))
        while try self.sql.allIndexed.step() { ids.insert(MessageID(rawValue: self.sql.allIndexed.position(0))) }
        let messages = try ids.sorted().compactMap { try self.trace(of: $0, in: nil) }
        return StoreDump(
            epoch: self.epoch, lastMessageID: self.lastMessageID, people: people,
            conversations: conversations.sorted {
                ($0.record.app, $0.record.conversation) < ($1.record.app, $1.record.conversation)
            },
            messages: messages, objectNames: self.objectNames, accounts: self.accounts,
            revisions: try self.revisions(of: messages.map(\.id)))
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
        var deleted = person.deleted
        self.sql.allDeleted.bind(1, person.number)
        while try self.sql.allDeleted.step() { deleted.insert(MessageID(rawValue: self.sql.allDeleted.position(0))) }
        return deleted.sorted()
    }

    func cursors(of person: PersonState) throws -> [StoreDump.Cursor] {
        try self.conversations(of: person).map { number in
            guard let state = try self.conversationState(number, of: person) else {
                throw StoredBytesFault.missing("conversation \(number.rawValue) of \(person.key)")
            }
            return StoreDump.Cursor(
                conversation: try self.conversationID(of: number), unread: state.unread, mentions: state.mentions,
                upTo: state.read)
        }.sorted { $0.conversation < $1.conversation }
    }
}
