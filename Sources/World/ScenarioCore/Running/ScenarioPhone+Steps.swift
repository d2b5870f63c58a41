import PhoneCore
import TidingsModel

// The steps of a case.
extension ScenarioPhone {
    mutating func run(_ step: Step) {
        self.step = step.position
        self.trace.append(nil, step.words, kind: "step", at: self.now.monotonic)
        if let obstacle = self.obstacle(to: step.action) { return self.halt(obstacle) }
        switch step.action {
        case .phone(let event): self.run(event)
        case .phones(let events): for event in events { self.run(event) }
        case .push(let push, let label, let lifetime): self.sendPush(push, label: label, lifetime: lifetime)
        case .act(let label, let act): self.touchNotification(label, act)
        case .reinstall(let keepsData):
            let installed = self.app.setup.installed
            self.handle(.system(keepsData ? .appUpdated(installed) : .appReinstalled(installed)))
        case .switches(let changes):
            for change in changes {
                self.handle(.person(.settingChanged(Self.bundle, change.which, isOn: change.isOn)))
            }
        case .app(let call):
            guard let process = self.running() else { return }
            switch call {
            case .event(let event): self.handle(.process(process, event))
            case .query(let query): _ = self.submit(query, in: process)
            }
        case .local(let request, let moment):
            guard let process = self.running() else { return }
            self.add(request, moment, process)
        case .activity(let step): self.run(step)
        case .activityPush(let push): self.sendPush(push)
        case .refreshTask(let wait):
            guard let process = self.running() else { return }
            let request = RefreshTaskRequest(identifier: HostedApp.refreshTask, earliestBegin: self.now.wall + wait)
            _ = self.submit(.submitRefreshTask(request), in: process)
        case .wait(let milliseconds): self.advance(by: milliseconds)
        case .clear: self.trace.clear(at: self.now.monotonic)
        case .sdk(let step): self.run(step)
        case .expect, .screen: break
        }
        self.processQueue()
    }

    mutating func running() -> ProcessID? {
        if let process = self.process, self.state != .suspended { return process }
        self.halt("the app is \(self.state.word): only a running app can call anything")
        return nil
    }

    private mutating func add(
        _ request: NotificationRequest, _ moment: LocalMoment, _ process: ProcessID
    ) {
        var request = request
        self.labels.addName(request.identifier, request.identifier)
        let isNew = self.setup.phone.version.hasUserNotifications
        switch moment {
        case .atOnce: request.trigger = nil
        case .after(let wait, let repeats) where isNew:
            request.trigger = .timeInterval(milliseconds: wait, repeats: repeats)
        case .after(let wait, let repeats):
            request.trigger = .fireDate(self.now.wall + wait, repeatInterval: repeats ? Self.interval(wait) : nil)
        case .region(let region, let repeats): request.trigger = .location(region, repeats: repeats)
        }
        if isNew {
            _ = self.submit(.add(request), in: process)
        } else {
            self.enqueue(.process(process, .localNotificationScheduled(request)))
        }
    }

    /// The calendar unit of this length (ios-delivery.md §9).
    static func interval(_ milliseconds: Int64) -> RepeatInterval? {
        switch milliseconds {
        case 60_000: .minute
        case 3_600_000: .hour
        case 86_400_000: .day
        case 604_800_000: .week
        default: nil
        }
    }

    private mutating func run(_ step: ActivityStep) {
        if case .dismiss(let label) = step {
            guard let identifier = self.labels.identifier(ofActivity: label) else {
                return self.halt("\(label) is not on the lock screen")
            }
            return self.handle(.person(.activityDismissed(Self.bundle, activity: identifier)))
        }
        guard let process = self.running() else { return }
        let event: ProcessEvent
        switch step {
        case .start(let label, let state, let pushType):
            self.labels.addName(ofActivity: label)
            event = .activityStarted(activity: label, pushType: pushType, contentState: state)
        case .update(let label, let state):
            event = .activityContentChanged(
                activity: self.labels.identifier(ofActivity: label) ?? label, contentState: state)
        case .end(let label), .dismiss(let label):
            event = .activityEnded(activity: self.labels.identifier(ofActivity: label) ?? label)
        }
        self.handle(.process(process, event))
    }

    private mutating func touchNotification(_ label: String, _ act: PersonAct) {
        let screen = self.core.screen
        let entries = act == .swipeBanner ? screen.banners : screen.list + screen.banners
        guard let identifier = self.labels.identifier(of: label),
            entries.contains(where: { $0.key.identifier == identifier })
        else {
            let there = entries.map { self.labels.label(of: $0.key.identifier) }
            return self.halt(
                "\(label) is not on the screen"
                    + (there.isEmpty ? "; nothing is" : "; there: \(there.joined(separator: ", "))"))
        }
        let key = NotificationKey(app: Self.bundle, identifier: identifier)
        switch act {
        case .tap: self.handle(.person(.notificationTapped(key)))
        case .dismiss: self.handle(.person(.notificationDismissed(key)))
        case .swipeBanner: self.handle(.person(.bannerSwipedAway(key)))
        case .openSettings: self.handle(.person(.notificationSettingsOpened(key)))
        case .provisional(let keep): self.handle(.person(.provisionalAnswered(Self.bundle, keep: keep)))
        case .action(let action, let text):
            self.handle(.person(.actionPerformed(key, action: action, text: text)))
        }
    }
}

extension StepAction {
    var label: String? {
        switch self {
        case .push(_, let label, _): label
        case .act(let label, .action(let action, _)): "\(action) on \(label)"
        case .local(let request, _): request.identifier
        case .activityPush(let push): "\(push.event.rawValue) of \(push.target.text)"
        case .activity(.start(let label, _, _)), .activity(.update(let label, _)): label
        case .sdk(.message(let message)): message.label
        case .screen(let step): step.label
        case .switches(let changes):
            changes.map { "\($0.which) \($0.isOn ? "on" : "off")" }.joined(separator: ", ")
        default: nil
        }
    }
}
