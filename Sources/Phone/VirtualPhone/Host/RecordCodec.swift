package import PhoneCore
package import TidingsModel

extension PhoneRecord {
    /// `event` names the kind; the other members are the kind's own.
    package var json: JSONValue { self.members.json }

    private func head(_ event: String) -> JSONMembers {
        ["event": event, "wall": self.at.wall, "app": self.app?.rawValue]
    }

    private var members: JSONMembers {
        switch self.entry {
        case .callback(let record):
            self.head("callback") + ["number": record.number] + record.process.members + [
                "name": record.callback.name, "state": "\(record.applicationState)",
                "arguments": record.callback.json,
            ]
        case .completion(let number, let result):
            self.head("completion") + ["number": number, "result": result.json]
        case .presentation(let record):
            self.head("presentation") + [
                "notification": record.identifier, "remote": record.isRemote, "banner": record.banner,
                "list": record.list, "sound": record.sound, "badge": record.badge, "replaced": record.replaced,
                "panel": record.panel, "lit": record.lit, "ring": record.isRing, "reason": record.reason.rawValue,
            ]
        case .state(let state): self.head("state") + ["state": state.rawValue]
        case .processStarted(let process): self.head("process_started") + process.members
        case .processEnded(let process, let reason):
            self.head("process_ended") + process.members + ["reason": reason.rawValue]
        case .arrival(let record):
            self.head("arrival") + [
                "notification": record.identifier, "delivery": record.delivery, "class": record.pushClass.rawValue,
                "state": record.state.rawValue,
            ]
        case .wake(let identifier, let outcome):
            self.head("wake") + ["notification": identifier, "outcome": outcome.rawValue]
        case .badge(let count): self.head("badge") + ["badge": count]
        case .refused(let delivery, let reason):
            self.head("refused") + ["delivery": delivery, "reason": reason.rawValue]
        case .backgroundFetch(let outcome): self.head("background_fetch") + ["outcome": outcome.rawValue]
        case .refreshTask(let identifier, let outcome):
            self.head("refresh_task") + ["identifier": identifier, "outcome": outcome.rawValue]
        case .activity(let update): self.head("activity") + JSONMembers(of: update)
        case .systemSound(let sound):
            self.head("system_sound") + ["sound": sound.number, "alert": sound.isAlert, "vibrates": sound.vibrates]
        case .incomingCall(let call): self.head("incoming_call") + call.members
        case .fault(let text): self.head("fault") + ["text": text]
        }
    }
}

extension ProcessID {
    fileprivate var members: JSONMembers { ["process": self.description, "role": self.role.rawValue] }
}

extension ListEntry {
    /// `shown` is there while previews are hidden: what the person sees instead.
    func json(actions: [NotificationAction] = []) -> JSONValue {
        let content = self.notification.request.content
        let told: JSONMembers = [
            "app": self.app.rawValue, "notification": self.notification.request.identifier, "title": content.title,
            "subtitle": content.subtitle, "body": content.body, "thread": content.threadIdentifier,
            "remote": self.notification.request.isRemote, "date": self.notification.date,
            "attachments": content.attachments.map(\.url),
            "actions": actions.objects { ["action": $0.identifier, "title": $0.title, "text": $0.takesText] },
        ]
        let shown = self.hidden.map { hidden -> JSONMembers in
            [
                "title": hidden.showsTitle ? content.title : "",
                "subtitle": hidden.showsSubtitle ? content.subtitle : "", "body": hidden.body,
            ]
        }
        return (told + .given(["communication": content.communication, "shown": shown])).json
    }
}

extension ScreenState {
    func members(actions: (ListEntry) -> [NotificationAction]) -> JSONMembers {
        func entries(_ list: [ListEntry]) -> [JSONValue] { list.map { $0.json(actions: actions($0)) } }
        return [
            "lock": self.lock.rawValue, "airplane": self.airplaneMode, "front_app": self.foregroundApp?.rawValue,
            "front_screen": self.foregroundScreen, "banners": entries(self.banners), "list": entries(self.list),
            "badges": JSONMembers(pairs: self.badges.map { ($0.app.rawValue, $0.count) }),
            "permission_prompt": self.permissionPrompt?.rawValue, "focus": self.focus != nil,
            "unlock_for": self.asksToUnlockFor?.identifier, "alert_panel": self.alertPanel?.json(),
            "waiting_panels": self.waitingPanels, "lit": self.isLit,
            "held_for_summary": self.heldForSummary.map { $0.json() }, "activities": self.activities.map(\.json),
            "calls": self.calls.map(\.json),
        ]
    }
}

extension IncomingCall {
    fileprivate var members: JSONMembers {
        ["call": self.identifier, "caller": self.caller, "video": self.hasVideo]
    }
}

extension ShownCall {
    fileprivate var json: JSONValue {
        (JSONMembers(["app": self.app.rawValue]) + self.call.members + ["answered": self.isAnswered]).json
    }
}

extension ShownActivity {
    fileprivate var json: JSONValue {
        ["app": .string(self.app.rawValue), "activity": .string(self.activity), "content_state": self.contentState]
    }
}
