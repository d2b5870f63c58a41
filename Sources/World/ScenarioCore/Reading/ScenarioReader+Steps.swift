import PhoneCore
import TidingsModel

/// What the steps of a case have named so far, so that a step about something unknown is found before anything runs.
struct StepContext {
    /// Whether the case has an SDK.
    var sdk: Bool
    /// The ids of pushes, local notifications and messages, in order.
    var labels: [String] = []
    var pushes = 0
}

// The steps.
extension ScenarioReader {
    mutating func steps(_ node: ScenarioNode, _ name: String, mayExpect: Bool) -> [Step] {
        guard let nodes = self.reader.list(node, name) else { return [] }
        var steps: [Step] = []
        for node in nodes {
            guard let fields = self.reader.fields(node, .steps) else { continue }
            guard let member = fields.members.first, fields.members.count == 1 else {
                self.reader.problem(
                    node.position,
                    "a step has exactly one key, got \(fields.members.map(\.key).joined(separator: " and "))")
                continue
            }
            if !mayExpect, ["expect", "clear"].contains(member.key) {
                self.reader.problem(member.position, "\(member.key) cannot stand in \(name): it is outside the trace")
                continue
            }
            guard let action = self.step(member) else { continue }
            let words = "\(member.key): \(member.node.text ?? action.label ?? "…")"
            steps.append(Step(position: member.position, action: action, words: words))
        }
        return steps
    }

    // tidy: long because it is one case per kind of step.
    private mutating func step(_ member: ScenarioNode.Member) -> StepAction? {
        let node = member.node
        switch member.key {
        case "push": return self.push(node)
        case "local": return self.local(node)
        case "message": return self.message(node)
        case "custom": return self.custom(node)
        case "read":
            guard self.needSDK(member) else { return nil }
            return self.reader.text(node, "read").flatMap { self.conversation($0, node.position) }.map {
                .sdk(.read($0))
            }
        case "tap": return self.known(node, "tap").map { .act(on: $0, .tap) }
        case "dismiss": return self.known(node, "dismiss").map { .act(on: $0, .dismiss) }
        case "swipeBanner": return self.known(node, "swipeBanner").map { .act(on: $0, .swipeBanner) }
        case "openSettings":
            if node.text == "app" { return .phone(.person(.appSettingsOpened(Stage.bundle))) }
            return self.known(node, "openSettings").map { .act(on: $0, .openSettings) }
        case "action": return self.notificationAction(node)
        case "person": return self.reader.word(node, "person", PersonWord.self).map { .phone($0.event) }
        case "system": return self.reader.word(node, "system", SystemWord.self).map { .phone($0.event) }
        case "install":
            return self.reader.word(node, "install", [("update", true), ("again", false)]).map {
                .reinstall(keepsData: $0)
            }
        case "prompt":
            return self.reader.word(node, "prompt", [("allow", true), ("deny", false)]).map {
                .phone(.person(.permissionAnswered(allowed: $0)))
            }
        case "set": return .switches(self.switches(node))
        case "focus": return self.focus(node)
        case "airplaneMode":
            return self.reader.flag(node, member.key).map { .phone(.person(.airplaneModeChanged(isOn: $0))) }
        case "lowPowerMode":
            return self.reader.flag(node, member.key).map { .phone(.person(.lowPowerModeChanged(isOn: $0))) }
        case "wait": return self.reader.time(node, "wait").map { .wait($0) }
        case "clear": return self.reader.word(node, "clear", [("trace", StepAction.clear)])
        case "expect": return self.expectation(node).map { .expect($0) }
        default: return self.appStep(member)
        }
    }

    /// What the app's code calls.
    private mutating func appStep(_ member: ScenarioNode.Member) -> StepAction? {
        let node = member.node
        switch member.key {
        case "requestAuthorization":
            let words: [(String, AuthorizationOptions)] = [
                ("alert", .alert), ("sound", .sound), ("badge", .badge), ("provisional", .provisional),
                ("criticalAlert", .criticalAlert), ("timeSensitive", .timeSensitive),
                ("providesAppNotificationSettings", .providesAppNotificationSettings),
            ]
            return self.reader.words(node, "authorization option", words).map {
                .app(.query(.requestAuthorization($0.reduce([]) { $0.union($1) })))
            }
        case "setBadgeCount":
            return self.reader.number(node, member.key).map { .app(.query(.setBadgeCount($0))) }
        case "applicationIconBadgeNumber":
            return self.reader.number(node, member.key).map { .app(.event(.iconBadgeNumberSet($0))) }
        case "removeDelivered":
            return self.identifiers(node, member.key).map { .app(.event(.deliveredRemoved(identifiers: $0))) }
        case "removePending":
            return self.identifiers(node, member.key).map { .app(.event(.pendingRemoved(identifiers: $0))) }
        case "register":
            return self.reader.flag(node, member.key).map {
                .app(.event($0 ? .remoteRegistrationRequested : .remoteRegistrationEnded))
            }
        case "setsDelegate":
            return self.reader.flag(node, member.key).map { .app(.event(.delegateChanged(isSet: $0))) }
        case "beginBackgroundTask":
            return self.reader.number(node, member.key, from: 1).map {
                .app(.event(.backgroundTaskBegan(BackgroundTaskNumber($0))))
            }
        case "endBackgroundTask":
            return self.reader.number(node, member.key, from: 1).map {
                .app(.event(.backgroundTaskEnded(BackgroundTaskNumber($0))))
            }
        case "minimumFetchInterval":
            return self.reader.time(node, member.key).map { .app(.event(.minimumFetchIntervalSet($0))) }
        case "submitRefreshTask":
            return self.reader.time(node, member.key).map { .refreshTask(after: $0) }
        case "shows": return self.reader.text(node, member.key).map { .app(.event(.screenChanged($0))) }
        case "crash":
            return self.reader.word(node, "crash", [("yes", StepAction.app(.event(.exited(crashed: true))))])
        default: return nil
        }
    }

