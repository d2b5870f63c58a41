import TidingsModel

// What the screens of settings show, as values.

/// The app's permission from iOS.
struct SystemPermission: Hashable, Sendable {
    enum Answer: Hashable, Sendable { case allowed, quiet, denied, unasked }
    var answer: Answer
    var banners: Bool
    var sounds: Bool
    var badge: Bool
}

/// The settings of all notifications.
struct NotificationForm: Hashable, Sendable {
    struct Named: Hashable, Sendable {
        var user: UserID
        var name: String
    }

    var person = PersonSettings()
    var blocked: [Named] = []
    /// Nil while iOS has not answered.
    var system: SystemPermission?
    var ringsInForeground = false
    var types: [ConversationType] = []

    /// From ten at night to seven in the morning, for who has set none.
    static func usualHours(in zone: String) -> QuietHours { QuietHours(start: 1_320, end: 420, timeZone: zone) }

    func sections(_ words: ListWords) -> [FormSection] {
        let levels = self.types.map { type in
            FormRow(
                "level.\(type.rawValue)", words.kinds[type] ?? type.rawValue,
                value: words.name(of: self.person.levels[type] ?? .all), kind: .link)
        }
        let blocked = self.blocked.map { FormRow("blocked.\($0.user)", $0.name, swipe: words.unblock) }
        return [
            FormSection("system", header: words.allowedBySystem, rows: self.systemRows(words)),
            FormSection("levels", header: words.level, rows: levels),
            FormSection("quiet", footer: words.quietExplained, rows: self.quietRows(words)),
            FormSection(
                "content", footer: words.hideContentExplained,
                rows: [FormRow("hides", words.hideContent, kind: .toggle(isOn: self.person.hidesContent))]),
            FormSection("app", rows: [FormRow("rings", words.ringInApp, kind: .toggle(isOn: self.ringsInForeground))]),
            FormSection(
                "blocked", header: words.blocked,
                rows: blocked.isEmpty ? [FormRow("blocked", words.nobodyBlocked)] : blocked),
        ]
    }

    private func systemRows(_ words: ListWords) -> [FormRow] {
        var rows: [FormRow] = []
        if let system = self.system {
            let answer: String
            switch system.answer {
            case .allowed: answer = words.permissionAllowed
            case .quiet: answer = words.permissionQuiet
            case .denied: answer = words.permissionDenied
            case .unasked: answer = words.permissionUnasked
            }
            rows.append(FormRow("system.answer", words.notifications, value: answer))
            if system.answer == .allowed || system.answer == .quiet {
                rows += [
                    FormRow("system.banners", words.banners, value: words.state(system.banners)),
                    FormRow("system.sounds", words.sounds, value: words.state(system.sounds)),
                    FormRow("system.badge", words.badge, value: words.state(system.badge)),
                ]
            }
        }
        return rows + [FormRow("system.open", words.openSettings, kind: .button(isDestructive: false))]
    }

    private func quietRows(_ words: ListWords) -> [FormRow] {
        guard let hours = self.person.quietHours else {
            return [FormRow("quiet", words.quietHours, kind: .toggle(isOn: false))]
        }
        return [
            FormRow("quiet", words.quietHours, kind: .toggle(isOn: true)),
            FormRow("quiet.from", words.quietFrom, kind: .time(minutes: hours.start)),
            FormRow("quiet.to", words.quietTo, kind: .time(minutes: hours.end)),
            FormRow("quiet.later", words.quietLater, kind: .toggle(isOn: hours.manner == .defer)),
        ]
    }
}

/// The settings of one conversation.
struct ConversationForm: Hashable, Sendable {
    var conversation: ConversationID
    var title: String
    var person: UserID?
    /// The person's settings for it.
    var settings = ConversationSettings()
    var levelOfKind = NotificationLevel.all
    var isBlocked = false
    /// Nil for a conversation of two, and while it is not known.
    var info: ConversationInfo?
    var names: [UserID: String] = [:]

    /// For how long a conversation can be muted, in milliseconds, as `ListWords.spans` has it.
    static let spans: [Int64] = [3_600_000, 28_800_000, 604_800_000]

    static func id(of member: UserID) -> String { "member.\(member)" }

