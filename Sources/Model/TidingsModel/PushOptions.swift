/// A line of a notification: as it is shown, or as a key of the app's `Localizable.strings` with what fills its format. The phone looks
/// the key up, in its own language (apns.md §13 `loc-key`).
public enum PushLine: Hashable, Sendable, ExpressibleByStringLiteral {
    case text(String)
    case localized(key: String, arguments: [String] = [])

    /// The most bytes of JSON that a key and its arguments take together.
    public static let localizedBytesMax = 256

    /// Wraps a text.
    public init(stringLiteral value: String) { self = .text(value) }

    /// The text as it stands; nil for a key.
    public var plain: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// A string, or an object with `loc_key` and, if there are any, `loc_args`.
    package var json: JSONValue {
        switch self {
        case .text(let text): return .string(text)
        case .localized(let key, let arguments):
            var members: [(String, JSONValue)] = [("loc_key", .string(key))]
            if !arguments.isEmpty { members.append(("loc_args", .array(arguments.map { .string($0) }))) }
            return .members(members)
        }
    }

    /// Nil for anything else.
    package init?(_ json: JSONValue?) {
        if let text = json?.stringValue {
            self = .text(text)
        } else if let key = json?["loc_key"]?.stringValue {
            self = .localized(key: key, arguments: (json?["loc_args"]?.arrayValue ?? []).compactMap(\.stringValue))
        } else {
            return nil
        }
    }

    fileprivate func validate(_ field: String, bytesMax: Int) throws(InvalidField) {
        switch self {
        case .text(let text):
            guard !text.isEmpty else { throw InvalidField(field: field, rule: "must not be empty") }
            try InvalidField.check(text.utf8.count, atMost: bytesMax, field, unit: " bytes")
            try InvalidField.checkVisible(text, field)
        case .localized(let key, _):
            guard !key.isEmpty else { throw InvalidField(field: "\(field).loc_key", rule: "must not be empty") }
            try InvalidField.check(
                self.json.serialized.count, atMost: Self.localizedBytesMax, field,
                unit: " bytes of JSON with its loc_args")
        }
    }
}

/// How the notification of a message looks and sounds, beside what the message says: of one message, of all in a conversation, or of all
/// in an app. Of these the most specific one counts, option by option (docs/inside/decisions/0035).
///
/// ```swift
/// try await client.send(text: "On my way", to: conversation, push: PushOptions(sound: "horn.caf"))
/// ```
public struct PushOptions: Hashable, Sendable {
    /// In place of the sender's or the group's name.
    public var title: PushLine?
    /// The line below the title.
    public var subtitle: PushLine?
    /// In place of what the message says. Of a message the plain text is its `pushText`.
    public var text: PushLine?
    /// A sound file of the app, or `default`; 1 to 64 bytes.
    public var sound: String?
    /// A category the app has registered, for its actions; 1 to 64 bytes.
    public var category: String?
    /// How strongly it asks for attention (iOS 15).
    public var interruptionLevel: InterruptionLevel?
    /// Its weight among the app's notifications in a summary (iOS 15), in thousandths: 0 to 1,000.
    public var relevance: Int?
    /// The id that groups notifications, in place of the conversation; 1 to 64 bytes.
    public var threadID: String?
    /// The https URL of an image, of a host the app lists; or `MediaID.reference` of a file of the server that the message's sender has uploaded.
    /// At most 1,024 bytes.
    public var imageURL: String?
    /// The app's own members of the notification's user info; at most 1,024 bytes of JSON.
    public var custom: JSONObject?

