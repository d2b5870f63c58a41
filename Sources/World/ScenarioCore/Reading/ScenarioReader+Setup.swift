import PhoneCore

// The phone and the app.
extension ScenarioReader {
    mutating func phone(_ node: ScenarioNode) -> PhoneSetup {
        var phone = PhoneSetup()
        guard let fields = self.reader.fields(node, .phone) else { return phone }
        self.mustFit(fields)
        if let node = fields["ios"], let version = self.version(node) { phone.version = version }
        if let node = fields["notifications"] {
            let words: [(String, AuthorizationStatus)] = [
                ("allowed", .authorized), ("denied", .denied), ("notDetermined", .notDetermined),
                ("provisional", .provisional),
            ]
            phone.authorization = self.reader.word(node, "notifications", words) ?? .authorized
            if self.runsCode, phone.authorization == .provisional {
                self.reader.problem(
                    node.position, "with app.executable the app itself asks: notifications must not be provisional")
            }
        }
        if let node = fields["settings"] { phone.switches = self.switches(node) }
        let switches: [(String, PersonEvent)] = [
            ("lowPowerMode", .lowPowerModeChanged(isOn: true)), ("airplaneMode", .airplaneModeChanged(isOn: true)),
            ("locked", .locked), ("mute", .muteChanged(isOn: true)),
        ]
        for (key, event) in switches {
            guard let node = fields[key], self.reader.flag(node, key) == true else { continue }
            phone.conditions.append(.person(event))
        }
        if let node = fields["alertStyle"], let style = self.alertStyle(node) {
            phone.conditions.append(.person(.alertStyleChanged(ScenarioPhone.bundle, style)))
        }
        if let node = fields["summaryTimes"], let times = self.summaryTimes(node) {
            phone.conditions.append(.person(.summaryTimesChanged(times)))
        }
        if let node = fields["clock"] { phone.clock = self.reader.clock(node, "clock") }
        self.reader.read("extensionMemory", in: fields, into: &phone.settings.extensionMemoryLimit) { $0.size($1, $2) }
        self.reader.read("payloadLimit", in: fields, into: &phone.settings.payloadLimit) { $0.number($1, $2, from: 1) }
        if let node = fields["backgroundRefresh"] {
            phone.backgroundRefresh = self.backgroundRefresh(node) ?? .available
        }
        if let node = fields["focus"], case .phone(let event)? = self.focus(node) { phone.conditions.append(event) }
        self.reader.read("wakesPerHour", in: fields, into: &phone.settings.wakesPerHour) { $0.number($1, $2) }
        self.reader.read("wakesPerDay", in: fields, into: &phone.settings.wakesPerDay) { $0.number($1, $2) }
        self.reader.read("pendingLimit", in: fields, into: &phone.settings.pendingLimit) { $0.number($1, $2, from: 1) }
        self.reader.read("backgroundTime", in: fields, into: &phone.settings.backgroundTaskTime) { $0.time($1, $2) }
        if let node = fields["quirks"] { self.quirks(node, &phone.settings) }
        return phone
    }

