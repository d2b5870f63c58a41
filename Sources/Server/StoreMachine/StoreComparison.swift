import StoreModel
import TidingsModel

package struct StoreComparison {
    let stored: StoreMachine
    let replayed: StoreMachine

    package init(stored: StoreMachine, replayed: StoreMachine) {
        self.stored = stored
        self.replayed = replayed
    }

    /// More differences than this are not listed.
    static let differencesMax = 1_000

    package func differences() throws -> [String] {
        var found: [String] = []
        for key in try self.replayed.allKeys() {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            found += try self.describing("person \(key)") { try self.differences(of: key) }
        }
        for number in try self.replayed.allConversationNumbers() {
            let wanted = try self.replayed.stored(try self.replayed.conversation(number))
            let record = wanted.record
            found += try self.describing("conversation \(record.conversation) of \(record.app)") {
                let known = try self.stored.find(record.conversation, in: record.app).map { try self.stored.stored($0) }
                return known == wanted ? [] : ["is not what the journal gives"]
            }
        }
        var end = MessageID(rawValue: UInt64(Int64.max))
        // A page at a time: they are more than all else.
        while let last = try self.compareMessages(before: end, &found) {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            end = last
        }
        if self.stored.objectNames != self.replayed.objectNames {
            found.append("object names are not what the journal gives")
        }
        for wanted in try self.replayed.allPushJobs() {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            found += try self.describing("push \(wanted.id)") {
                try self.stored.push(wanted.id)?.job == wanted ? [] : ["is not what the journal gives"]
            }
        }
        if try self.stored.allAliases() != self.replayed.allAliases() {
            found.append("aliases are not what the journal gives")
        }
        let (known, wanted) = (self.stored.control, self.replayed.control)
        if known.apps.map(\.json) != wanted.apps.map(\.json) { found.append("apps are not what the journal gives") }
        if known.operators.map(\.json) != wanted.operators.map(\.json) {
            found.append("operators are not what the journal gives")
        }
        if try self.stored.allAudit() != self.replayed.allAudit() {
            found.append("records of changes are not what the journal gives")
        }
        let use = { (machine: StoreMachine) in machine.appStorage.mapValues(\.row.use) }
        // Nothing is counted any more of who is set aside.
        if !self.stored.hasSetAside, use(self.stored) != use(self.replayed) {
            found.append("counts of what apps keep are not what the journal gives")
        }
        return found
    }

    /// - Returns: the last message that was looked at; nil if there is none.
    private func compareMessages(before end: MessageID, _ found: inout [String]) throws -> MessageID? {
        let page = try self.replayed.rows.messages(before: end, notBefore: MessageID(rawValue: 0), limit: 1_000)
        for id in page {
            found += try self.describing("message \(id)") {
                try self.stored.records(of: id) == self.replayed.records(of: id)
                    ? [] : ["its index is not what the journal gives"]
            }
        }
        return page.last
    }

    private func describing(_ subject: String, _ body: () throws -> [String]) throws -> [String] {
        do {
            return try body().map { "\(subject): \($0)" }
        } catch {
            guard let row = StoreMachine.damage(error) else { throw error }
            return ["\(subject): cannot be read: \(row.detail)"]
        }
    }

    private func differences(of key: UserKey) throws -> [String] {
        guard let wanted = try self.replayed.find(key) else { return [] }
        guard let known = try self.stored.find(key) else { return wanted.head > 0 ? ["is missing"] : [] }
        guard !known.isSetAside else { return [] }
        var found: [String] = []
        func compare<Part: Equatable>(_ name: String, _ part: (StoreMachine, PersonState) throws -> Part) throws {
            if try part(self.stored, known) != part(self.replayed, wanted) {
                found.append("\(name) is not what the journal gives")
            }
        }
        try compare("the head of the log") { $1.head }
        try compare("the unread count") { $1.counts }
        try compare("what was set") { $1.settings }
        try compare("what the app calls the person") { $1.labels }
        try compare("the log") { engine, person in
            var entries: [[UInt64]] = []
            try engine.forEachEntry(of: person, after: 0) { entry in
                entries.append([
                    entry.position, entry.record, entry.counts ? 1 : 0, entry.mentions ? 1 : 0, UInt64(entry.unread),
                ])
                return true
            }
            return entries
        }
        try compare("the list of devices") { try $0.devices(of: $1) }
        try compare("what waits to be pushed") { engine, person in
            try engine.openLegs(of: person).values.sorted { $0.leg < $1.leg }
        }
        try compare("the reading of conversations") { try $0.cursors(of: $1) }
        try compare("the deleted messages") { try $0.deletedMessages(of: $1) }
        try compare("the sent messages") { try $0.sentMessages(of: $1) }
        try compare("which pushes have reached them") { try $0.pushesReached(of: $1) }
        return found
    }
}

extension StoreMachine {
    func sentMessages(of person: PersonState) throws -> [ClientMessageID: MessageID] {
        let stored = try self.rows.sentMessages(by: person.number, limit: .max).map { ($0.id, $0.message) }
        return Dictionary(stored + person.sent.map { ($0.key, $0.value.id) }, uniquingKeysWith: { $1 })
    }
}
