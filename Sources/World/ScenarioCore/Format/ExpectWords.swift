import PhoneCore

extension ExpectKey {
    var type: String {
        switch self.form {
        case .calls: "list of calls"
        case .presentations: "nothing, list of banner, panel, list, sound, badge, or list of such by notification"
        case .words(let words): "list of \(words.joined(separator: ", "))"
        case .labels: "list of ids"
        case .conversations: "list of conversations"
        case .activities: "list of ids, or of id: content-state"
        case .activityChanges:
            "list of \(ActivityUpdate.Change.allCases.map(\.rawValue).joined(separator: ", ")), each `of` an id"
        case .undelivered:
            "list of \(UndeliveredReason.allCases.map(\.rawValue).joined(separator: ", ")), each `of` an id"
        case .texts: "list of texts"
        case .word(let words): words.joined(separator: ", ")
        case .number: "number"
        case .flag: "yes or no"
        case .text: "text"
        }
    }

    var summary: String {
        switch self {
        case .callbacks: "every call into app and extension, in order"
        case .shown: "what the person saw or heard: one notification, or several in order"
        case .reasons: "why each notification was presented as it was, those with nothing to see or hear included"
        case .wakes: "what became of the wakes silent pushes asked for"
        case .undelivered: "pushes that never reached the phone, and why"
        case .results: "what fetch completion handlers were called with"
        case .started: "which processes were started"
        case .ended: "why processes ended"
        case .activityChanges: "what became of Live Activities, in order"
        case .faults: "what was done against the rules, each by a part of its text; without this key there must be none"
        case .state: "the app's state now"
        case .badge: "the number on the icon now"
        case .list: "Notification Center now, newest first"
        case .banners: "the banners on the screen now, newest first"
        case .panel: "the alert panel on the screen now, or none (iOS 3–9)"
        case .summary: "what waits for the scheduled summary now, newest first"
        case .activities: "the Live Activities on the lock screen now, in the order they were started"
        case .prewarmed: "whether the app has a process that was started in advance and not launched"
        case .prompt: "whether the permission prompt is on the screen"
        case .lock: "whether the phone is locked now"
        case .inForeground: "whether the app is on the screen now"
        case .screen: "what the app says it shows; empty for nothing"
        case .texts: "what the entries of the list say, newest first: title, subtitle and body with bars between"
        case .server: "what the SDK told its server since: run states, settled messages, hang-ups"
        case .opened: "the conversations the SDK opened since"
        case .customMessages: "the custom messages the app received since, by id"
        case .settled: "how the SDK settled messages since, as `id: disposition`"
        case .told: "what the SDK told the app since: arrivals, responses, and its own rings before iOS 10"
        case .way: "the steps by which the screens of opened notifications are reached since"
        case .attached: "what the SDK's extension put beside the text of pushes since, as `id: image` and `id: from …`"
        case .runState: "the SDK's run state now"
        }
    }
}

enum MethodWords {
    static let all: [(String, DelegateMethods)] = [
        ("didReceiveRemoteNotification", .receiveRemote),
        ("didReceiveRemoteNotificationFetch", .receiveRemoteFetch),
        ("didReceiveLocalNotification", .receiveLocal),
        ("willPresent", .willPresent),
        ("didReceive", .receiveResponse),
        ("openSettings", .openSettings),
        ("performFetch", .performFetch),
        ("handleRemoteAction", .actionRemote),
        ("handleLocalAction", .actionLocal),
        ("handleRemoteActionWithResponseInfo", .actionRemoteText),
        ("handleLocalActionWithResponseInfo", .actionLocalText),
    ]
    static let words = Self.all.map(\.0)
}

enum Entitlement: String, CaseIterable {
    case filtering, timeSensitive = "time-sensitive", criticalAlerts = "critical-alerts", communication
    static let words = Self.allCases.map(\.rawValue)
}

enum PersonWord: String, CaseIterable {
    case open, home, lock, unlock, forceQuit, overlayAppears, overlayDisappears
    static let words = Self.allCases.map(\.rawValue)
}

enum SystemWord: String, CaseIterable {
    case kill, freeze, evict, lowMemory, restart, remove, disconnectScene, prewarm, backgroundChance, restoreFromBackup
    static let words = Self.allCases.map(\.rawValue)
}
