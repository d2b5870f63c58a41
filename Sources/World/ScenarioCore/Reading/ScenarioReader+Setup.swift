import ClientCore
import PhoneCore
import TidingsModel

// The phone and the app.
extension ScenarioReader {
    mutating func phone(_ node: ScenarioNode) -> PhoneSetup {
        var phone = PhoneSetup()
        guard let fields = self.reader.fields(node, .phone) else { return phone }
        if let node = fields["ios"], let version = self.version(node) { phone.version = version }
        if let node = fields["notifications"] {
            let words: [(String, AuthorizationStatus)] = [
                ("allowed", .authorized), ("denied", .denied), ("notDetermined", .notDetermined),
                ("provisional", .provisional),
            ]
            phone.authorization = self.reader.word(node, "notifications", words) ?? .authorized
        }
        if let node = fields["settings"] { phone.switches = self.switches(node) }
        if let node = fields["lowPowerMode"], let isOn = self.reader.flag(node, "lowPowerMode"), isOn {
            phone.conditions.append(.person(.lowPowerModeChanged(isOn: true)))
        }
        if let node = fields["airplaneMode"], let isOn = self.reader.flag(node, "airplaneMode"), isOn {
            phone.conditions.append(.person(.airplaneModeChanged(isOn: true)))
        }
        if let node = fields["locked"], let isLocked = self.reader.flag(node, "locked"), isLocked {
            phone.conditions.append(.person(.locked))
        }
        if let node = fields["mute"], let isOn = self.reader.flag(node, "mute"), isOn {
            phone.conditions.append(.person(.muteChanged(isOn: true)))
        }
        if let node = fields["alertStyle"], let style = self.alertStyle(node) {
            phone.conditions.append(.person(.alertStyleChanged(Stage.bundle, style)))
        }
        if let node = fields["summaryTimes"], let times = self.summaryTimes(node) {
            phone.conditions.append(.person(.summaryTimesChanged(times)))
        }
        if let node = fields["clock"] { phone.clock = self.reader.clock(node, "clock") }
        if let node = fields["extensionMemory"], let size = self.reader.size(node, "extensionMemory") {
            phone.settings.extensionMemoryLimit = size
        }
        if let node = fields["focus"], case .phone(let event)? = self.focus(node) { phone.conditions.append(event) }
        if let node = fields["wakesPerHour"], let count = self.reader.number(node, "wakesPerHour") {
            phone.settings.wakesPerHour = count
        }
        if let node = fields["wakesPerDay"], let count = self.reader.number(node, "wakesPerDay") {
            phone.settings.wakesPerDay = count
        }
        if let node = fields["pendingLimit"], let count = self.reader.number(node, "pendingLimit", from: 1) {
            phone.settings.pendingLimit = count
        }
        if let node = fields["backgroundTime"] {
            phone.settings.backgroundTaskTime = self.reader.time(node, "backgroundTime")
        }
        if let node = fields["quirks"] { self.quirks(node, &phone.settings) }
        return phone
    }

    mutating func switches(_ node: ScenarioNode) -> [SwitchChange] {
        let words: [(String, SettingSwitch)] = [
            ("notifications", .notifications), ("alert", .alert), ("sound", .sound), ("badge", .badge),
            ("notificationCenter", .notificationCenter), ("lockScreen", .lockScreen),
            ("backgroundRefresh", .backgroundRefresh), ("criticalAlert", .criticalAlert),
            ("timeSensitive", .timeSensitive), ("scheduledDelivery", .scheduledDelivery),
        ]
        guard let fields = self.reader.fields(node, .settings) else { return [] }
        if fields.members.isEmpty { self.reader.problem(node.position, "a switch must be named") }
        return fields.members.compactMap { member in
            guard let which = words.first(where: { $0.0 == member.key })?.1,
                let isOn = self.reader.flag(member.node, member.key)
            else { return nil }
            return SwitchChange(which: which, isOn: isOn)
        }
    }

