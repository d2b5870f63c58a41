import StoreModel
import TidingsModel

/// What people set, as bytes: in the journal, and all of it in the person's row.
extension ByteWriter {
    mutating func settings(_ settings: AllSettings) {
        self.settings(settings.person)
        self.list(settings.conversations.sorted { $0.key < $1.key }) { writer, item in
            writer.conversation(item.key)
            writer.settings(item.value)
        }
        self.users(settings.blocked)
    }

    mutating func settings(_ settings: ConversationSettings) {
        self.text(settings.level?.rawValue)
        self.signed(settings.levelUntil)
    }

    mutating func settings(_ settings: PersonSettings) {
        self.list(settings.levels.sorted { $0.key < $1.key }) { writer, item in
            writer.text(item.key.rawValue)
            writer.text(item.value.rawValue)
        }
        self.byte(settings.quietHours == nil ? 0 : 1)
        if let hours = settings.quietHours {
            self.signed(Int64(hours.start))
            self.signed(Int64(hours.end))
            self.list(hours.weekdays) { $0.signed(Int64($1)) }
            self.text(hours.timeZone)
            self.text(hours.manner.rawValue)
        }
        self.byte(settings.hidesContent ? 1 : 0)
        self.text(settings.language)
    }
}

extension ByteReader {
    mutating func allSettings() throws(StoredBytesFault) -> AllSettings {
        var settings = AllSettings(person: try self.personSettings())
        for _ in 0..<(try self.number()) {
            let conversation = try self.conversation()
            settings.conversations[conversation] = try self.conversationSettings()
        }
        settings.blocked = try self.users()
        return settings
    }

    mutating func conversationSettings() throws(StoredBytesFault) -> ConversationSettings {
        let level: NotificationLevel? = if let name = try self.optionalText() { try Self.level(name) } else { nil }
        return ConversationSettings(level: level, levelUntil: try self.optionalSigned())
    }

    mutating func personSettings() throws(StoredBytesFault) -> PersonSettings {
        var settings = PersonSettings()
        for _ in 0..<(try self.number()) {
            guard let type = ConversationType(rawValue: try self.text()) else { throw .badValue("conversation kind") }
            settings.levels[type] = try Self.level(try self.text())
        }
        if try self.byte() == 1 { settings.quietHours = try self.quietHours() }
        settings.hidesContent = try self.byte() == 1
        settings.language = try self.optionalText()
        return settings
    }

    private mutating func quietHours() throws(StoredBytesFault) -> QuietHours {
        var hours = QuietHours(start: Int(try self.signed()), end: Int(try self.signed()), timeZone: "")
        hours.weekdays = try self.list { (reader) throws(StoredBytesFault) in Int(try reader.signed()) }
        hours.timeZone = try self.text()
        guard let manner = QuietHours.Manner(rawValue: try self.text()) else { throw .badValue("quiet hours") }
        hours.manner = manner
        return hours
    }

    private static func level(_ name: String) throws(StoredBytesFault) -> NotificationLevel {
        guard let level = NotificationLevel(rawValue: name) else { throw .badValue("notification level") }
        return level
    }
}
