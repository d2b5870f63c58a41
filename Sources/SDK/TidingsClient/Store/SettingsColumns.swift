import ClientCore
import TidingsModel

// Settings as JSON in columns of the local store. What a later version has written is left out.

extension PersonSettings {
    var column: String {
        let levels = self.levels.sorted { $0.key < $1.key }
            .map { ($0.key.rawValue, JSONValue.string($0.value.rawValue)) }
        var members: [(String, JSONValue)] = [
            ("levels", .members(levels)), ("hidesContent", .bool(self.hidesContent)),
        ]
        if let hours = self.quietHours { members.append(("quietHours", hours.json)) }
        if let language = self.language { members.append(("language", .string(language))) }
        if let consent = self.mayBeAddedBy { members.append(("mayBeAddedBy", .string(consent.rawValue))) }
        return JSONValue.members(members).text
    }

    init(column: String) {
        self.init()
        guard let json = try? JSONValue(parsing: column) else { return }
        for (name, level) in json["levels"]?.objectValue?.members ?? [] {
            guard let type = ConversationType(rawValue: name) else { continue }
            self.levels[type] = level.stringValue.flatMap { NotificationLevel(rawValue: $0) }
        }
        self.hidesContent = json["hidesContent"]?.boolValue ?? false
        self.quietHours = json["quietHours"].flatMap { QuietHours(json: $0) }
        self.language = json["language"]?.stringValue
        self.mayBeAddedBy = json["mayBeAddedBy"]?.stringValue.flatMap { AddingConsent(rawValue: $0) }
    }
}

extension QuietHours {
    fileprivate var json: JSONValue {
        .members([
            ("start", .int(self.start)), ("end", .int(self.end)), ("weekdays", .array(self.weekdays.map { .int($0) })),
            ("timeZone", .string(self.timeZone)), ("manner", .string(self.manner.rawValue)),
        ])
    }

    fileprivate init?(json: JSONValue) {
        guard let start = json["start"]?.intValue, let end = json["end"]?.intValue,
            let zone = json["timeZone"]?.stringValue,
            let manner = json["manner"]?.stringValue.flatMap({ Manner(rawValue: $0) })
        else { return nil }
        let weekdays = json["weekdays"]?.arrayValue?.compactMap { $0.intValue.map { Int($0) } } ?? []
        self.init(start: Int(start), end: Int(end), weekdays: weekdays, timeZone: zone, manner: manner)
    }
}

extension PendingSettingsChange {
    /// The same pending change is always the same text.
    var column: String {
        let members: [(String, JSONValue)] =
            switch self {
            case .conversation(let conversation, let own): [("conversation", Self.json(conversation, own))]
            case .state(let conversation, let change, let at): [("state", Self.json(conversation, change, at: at))]
            case .level(let type, let level): [("kind", .string(type.rawValue)), ("level", .string(level.rawValue))]
            case .quietHours(let hours): [("quietHours", hours?.json ?? .null)]
            case .hidesContent(let hides): [("hidesContent", .bool(hides))]
            case .language(let language): [("language", language.map { .string($0) } ?? .null)]
            case .mayBeAddedBy(let consent): [("mayBeAddedBy", .string(consent.rawValue))]
            }
        return JSONValue.members(members).text
    }

    private static func json(
        _ conversation: ConversationID, _ change: ConversationStateChange, at: Int64
    ) -> JSONValue {
        let value: JSONValue =
            switch change {
            case .pinned(let isPinned): .bool(isPinned)
            case .archived(let isArchived): .bool(isArchived)
            case .hidden(let upTo): upTo.map { .string($0.description) } ?? .null
            case .draft(let text): text.map { .string($0) } ?? .null
            }
        return .members(Self.members(conversation) + [(change.name, value), ("at", .int(at))])
    }

    private static func members(_ conversation: ConversationID) -> [(String, JSONValue)] {
        [("type", .string(conversation.type.rawValue)), ("target", .string(conversation.target))]
    }

    private init?(state json: JSONValue) {
        guard let conversation = ConversationID(json: json), let at = json["at"]?.intValue else { return nil }
        let change: ConversationStateChange
        if let isPinned = json["pinned"]?.boolValue {
            change = .pinned(isPinned)
        } else if let isArchived = json["archived"]?.boolValue {
            change = .archived(isArchived)
        } else if let upTo = json["hidden"] {
            change = .hidden(upTo: upTo.stringValue.flatMap { MessageID($0) })
        } else if let text = json["draft"] {
            change = .draft(text.stringValue)
        } else {
            return nil
        }
        self = .state(conversation, change, at: at)
    }

    private static func json(_ conversation: ConversationID, _ own: ConversationSettings) -> JSONValue {
        var members = Self.members(conversation)
        if let level = own.level { members.append(("level", .string(level.rawValue))) }
        if let until = own.levelUntil { members.append(("until", .int(until))) }
        return .members(members)
    }

    /// Nil for what this version does not know.
    init?(column: String) {
        guard let json = try? JSONValue(parsing: column) else { return nil }
        if let state = json["state"] {
            self.init(state: state)
        } else if let inner = json["conversation"] {
            guard let conversation = ConversationID(json: inner) else { return nil }
            let own = ConversationSettings(
                level: inner["level"]?.stringValue.flatMap { NotificationLevel(rawValue: $0) },
                levelUntil: inner["until"]?.intValue)
            self = .conversation(conversation, own)
        } else if let type = json["kind"]?.stringValue.flatMap({ ConversationType(rawValue: $0) }),
            let level = json["level"]?.stringValue.flatMap({ NotificationLevel(rawValue: $0) })
        {
            self = .level(type, level)
        } else if let hours = json["quietHours"] {
            self = .quietHours(QuietHours(json: hours))
        } else if let hides = json["hidesContent"]?.boolValue {
            self = .hidesContent(hides)
        } else if let language = json["language"] {
            self = .language(language.stringValue)
        } else if let consent = json["mayBeAddedBy"]?.stringValue.flatMap({ AddingConsent(rawValue: $0) }) {
            self = .mayBeAddedBy(consent)
        } else {
            return nil
        }
    }
}

extension ConversationID {
    fileprivate init?(json: JSONValue) {
        guard let type = json["type"]?.stringValue.flatMap({ ConversationType(rawValue: $0) }),
            let target = json["target"]?.stringValue
        else { return nil }
        self.init(type: type, target: target)
    }
}
