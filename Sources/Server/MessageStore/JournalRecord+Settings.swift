import StoreModel
import TidingsModel

// What people set, as records and rows have it.

extension NotificationLevel: StoredValue {}
extension QuietHours.Manner: StoredValue {}

extension AddingConsent: StoredValue {}

/// Always the end of what holds it: rows of stores before version 14 end without `mayBeAddedBy`.
extension AllSettings: StoredValue {
    func write(to writer: inout ByteWriter) {
        writer.write(self.person, self.conversations, self.blocked)
        if let consent = self.person.mayBeAddedBy { writer.write(consent) }
    }

    init(from reader: inout ByteReader) throws(StoredBytesFault) {
        self.init(person: try reader.read(), conversations: try reader.read(), blocked: try reader.read())
        guard !reader.isAtEnd else { return }
        let consent: AddingConsent = try reader.read()
        self.person.mayBeAddedBy = consent
    }
}

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
