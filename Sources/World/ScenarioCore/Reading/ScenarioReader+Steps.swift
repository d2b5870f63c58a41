import PhoneCore
import TidingsModel

/// The names in the steps of a case so far: a step about anything else is a problem before the case runs.
struct StepContext {
    var sdk = false
    var hasKit = false
    var server: ServerSetup?
    var labels: [String] = []
    var messages: [String] = []
    var pushes = 0
    var activities: [String] = []
    var regions: [String] = []
    var locks: [String] = []
}

// The steps.
extension ScenarioReader {
    mutating func steps(_ node: ScenarioNode, _ name: String, mayExpect: Bool) -> [Step] {
        guard let nodes = self.reader.list(node, name) else { return [] }
        var steps: [Step] = []
        for written in nodes {
            let node = ScriptWords.step(written)
            guard let fields = self.reader.fields(node, .steps) else { continue }
            guard self.mustFit(fields) else { continue }
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
        let (key, node) = (member.key, member.node)
        if self.runsCode, let read = Self.screenSteps[key] { return read(&self, node) }
        if let make = Self.flagSteps[key] { return self.reader.flag(node, key).map(make) }
        if let make = Self.timeSteps[key] { return self.reader.time(node, key).map(make) }
        if let make = Self.badgeSteps[key] { return self.reader.number(node, key).map(make) }
        if let make = Self.taskSteps[key] {
            return self.reader.number(node, key, from: 1).map { make(BackgroundTaskNumber($0)) }
        }
        if let act = Self.acts[key] { return self.known(node, key).map { .act(on: $0, act) } }
        if let words = Self.wordSteps[key] {
            if self.runsCode, key == "system", node.text == "remove" {
                self.reader.problem(node.position, "remove is for the simulated app, and this one runs its own code")
            }
            return self.reader.word(node, key, words)
        }
        switch key {
        case "push": return self.push(node)
        case "activityPush": return self.activityPush(node)
        case "broadcast": return self.broadcast(node)
        case "local": return self.local(node)
        case "message": return self.needSDK(member) ? self.message(node) : nil
        case "custom": return self.needSDK(member) ? self.custom(node) : nil
        case "read", "readElsewhere":
            guard self.needSDK(member) else { return nil }
            return self.reader.text(node, key).flatMap { self.conversation($0, node.position) }.map {
                .sdk(key == "read" ? .read($0) : .readElsewhere($0))
            }
        case "signOut": return self.needSDK(member) ? self.reader.word(node, key, [("yes", .sdk(.signOut))]) : nil
        case "signIn":
            guard self.needSDK(member) else { return nil }
            return self.reader.text(node, key).map { .sdk(.signIn(UserID($0))) }
        case "openSettings":
            if node.text == "app" { return .phone(.person(.appSettingsOpened(ScenarioPhone.bundle))) }
            return self.known(node, key).map { .act(on: $0, .openSettings) }
        case "action": return self.notificationAction(node)
        case "dismissActivity": return self.activity(node, key).map { .activity(.dismiss($0)) }
        case "set": return .switches(self.switches(node))
        case "focus": return self.focus(node)
        case "alertStyle":
            return self.alertStyle(node).map { .phone(.person(.alertStyleChanged(ScenarioPhone.bundle, $0))) }
        case "summaryTimes": return self.summaryTimes(node).map { .phone(.person(.summaryTimesChanged($0))) }
        case "enterRegion", "leaveRegion":
            return self.known(node, key, "region", self.steps.regions).map {
                .phone(.system(.regionCrossed($0, entered: key == "enterRegion")))
            }
        case "backgroundRefresh": return self.backgroundRefresh(node).map { .phones($0.events) }
        case "expect": return self.expectation(node).map { .expect($0) }
        case "requestAuthorization":
            return self.reader.options(node, "authorization option", AuthorizationWords.all).map {
                .app(.query(.requestAuthorization($0)))
            }
        case "removeDelivered":
            return self.identifiers(node, key).map { .app(.event(.deliveredRemoved(identifiers: $0))) }
        case "removePending":
            return self.identifiers(node, key).map { .app(.event(.pendingRemoved(identifiers: $0))) }
        case "takeLock":
            guard let lock = self.reader.text(node, key) else { return nil }
            self.steps.locks.append(lock)
            return .app(.event(.appGroupLockTaken(lock)))
        case "releaseLock":
            return self.known(node, key, "lock", self.steps.locks).map { .app(.event(.appGroupLockReleased($0))) }
        case "startActivity": return self.startActivity(node)
        case "updateActivity": return self.updateActivity(node)
        case "endActivity": return self.activity(node, key).map { .activity(.end($0)) }
        case "shows": return self.reader.text(node, key).map { .app(.event(.screenChanged($0))) }
        default: return nil
        }
    }

    private static let flagSteps: [String: @Sendable (Bool) -> StepAction] = [
        "mute": { .phone(.person(.muteChanged(isOn: $0))) },
        "airplaneMode": { .phone(.person(.airplaneModeChanged(isOn: $0))) },
        "lowPowerMode": { .phone(.person(.lowPowerModeChanged(isOn: $0))) },
        "register": { .app(.event($0 ? .remoteRegistrationRequested : .remoteRegistrationEnded)) },
        "setsDelegate": { .app(.event(.delegateChanged(isSet: $0))) },
    ]

    private static let timeSteps: [String: @Sendable (Int64) -> StepAction] = [
        "wait": { .wait($0) }, "minimumFetchInterval": { .app(.event(.minimumFetchIntervalSet($0))) },
        "submitRefreshTask": { .refreshTask(after: $0) },
    ]

    private static let badgeSteps: [String: @Sendable (Int) -> StepAction] = [
        "setBadgeCount": { .app(.query(.setBadgeCount($0))) },
        "applicationIconBadgeNumber": { .app(.event(.iconBadgeNumberSet($0))) },
    ]

    private static let taskSteps: [String: @Sendable (BackgroundTaskNumber) -> StepAction] = [
        "beginBackgroundTask": { .app(.event(.backgroundTaskBegan($0))) },
        "endBackgroundTask": { .app(.event(.backgroundTaskEnded($0))) },
        "beginExpiringActivity": { .app(.event(.expiringActivityBegan($0))) },
        "endExpiringActivity": { .app(.event(.expiringActivityEnded($0))) },
    ]

    /// The acts of a person on a notification of this id.
    private static let acts: [String: PersonAct] = [
        "tap": .tap, "dismiss": .dismiss, "swipeBanner": .swipeBanner, "keep": .provisional(keep: true),
        "turnOff": .provisional(keep: false),
    ]

    private static let wordSteps: [String: [(String, StepAction)]] = [
        "call": [("answer", .phone(.person(.callAnswered))), ("decline", .phone(.person(.callDeclined)))],
        "panel": [true, false].map { ($0 ? "view" : "close", .phone(.person(.alertPanelAnswered(opens: $0)))) },
        "prompt": [true, false].map { ($0 ? "allow" : "deny", .phone(.person(.permissionAnswered(allowed: $0)))) },
        "install": [("update", .reinstall(keepsData: true)), ("again", .reinstall(keepsData: false))],
        "clear": [("trace", .clear)], "requestPushToStart": [("yes", .app(.event(.pushToStartRequested)))],
        "crash": [("yes", .app(.event(.exited(crashed: true))))],
        "person": [
            ("open", .phone(.person(.appOpened(ScenarioPhone.bundle)))), ("home", .phone(.person(.wentHome))),
            ("lock", .phone(.person(.locked))), ("unlock", .phone(.person(.unlocked))),
            ("forceQuit", .phone(.person(.appForceQuit(ScenarioPhone.bundle)))),
            ("overlayAppears", .phone(.person(.overlayAppeared))),
            ("overlayDisappears", .phone(.person(.overlayDisappeared))),
        ],
        "system": [
            ("kill", .phone(.system(.appKilled(ScenarioPhone.bundle)))),
            ("freeze", .phone(.system(.appFrozen(ScenarioPhone.bundle)))),
            ("evict", .phone(.system(.appEvicted(ScenarioPhone.bundle)))),
            ("lowMemory", .phone(.system(.memoryRanLow))), ("restart", .phone(.system(.restarted))),
            ("remove", .phone(.system(.appRemoved(ScenarioPhone.bundle)))),
            ("disconnectScene", .phone(.system(.sceneDisconnected(ScenarioPhone.bundle)))),
            ("prewarm", .phone(.system(.prewarmed(ScenarioPhone.bundle)))),
            ("backgroundChance", .phone(.system(.backgroundChance(ScenarioPhone.bundle)))),
            ("restoreFromBackup", .phone(.system(.restoredFromBackup))),
        ],
    ]

    static func words(ofStep key: String) -> String {
        (Self.wordSteps[key] ?? []).map(\.0).joined(separator: ", ")
    }

    /// - Returns: `.some(nil)` for `all`; nil after a problem.
    private mutating func identifiers(_ node: ScenarioNode, _ name: String) -> [String]?? {
        if node.text == "all" { return .some(nil) }
        return self.reader.list(node, name).map { nodes in .some(nodes.compactMap { self.known($0, name) }) } ?? nil
    }

    mutating func known(_ node: ScenarioNode, _ name: String) -> String? {
        // The app's own code has notifications of its own, too.
        if self.runsCode { return self.reader.text(node, name) }
        return self.known(node, name, "notification", self.steps.labels)
    }

    mutating func known(_ node: ScenarioNode, _ name: String, _ kind: String, _ all: [String]) -> String? {
        guard let label = self.reader.text(node, name) else { return nil }
        guard all.contains(label) else {
            let known = all.isEmpty ? ["none so far"] : all
            self.reader.problem(
                node.position,
                "\(name): no earlier step has brought a \(kind) \"\(label)\"\(Suggestion.text(for: label, among: known))"
            )
            return nil
        }
        return label
    }

    mutating func activity(_ node: ScenarioNode, _ name: String) -> String? {
        self.known(node, name, "Live Activity", self.steps.activities)
    }

    mutating func notificationOrActivity(_ node: ScenarioNode, _ name: String) -> String? {
        self.known(node, name, "notification", self.steps.labels + self.steps.activities)
    }

    mutating func name(_ node: ScenarioNode, isActivity: Bool = false) -> String? {
        guard let label = self.reader.text(node, "id") else { return nil }
        if label.isEmpty || label.contains(where: { " ,()\"".contains($0) }) {
            self.reader.problem(node.position, "an id must be a word without spaces, commas, quotes and brackets")
        }
        if (self.steps.labels + self.steps.activities).contains(label) {
            self.reader.problem(node.position, "the id \"\(label)\" is used twice in this case")
        }
        if isActivity { self.steps.activities.append(label) } else { self.steps.labels.append(label) }
        return label
    }

    mutating func needSDK(_ member: ScenarioNode.Member) -> Bool {
        if self.steps.sdk { return true }
        self.reader.problem(member.position, "\(member.key) needs an app with the SDK: give app.sdk")
        return false
    }
}

extension BackgroundRefreshStatus {
    /// The events that lead to it on a phone in any of the other states, without a state between.
    var events: [PhoneEvent] {
        switch self {
        case .available:
            [.person(.backgroundRefreshChanged(isOn: true)), .system(.backgroundRefreshRestricted(false))]
        case .denied:
            [.person(.backgroundRefreshChanged(isOn: false)), .system(.backgroundRefreshRestricted(false))]
        case .restricted: [.system(.backgroundRefreshRestricted(true))]
        }
    }
}
