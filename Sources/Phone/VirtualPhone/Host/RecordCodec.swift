package import PhoneCore
package import TidingsModel

extension PhoneRecord {
    /// `event` names the kind; the other members are the kind's own.
    package var json: JSONValue {
        var members = self.members
        members.insert(contentsOf: [("wall", .int(self.at.wall)), ("app", .optional(self.app?.rawValue))], at: 1)
        return .members(members)
    }

    private var members: [(String, JSONValue)] {
        switch self.entry {
        case .callback(let record):
            [
                ("event", "callback"), ("number", .int(record.number)),
                ("process", .string(record.process.description)), ("role", .string(record.process.role.rawValue)),
                ("name", .string(record.callback.name)), ("state", .string("\(record.applicationState)")),
                ("arguments", record.callback.json),
            ]
        case .completion(let number, let result):
            [("event", "completion"), ("number", .int(number)), ("result", result.json)]
        case .presentation(let record):
            [
                ("event", "presentation"), ("notification", .string(record.identifier)),
                ("remote", .bool(record.isRemote)), ("banner", .bool(record.banner)), ("list", .bool(record.list)),
                ("sound", .bool(record.sound)), ("badge", .optional(record.badge)),
                ("replaced", .bool(record.replaced)), ("panel", .bool(record.panel)), ("lit", .bool(record.lit)),
                ("ring", .bool(record.isRing)), ("reason", .string(record.reason.rawValue)),
            ]
        case .state(let state): [("event", "state"), ("state", .string(state.rawValue))]
        case .processStarted(let process):
            [
                ("event", "process_started"), ("process", .string(process.description)),
                ("role", .string(process.role.rawValue)),
            ]
        case .processEnded(let process, let reason):
            [
                ("event", "process_ended"), ("process", .string(process.description)),
                ("role", .string(process.role.rawValue)), ("reason", .string(reason.rawValue)),
            ]
        case .arrival(let record):
            [
                ("event", "arrival"), ("notification", .string(record.identifier)), ("delivery", .int(record.delivery)),
                ("class", .string(record.pushClass.rawValue)), ("state", .string(record.state.rawValue)),
            ]
        case .wake(let identifier, let outcome):
            [("event", "wake"), ("notification", .string(identifier)), ("outcome", .string(outcome.rawValue))]
        case .badge(let count): [("event", "badge"), ("badge", .int(count))]
        case .refused(let delivery, let reason):
            [("event", "refused"), ("delivery", .int(delivery)), ("reason", .string(reason.rawValue))]
        case .backgroundFetch(let outcome): [("event", "background_fetch"), ("outcome", .string(outcome.rawValue))]
        case .refreshTask(let identifier, let outcome):
            [("event", "refresh_task"), ("identifier", .string(identifier)), ("outcome", .string(outcome.rawValue))]
        case .activity(let update): [("event", "activity")] + update.json.members
        case .systemSound(let sound):
            [
                ("event", "system_sound"), ("sound", .int(sound.number)), ("alert", .bool(sound.isAlert)),
                ("vibrates", .bool(sound.vibrates)),
            ]
        case .incomingCall(let call): [("event", "incoming_call")] + call.members
        case .fault(let text): [("event", "fault"), ("text", .string(text))]
        }
    }
}

extension ListEntry {
    /// `shown` is there while previews are hidden: what the person sees instead.
    func json(actions: [NotificationAction] = []) -> JSONValue {
        let content = self.notification.request.content
        var members: [(String, JSONValue)] = [
            ("app", .string(self.app.rawValue)), ("notification", .string(self.notification.request.identifier)),
            ("title", .string(content.title)), ("subtitle", .string(content.subtitle)),
            ("body", .string(content.body)), ("thread", .string(content.threadIdentifier)),
            ("remote", .bool(self.notification.request.isRemote)), ("date", .int(self.notification.date)),
            ("attachments", .array(content.attachments.map { .string($0.url) })),
        ]
        let buttons = actions.map { action -> JSONValue in
            ["action": .string(action.identifier), "title": .string(action.title), "text": .bool(action.takesText)]
        }
        members.append(("actions", .array(buttons)))
        if let details = content.communication { members.append(("communication", details.json)) }
        if let hidden = self.hidden {
            let shown: JSONValue = [
                "title": .string(hidden.showsTitle ? content.title : ""),
                "subtitle": .string(hidden.showsSubtitle ? content.subtitle : ""), "body": .string(hidden.body),
            ]
            members.append(("shown", shown))
        }
        return .members(members)
    }
}

extension ScreenState {
    func members(actions: (ListEntry) -> [NotificationAction]) -> [(String, JSONValue)] {
        func entries(_ list: [ListEntry]) -> JSONValue { .array(list.map { $0.json(actions: actions($0)) }) }
        return [
            ("lock", .string(self.lock.rawValue)), ("airplane", .bool(self.airplaneMode)),
            ("front_app", .optional(self.foregroundApp?.rawValue)), ("front_screen", .optional(self.foregroundScreen)),
            ("banners", entries(self.banners)), ("list", entries(self.list)),
            ("badges", .members(self.badges.map { ($0.app.rawValue, .int($0.count)) })),
            ("permission_prompt", .optional(self.permissionPrompt?.rawValue)), ("focus", .bool(self.focus != nil)),
            ("unlock_for", .optional(self.asksToUnlockFor?.identifier)),
            ("alert_panel", self.alertPanel?.json() ?? .null), ("waiting_panels", .int(self.waitingPanels)),
            ("lit", .bool(self.isLit)), ("held_for_summary", .array(self.heldForSummary.map { $0.json() })),
            ("activities", .array(self.activities.map(\.json))), ("calls", .array(self.calls.map(\.json))),
        ]
    }
}

extension IncomingCall {
    fileprivate var members: [(String, JSONValue)] {
        [("call", .string(self.identifier)), ("caller", .string(self.caller)), ("video", .bool(self.hasVideo))]
    }
}

extension ShownCall {
    fileprivate var json: JSONValue {
        .members(
            [("app", .string(self.app.rawValue))] + self.call.members + [("answered", .bool(self.isAnswered))])
    }
}

extension ShownActivity {
    fileprivate var json: JSONValue {
        ["app": .string(self.app.rawValue), "activity": .string(self.activity), "content_state": self.contentState]
    }
}
