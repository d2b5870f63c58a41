import PhoneCore
import TidingsModel

// What comes to the phone: pushes, local notifications, messages.
extension ScenarioReader {
    // MARK: What arrives

    mutating func push(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .push) else { return nil }
        self.steps.pushes += 1
        var label = "push-\(self.steps.pushes)"
        if let node = fields["id"] { label = self.name(node) ?? label } else { self.steps.labels.append(label) }
        var push = Push(delivery: 0, topic: ScenarioPhone.bundle.rawValue, payload: JSONObject())
        let lifetime = fields["headers"].flatMap { self.headers($0, &push) }
        var aps = JSONObject()
        for member in fields.members {
            switch member.key {
            case "id", "headers", "data", "size": break
            case "badge":
                if let badge = self.reader.number(member.node, "badge") { aps["badge"] = .int(badge) }
            case "content-available":
                let words: [(String, Int)] = [("1", 1), ("0", 0)]
                if let number = self.reader.word(member.node, member.key, words) { aps[member.key] = .int(number) }
            case "mutable-content":
                if self.reader.word(member.node, member.key, [("1", true)]) != nil { aps[member.key] = 1 }
            case "interruption-level":
                if self.reader.word(member.node, member.key, Self.levels) != nil {
                    aps[member.key] = self.reader.json(member.node)
                }
            case "alert": aps["alert"] = self.alert(member.node)
            case "sound": aps["sound"] = self.sound(member.node)
            case "relevance-score": aps[member.key] = self.reader.fraction(member.node, member.key)
            default:
                if let text = self.reader.text(member.node, member.key) { aps[member.key] = .string(text) }
            }
        }
        push.payload["aps"] = .object(aps)
        for member in self.reader.mapping("data", in: fields) {
            if member.key == "aps" { self.reader.problem(member.position, "aps is written by the keys beside data") }
            push.payload[member.key] = self.reader.json(member.node)
        }
        if let node = fields["size"] { self.fill(&push.payload, node) }
        return .push(push, label: label, lifetime: lifetime)
    }

    private mutating func fill(_ payload: inout JSONObject, _ node: ScenarioNode) {
        guard let size = self.reader.number(node, "size", from: 1) else { return }
        guard payload["filler"] == nil, size <= 100_000 else {
            return self.reader.problem(node.position, "size must be at most 100000, and data has no key filler then")
        }
        payload["filler"] = ""
        let least = JSONValue.object(payload).serialized.count
        guard size >= least else {
            return self.reader.problem(node.position, "size must be \(least) or more for this payload, got \(size)")
        }
        payload["filler"] = .string(String(repeating: "x", count: size - least))
    }

    /// - Returns: how long the push may be stored, in milliseconds; nil if it does not say.
    private mutating func headers(_ node: ScenarioNode, _ push: inout Push) -> Int64? {
        var lifetime: Int64?
        for member in self.reader.mapping(node, "headers") ?? [] {
            switch member.key {
            case "apns-push-type":
                push.pushType = self.reader.word(
                    member.node, member.key, ["alert", "background", "voip"].map { ($0, $0) })
                if push.pushType == "voip" { push.topic = "\(ScenarioPhone.bundle).voip" }
            case "apns-collapse-id": push.collapseID = self.reader.text(member.node, member.key)
            case "apns-priority":
                push.priority = self.reader.word(member.node, member.key, [("1", 1), ("5", 5), ("10", 10)]) ?? 10
            case "apns-expiration":
                if self.runsCode {
                    self.reader.problem(
                        member.position, "apns-expiration is for APNs: with app.executable a push comes without it")
                }
                lifetime = member.node.text == "0" ? 0 : self.reader.time(member.node, member.key)
            default:
                let allowed = ["apns-push-type", "apns-priority", "apns-collapse-id", "apns-expiration"]
                self.reader.problem(
                    member.position,
                    "unknown header \"\(member.key)\"\(Suggestion.text(for: member.key, among: allowed))")
            }
        }
        return lifetime
    }

    mutating func local(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .local),
            let label = fields["id"].flatMap({ self.name($0) })
        else { return nil }
        var content = NotificationContent(sound: .standard)
        if let node = fields["title"] { content.title = self.reader.text(node, "title") ?? "" }
        if let node = fields["body"] { content.body = self.reader.text(node, "body") ?? "" }
        if let node = fields["sound"], self.reader.flag(node, "sound") == false { content.sound = nil }
        if let node = fields["badge"] { content.badge = self.reader.number(node, "badge") }
        if let node = fields["category"] { content.categoryIdentifier = self.reader.text(node, "category") ?? "" }
        if let node = fields["thread"] { content.threadIdentifier = self.reader.text(node, "thread") ?? "" }
        for member in self.reader.mapping("data", in: fields) {
            content.userInfo[member.key] = self.reader.json(member.node)
        }
        return .local(NotificationRequest(identifier: label, content: content), self.moment(fields))
    }

    private mutating func moment(_ fields: NodeReader.Fields) -> LocalMoment {
        let repeats = fields["repeats"].map { self.reader.flag($0, "repeats") ?? false } ?? false
        if let node = fields["region"] {
            if let other = fields["in"] {
                self.reader.problem(other.position, "a notification waits for a time or for a region, not for both")
            }
            let name = self.reader.text(node, "region") ?? ""
            self.steps.regions.append(name)
            let ways = [("enter", (true, false)), ("leave", (false, true)), ("both", (true, true))]
            let way = fields["on"].map { self.reader.word($0, "on", ways) ?? (true, true) } ?? (true, true)
            return .region(
                NotificationRegion(identifier: name, notifiesOnEntry: way.0, notifiesOnExit: way.1),
                repeats: repeats)
        }
        if let node = fields["on"] { self.reader.problem(node.position, "`on` needs `region`") }
        guard let node = fields["in"] else {
            if repeats { self.reader.problem(fields.position, "a repeating notification needs `in` or `region`") }
            return .atOnce
        }
        guard let wait = self.reader.time(node, "in") else { return .atOnce }
        if repeats, wait < 60_000 {
            self.reader.problem(node.position, "a repeating notification needs `in` of 1 min or more")
        } else if wait == 0 {
            self.reader.problem(node.position, "`in` must be more than 0 s; without it the notification comes at once")
        }
        return .after(wait, repeats: repeats)
    }

    /// A text, or Apple's keys. The texts of an alert are texts whatever they look like.
    private mutating func alert(_ node: ScenarioNode) -> JSONValue? {
        guard case .mapping = node.value else { return self.reader.text(node, "alert").map { .string($0) } }
        guard let fields = self.reader.fields(node, .alert) else { return nil }
        var alert = JSONObject()
        for member in fields.members {
            switch member.key {
            case "title-loc-args", "subtitle-loc-args", "loc-args":
                alert[member.key] = self.reader.texts(member.node, member.key).map { .array($0.map { .string($0) }) }
            case "summary-arg-count":
                alert[member.key] = self.reader.number(member.node, member.key).map { .int($0) }
            default: alert[member.key] = self.reader.text(member.node, member.key).map { .string($0) }
            }
        }
        return .object(alert)
    }

    private mutating func sound(_ node: ScenarioNode) -> JSONValue? {
        guard case .mapping = node.value else { return self.reader.text(node, "sound").map { .string($0) } }
        guard let fields = self.reader.fields(node, .sound),
            let name = self.reader.text("name", in: fields)
        else { return nil }
        var sound = JSONObject()
        if let node = fields["critical"], self.reader.word(node, "critical", [("1", true)]) != nil {
            sound["critical"] = 1
        }
        sound["name"] = .string(name)
        if let node = fields["volume"] { sound["volume"] = self.reader.fraction(node, "volume") }
        return .object(sound)
    }

    // MARK: Live Activities

    mutating func startActivity(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .startActivity),
            let id = fields["id"].flatMap({ self.name($0, isActivity: true) }),
            let state = self.contentState(fields)
        else { return nil }
        var pushType: ActivityPushType? = .token
        if let node = fields["token"], self.reader.flag(node, "token") == false { pushType = nil }
        if let node = fields["channel"] {
            if fields["token"] != nil {
                self.reader.problem(node.position, "an activity has a token or listens to a channel, not both")
            }
            pushType = self.reader.text(node, "channel").map { .channel($0) }
        }
        return .activity(.start(id, contentState: state, pushType: pushType))
    }

    mutating func updateActivity(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .updateActivity),
            let id = fields["id"].flatMap({ self.activity($0, "id") }),
            let state = self.contentState(fields)
        else { return nil }
        return .activity(.update(id, contentState: state))
    }

    private mutating func contentState(_ fields: NodeReader.Fields) -> JSONValue? {
        fields["content-state"].flatMap { self.reader.object($0, "content-state") }
    }

    private static let activityEvents = [ActivityUpdate.Change.started, .updated, .ended].map { ($0.rawValue, $0) }

    mutating func activityPush(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .activityPush),
            let event = self.activityEvent(fields), let idNode = fields["id"],
            let id = event == .started ? self.name(idNode, isActivity: true) : self.activity(idNode, "id")
        else { return nil }
        var push = ActivityPush(event: event, target: .activity(id))
        self.readActivity(fields, into: &push)
        push.attributesType = self.reader.text("attributes-type", in: fields)
        push.attributes = fields["attributes"].flatMap { self.reader.object($0, "attributes") }
        push.channelToListen = self.reader.text("input-push-channel", in: fields)
        return .activityPush(push)
    }

    mutating func broadcast(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .broadcast), let event = self.activityEvent(fields),
            let channel = self.reader.text("channel", in: fields)
        else { return nil }
        var push = ActivityPush(event: event, target: .channel(channel))
        self.readActivity(fields, into: &push)
        return .activityPush(push)
    }

    private mutating func activityEvent(_ fields: NodeReader.Fields) -> ActivityUpdate.Change? {
        fields["event"].flatMap { self.reader.word($0, "event", Self.activityEvents) }
    }

    private mutating func readActivity(_ fields: NodeReader.Fields, into push: inout ActivityPush) {
        push.contentState = fields["content-state"].flatMap { self.reader.object($0, "content-state") }
        push.age = fields["age"].flatMap { self.reader.time($0, "age") } ?? 0
        push.staleAfter = fields["stale-date"].flatMap { self.reader.time($0, "stale-date") }
        push.dismissedAfter = fields["dismissal-date"].flatMap { self.reader.time($0, "dismissal-date") }
        push.alert = fields["alert"].flatMap { self.alert($0) }
        push.sound = fields["sound"].flatMap { self.sound($0) }
        if push.alert == nil, let node = fields["sound"] {
            self.reader.problem(node.position, "a sound needs an alert")
        }
    }

    mutating func notificationAction(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .notificationAction),
            let id = self.reader.text("id", in: fields),
            let label = fields["on"].flatMap({ self.known($0, "on") })
        else { return nil }
        return .act(on: label, .action(id, text: self.reader.text("text", in: fields)))
    }

    mutating func focus(_ node: ScenarioNode) -> StepAction? {
        let words: [(String, Focus?)] = [
            ("off", nil), ("on", Focus(allowsTimeSensitive: false, allowedApps: [])),
            ("timeSensitive", Focus(allowsTimeSensitive: true, allowedApps: [])),
            ("allowsApp", Focus(allowsTimeSensitive: false, allowedApps: [ScenarioPhone.bundle])),
        ]
        if self.runsCode, ["on", "allowsApp"].contains(node.text) {
            self.reader.problem(node.position, "with app.executable focus must be off or timeSensitive")
        }
        return self.reader.word(node, "focus", words).map { .phone(.person(.focusChanged($0))) }
    }

    // MARK: The server

    mutating func message(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .message) else { return nil }
        self.mustFit(fields)
        let recalls = fields["recalls"].flatMap { self.known($0, "recalls") }
        let edits = fields["edits"].flatMap { self.known($0, "edits") }
        guard let label = fields["id"].flatMap({ self.name($0) }) else { return nil }
        var message = ScriptedMessage(label: label)
        if let node = fields["from"] { message.sender = UserID(self.reader.text(node, "from") ?? "") }
        if let node = fields["for"] { message.recipient = UserID(self.reader.text(node, "for") ?? "") }
        if let node = fields["in"], node.text != "PR" {
            message.conversation = self.reader.text(node, "in").flatMap { self.conversation($0, node.position) }
        }
        if let node = fields["text"] { message.text = self.reader.text(node, "text") ?? "" }
        if let node = fields["type"], let type = self.reader.text(node, "type") { message.type = ObjectName(type) }
        if let node = fields["command"] { message.isCommand = self.reader.flag(node, "command") ?? false }
        if let node = fields["notifies"] { message.notifies = self.reader.flag(node, "notifies") ?? true }
        (message.recalls, message.edits) = (recalls, edits)
        if recalls != nil, let node = fields["edits"] {
            self.reader.problem(node.position, "a recall edits nothing: give recalls or edits")
        }
        if let node = fields["image"] {
            message.imageURL = self.reader.text(node, "image")
            if message.type != .image {
                self.reader.problem(node.position, "image needs a message of type \(ObjectName.image.rawValue)")
            }
        }
        if let node = fields["answers"] {
            message.answered = self.reader.text(node, "answers").map { UserID($0) }
            if message.type != .reference {
                self.reader.problem(node.position, "answers needs a message of type \(ObjectName.reference.rawValue)")
            }
        }
        if let node = fields["lifetime"] { message.lifetime = self.reader.time(node, "lifetime") }
        if let node = fields["push"] { message.push = self.pushOptions(node) }
        if message.recipient == nil, recalls == nil, edits == nil { self.steps.messages.append(label) }
        self.addressees(fields, &message)
        self.ways(fields, &message)
        return .sdk(.message(message))
    }

    /// Whom it mentions: the rules are the server's (`MessageDraft.validate`).
    private mutating func addressees(_ fields: NodeReader.Fields, _ message: inout ScriptedMessage) {
        if let node = fields["contentMentions"] { message.contentMentions = self.mentions(node, "contentMentions") }
        guard let node = fields["mentions"] else { return }
        message.mentions = self.mentions(node, "mentions")
        if message.conversation?.type.targetIsPeer ?? true {
            self.reader.problem(node.position, "mentions needs a conversation with members: give `in`")
        }
        if message.recalls != nil { self.reader.problem(node.position, "a recall mentions nobody") }
    }

    private mutating func mentions(_ node: ScenarioNode, _ name: String) -> Mentions {
        if node.text == "all" { return .everyone }
        let names = Set(self.reader.texts(node, name) ?? [])
        if names.isEmpty || names.count > Mentions.usersMax || names.contains("") {
            self.reader.problem(
                node.position, "\(name) must be all or a list of 1 to \(Mentions.usersMax) people, got \(node.kind)")
        }
        return .users(names.sorted().map { UserID($0) })
    }

    private mutating func ways(_ fields: NodeReader.Fields, _ message: inout ScriptedMessage) {
        if let node = fields["catchUp"] {
            message.isCatchUp = self.reader.flag(node, "catchUp") ?? false
            if message.isCatchUp, message.recipient != nil {
                self.reader.problem(node.position, "what is for somebody else is in no log of this phone: no catchUp")
            }
        }
        if let node = fields["namesAfter"] {
            message.namesAfter = node.text == "never" ? nil : self.reader.time(node, "namesAfter") ?? 0
            if !self.steps.hasKit {
                self.reader.problem(
                    node.position, "namesAfter needs the kit, which asks the providers: app.sdk.kit is no")
            }
            if message.recipient != nil || message.recalls != nil || message.edits != nil {
                self.reader.problem(node.position, "nobody asks for the names of this: no namesAfter")
            }
        }
    }

    mutating func custom(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .customMessage),
            let label = fields["id"].flatMap({ self.name($0) })
        else { return nil }
        var message = ScriptedMessage(label: label)
        let extras = fields["extras"].flatMap { self.reader.object($0, "extras") } ?? .object(JSONObject())
        message.custom = [
            "title": .string(self.reader.text("title", in: fields) ?? ""),
            "content": .string(self.reader.text("content", in: fields) ?? ""), "extras": extras,
        ]
        return .sdk(.message(message))
    }
}
