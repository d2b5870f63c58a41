import StoreModel
package import TidingsModel

// What people set, as records and rows have it.

extension NotificationLevel: StoredValue {}
extension QuietHours.Manner: StoredValue {}

extension AddingConsent: StoredValue {}

extension AllSettings: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.person, self.conversations, self.blocked)
        writer.write(self.conversations.compactMapValues(\.draft))
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(person: try reader.read(), conversations: try reader.read(), blocked: try reader.read())
        let drafts: [ConversationID: ConversationDraft] = try reader.read()
        // tidy: order does not leave: each is its own
        for (conversation, draft) in drafts { self.conversations[conversation, default: .init()].draft = draft }
    }
}

extension ConversationDraft: StoredValue {
    package func write(to writer: inout ByteWriter) { writer.write(self.text, self.writtenAt) }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(text: try reader.read(), writtenAt: try reader.read())
    }
}

/// Without the draft.
extension ConversationSettings: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.level, self.levelUntil, self.pinnedAt, self.isArchived, self.hiddenUpTo)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(level: try reader.read(), levelUntil: try reader.read())
        (self.pinnedAt, self.isArchived) = (try reader.read(), try reader.read())
        self.hiddenUpTo = try reader.read()
    }
}

extension PersonSettings: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.levels, self.quietHours, self.hidesContent, self.language, self.mayBeAddedBy)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            levels: try reader.read(), quietHours: try reader.read(), hidesContent: try reader.read(),
            language: try reader.read(), mayBeAddedBy: try reader.read())
    }
}

extension QuietHours: StoredValue {
    package func write(to writer: inout ByteWriter) {
        writer.write(self.start, self.end, self.weekdays, self.timeZone, self.manner)
    }

    package init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(
            start: try reader.read(), end: try reader.read(), weekdays: try reader.read(), timeZone: try reader.read(),
            manner: try reader.read())
    }
}
