package import TidingsModel

// The one form of an app's settings as text. Members are called as the keys of the configuration file, where there are such.
extension AppSettings {
    /// Every member, but for those without a value.
    package var json: JSONValue {
        JSONMembers.given([
            "name": self.name, "members_max": self.membersMax, "devices_max": self.devicesMax,
            "limits": self.limits.isEmpty ? nil : self.limits.json, "own_profiles": self.hasOwnProfiles,
            "offered_accounts": self.offeredAccounts, "tags": self.tags,
            "push": JSONMembers.given([
                "topics": self.pushTopics, "text": self.pushText.rawValue, "only_sender": self.isOnlyPushSender,
                "options": self.push.options?.json, "entitlements": self.push.entitlements.map(\.rawValue).sorted(),
                "client_options": self.push.clientOptions.sorted(), "client_sounds": self.push.clientSounds,
                "client_categories": self.push.clientCategories, "image_hosts": self.push.imageHosts,
            ]), "media": JSONMembers(["approval": self.needsMediaApproval ? "required" : "none"]),
            "words": self.words.json, "tokens": self.tokens.json,
        ]).json
    }

    /// Reads settings; a member that is left out or null has its default. Throws `InvalidField` with the path of the member at fault, also
    /// for an unknown one, except from lenient fields. `faults(in:)` checks the values.
    package init(json fields: JSONFields) throws(InvalidField) {
        self.name = try fields.given("name", as: String.self) ?? ""
        self.membersMax = try fields.given("members_max", as: Int.self)
        self.devicesMax = try fields.given("devices_max", as: Int.self)
        if let limits = try fields.inner("limits") { self.limits = try AppLimits(json: limits) }
        self.hasOwnProfiles = try fields.given("own_profiles", as: Bool.self) ?? false
        self.offeredAccounts = try fields.set("offered_accounts")
        self.tags = try fields.set("tags")
        if let push = try fields.inner("push") { try self.readPush(push) }
        if let media = try fields.inner("media") {
            switch try media.given("approval", as: String.self) {
            case nil, "none"?: self.needsMediaApproval = false
            case "required"?: self.needsMediaApproval = true
            case let word?: throw media.problem("approval", "must be none or required, got \"\(word)\"")
            }
            try media.refuseUnknown()
        }
        if let words = try fields.inner("words") { self.words = try AppWords(json: words) }
        if let tokens = try fields.inner("tokens") { self.tokens = try TokenRules(json: tokens) }
        try fields.refuseUnknown()
    }

    private mutating func readPush(_ fields: JSONFields) throws(InvalidField) {
        self.pushTopics = try fields.set("topics")
        self.pushText = try fields.word("text") ?? .serviceExtension
        self.isOnlyPushSender = try fields.given("only_sender", as: Bool.self) ?? false
        if let options = try fields.inner("options") {
            self.push.options = try PushOptions(options, path: "push.options").nonEmpty
        }
        for word in try fields.texts("entitlements") {
            self.push.entitlements.insert(try fields.word(word, in: "entitlements"))
        }
        self.push.clientOptions = Set(try fields.texts("client_options"))
        let names = PushRules.clientOptionNames
        if let name = self.push.clientOptions.sorted().first(where: { !names.contains($0) }) {
            throw fields.problem(
                "client_options", "must be among \(names.joined(separator: ", ")), got \"\(name)\"")
        }
        self.push.clientSounds = try fields.texts("client_sounds")
        self.push.clientCategories = try fields.texts("client_categories")
        self.push.imageHosts = try fields.texts("image_hosts")
        try fields.refuseUnknown()
    }
}

/// Reads and writes what a store keeps.
extension AppSettings: Codable {
    package init(from decoder: any Decoder) throws { try self.init(json: JSONFields(stored: decoder)) }
    package func encode(to encoder: any Encoder) throws { try self.json.encode(to: encoder) }
}