    private mutating func quirks(_ node: ScenarioNode, _ settings: inout PhoneSettings) {
        guard let fields = self.reader.fields(node, .quirks) else { return }
        for member in fields.members {
            guard let quirk = QuirkWords.all.first(where: { $0.word == member.key }),
                let isOn = self.reader.flag(member.node, member.key)
            else { continue }
            settings[keyPath: quirk.path] = isOn
        }
    }

    mutating func alertStyle(_ node: ScenarioNode) -> AlertStyle? {
        self.reader.word(node, "alertStyle", AlertStyle.allCases.map { ($0.word, $0) })
    }

    mutating func summaryTimes(_ node: ScenarioNode) -> [Int]? {
        self.reader.list(node, "summaryTimes")?.compactMap { self.reader.clock($0, "summaryTimes") }
    }

    // MARK: The app

    /// The app of a node; nil if it is no mapping.
    mutating func app(_ node: ScenarioNode?) -> AppSetup? {
        var app = AppSetup(installed: InstalledApp(bundleID: Stage.bundle))
        app.answers[.didReceiveRemoteNotificationFetch] = AnswerHabit(result: .fetch(.newData))
        app.answers[.performFetch] = AnswerHabit(result: .fetch(.newData))
        guard let node else { return app }
        guard let fields = self.reader.fields(node, .app) else { return nil }
        if let node = fields["lifecycle"], let style = self.reader.word(node, "lifecycle", LifecycleStyle.self) {
            app.installed.lifecycle = style
        }
        if let node = fields["implements"] {
            let words = MethodWords.all.map { ($0.word, $0.method) }
            app.installed.methods = (self.reader.words(node, "delegate method", words) ?? []).reduce([]) {
                $0.union($1)
            }
        }
        if let node = fields["setsDelegate"], let moment = self.reader.word(node, "setsDelegate", DelegateMoment.self) {
            app.delegateMoment = moment
        }
        if let node = fields["registers"] { app.registers = self.reader.flag(node, "registers") ?? true }
        if let node = fields["backgroundModes"] {
            let words: [(String, BackgroundModes)] = [
                ("remote-notification", .remoteNotification), ("fetch", .fetch), ("voip", .voip),
            ]
            app.installed.backgroundModes = (self.reader.words(node, "background mode", words) ?? []).reduce([]) {
                $0.union($1)
            }
        }
        if let node = fields["entitlements"] {
            for word in self.reader.words(node, "entitlement", Entitlement.allCases.map { ($0.rawValue, $0) }) ?? [] {
                switch word {
                case .filtering: app.installed.hasFilteringEntitlement = true
                case .timeSensitive: app.installed.entitlements.insert(.timeSensitive)
                case .criticalAlerts: app.installed.entitlements.insert(.criticalAlerts)
                case .communication: app.installed.entitlements.insert(.communication)
                }
            }
        }
        if let node = fields["refreshTask"], self.reader.flag(node, "refreshTask") == true {
            app.installed.permittedTasks = [HostedApp.refreshTask]
        }
        if let node = fields["serviceExtension"] { self.extensionChange(node, &app) }
        if let node = fields["categories"] {
            app.categories = (self.reader.list(node, "categories") ?? []).compactMap { self.category($0) }
        }
        if let node = fields["backgroundTask"] { app.backgroundTask = self.backgroundTask(node) }
        if let node = fields["answers"] { self.answers(node, &app) }
        if let node = fields["sdk"] { app.sdk = self.sdk(node) }
        if app.sdk != nil, app.extensionChange != ContentChange(), let node = fields["serviceExtension"] {
            self.reader.problem(node.position, "with app.sdk the service extension's content is the SDK's to decide")
        }
        return app
    }

