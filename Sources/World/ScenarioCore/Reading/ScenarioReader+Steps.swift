import PhoneCore
import TidingsModel

/// What the steps of a case have named so far, so that a step about something unknown is found before anything runs.
struct StepContext {
    /// Whether the case has an SDK, and the app library.
    var sdk = false
    var hasKit = false
    /// The ids of pushes, local notifications and messages, in order.
    var labels: [String] = []
    var messages: [String] = []
    var pushes = 0
    /// Live Activities, regions and locks that steps have named.
    var activities: [String] = []
    var regions: [String] = []
    var locks: [String] = []

    init() {}

    init(_ app: AppSetup) {
        self.sdk = app.sdk != nil
        self.hasKit = app.sdk?.hasKit == true
    }
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
        case "activityPush": return self.activityPush(node)
        case "broadcast": return self.broadcast(node)
        case "local": return self.local(node)
        case "message": return self.needSDK(member) ? self.message(node) : nil
        case "custom": return self.needSDK(member) ? self.custom(node) : nil
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
        case "keep", "turnOff":
            return self.known(node, member.key).map { .act(on: $0, .provisional(keep: member.key == "keep")) }
        case "action": return self.notificationAction(node)
        case "panel":
            return self.reader.word(node, "panel", [("view", true), ("close", false)]).map {
                .phone(.person(.alertPanelAnswered(opens: $0)))
            }
        case "dismissActivity": return self.activity(node, "dismissActivity").map { .activity(.dismiss($0)) }
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
        case "mute": return self.reader.flag(node, member.key).map { .phone(.person(.muteChanged(isOn: $0))) }
        case "alertStyle":
            return self.alertStyle(node).map { .phone(.person(.alertStyleChanged(Stage.bundle, $0))) }
        case "summaryTimes": return self.summaryTimes(node).map { .phone(.person(.summaryTimesChanged($0))) }
        case "enterRegion", "leaveRegion":
            return self.known(node, member.key, "region", self.steps.regions).map {
                .phone(.system(.regionCrossed($0, entered: member.key == "enterRegion")))
            }
        case "airplaneMode":
            return self.reader.flag(node, member.key).map { .phone(.person(.airplaneModeChanged(isOn: $0))) }
        case "lowPowerMode":
            return self.reader.flag(node, member.key).map { .phone(.person(.lowPowerModeChanged(isOn: $0))) }
        case "backgroundRefresh": return self.backgroundRefresh(node).map { .phones($0.events) }
        case "wait": return self.reader.time(node, "wait").map { .wait($0) }
        case "clear": return self.reader.word(node, "clear", [("trace", StepAction.clear)])
        case "expect": return self.expectation(node).map { .expect($0) }
        default: return self.appStep(member)
        }
    }

    private mutating func appStep(_ member: ScenarioNode.Member) -> StepAction? {
        let node = member.node
        switch member.key {
        case "requestAuthorization":
            return self.reader.words(node, "authorization option", AuthorizationWords.all).map {
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
        case "beginExpiringActivity":
            return self.reader.number(node, member.key, from: 1).map {
                .app(.event(.expiringActivityBegan(BackgroundTaskNumber($0))))
            }
        case "endExpiringActivity":
            return self.reader.number(node, member.key, from: 1).map {
                .app(.event(.expiringActivityEnded(BackgroundTaskNumber($0))))
            }
        case "takeLock":
            guard let lock = self.reader.text(node, member.key) else { return nil }
            self.steps.locks.append(lock)
            return .app(.event(.appGroupLockTaken(lock)))
        case "releaseLock":
            return self.known(node, member.key, "lock", self.steps.locks).map {
                .app(.event(.appGroupLockReleased($0)))
            }
        case "startActivity": return self.startActivity(node)
        case "updateActivity": return self.updateActivity(node)
        case "endActivity": return self.activity(node, member.key).map { .activity(.end($0)) }
        case "requestPushToStart":
            return self.reader.word(node, member.key, [("yes", StepAction.app(.event(.pushToStartRequested)))])
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
        self.known(node, name, "notification", self.steps.labels)
    }

    /// The name of something an earlier step has brought.
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

    /// A notification or a Live Activity: both can show and sound.
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
        case .restoreFromBackup: .system(.restoredFromBackup)
        }
    }
}

extension BackgroundRefreshStatus {
    /// What makes it so on a phone in any of the other states, without a state between.
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