    mutating func switches(_ node: ScenarioNode) -> [SwitchChange] {
        guard let fields = self.reader.fields(node, .settings) else { return [] }
        if fields.members.isEmpty { self.reader.problem(node.position, "a switch must be named") }
        return fields.members.compactMap { member in
            guard let which = SettingSwitch(rawValue: member.key), let isOn = self.reader.flag(member.node, member.key)
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

    mutating func backgroundRefresh(_ node: ScenarioNode) -> BackgroundRefreshStatus? {
        if node.text == "restricted" { return .restricted }
        return self.reader.flag(node, rule: "backgroundRefresh must be on, off or restricted").map {
            $0 ? .available : .denied
        }
    }

    mutating func summaryTimes(_ node: ScenarioNode) -> [Int]? {
        self.reader.list(node, "summaryTimes")?.compactMap { self.reader.clock($0, "summaryTimes") }
    }

    // MARK: The app

    /// - Returns: nil if the node is no mapping.
    mutating func app(_ node: ScenarioNode?) -> AppSetup? {
        self.promised = []
        var app = AppSetup(installed: InstalledApp(bundleID: ScenarioPhone.bundle))
        guard let node else { return app }
        guard let fields = self.reader.fields(node, .app) else { return nil }
        self.mustFit(fields)
        self.installation(fields, of: &app.installed)
        self.reader.read("lifecycle", in: fields, into: &app.installed.lifecycle) {
            $0.word($1, $2, LifecycleStyle.self)
        }
        self.reader.read("implements", in: fields, into: &app.installed.methods) { reader, node, _ in
            reader.options(node, "delegate method", MethodWords.all)
        }
        self.reader.read("setsDelegate", in: fields, into: &app.delegateMoment) { $0.word($1, $2, DelegateMoment.self) }
        if let node = fields["registers"] { app.registers = self.registers(node) }
        if let node = fields["backgroundModes"] {
            let words: [(String, BackgroundModes)] = [
                ("remote-notification", .remoteNotification), ("fetch", .fetch), ("voip", .voip),
            ]
            app.installed.backgroundModes = self.reader.options(node, "background mode", words) ?? []
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
        for member in self.reader.mapping("strings", in: fields) {
            app.installed.localizations[member.key] = self.reader.text(member.node, "strings")
        }
        if let node = fields["refreshTask"] {
            if self.runsCode {
                app.installed.permittedTasks = [self.reader.text(node, "refreshTask")].compactMap(\.self)
            } else if self.reader.flag(node, "refreshTask") == true {
                app.installed.permittedTasks = [HostedApp.refreshTask]
            }
        }
        if let node = fields["serviceExtension"] { self.extensionChange(node, &app) }
        if let node = fields["categories"] {
            app.categories = (self.reader.list(node, "categories") ?? []).compactMap { self.category($0) }
        }
        if let node = fields["backgroundTask"] { app.backgroundTask = self.backgroundTask(node) }
        if let node = fields["answers"] { self.answers(node, &app) }
        if let node = fields["sdk"] { app.sdk = self.sdk(node) }
        if app.sdk != nil, let node = fields["serviceExtension"] {
            var isOwn = app.extensionChange != ContentChange() || !app.extensionRemoves.isEmpty
            if case .own? = app.bestAttempt { isOwn = true }
            if isOwn {
                self.reader.problem(
                    node.position, "with app.sdk the service extension's content is the SDK's to decide")
            }
        }
        return app
    }

    private mutating func registers(_ node: ScenarioNode) -> RegistrationMoment {
        if node.text == RegistrationMoment.everyLaunch.rawValue { return .everyLaunch }
        let registers = self.reader.flag(node, rule: "registers must be yes, no or everyLaunch") ?? true
        return registers ? .firstLaunch : .never
    }

    private mutating func extensionChange(_ node: ScenarioNode, _ app: inout AppSetup) {
        if node.text != nil {
            let runs = self.reader.word(node, "serviceExtension", [("none", false), ("unchanged", true)])
            app.installed.hasServiceExtension = runs ?? true
            return
        }
        guard let fields = self.reader.fields(node, .extensionChange) else { return }
        app.extensionChange = self.content(fields)
        if let node = fields["memory"] { app.extensionMemory = self.reader.size(node, "memory") }
        if let node = fields["bestAttempt"] { app.bestAttempt = self.bestAttempt(node) }
        for member in self.reader.mapping("removes", in: fields) {
            self.promise(member, of: "serviceExtension.removes")
            let removed = self.reader.list(member.node, "removes") ?? []
            app.extensionRemoves[member.key] = removed.compactMap { node in
                guard let label = self.reader.text(node, "removes") else { return nil }
                self.promised.append(Promise(name: label, position: node.position, key: "serviceExtension.removes"))
                return label
            }
        }
    }

    private mutating func bestAttempt(_ node: ScenarioNode) -> BestAttempt? {
        guard case .mapping = node.value else {
            return self.reader.word(node, "bestAttempt", [("changed", BestAttempt.changed)])
        }
        guard let fields = self.reader.fields(node, .bestAttempt) else { return nil }
        if fields.members.isEmpty {
            self.reader.problem(node.position, "bestAttempt must change something; write `changed` for what it has")
        }
        return .own(self.content(fields))
    }

    private mutating func content(_ fields: NodeReader.Fields) -> ContentChange {
        var change = ContentChange()
        change.title = self.reader.text("title", in: fields)
        change.subtitle = self.reader.text("subtitle", in: fields)
        change.body = self.reader.text("body", in: fields)
        change.badge = fields["badge"].flatMap { self.reader.number($0, "badge") }
        if let node = fields["sound"] { change.isSilent = self.reader.word(node, "sound", [("none", true)]) ?? false }
        self.reader.read("interruptionLevel", in: fields, into: &change.level) { $0.word($1, $2, Self.levels) }
        if let node = fields["empty"] { change.isEmpty = self.reader.flag(node, "empty") ?? false }
        if change.isEmpty, change != ContentChange(badge: change.badge, isEmpty: true), let node = fields["empty"] {
            self.reader.problem(node.position, "an empty content can have a badge and nothing else")
        }
        return change
    }

    static let levels: [(String, InterruptionLevel)] = [
        ("passive", .passive), ("active", .active), ("time-sensitive", .timeSensitive), ("critical", .critical),
    ]

    private mutating func category(_ node: ScenarioNode) -> NotificationCategory? {
        guard let fields = self.reader.fields(node, .categories),
            let id = self.reader.text("id", in: fields)
        else { return nil }
        var category = NotificationCategory(identifier: id)
        if let node = fields["actions"] {
            category.actions = (self.reader.list(node, "actions") ?? []).compactMap { self.action($0) }
        }
        if let node = fields["customDismissAction"], self.reader.flag(node, "customDismissAction") == true {
            category.options.insert(.customDismissAction)
        }
        return category
    }

    private mutating func action(_ node: ScenarioNode) -> NotificationAction? {
        guard let fields = self.reader.fields(node, .action),
            let id = self.reader.text("id", in: fields)
        else { return nil }
        let title = self.reader.text("title", in: fields) ?? id
        var action = NotificationAction(identifier: id, title: title)
        if let node = fields["options"] {
            let words: [(String, NotificationAction.Options)] = [
                ("foreground", .foreground), ("authenticationRequired", .authenticationRequired),
                ("destructive", .destructive),
            ]
            action.options = self.reader.options(node, "option", words) ?? []
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
        self.reader.read("endsOnExpiration", in: fields, into: &habit.endsOnExpiration) { $0.flag($1, $2) }
        return habit
    }
}