    private mutating func extensionChange(_ node: ScenarioNode, _ app: inout AppSetup) {
        if node.text != nil {
            let runs = self.reader.word(node, "serviceExtension", [("none", false), ("unchanged", true)])
            app.installed.hasServiceExtension = runs ?? true
            return
        }
        guard let fields = self.reader.fields(node, .extensionChange) else { return }
        var change = ContentChange()
        change.title = fields["title"].flatMap { self.reader.text($0, "title") }
        change.subtitle = fields["subtitle"].flatMap { self.reader.text($0, "subtitle") }
        change.body = fields["body"].flatMap { self.reader.text($0, "body") }
        change.badge = fields["badge"].flatMap { self.reader.number($0, "badge") }
        if let node = fields["sound"] { change.isSilent = self.reader.word(node, "sound", [("none", true)]) ?? false }
        if let node = fields["interruptionLevel"] {
            change.level = self.reader.word(node, "interruptionLevel", Self.levels)
        }
        if let node = fields["empty"] { change.isEmpty = self.reader.flag(node, "empty") ?? false }
        if change.isEmpty, change != ContentChange(badge: change.badge, isEmpty: true) {
            self.reader.problem(node.position, "an empty content can have a badge and nothing else")
        }
        if let node = fields["memory"] { app.extensionMemory = self.reader.size(node, "memory") }
        app.extensionChange = change
    }

    static let levels: [(String, InterruptionLevel)] = [
        ("passive", .passive), ("active", .active), ("time-sensitive", .timeSensitive), ("critical", .critical),
    ]

    private mutating func category(_ node: ScenarioNode) -> NotificationCategory? {
        guard let fields = self.reader.fields(node, .categories),
            let id = self.reader.needed("id", in: fields).flatMap({ self.reader.text($0, "id") })
        else { return nil }
        var category = NotificationCategory(identifier: id)
        if let node = fields["actions"] {
            category.actions = (self.reader.list(node, "actions") ?? []).compactMap { self.action($0) }
        }
        if let node = fields["customDismissAction"] {
            if self.reader.flag(node, "customDismissAction") == true { category.options.insert(.customDismissAction) }
        }
        return category
    }

    private mutating func action(_ node: ScenarioNode) -> NotificationAction? {
        guard let fields = self.reader.fields(node, .action),
            let id = self.reader.needed("id", in: fields).flatMap({ self.reader.text($0, "id") })
        else { return nil }
        let title = fields["title"].flatMap { self.reader.text($0, "title") } ?? id
        var action = NotificationAction(identifier: id, title: title)
        if let node = fields["options"] {
            let words: [(String, NotificationAction.Options)] = [
                ("foreground", .foreground), ("authenticationRequired", .authenticationRequired),
                ("destructive", .destructive),
            ]
            action.options = (self.reader.words(node, "option", words) ?? []).reduce([]) { $0.union($1) }
        }
        if let node = fields["textInput"] { action.takesText = self.reader.flag(node, "textInput") ?? false }
        return action
    }

    private mutating func backgroundTask(_ node: ScenarioNode) -> BackgroundTaskHabit? {
        guard let fields = self.reader.fields(node, .backgroundTask) else { return nil }
        var habit = BackgroundTaskHabit(endsAfter: nil, endsOnExpiration: true)
        if let node = fields["endsAfter"], node.text != "never" {
            habit.endsAfter = self.reader.time(node, "endsAfter")
        }
        if let node = fields["endsOnExpiration"] {
            habit.endsOnExpiration = self.reader.flag(node, "endsOnExpiration") ?? true
        }
        return habit
    }

    // MARK: Answers

    private mutating func answers(_ node: ScenarioNode, _ app: inout AppSetup) {
        guard let fields = self.reader.fields(node, .answers) else { return }
        for member in fields.members {
            guard let call = AnsweredCall(rawValue: member.key) else { continue }
            app.answers[call] = self.answer(member.node, call, app.answers[call] ?? Self.usual(call))
        }
    }

    /// What stands where a mapping names no result.
    private static func usual(_ call: AnsweredCall) -> AnswerHabit {
        // What every version knows: `alert` stands for banner and list before iOS 14 (ios-delivery.md §5.5).
        AnswerHabit(
            result: call == .willPresent ? .presentation([.alert, .banner, .list, .sound, .badge]) : .returned)
    }