    /// How strongly a notification asks for attention; the raw values are APNs's (apns.md §13 `interruption-level`).
    public enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
        /// Into the list, without banner and sound.
        case passive
        case active
        /// Through a Focus and the scheduled summary; the app needs Apple's entitlement.
        case timeSensitive = "time-sensitive"
        /// Through the mute switch too; the app needs Apple's entitlement.
        case critical
    }

    /// The longest title and subtitle in bytes of UTF-8.
    public static let titleBytesMax = 256
    /// The longest sound, category and thread in bytes of UTF-8.
    public static let nameBytesMax = 64
    /// The largest custom members in bytes of their JSON text.
    public static let customBytesMax = 1_024
    /// Members of a push that are not the app's.
    public static let reservedKeys = ["aps", NotificationPayload.key, PushInfo.key, "message"]

    /// By default none.
    public init(
        title: PushLine? = nil, subtitle: PushLine? = nil, text: PushLine? = nil, sound: String? = nil,
        category: String? = nil, interruptionLevel: InterruptionLevel? = nil, relevance: Int? = nil,
        threadID: String? = nil, imageURL: String? = nil, custom: JSONObject? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.text = text
        self.sound = sound
        self.category = category
        self.interruptionLevel = interruptionLevel
        self.relevance = relevance
        self.threadID = threadID
        self.imageURL = imageURL
        self.custom = custom
    }

    /// Returns these options, with those not set here taken from `general`.
    package func merged(over general: PushOptions?) -> PushOptions {
        guard let general else { return self }
        return PushOptions(
            title: self.title ?? general.title, subtitle: self.subtitle ?? general.subtitle,
            text: self.text ?? general.text, sound: self.sound ?? general.sound,
            category: self.category ?? general.category,
            interruptionLevel: self.interruptionLevel ?? general.interruptionLevel,
            relevance: self.relevance ?? general.relevance, threadID: self.threadID ?? general.threadID,
            imageURL: self.imageURL ?? general.imageURL, custom: self.custom ?? general.custom)
    }

    /// The options that were written for the message's content; nil if there are none.
    package var words: PushOptions? {
        PushOptions(
            title: self.title, subtitle: self.subtitle, text: self.text, imageURL: self.imageURL, custom: self.custom
        ).nonEmpty
    }

    /// The others, which hold whatever the message says; nil for none.
    package var withoutWords: PushOptions? {
        PushOptions(
            sound: self.sound, category: self.category, interruptionLevel: self.interruptionLevel,
            relevance: self.relevance, threadID: self.threadID
        ).nonEmpty
    }

    /// All but the lines and the image, which travel with the message's text.
    package var withoutTexts: PushOptions? {
        var options = self
        (options.title, options.subtitle, options.text, options.imageURL) = (nil, nil, nil, nil)
        return options.nonEmpty
    }

    package var nonEmpty: PushOptions? { self == PushOptions() ? nil : self }
}

extension PushOptions {
    /// The one form of options as text: of the HTTP API, of frames, in stores and in the configuration.
    package var json: JSONValue {
        JSONMembers.given([
            "title": self.title?.json, "subtitle": self.subtitle?.json, "text": self.text?.json, "sound": self.sound,
            "category": self.category, "interruption_level": self.interruptionLevel?.rawValue,
            "relevance_score": self.relevance.map { Double($0) / 1_000 }, "thread_id": self.threadID,
            "image": self.imageURL, "custom": self.custom,
        ]).json
    }

    /// Names of the members that are set, in their order.
    package var memberNames: [String] { self.json.members.map(\.0) }

