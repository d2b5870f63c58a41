package import TidingsModel

/// Settings and names the app writes for its extension; all of it may be missing.
package struct SharedSettings: Hashable, Sendable {
    /// ios-delivery.md §1.3, "show push content".
    package var showsContent = true
    package var apiURL: String?
    package var words: NotificationWords?
    /// The extension's own: whether it may discard alerts, as it found when it ran last.
    package var extensionFilters = false
    private var names: [Name] = []

    private struct Name: Hashable, Sendable {
        var key: String
        var name: String
    }

    package static let namesMax = 500

    package init() {}

    package enum NameKey: Hashable, Sendable {
        case user(UserID)
        case conversation(ConversationID)
        /// How many members it has, in digits.
        case memberCount(ConversationID)

        fileprivate var text: String {
            switch self {
            case .user(let user): "user/\(user.rawValue)"
            case .conversation(let conversation): "conversation/\(conversation.description)"
            case .memberCount(let conversation): "members/\(conversation.description)"
            }
        }
    }

    package subscript(name key: NameKey) -> String? { self.names.first { $0.key == key.text }?.name }

    package mutating func remember(_ name: String, for key: NameKey) {
        let kept = Name(key: key.text, name: name)
        if self.names.contains(kept) { return }
        self.names.removeAll { $0.key == kept.key }
        self.names.append(kept)
        if self.names.count > Self.namesMax { self.names.removeFirst(self.names.count - Self.namesMax) }
    }

    package mutating func forgetNames() { self.names = [] }
}

extension SharedSettings {
    var json: JSONValue {
        .members([
            ("shows_content", .bool(self.showsContent)), ("api_url", self.apiURL.map { .string($0) } ?? .null),
            ("words", self.words?.json ?? .null), ("extension_filters", .bool(self.extensionFilters)),
            ("names", .array(self.names.map { .array([.string($0.key), .string($0.name)]) })),
        ])
    }

    init?(json: JSONValue) {
        guard let shows = json["shows_content"]?.boolValue, let names = json["names"]?.arrayValue else { return nil }
        self.showsContent = shows
        self.apiURL = json["api_url"]?.stringValue
        self.extensionFilters = json["extension_filters"]?.boolValue ?? false
        self.words = json["words"].flatMap { NotificationWords(json: $0) }
        self.names = names.compactMap { element in
            guard let pair = element.arrayValue, pair.count == 2, let key = pair[0].stringValue,
                let name = pair[1].stringValue
            else { return nil }
            return Name(key: key, name: name)
        }
    }
}

extension NotificationWords {
    fileprivate var json: JSONValue {
        .members(
            Self.members.map { ($0.name, .string(self[keyPath: $0.path])) } + [
                ("kinds", .members(self.kinds.sorted { $0.key < $1.key }.map { ($0.key.rawValue, .string($0.value)) }))
            ])
    }

    fileprivate init?(json: JSONValue) {
        self.init()
        for member in Self.members {
            guard let text = json[member.name]?.stringValue else { return nil }
            self[keyPath: member.path] = text
        }
        for (name, text) in json["kinds"]?.objectValue?.members.map({ ($0.key, $0.value) }) ?? [] {
            self.kinds[ObjectName(name)] = text.stringValue
        }
    }
}