    private mutating func answer(_ node: ScenarioNode, _ call: AnsweredCall, _ usual: AnswerHabit) -> AnswerHabit {
        guard case .mapping = node.value else {
            return AnswerHabit(result: self.result(node, call), reportsCall: node.text == "reportsCall")
        }
        var habit = usual
        guard let fields = self.reader.fields(node, .answer) else { return habit }
        if let node = fields["result"] {
            habit.result = self.result(node, call)
            habit.reportsCall = node.text == "reportsCall"
        }
        if let node = fields["after"] { habit.after = self.reader.time(node, "after") ?? 0 }
        if let node = fields["twice"] { habit.isTwice = self.reader.flag(node, "twice") ?? false }
        return habit
    }

    /// nil for never.
    private mutating func result(_ node: ScenarioNode, _ call: AnsweredCall) -> CallbackResult? {
        if node.text == "never" { return nil }
        switch call {
        case .willPresent:
            let words: [(String, SystemPresentationOptions)] = [
                ("banner", .banner), ("list", .list), ("sound", .sound), ("badge", .badge), ("alert", .alert),
            ]
            guard let options = self.reader.words(node, "presentation option", words) else { return nil }
            return .presentation(options.reduce([]) { $0.union($1) })
        case .didReceiveRemoteNotificationFetch, .performFetch:
            let words = FetchResult.allCases.map { ("\($0)", $0) } + [("never", FetchResult.noData)]
            return self.reader.word(node, "fetch result", words).map { .fetch($0) }
        case .didReceiveIncomingPush:
            let words = ["reportsCall", "returns", "never"].map { ($0, true) }
            return self.reader.word(node, call.rawValue, words).map { _ in .returned }
        case .didReceive, .serviceExtension, .didFinishLaunching, .didEnterBackground:
            return self.reader.word(node, call.rawValue, [("returns", true), ("never", true)]).map { _ in .returned }
        }
    }

    // MARK: The SDK

    private mutating func sdk(_ node: ScenarioNode) -> SDKSetup? {
        var sdk = SDKSetup()
        guard let fields = self.reader.fields(node, .sdk) else { return nil }
        if let node = fields["person"], let person = self.reader.text(node, "person") { sdk.person = UserID(person) }
        if let node = fields["kit"] { sdk.hasKit = self.reader.flag(node, "kit") ?? true }
        if let node = fields["localNotifications"] {
            sdk.kit.isLocalNotificationEnabled = self.reader.flag(node, "localNotifications") ?? true
        }
        if let node = fields["showsContent"] { sdk.kit.showsContent = self.reader.flag(node, "showsContent") ?? true }
        if let node = fields["customCallback"] {
            let words: [(String, Bool?)] = [("none", nil), ("handled", true), ("notHandled", false)]
            sdk.customCallback = self.reader.word(node, "customCallback", words) ?? nil
            sdk.kit.hasDelegate = sdk.customCallback != nil
        }
        if let node = fields["providers"], let fields = self.reader.fields(node, .providers) {
            sdk.names = ResolvedNames(
                user: fields["user"].flatMap { self.reader.text($0, "user") },
                group: fields["group"].flatMap { self.reader.text($0, "group") },
                member: fields["member"].flatMap { self.reader.text($0, "member") })
        }
        for member in fields["levels"].flatMap({ self.reader.mapping($0, "levels") }) ?? [] {
            let words = NotificationLevel.allCases.map { ($0.rawValue, $0) }
            guard let conversation = self.conversation(member.key, member.position),
                let level = self.reader.word(member.node, "level", words)
            else { continue }
            sdk.levels[conversation] = level
        }
        if let node = fields["unread"] { sdk.unread = self.reader.number(node, "unread") ?? 0 }
        if let node = fields["badge"] {
            sdk.badge = node.text == "none" ? .missing : .stored(self.reader.number(node, "badge") ?? 0)
        }
        if let node = fields["offline"] { sdk.isOffline = self.reader.flag(node, "offline") ?? false }
        if let node = fields["actions"] { sdk.registersActions = self.reader.flag(node, "actions") ?? false }
        if let node = fields["fetchesMissed"] {
            sdk.fetchesMissed = self.reader.flag(node, "fetchesMissed") ?? true
        }
        return sdk
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