    /// nil for `all` inside a result; nil outside is a problem.
    private mutating func identifiers(_ node: ScenarioNode, _ name: String) -> [String]?? {
        if node.text == "all" { return .some(nil) }
        return self.reader.list(node, name).map { nodes in .some(nodes.compactMap { self.known($0, name) }) } ?? nil
    }

    /// The id of something an earlier step has named.
    mutating func known(_ node: ScenarioNode, _ name: String) -> String? {
        guard let label = self.reader.text(node, name) else { return nil }
        guard self.steps.labels.contains(label) else {
            let known = self.steps.labels.isEmpty ? ["none so far"] : self.steps.labels
            self.reader.problem(
                node.position,
                "\(name): no earlier step has brought a notification \"\(label)\"\(Suggestion.text(for: label, among: known))"
            )
            return nil
        }
        return label
    }

    mutating func name(_ node: ScenarioNode) -> String? {
        guard let label = self.reader.text(node, "id") else { return nil }
        if label.isEmpty || label.contains(where: { " ,()\"".contains($0) }) {
            self.reader.problem(node.position, "an id must be a word without spaces, commas, quotes and brackets")
        }
        if self.steps.labels.contains(label) {
            self.reader.problem(node.position, "the id \"\(label)\" is used twice in this case")
        }
        self.steps.labels.append(label)
        return label
    }

    mutating func needSDK(_ member: ScenarioNode.Member) -> Bool {
        if self.steps.sdk { return true }
        self.reader.problem(member.position, "\(member.key) needs an app with the SDK: give app.sdk")
        return false
    }

    // MARK: What arrives