    /// - Parameter time: writes a moment of the wall clock.
    func sections(_ words: ListWords, time: (Int64) -> String) -> [FormSection] {
        var sections: [FormSection] = []
        // Chat rooms ring nowhere and stand in no list.
        if self.conversation.type != .chatRoom {
            sections.append(FormSection("ring", rows: self.ringRows(words, time)))
        }
        if let info = self.info { sections += self.memberSections(info, words) }
        if self.conversation.type == .direct, self.conversation.target != self.person?.rawValue {
            let kind = FormRow.Kind.button(isDestructive: !self.isBlocked)
            let title = self.isBlocked ? words.unblock : words.block
            sections.append(FormSection("block", rows: [FormRow("block", title, kind: kind)]))
        }
        return sections
    }

    private func ringRows(_ words: ListWords, _ time: (Int64) -> String) -> [FormRow] {
        let isMuted = (self.settings.level ?? self.levelOfKind).isMuted
        let end = isMuted ? self.settings.levelUntil.map { words.filled(\.mutedUntil, "time", time($0)) } : nil
        let level = self.settings.level.map { words.name(of: $0) } ?? words.levelOfKind
        return [FormRow("mute", words.title(of: .mute), detail: end, kind: .toggle(isOn: isMuted))]
            + (isMuted ? [] : [FormRow("mute.for", words.muteFor, kind: .link)])
            + [
                FormRow("level", words.level, value: level, kind: .link),
                FormRow("pin", words.title(of: .pin), kind: .toggle(isOn: self.settings.pinnedAt != nil)),
            ]
    }

    private func memberSections(_ info: ConversationInfo, _ words: ListWords) -> [FormSection] {
        let members = MemberRole.allCases.flatMap { role in info.members.filter { $0.role == role } }
        var sections = [
            FormSection(
                "members", header: words.filled(\.members, "count", "\(members.count)"),
                rows: members.map { member in
                    FormRow(
                        Self.id(of: member.id), member.nickname ?? self.names[member.id] ?? member.id.rawValue,
                        value: member.role == .member ? nil : words.roles[member.role])
                })
        ]
        guard let own = info.members.first(where: { $0.id == self.person }) else { return sections }
        if !info.isDissolved {
            let row = FormRow("nickname", words.nickname, value: own.nickname, kind: .link)
            sections.insert(FormSection("own", rows: [row]), at: 0)
        }
        let leave = FormRow("leave", words.leave, kind: .button(isDestructive: true))
        return sections + [FormSection("leave", rows: [leave])]
    }
}

/// The person's devices.
enum DeviceForm: Hashable, Sendable {
    case loading
    case failed(String)
    case devices([OwnDevice])

    static func id(of device: OwnDevice) -> String { "device.\(device.id)" }

    /// - Parameters:
    ///   - again: what asks anew.
    ///   - time: writes a moment of the wall clock.
    func sections(_ words: ListWords, again: String, time: (Int64) -> String) -> [FormSection] {
        switch self {
        case .loading: return [FormSection("state", rows: [FormRow("loading", words.loading)])]
        case .failed(let reason):
            let again = FormRow("again", again, kind: .button(isDestructive: false))
            return [FormSection("state", rows: [FormRow("failed", reason), again])]
        case .devices(let devices):
            let own = devices.filter(\.isCurrent).map { Self.row(of: $0, words, time) }
            // Those that are connected first, then those seen last.
            let others = devices.filter { !$0.isCurrent }.sorted {
                ($0.lastSeenAt ?? .max, $0.id.rawValue) > ($1.lastSeenAt ?? .max, $1.id.rawValue)
            }.map { Self.row(of: $0, words, time) }
            return [
                FormSection("own", header: words.thisDevice, rows: own),
                FormSection(
                    "others", header: words.otherDevices,
                    rows: others.isEmpty ? [FormRow("none", words.noOtherDevices)] : others),
            ].filter { !$0.rows.isEmpty }
        }
    }

    private static func row(of device: OwnDevice, _ words: ListWords, _ time: (Int64) -> String) -> FormRow {
        let detail = [
            device.lastSeenAt.map { words.filled(\.lastSeen, "time", time($0)) } ?? words.connectedNow,
            device.model,
            device.appVersion.map { words.filled(\.appVersion, "version", $0) },
            device.push == .none || device.push == .dead ? words.noPush : nil,
        ].compactMap { $0 }.joined(separator: " · ")
        return FormRow(
            Self.id(of: device), Self.name(of: device), detail: detail, swipe: device.isCurrent ? nil : words.signOut)
    }

    /// The system by its own name where it is a known one, and its version.
    static func name(of device: OwnDevice) -> String {
        let names = ["ios": "iOS", "ipados": "iPadOS", "macos": "macOS", "linux": "Linux"]
        let name = names[device.platform] ?? device.platform
        return [name, device.systemVersion ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
