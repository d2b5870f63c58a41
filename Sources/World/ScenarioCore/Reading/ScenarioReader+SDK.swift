import ClientCore
import TidingsModel

// The SDK behind the app.
extension ScenarioReader {
    mutating func sdk(_ node: ScenarioNode) -> SDKSetup? {
        var sdk = SDKSetup()
        guard let fields = self.reader.fields(node, .sdk) else { return nil }
        if let node = fields["person"], let person = self.reader.text(node, "person") { sdk.person = UserID(person) }
        if let node = fields["kit"] { sdk.hasKit = self.reader.flag(node, "kit") ?? true }
        self.reader.read("localNotifications", in: fields, into: &sdk.kit.isLocalNotificationEnabled) {
            $0.flag($1, $2)
        }
        self.reader.read("showsContent", in: fields, into: &sdk.kit.showsContent) { $0.flag($1, $2) }
        if let node = fields["customCallback"] { self.customCallback(node, &sdk) }
        if let node = fields["providers"], let fields = self.reader.fields(node, .providers) {
            sdk.names = ResolvedNames(
                user: self.reader.text("user", in: fields), group: self.reader.text("group", in: fields),
                member: self.reader.text("member", in: fields),
                memberCount: fields["memberCount"].map { self.count($0, "memberCount") })
        }
        for member in self.reader.mapping("profiles", in: fields) {
            sdk.profiles[UserID(member.key)] = Profile(name: self.reader.text(member.node, "profiles"))
        }
        for member in self.reader.mapping("portraits", in: fields) {
            sdk.profiles[UserID(member.key), default: Profile()].portrait = self.reader.text(member.node, "portraits")
        }
        if let node = fields["language"] { sdk.language = self.reader.text(node, "language") }
        self.reader.read("hidesContent", in: fields, into: &sdk.hidesContent) { $0.flag($1, $2) }
        if let node = fields["words"] { sdk.words = self.words(node) }
        for member in self.reader.mapping("levels", in: fields) {
            let words = NotificationLevel.allCases.map { ($0.rawValue, $0) }
            guard let conversation = self.conversation(member.key, member.position),
                let level = self.reader.word(member.node, "level", words)
            else { continue }
            sdk.levels[conversation] = level
        }
        if let node = fields["unread"] { sdk.unread = self.count(node, "unread") }
        if let node = fields["badge"] { sdk.badge = self.storedBadge(node) }
        if let node = fields["position"] { sdk.position = self.position(node, "position") }
        if let node = fields["phonePosition"] {
            sdk.phonePosition = self.position(node, "phonePosition")
            if let known = sdk.phonePosition, known > sdk.position {
                self.reader.problem(
                    node.position, "phonePosition must be at most position, which is \(sdk.position), got \(known)")
            }
        }
        for member in self.reader.mapping("ledger", in: fields) {
            self.promise(member, of: "sdk.ledger", isMessage: true)
            if let known = self.knownMessage(member) { sdk.ledger.append(known) }
        }
        if let node = fields["offline"] { sdk.isOffline = self.reader.flag(node, "offline") ?? false }
        if let node = fields["actions"] { sdk.registersActions = self.reader.flag(node, "actions") ?? false }
        self.reader.read("fetchesMissed", in: fields, into: &sdk.fetchesMissed) { $0.flag($1, $2) }
        self.reader.read("pushText", in: fields, into: &sdk.pushText) {
            $0.word($1, $2, PushTextMode.allCases.map { ($0.rawValue, $0) })
        }
        self.reader.read("onlySender", in: fields, into: &sdk.isOnlySender) { $0.flag($1, $2) }
        if let node = fields["push"] { sdk.push = self.pushOptions(node) }
        self.reader.read("managesBadge", in: fields, into: &sdk.kit.managesBadge) { $0.flag($1, $2) }
        if let node = fields["presents"] { sdk.presents = self.presents(node) }
        if let node = fields["foreground"] { self.foreground(node, &sdk) }
        if let node = fields["navigation"] { self.navigation(node, &sdk) }
        self.reader.read("centerTakes", in: fields, into: &sdk.centerTakes) { $0.time($1, $2) }
        self.reader.read("imageHosts", in: fields, into: &sdk.imageHosts) { $0.texts($1, $2) }
        self.reader.read("communication", in: fields, into: &sdk.kit.usesCommunicationNotifications) {
            $0.flag($1, $2)
        }
        return sdk
    }