    private mutating func push(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .push) else { return nil }
        self.steps.pushes += 1
        var label = "push-\(self.steps.pushes)"
        if let node = fields["id"] { label = self.name(node) ?? label } else { self.steps.labels.append(label) }
        var push = Push(delivery: 0, topic: Stage.bundle.rawValue, payload: JSONObject())
        if let node = fields["headers"] { self.headers(node, &push) }
        var aps = JSONObject()
        for member in fields.members {
            switch member.key {
            case "id", "headers", "data": break
            case "badge":
                if let badge = self.reader.number(member.node, "badge") { aps["badge"] = .int(badge) }
            case "content-available", "mutable-content":
                if self.reader.word(member.node, member.key, [("1", true)]) != nil { aps[member.key] = 1 }
            case "interruption-level":
                if self.reader.word(member.node, member.key, Self.levels) != nil {
                    aps[member.key] = self.reader.json(member.node)
                }
            case "alert", "sound", "relevance-score": aps[member.key] = self.reader.json(member.node)
            default:
                if let text = self.reader.text(member.node, member.key) { aps[member.key] = .string(text) }
            }
        }
        push.payload["aps"] = .object(aps)
        for member in fields["data"].flatMap({ self.reader.mapping($0, "data") }) ?? [] {
            if member.key == "aps" { self.reader.problem(member.position, "aps is written by the keys beside data") }
            push.payload[member.key] = self.reader.json(member.node)
        }
        return .push(push, label: label)
    }

    private mutating func headers(_ node: ScenarioNode, _ push: inout Push) {
        for member in self.reader.mapping(node, "headers") ?? [] {
            switch member.key {
            case "apns-push-type":
                push.pushType = self.reader.text(member.node, member.key)
                if push.pushType == "voip" { push.topic = "\(Stage.bundle).voip" }
            case "apns-collapse-id": push.collapseID = self.reader.text(member.node, member.key)
            case "apns-priority":
                push.priority = self.reader.word(member.node, member.key, [("1", 1), ("5", 5), ("10", 10)]) ?? 10
            default:
                let allowed = ["apns-push-type", "apns-priority", "apns-collapse-id"]
                self.reader.problem(
                    member.position,
                    "unknown header \"\(member.key)\"\(Suggestion.text(for: member.key, among: allowed))")
            }
        }
    }

    private mutating func local(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .local),
            let label = self.reader.needed("id", in: fields).flatMap({ self.name($0) })
        else { return nil }
        var content = NotificationContent(sound: .standard)
        if let node = fields["title"] { content.title = self.reader.text(node, "title") ?? "" }
        if let node = fields["body"] { content.body = self.reader.text(node, "body") ?? "" }
        if let node = fields["sound"], self.reader.flag(node, "sound") == false { content.sound = nil }
        if let node = fields["badge"] { content.badge = self.reader.number(node, "badge") }
        if let node = fields["category"] { content.categoryIdentifier = self.reader.text(node, "category") ?? "" }
        if let node = fields["thread"] { content.threadIdentifier = self.reader.text(node, "thread") ?? "" }
        for member in fields["data"].flatMap({ self.reader.mapping($0, "data") }) ?? [] {
            content.userInfo[member.key] = self.reader.json(member.node)
        }
        let repeats = fields["repeats"].map { self.reader.flag($0, "repeats") ?? false } ?? false
        var wait: Int64?
        if let node = fields["in"] {
            wait = self.reader.time(node, "in")
            if repeats, let time = wait, time < 60_000 {
                self.reader.problem(node.position, "a repeating notification needs `in` of 1 min or more")
            }
        } else if repeats {
            self.reader.problem(fields.position, "a repeating notification needs `in`")
        }
        return .local(
            NotificationRequest(identifier: label, content: content), after: wait, repeats: repeats)
    }

    private mutating func notificationAction(_ node: ScenarioNode) -> StepAction? {
        guard let fields = self.reader.fields(node, .notificationAction),
            let id = self.reader.needed("id", in: fields).flatMap({ self.reader.text($0, "id") }),
            let label = self.reader.needed("on", in: fields).flatMap({ self.known($0, "on") })
        else { return nil }
        return .act(on: label, .action(id, text: fields["text"].flatMap { self.reader.text($0, "text") }))
    }

    mutating func focus(_ node: ScenarioNode) -> StepAction? {
        let words: [(String, Focus?)] = [
            ("off", nil), ("on", Focus(allowsTimeSensitive: false, allowedApps: [])),
            ("timeSensitive", Focus(allowsTimeSensitive: true, allowedApps: [])),
            ("allowsApp", Focus(allowsTimeSensitive: false, allowedApps: [Stage.bundle])),
        ]
        return self.reader.word(node, "focus", words).map { .phone(.person(.focusChanged($0))) }
    }

    // MARK: The server

    private mutating func message(_ node: ScenarioNode) -> StepAction? {
        let member = ScenarioNode.Member(key: "message", position: node.position, node: node)
        guard self.needSDK(member), let fields = self.reader.fields(node, .message) else { return nil }
        let recalls = fields["recalls"].flatMap { self.known($0, "recalls") }
        guard let label = self.reader.needed("id", in: fields).flatMap({ self.name($0) }) else { return nil }
        var message = ScriptedMessage(label: label)
        if let node = fields["from"] { message.sender = UserID(self.reader.text(node, "from") ?? "") }
        if let node = fields["in"], node.text != "PR" {
            message.conversation = self.reader.text(node, "in").flatMap { self.conversation($0, node.position) }
        }
        if let node = fields["text"] { message.text = self.reader.text(node, "text") ?? "" }
        if let node = fields["command"] { message.isCommand = self.reader.flag(node, "command") ?? false }
        if let node = fields["notifies"] { message.notifies = self.reader.flag(node, "notifies") ?? true }
        message.recalls = recalls
        return .sdk(.message(message))
    }

    private mutating func custom(_ node: ScenarioNode) -> StepAction? {
        let member = ScenarioNode.Member(key: "custom", position: node.position, node: node)
        guard self.needSDK(member), let fields = self.reader.fields(node, .customMessage),
            let label = self.reader.needed("id", in: fields).flatMap({ self.name($0) })
        else { return nil }
        var message = ScriptedMessage(label: label)
        let extras = fields["extras"].map { self.reader.json($0) } ?? .object(JSONObject())
        message.custom = [
            "title": .string(fields["title"].flatMap { self.reader.text($0, "title") } ?? ""),
            "content": .string(fields["content"].flatMap { self.reader.text($0, "content") } ?? ""), "extras": extras,
        ]
        return .sdk(.message(message))
    }
}

extension PersonWord {
    var event: PhoneEvent {
        switch self {
        case .open: .person(.appOpened(Stage.bundle))
        case .home: .person(.wentHome)
        case .lock: .person(.locked)
        case .unlock: .person(.unlocked)
        case .forceQuit: .person(.appForceQuit(Stage.bundle))
        case .overlayAppears: .person(.overlayAppeared)
        case .overlayDisappears: .person(.overlayDisappeared)
        }
    }
}

extension SystemWord {
    var event: PhoneEvent {
        switch self {
        case .kill: .system(.appKilled(Stage.bundle))
        case .freeze: .system(.appFrozen(Stage.bundle))
        case .evict: .system(.appEvicted(Stage.bundle))
        case .lowMemory: .system(.memoryRanLow)
        case .restart: .system(.restarted)
        case .remove: .system(.appRemoved(Stage.bundle))
        case .disconnectScene: .system(.sceneDisconnected(Stage.bundle))
        case .prewarm: .system(.prewarmed(Stage.bundle))
        case .backgroundChance: .system(.backgroundChance(Stage.bundle))
        }
    }
}