    /// Reads and validates options of others. Throws `InvalidField` with the path of the member at fault, for example
    /// `push.custom.aps`; also for an unknown one.
    package init(_ fields: JSONFields, path: String = "push") throws(InvalidField) {
        func line(_ name: String) throws(InvalidField) -> PushLine? {
            guard let value: JSONValue = try fields.given(name) else { return nil }
            guard value.objectValue != nil else { return .text(try fields.get(name)) }
            let inner = try fields.fields(name)
            let line = PushLine.localized(
                key: try inner.get("loc_key"), arguments: try inner.optional("loc_args", as: [String].self) ?? [])
            try inner.refuseUnknown()
            return line
        }
        self.init(
            title: try line("title"), subtitle: try line("subtitle"), text: try line("text"),
            sound: try fields.given("sound"), category: try fields.given("category"),
            threadID: try fields.given("thread_id"), imageURL: try fields.given("image"),
            custom: try fields.given("custom"))
        if let word: String = try fields.given("interruption_level") {
            guard let level = InterruptionLevel(rawValue: word) else {
                let words = InterruptionLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw fields.problem("interruption_level", "must be one of \(words), got \"\(word)\"")
            }
            self.interruptionLevel = level
        }
        if let score: JSONValue = try fields.given("relevance_score") {
            guard case .number(let number) = score, (0...1).contains(number.double) else {
                throw fields.problem("relevance_score", "must be a number from 0 to 1")
            }
            self.relevance = Int((number.double * 1_000).rounded())
        }
        guard !fields.isLenient else { return }
        try fields.refuseUnknown()
        try self.validate(path)
    }

    /// One JSON text, nested as deep as a request's body may be below its own object.
    package init(parsing text: some Sequence<UInt8>, path: String = "push") throws(InvalidField) {
        let object = try JSONFields(parsing: text, depthMax: 15, root: path).object
        try self.init(try JSONFields(.members([(path, .object(object))])).fields(path), path: path)
    }

    /// From the server, or a store of one's own: what this build does not know is passed over. Nil for what is missing, or no options.
    package init?(stored json: JSONValue?) {
        guard let json, json.objectValue != nil, let fields = try? JSONFields(json, isLenient: true),
            let options = try? PushOptions(fields).nonEmpty
        else { return nil }
        self = options
    }

    package init?(stored text: String?) {
        guard let text, !text.isEmpty else { return nil }
        self.init(stored: try? JSONValue(parsing: text))
    }

    /// Throws `InvalidField` naming the option at fault behind `path`. What an app allows besides is not asked for.
    public func validate(_ path: String = "push") throws(InvalidField) {
        try self.title?.validate("\(path).title", bytesMax: Self.titleBytesMax)
        try self.subtitle?.validate("\(path).subtitle", bytesMax: Self.titleBytesMax)
        try self.text?.validate("\(path).text", bytesMax: MessageDraft.pushTextBytesMax)
        for (name, value) in [("sound", self.sound), ("category", self.category), ("thread_id", self.threadID)] {
            guard let value else { continue }
            try InvalidField.check(value.utf8.count, in: 1...Self.nameBytesMax, "\(path).\(name)", unit: " bytes")
            try InvalidField.check(
                value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "\(path).\(name)",
                "must not contain control characters")
        }
        if let relevance = self.relevance {
            try InvalidField.check(relevance, in: 0...1_000, "\(path).relevance_score", unit: " thousandths")
        }
        if let url = self.imageURL {
            try InvalidField.check(url.utf8.count, atMost: PushInfo.imageURLBytesMax, "\(path).image", unit: " bytes")
            try InvalidField.check(
                WebAddress.isSecure(url) || MediaID(reference: url) != nil, "\(path).image",
                "must be an https URL in ASCII without spaces, or media: and the id of a file of the server")
        }
        guard let custom = self.custom else { return }
        if let key = Self.reservedKeys.first(where: { custom[$0] != nil }) {
            let all = Self.reservedKeys.joined(separator: ", ")
            throw InvalidField(field: "\(path).custom.\(key)", rule: "must not be set: \(all) are reserved")
        }
        try InvalidField.check(
            JSONValue.object(custom).serialized.count, atMost: Self.customBytesMax, "\(path).custom",
            unit: " bytes of JSON")
    }
}

/// Options by reference: most messages have none, and messages are copied often.
package indirect enum SharedPushOptions: Hashable, Sendable {
    case options(PushOptions)

    package init?(_ options: PushOptions?) {
        // Empty ones are none: neither stores nor frames can tell them apart.
        guard let options = options?.nonEmpty else { return nil }
        self = .options(options)
    }

    package var options: PushOptions {
        switch self {
        case .options(let options): options
        }
    }
}