extension AppSettings.TokenRules {
    var json: JSONMembers {
        let (source, roots): (String?, String?) =
            switch self.keySource {
            case .file(let path)?: (path, nil)
            case .address(let address, let roots)?: (address, roots)
            case nil: (nil, nil)
            }
        return .given([
            "audiences": self.audiences, "audience_required": self.demandsAudience, "jwks": source,
            "jwks_trust_roots_path": roots,
        ])
    }

    init(json fields: JSONFields) throws(InvalidField) {
        self.init()
        self.audiences = try fields.texts("audiences")
        self.demandsAudience = try fields.given("audience_required", as: Bool.self) ?? false
        let roots = try fields.given("jwks_trust_roots_path", as: String.self)
        if let text = try fields.given("jwks", as: String.self) {
            self.keySource = AppSettings.KeySource(text, trustRootsPath: roots)
        }
        if roots != nil, !fields.isLenient {
            guard case .address? = self.keySource else {
                throw fields.problem("jwks_trust_roots_path", "must be left out where jwks is no address")
            }
        }
        try fields.refuseUnknown()
    }
}

extension AppSettings.KeySource {
    /// An address, or else a path.
    package init(_ text: String, trustRootsPath: String?) {
        self = text.contains("://") ? .address(text, trustRootsPath: trustRootsPath) : .file(path: text)
    }

    /// True if it names a file on the server's disk.
    var namesFile: Bool {
        switch self {
        case .file: true
        case .address(_, let roots): roots != nil
        }
    }
}

extension AppWords {
    var json: JSONMembers {
        let languages = self.byLanguage.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }
        return ["language": self.language, "languages": JSONMembers(pairs: languages)]
    }

    /// Reads words; a language's missing ones are the built-in words, if there are any in that language.
    init(json fields: JSONFields) throws(InvalidField) {
        let language = try fields.given("language", as: String.self) ?? "en"
        var words: [String: NotificationWords] = [:]
        if let languages = try fields.inner("languages") {
            for (tag, _) in languages.object.members {
                let read = try NotificationWords(json: try languages.fields(tag), of: tag)
                guard words.updateValue(read, forKey: tag.lowercased()) == nil else {
                    throw languages.problem(tag, "must not be there twice")
                }
            }
        }
        try fields.refuseUnknown()
        self.init(language: language.lowercased(), complete: words)
    }
}

extension NotificationWords {
    fileprivate var json: JSONMembers {
        let kinds = self.kinds.sorted { $0.key < $1.key }.map { ($0.key.rawValue, $0.value) }
        return JSONMembers(pairs: Self.pushMembers.map { ($0.name, self[keyPath: $0.path]) }) + [
            "kinds": JSONMembers(pairs: kinds)
        ]
    }

    fileprivate init(json fields: JSONFields, of tag: String) throws(InvalidField) {
        self = Self.builtIn(for: tag) ?? NotificationWords()
        for member in Self.pushMembers {
            if let text = try fields.given(member.name, as: String.self) { self[keyPath: member.path] = text }
        }
        if let kinds = try fields.inner("kinds") {
            for (name, _) in kinds.object.members {
                self.kinds[ObjectName(name)] = try kinds.get(name, as: String.self)
            }
        }
        try fields.refuseUnknown()
    }
}

extension JSONFields {
    /// Nil if it is missing.
    func inner(_ key: String) throws(InvalidField) -> JSONFields? {
        try self.given(key, as: JSONValue.self) == nil ? nil : try self.fields(key)
    }

    /// Empty if they are missing.
    func texts(_ key: String) throws(InvalidField) -> [String] {
        try self.given(key, as: [String].self) ?? []
    }

    /// Sorted, without repeats.
    func set(_ key: String) throws(InvalidField) -> [String] { Set(try self.texts(key)).sorted() }

    func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String) throws(InvalidField) -> Word? {
        guard let text = try self.given(key, as: String.self) else { return nil }
        return try self.word(text, in: key)
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ text: String, in key: String
    ) throws(InvalidField) -> Word {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw self.problem(key, "must be one of \(words), got \"\(text)\"")
        }
        return word
    }
}