    /// With the rules of the server's API.
    mutating func pushOptions(_ node: ScenarioNode) -> PushOptions? {
        do throws(InvalidField) {
            return try PushOptions(parsing: self.reader.json(node).serialized).nonEmpty
        } catch {
            self.reader.problem(node.position, error.description)
            return nil
        }
    }

    private mutating func words(_ node: ScenarioNode) -> AppWords {
        guard let fields = self.reader.fields(node, .words) else { return AppWords() }
        var own = NotificationWords()
        for member in NotificationWords.members {
            guard let node = fields[member.name] else { continue }
            own[keyPath: member.path] = self.reader.text(node, member.name) ?? ""
        }
        for member in self.reader.mapping("kinds", in: fields) {
            own.kinds[ObjectName(member.key)] = self.reader.text(member.node, "kinds")
        }
        let language = self.reader.text("language", in: fields) ?? "en"
        return AppWords(language: language, byLanguage: [language: own])
    }

    /// A number, `none`, or its parts.
    private mutating func storedBadge(_ node: ScenarioNode) -> SDKSetup.StoredBadge {
        if node.text == "none" { return .missing }
        guard case .mapping = node.value else { return .stored(Badge(server: self.count(node, "badge"))) }
        guard let fields = self.reader.fields(node, .storedBadge) else { return .missing }
        let server = fields["server"].map { self.count($0, "server") } ?? 0
        let foreign = fields["foreign"].map { self.count($0, "foreign", from: -server) } ?? 0
        let position = fields["position"].map { self.position($0, "position") } ?? 0
        return .stored(Badge(server: server, foreign: foreign, position: position))
    }

    /// So many unread messages; sums of them fit everywhere.
    private mutating func count(_ node: ScenarioNode, _ name: String, from least: Int = 0) -> Int {
        let most = 1_000_000_000
        guard let number = self.reader.number(node, name, from: least) else { return 0 }
        guard number > most else { return number }
        self.reader.problem(node.position, "\(name) must be at most \(most), got \(number)")
        return 0
    }

    private mutating func position(_ node: ScenarioNode, _ name: String) -> LogPosition {
        guard let number = self.reader.number(node, name) else { return 0 }
        if number > 10_000 {
            self.reader.problem(node.position, "\(name) must be at most 10000, got \(number)")
            return 0
        }
        return LogPosition(number)
    }

    private mutating func knownMessage(_ member: ScenarioNode.Member) -> KnownMessage? {
        var known = KnownMessage(label: member.key)
        guard case .mapping = member.node.value else {
            guard let state = self.reader.word(member.node, "ledger", KnownMessage.State.self) else { return nil }
            known.state = state
            return known
        }
        guard let fields = self.reader.fields(member.node, .ledger) else { return nil }
        self.reader.read("state", in: fields, into: &known.state) { $0.word($1, $2, KnownMessage.State.self) }
        if let node = fields["by"] {
            let words: [(String, Ledger.Holder)] = [("app", .kit(process: 0)), ("extension", .pushExtension)]
            known.holder = self.reader.word(node, "by", words) ?? known.holder
        }
        if let node = fields["age"] { known.age = self.reader.time(node, "age") ?? 0 }
        return known
    }

    /// `PR:bob`, `GRP:team`.
    mutating func conversation(_ text: String, _ position: ScenarioPosition) -> ConversationID? {
        let parts = text.split(separator: ":", maxSplits: 1)
        if parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) {
            return ConversationID(type: type, target: String(parts[1]))
        }
        let codes = ConversationType.allCases.map(\.rawValue).joined(separator: ", ")
        self.reader.problem(
            position,
            "a conversation is a kind and a target such as PR:bob or GRP:team, got \"\(text)\" (kinds: \(codes))")
        return nil
    }
}
