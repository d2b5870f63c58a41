import PhoneCore
import TidingsModel

/// One key of the format: what may be written there. The reader takes exactly these; `tidings scenario --explain` and
/// docs/scenarios.md list them.
package struct ScenarioKey: Hashable, Sendable {
    package var name: String
    package var type: String
    package var summary: String

    init(_ name: String, _ type: String, _ summary: String) {
        self.name = name
        self.type = type
        self.summary = summary
    }
}

/// The mappings of the format, each with its keys.
package enum ScenarioSection: String, Hashable, Sendable, CaseIterable {
    case file, scenarioCase = "case", variations = "for", column, phone, app, categories, action, backgroundTask,
        answers
    case answer, extensionChange = "serviceExtension", bestAttempt, sdk, storedBadge = "badge", ledger, providers,
        words, steps
    case push, alert, sound, local
    case startActivity, updateActivity, activityPush, broadcast, notificationAction = "action step"
    case message, customMessage = "custom", settings = "set", quirks, expect, expectedValue = "value"

    /// The keys in the order of the documentation.
    package var keys: [ScenarioKey] {
        switch self {
        case .file: Self.fileKeys
        case .scenarioCase: Self.caseKeys
        case .variations: Self.variationKeys
        case .column: Self.columnKeys
        case .phone: Self.phoneKeys
        case .app: Self.appKeys
        case .categories: Self.categoryKeys
        case .action: Self.actionKeys
        case .backgroundTask: Self.taskKeys
        case .answers: Self.answersKeys
        case .answer: Self.answerKeys
        case .extensionChange: Self.extensionKeys
        case .bestAttempt: Self.contentKeys
        case .sdk: Self.sdkKeys
        case .storedBadge: Self.storedBadgeKeys
        case .ledger: Self.ledgerKeys
        case .providers: Self.providerKeys
        case .words: Self.wordKeys
        case .steps: Self.stepKeys
        case .push: Self.pushKeys
        case .alert: Self.alertKeys
        case .sound: Self.soundKeys
        case .local: Self.localKeys
        case .startActivity: Self.startActivityKeys
        case .updateActivity: Self.updateActivityKeys
        case .activityPush: Self.activityPushKeys
        case .broadcast: Self.broadcastKeys
        case .notificationAction: Self.notificationActionKeys
        case .message: Self.messageKeys
        case .customMessage: Self.customKeys
        case .settings: Self.settingKeys
        case .quirks: Self.quirkKeys
        case .expect: Self.expectKeys
        case .expectedValue: Self.expectedValueKeys
        }
    }

    package var summary: String {
        switch self {
        case .file: "the whole file"
        case .scenarioCase: "one case under `cases`"
        case .variations: "one case for each combination of the values"
        case .column: "one column of a `matrix`"
        case .phone: "the phone; a case's own is laid over the file's"
        case .app: "the app; a case's own is laid over the file's"
        case .categories: "one notification category under `app.categories`"
        case .action: "one action of a category"
        case .backgroundTask: "what the app does about its background time"
        case .answers: "how the app answers the calls of iOS; what is not named returns at once"
        case .answer: "one answer, where a word is not enough"
        case .extensionChange: "what the notification service extension makes of a push"
        case .bestAttempt: "the content the extension hands out when its time expires"
        case .storedBadge: "the badge stored in the app group, where a number is not enough"
        case .ledger: "what the ledger knows of one message, where a word is not enough"
        case .sdk: "puts the SDK's decisions behind the app's callbacks, with a small server"
        case .providers: "what the app's info providers know; a missing one is no provider"
        case .words:
            "the app's own words of notifications, at the small server as on the phone; what is left out is built in"
        case .steps: "one step; a step has exactly one key"
        case .push: "a push: headers, keys of `aps`, custom data"
        case .alert: "`aps.alert`, where a text is not enough"
        case .sound: "`aps.sound`, where a name is not enough"
        case .local: "a local notification the app adds"
        case .startActivity: "a Live Activity the app requests"
        case .updateActivity: "a new content of a Live Activity, by the app"
        case .activityPush: "a push to a Live Activity, or one that starts it"
        case .broadcast: "a push to every Live Activity that listens to a channel (iOS 18)"
        case .notificationAction: "an action the person chooses on a notification"
        case .message: "a message somebody sends to the person, through the server"
        case .customMessage: "a custom message to the app"
        case .settings: "switches in Settings"
        case .quirks: "the measured oddities of ios-delivery.md §14"
        case .expect: "what must have happened since the last `expect` or `clear`, and what must be so now"
        case .expectedValue: "the value of a key of `expect`, where it is not one alone; exactly one key"
        }
    }

    private static let fileKeys = [
        ScenarioKey("title", "text, needed", "what the file is about"),
        ScenarioKey("source", "text", "where the expectations come from"),
        ScenarioKey("requirement", "up to 3 of S0.1–S4.13", "the requirements these cases hold"),
        ScenarioKey("define", "anything", "a place for YAML anchors; not looked at"),
        ScenarioKey("phone", "mapping", "the phone of every case"),
        ScenarioKey("app", "mapping", "the app of every case"),
        ScenarioKey("cases", "list, needed", "the cases"),
    ]

    private static let caseKeys = [
        ScenarioKey("case", "text, needed", "its name, unique in the file"),
        ScenarioKey("requirement", "up to 3 of S0.1–S4.13", "the requirements this case holds, besides the file's"),
        ScenarioKey("phone", "mapping", "laid over the file's phone"),
        ScenarioKey("app", "mapping", "laid over the file's app"),
        ScenarioKey("for", "mapping", "variations"),
        ScenarioKey(
            "start", "state or code",
            "where the app is when the trace begins: \(StartState.allCases.map { "\($0.rawValue) (\($0.code))" }.joined(separator: ", ")); not running if left out"
        ),
        ScenarioKey(
            "before", "list of steps", "what happens with the app in the foreground before that, outside the trace"),
        ScenarioKey("steps", "list of steps", "what happens and what is expected"),
        ScenarioKey("columns", "mapping", "instead of steps: what happens, by a name for each column of the matrix"),
        ScenarioKey("matrix", "mapping", "with columns: for each start state what is expected in each column"),
    ]

    private static let variationKeys = [
        ScenarioKey("ios", "list of versions", "one case for each version"),
        ScenarioKey("start", "list of states", "one case for each state"),
        ScenarioKey("lifecycle", "list of application, scenes", "one case for each life-cycle"),
    ]

    private static let columnKeys = [
        ScenarioKey("before", "list of steps", "as `before` of a case"),
        ScenarioKey("steps", "list of steps, needed", "what happens; the cell of the matrix is expected afterwards"),
    ]

    private static let phoneKeys = [
        ScenarioKey("ios", "version such as 17 or 9.3", "what it runs; 17 if left out"),
        ScenarioKey("focus", "off, on, timeSensitive, allowsApp", "a Focus, as the step of this name"),
        ScenarioKey(
            "notifications", "allowed, denied, notDetermined, provisional",
            "what the person answered; allowed if left out"),
        ScenarioKey("settings", "mapping", "switches of the app in Settings, turned after the answer"),
        ScenarioKey("lowPowerMode", "on or off", "Low Power Mode"),
        ScenarioKey("airplaneMode", "on or off", "no network"),
        ScenarioKey(
            "backgroundRefresh", "on, off, restricted",
            "Background App Refresh of the whole phone, as the step of this name"
        ),
        ScenarioKey("mute", "on or off", "the ring/silent switch; on is silent"),
        ScenarioKey("alertStyle", AlertStyle.words.joined(separator: ", "), "how the app's alerts appear"),
        ScenarioKey("summaryTimes", "list of times such as 08:00", "when the scheduled summary is delivered"),
        ScenarioKey("clock", "time such as 07:30", "what the phone's clock says when the trace begins"),
        ScenarioKey("locked", "yes or no", "locked when the trace begins"),
        ScenarioKey("wakesPerHour", "number", "the budget of silent pushes per hour; 3 if left out"),
        ScenarioKey("wakesPerDay", "number", "the budget of silent pushes per day; 40 if left out"),
        ScenarioKey("pendingLimit", "number", "scheduled notifications per app; 64 if left out"),
        ScenarioKey("backgroundTime", "time", "background task time; the version's own if left out"),
        ScenarioKey("extensionMemory", "size such as 24 MB", "what an extension may use; 24 MB if left out"),
        ScenarioKey("payloadLimit", "number", "the largest payload in bytes; the era's own if left out"),
        ScenarioKey("quirks", "mapping", "the measured oddities of ios-delivery.md §14"),
    ]

    private static let appKeys = [
        ScenarioKey("lifecycle", "application or scenes", "who is told about the life-cycle; scenes if left out"),
        ScenarioKey(
            "implements", "list of delegate methods",
            "\(MethodWords.words.joined(separator: ", ")); Fetch, willPresent and didReceive if left out"),
        ScenarioKey(
            "setsDelegate", "didFinishLaunching, didBecomeActive, never",
            "when it sets the UNUserNotificationCenter delegate; didFinishLaunching if left out"),
        ScenarioKey(
            "registers", "yes, no or everyLaunch",
            "whether it calls registerForRemoteNotifications: yes at its first launch alone; yes if left out"),
        ScenarioKey(
            "backgroundModes", "list of remote-notification, fetch, voip",
            "remote-notification if left out; with voip it registers with PushKit at launch"),
        ScenarioKey("serviceExtension", "none, unchanged or mapping", "unchanged if left out"),
        ScenarioKey("entitlements", "list of \(Entitlement.words.joined(separator: ", "))", "none if left out"),
        ScenarioKey(
            "refreshTask", "yes or no",
            "whether it declares and registers a BGAppRefreshTask, which it completes; no if left out"),
        ScenarioKey("categories", "list", "what it registers at launch"),
        ScenarioKey("backgroundTask", "mapping", "the task it begins when it enters the background; none if left out"),
        ScenarioKey("answers", "mapping", "how it answers calls"),
        ScenarioKey("sdk", "mapping", "the SDK behind the app"),
    ]

    private static let categoryKeys = [
        ScenarioKey("id", "text, needed", "the identifier"),
        ScenarioKey("actions", "list", "the actions offered"),
        ScenarioKey("customDismissAction", "yes or no", "whether a dismissal is reported"),
    ]

    private static let actionKeys = [
        ScenarioKey("id", "text, needed", "the identifier"),
        ScenarioKey("title", "text", "what the button says; the identifier if left out"),
        ScenarioKey(
            "options", "list of foreground, authenticationRequired, destructive", "UNNotificationActionOptions"),
        ScenarioKey("textInput", "yes or no", "whether it asks for text"),
    ]

    private static let taskKeys = [
        ScenarioKey("endsAfter", "time or never", "when it ends the task by itself; never if left out"),
        ScenarioKey("endsOnExpiration", "yes or no", "whether it ends it in the expiration handler; yes if left out"),
    ]

    private static let answersKeys = [
        ScenarioKey("willPresent", "list of banner, list, sound, badge, alert; never; or answer", "the options"),
        ScenarioKey("didReceive", "returns, never or answer", "when its handler is called"),
        ScenarioKey(
            "didReceiveRemoteNotificationFetch", "newData, noData, failed, never or answer",
            "the UIBackgroundFetchResult"),
        ScenarioKey("performFetch", "newData, noData, failed, never or answer", "the UIBackgroundFetchResult"),
        ScenarioKey(
            "didReceiveIncomingPush", "reportsCall, returns, never or answer",
            "a VoIP push: reports an incoming call first, or does not; reportsCall if left out"),
        ScenarioKey(
            "serviceExtension", "returns, never, crashes, exits or answer",
            "when the content handler is called; or the process dies or leaves without a call"),
        ScenarioKey("didFinishLaunching", "returns, never or answer", "when it returns"),
        ScenarioKey("didEnterBackground", "returns, never or answer", "when it returns"),
    ]

    private static let answerKeys = [
        ScenarioKey("result", "as the short form", "the answer"),
        ScenarioKey("after", "time", "how long it takes; at once if left out"),
        ScenarioKey("twice", "yes or no", "whether the handler is called a second time"),
        ScenarioKey(
            "of", "mapping of notification to short form or answer", "how it answers for these notifications instead"),
    ]

    private static let extensionKeys =
        Self.contentKeys + [
            ScenarioKey("memory", "size such as 24 MB", "how much memory it uses for a push"),
            ScenarioKey(
                "bestAttempt", "changed or mapping",
                "what it delivers when its time expires: what it would have in time, or another content; nothing if left out"
            ),
            ScenarioKey(
                "removes", "mapping of notification to list of notifications",
                "what it takes out of the list when this push comes"),
        ]

    private static let contentKeys = [
        ScenarioKey("title", "text", "the new title"),
        ScenarioKey("subtitle", "text", "the new subtitle"),
        ScenarioKey("body", "text", "the new body"),
        ScenarioKey("badge", "number", "the new badge"),
        ScenarioKey("sound", "none", "takes the sound away"),
        ScenarioKey("interruptionLevel", "passive, active, time-sensitive, critical", "the new level"),
        ScenarioKey("empty", "yes or no", "delivers a content without anything but `badge`"),
    ]

    private static let sdkKeys = [
        ScenarioKey("person", "text", "who is signed in; alice if left out"),
        ScenarioKey("kit", "yes or no", "whether the app library runs, or the core library alone; yes if left out"),
        ScenarioKey("localNotifications", "on or off", "the global switch; on if left out"),
        ScenarioKey("showsContent", "yes or no", "whether a local notification says the text; yes if left out"),
        ScenarioKey(
            "customCallback", "none, handled, notHandled, never or answer",
            "the custom callback: handled means the app shows the message itself; none if left out"),
        ScenarioKey("providers", "mapping", "the info providers; user and group know every name if left out"),
        ScenarioKey(
            "levels",
            "mapping of conversation to \(NotificationLevel.allCases.map(\.rawValue).joined(separator: ", "))",
            "how loud a conversation may be"),
        ScenarioKey("language", "text", "the language the person has set; none if left out"),
        ScenarioKey("words", "mapping", "the app's own words; the built-in ones if left out"),
        ScenarioKey("unread", "number", "unread messages in the store at the start; 0 if left out"),
        ScenarioKey(
            "position", "number", "how far the server's log and the phone's reach at the start; 0 if left out"),
        ScenarioKey(
            "phonePosition", "number",
            "how far the phone's store and app group reach when the steps begin; `position` if left out"),
        ScenarioKey("badge", "number, none or mapping", "the badge stored in the app group; none: nothing is stored"),
        ScenarioKey(
            "ledger", "mapping of message to shown, claimed, recalled or mapping",
            "what the ledger knows of messages that come later"),
        ScenarioKey("offline", "yes or no", "whether the small server cannot be reached"),
        ScenarioKey(
            "actions", "yes or no",
            "whether the app registers the kit's actions tidings.reply and tidings.mark_read; no if left out"),
        ScenarioKey(
            "fetchesMissed", "yes or no",
            "whether the service extension asks the small server for what it missed; yes if left out"),
    ]

    private static let storedBadgeKeys = [
        ScenarioKey("server", "number, needed", "unread messages"),
        ScenarioKey("foreign", "number", "other senders' pushes since; -server or more, 0 if left out"),
        ScenarioKey("position", "number", "the log position `server` was counted at; 0 if left out"),
    ]

    private static let ledgerKeys = [
        ScenarioKey("state", "shown, claimed, recalled", "what is known; shown if left out"),
        ScenarioKey("by", "app or extension", "by whom; app, an earlier process of it, if left out"),
        ScenarioKey("age", "time", "how long before the steps; 0 s if left out"),
    ]

    private static let wordKeys = [
        ScenarioKey("language", "text", "theirs, and that of people who have set none; en if left out"),
        ScenarioKey("kinds", "mapping of message type to text", "for messages without a text"),
        ScenarioKey("other", "text", "for messages without a text whose type has none"),
        ScenarioKey("neutral", "text", "the alert of a push until the extension writes the text"),
        ScenarioKey("hidden", "text", "where content is hidden"),
        ScenarioKey("recalled", "text", "where a message was recalled"),
        ScenarioKey("several", "text", "of several messages; the small server merges none"),
        ScenarioKey("stripped", "text", "where a push is for somebody else"),
    ]

    private static let providerKeys = [
        ScenarioKey("user", "text", "the sender's name"),
        ScenarioKey("group", "text", "the group's name"),
        ScenarioKey("member", "text", "the sender's name in the group"),
    ]
}
