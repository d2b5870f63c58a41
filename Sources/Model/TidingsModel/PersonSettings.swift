/// How loud a conversation may be.
public enum NotificationLevel: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    case all
    /// Like the next two, it silences one-to-one conversations.
    case mentions
    /// By id.
    case mentionsOfMe = "mentions_of_me"
    case mentionsOfAll = "mentions_of_all"
    /// Muted: nothing rings or counts in the badge (S2.12).
    case blocked

    /// True if the conversation is muted: it does not count in the badge (S2.12).
    public var isMuted: Bool { self == .blocked }

    /// Returns true if a message may ring at this level.
    public func allows(_ mentions: Mentions, of user: UserID) -> Bool {
        switch self {
        case .all: true
        case .mentions: mentions.include(user)
        case .mentionsOfMe: if case .users(let users) = mentions { users.contains(user) } else { false }
        case .mentionsOfAll: mentions == .everyone
        case .blocked: false
        }
    }
}

/// A person's settings for one conversation.
public struct ConversationSettings: Hashable, Sendable, Codable {
    /// How loud it may be; nil for what the person has set for its kind.
    public var level: NotificationLevel?
    /// Until when `level` holds, wall milliseconds since 1970; nil for until it is changed. Afterwards it is nil.
    public var levelUntil: Int64?
    /// Since when it is pinned, wall milliseconds since 1970; nil if it is not.
    public var pinnedAt: Int64?
    /// True if it stands in the list of archived conversations.
    public var isArchived = false
    /// It stands in no list while it has no message newer than this one; nil if it was not hidden.
    public var hiddenUpTo: MessageID?
    /// The text that is typed and not sent; nil for none.
    public var draft: ConversationDraft?

    /// Settings from their parts; by default none. The rest is changed by `ConversationStateChange`.
    public init(level: NotificationLevel? = nil, levelUntil: Int64? = nil) {
        self.level = level
        self.levelUntil = levelUntil
    }
}

/// Who may make a person a member of groups and discussions without asking them first. Others invite.
public enum AddingConsent: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
    case everybody
    /// The people this person has written to, one to one.
    case contacts
    case nobody
}

/// A person's settings for all their conversations and devices.
public struct PersonSettings: Hashable, Sendable {
    /// How loud the conversations of a kind may be that have no level of their own; kinds that are not named are `all`.
    public var levels: [ConversationType: NotificationLevel]
    /// When nothing is to ring; nil for never.
    public var quietHours: QuietHours?
    /// True if a notification says only that there is a message.
    public var hidesContent: Bool
    /// The language of the pushes' words, a BCP 47 tag such as `zh-Hans`; nil for the app's default. At most 35 bytes.
    public var language: String?
    /// Who may add them to groups and discussions without asking; nil for everybody. Where settings take the place of others, nil leaves
    /// it as it is: programs that do not know it must not open the door.
    public var mayBeAddedBy: AddingConsent?

    /// Settings from their parts; by default none.
    public init(
        levels: [ConversationType: NotificationLevel] = [:], quietHours: QuietHours? = nil, hidesContent: Bool = false,
        language: String? = nil, mayBeAddedBy: AddingConsent? = nil
    ) {
        self.levels = levels
        self.quietHours = quietHours
        self.hidesContent = hidesContent
        self.language = language
        self.mayBeAddedBy = mayBeAddedBy
    }

    /// These in place of `earlier` ones.
    package func replacing(_ earlier: PersonSettings) -> PersonSettings {
        var settings = self
        settings.mayBeAddedBy = self.mayBeAddedBy ?? earlier.mayBeAddedBy
        return settings
    }

    /// The level of a conversation: its own while that holds, else its kind's.
    public func level(of conversation: ConversationID, _ own: ConversationSettings?, wall: Int64) -> NotificationLevel {
        if let own, let level = own.level, own.levelUntil.map({ wall < $0 }) ?? true { return level }
        return self.levels[conversation.type] ?? .all
    }
}

