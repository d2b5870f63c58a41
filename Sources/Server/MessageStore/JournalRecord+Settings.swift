import StoreModel
import TidingsModel

// What people set, as records and rows have it.

extension NotificationLevel: StoredValue {}
extension QuietHours.Manner: StoredValue {}

extension AddingConsent: StoredValue {}

/// Always the end of what holds it: rows of stores before version 14 end without `mayBeAddedBy`, and without what is listed or drafted
/// before version 18.
extension AllSettings: StoredValue {
    func write(to writer: inout ByteWriter) {
        writer.write(self.person, self.conversations, self.blocked)
        let listed = self.conversations.filter { $0.value != $0.value.levelAlone }
        if self.person.mayBeAddedBy != nil || !listed.isEmpty { writer.text(self.person.mayBeAddedBy?.rawValue ?? "") }
        guard !listed.isEmpty else { return }
        writer.write(listed.mapValues { ListState($0) })
        writer.write(listed.compactMapValues(\.draft))
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(person: try reader.read(), conversations: try reader.read(), blocked: try reader.read())
        guard !reader.isAtEnd else { return }
        let consent = try reader.text()
        if !consent.isEmpty {
            guard let known = AddingConsent(rawValue: consent) else { throw .badValue("consent") }
            self.person.mayBeAddedBy = known
        }
        guard !reader.isAtEnd else { return }
        let (states, drafts): ([ConversationID: ListState], [ConversationID: ConversationDraft]) =
            (try reader.read(), try reader.read())
        for (conversation, state) in states {
            var settings = self.conversations[conversation] ?? ConversationSettings()
            state.apply(to: &settings)
            settings.draft = drafts[conversation]
            self.conversations[conversation] = settings
        }
    }
}

/// Where a conversation stands in the person's list, without the draft in it.
struct ListState: StoredValue {
    private let pinnedAt: Int64?
    private let isArchived: Bool
    private let hiddenUpTo: MessageID?

    init(_ settings: ConversationSettings) {
        self.pinnedAt = settings.pinnedAt
        self.isArchived = settings.isArchived
        self.hiddenUpTo = settings.hiddenUpTo
    }

    func apply(to settings: inout ConversationSettings) {
        settings.pinnedAt = self.pinnedAt
        settings.isArchived = self.isArchived
        settings.hiddenUpTo = self.hiddenUpTo
    }

    func write(to writer: inout ByteWriter) { writer.write(self.pinnedAt, self.isArchived, self.hiddenUpTo) }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.pinnedAt = try reader.read()
        self.isArchived = try reader.read()
        self.hiddenUpTo = try reader.read()
    }
}

extension ConversationDraft: StoredValue {
    func write(to writer: inout ByteWriter) { writer.write(self.text, self.writtenAt) }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(text: try reader.read(), writtenAt: try reader.read())
    }
}

/// The level alone.
extension ConversationSettings: StoredValue {
    func write(to writer: inout ByteWriter) { writer.write(self.level, self.levelUntil) }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(level: try reader.read(), levelUntil: try reader.read())
    }
}

/// Without `mayBeAddedBy`: the kind of the record says whether it stands before it, and in rows it is last.
extension PersonSettings: StoredValue {
    func write(to writer: inout ByteWriter) {
        writer.write(self.levels, self.quietHours, self.hidesContent, self.language)
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            levels: try reader.read(), quietHours: try reader.read(), hidesContent: try reader.read(),
            language: try reader.read())
    }
}

extension QuietHours: StoredValue {
    func write(to writer: inout ByteWriter) {
        writer.write(self.start, self.end, self.weekdays, self.timeZone, self.manner)
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            start: try reader.read(), end: try reader.read(), weekdays: try reader.read(), timeZone: try reader.read(),
            manner: try reader.read())
    }
}