extension PersonSettings: Codable {
    private enum CodingKeys: CodingKey { case levels, quietHours, hidesContent, language, mayBeAddedBy }

    /// Reads settings. What cannot be read alone is as if it was not set, such as a word of a later version.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            quietHours: try? members.decode(QuietHours.self, forKey: .quietHours),
            hidesContent: (try? members.decode(Bool.self, forKey: .hidesContent)) ?? false,
            language: try? members.decode(String.self, forKey: .language),
            mayBeAddedBy: try? members.decode(AddingConsent.self, forKey: .mayBeAddedBy))
        let words = (try? members.decode([String].self, forKey: .levels)) ?? []
        for place in stride(from: 1, to: words.count, by: 2) {
            guard let type = ConversationType(rawValue: words[place - 1]) else { continue }
            self.levels[type] = NotificationLevel(rawValue: words[place])
        }
    }

    /// Writes all settings: the levels as a list, each after its kind, in the order of the kinds.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        let levels = self.levels.sorted { $0.key < $1.key }
        try members.encode(levels.flatMap { [$0.key.rawValue, $0.value.rawValue] }, forKey: .levels)
        try members.encodeIfPresent(self.quietHours, forKey: .quietHours)
        try members.encode(self.hidesContent, forKey: .hidesContent)
        try members.encodeIfPresent(self.language, forKey: .language)
        try members.encodeIfPresent(self.mayBeAddedBy, forKey: .mayBeAddedBy)
    }
}

/// The hours of each day in which nothing is to ring, by the clock on the person's wall.
public struct QuietHours: Hashable, Sendable, Codable {
    /// When they begin, in minutes after midnight: 0 to 1,439.
    public var start: Int
    /// When they end, in minutes after midnight: 0 to 1,439. Before `start` for hours over midnight; equal to it for a whole day.
    public var end: Int
    /// The days on which they begin: 1 is Monday, 7 Sunday. Sorted, without repeats; empty for every day.
    public var weekdays: [Int]
    /// The zone of the wall clock by its name in the time-zone database, such as `Europe/Berlin`.
    public var timeZone: String
    /// The treatment of pushes meanwhile.
    public var manner: Manner

    /// The treatment of pushes in quiet hours.
    public enum Manner: String, Hashable, Sendable, CaseIterable, Codable, JSONWritable {
        /// Sent when the hours are over.
        case `defer`
        case drop
    }

    /// Quiet hours from their parts.
    public init(start: Int, end: Int, weekdays: [Int] = [], timeZone: String, manner: Manner = .defer) {
        self.start = start
        self.end = end
        self.weekdays = weekdays
        self.timeZone = timeZone
        self.manner = manner
    }

    /// Reads quiet hours. A manner that is not known is `defer`: they are quiet all the same.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            start: try members.decode(Int.self, forKey: .start), end: try members.decode(Int.self, forKey: .end),
            weekdays: try members.decode([Int].self, forKey: .weekdays),
            timeZone: try members.decode(String.self, forKey: .timeZone),
            manner: (try? members.decode(Manner.self, forKey: .manner)) ?? .defer)
    }

    /// Throws `InvalidField` for a minute or day out of range; only a time-zone database knows the zone.
    public func validate() throws(InvalidField) {
        for (field, minute) in [("quiet_hours.start", self.start), ("quiet_hours.end", self.end)]
        where !(0..<1_440).contains(minute) {
            throw InvalidField(field: field, rule: "must be 0 to 1439 minutes after midnight, got \(minute)")
        }
        if let day = self.weekdays.first(where: { !(1...7).contains($0) }) {
            throw InvalidField(field: "quiet_hours.weekdays", rule: "must be 1 (Monday) to 7 (Sunday), got \(day)")
        }
        try InvalidField.check(
            !self.timeZone.isEmpty && self.timeZone.utf8.count <= 64, "quiet_hours.time_zone", "must be 1 to 64 bytes")
    }
}
