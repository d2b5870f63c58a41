import PhoneCore
import TidingsModel

// The steps of a case.
extension Stage {
    mutating func perform(_ step: Step) {
        self.step = step.position
        self.trace.step(step.words, at: self.now.monotonic)
        if let obstacle = self.obstacle(to: step.action) { return self.halt(obstacle) }
        switch step.action {
        case .phone(let event): self.happen(event)
        case .phones(let events): for event in events { self.happen(event) }
        case .push(let push, let label, let lifetime):
            self.push(push, label: label, lifetime: lifetime)
            self.drain()
        case .act(let label, let act): self.act(on: label, act)
        case .reinstall(let keepsData):
            let installed = self.app.setup.installed
            self.send(.system(keepsData ? .appUpdated(installed) : .appReinstalled(installed)))
        case .switches(let changes):
            for change in changes {
                self.send(.person(.settingChanged(Self.bundle, change.which, isOn: change.isOn)))
            }
        case .app(let call):
            guard let process = self.running() else { return }
            switch call {
            case .event(let event): self.send(.process(process, event))
            case .query(let query):
                _ = self.ask(query, of: process)
                self.drain()
            }
        case .local(let request, let moment):
            guard let process = self.running() else { return }
            self.add(request, moment, process)
            self.drain()
        case .activity(let step): self.perform(step)
        case .activityPush(let push):
            self.push(push)
            self.drain()
        case .refreshTask(let wait):
            guard let process = self.running() else { return }
            let request = RefreshTaskRequest(identifier: HostedApp.refreshTask, earliestBegin: self.now.wall + wait)
            _ = self.ask(.submitRefreshTask(request), of: process)
            self.drain()
        case .wait(let milliseconds): self.pass(milliseconds)
        case .clear: self.trace.clear(at: self.now.monotonic)
        case .sdk(let step): self.perform(step)
        case .expect: break
        }
    }

    /// The app's process, if it can run code now.
    mutating func running() -> ProcessID? {
        if let process = self.process, self.state != .suspended { return process }
        self.halt("the app is \(self.state.word): only a running app can call anything")
        return nil
    }

    private mutating func add(
        _ request: NotificationRequest, _ moment: LocalMoment, _ process: ProcessID
    ) {
        var request = request
        self.labels.named(request.identifier, request.identifier)
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
            _ = self.ask(.add(request), of: process)
        } else {
            self.follow(.process(process, .localNotificationScheduled(request)))
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

    /// The app's own Live Activities, by their names; what the person does with one.
    private mutating func perform(_ step: ActivityStep) {
        if case .dismiss(let label) = step {
            guard let identifier = self.labels.identifier(ofActivity: label) else {
                return self.halt("\(label) is not on the lock screen")
            }
            return self.send(.person(.activityDismissed(Self.bundle, activity: identifier)))
        }
        guard let process = self.running() else { return }
        let event: ProcessEvent
        switch step {
        case .start(let label, let state, let pushType):
            self.labels.named(activity: label)
            event = .activityStarted(activity: label, pushType: pushType, contentState: state)
        case .update(let label, let state):
            event = .activityContentChanged(
                activity: self.labels.identifier(ofActivity: label) ?? label, contentState: state)
        case .end(let label), .dismiss(let label):
            event = .activityEnded(activity: self.labels.identifier(ofActivity: label) ?? label)
        }
        self.send(.process(process, event))
    }

    /// The person acts on an entry that must be there to be touched.
    private mutating func act(on label: String, _ act: PersonAct) {
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
        case .tap: self.send(.person(.notificationTapped(key)))
        case .dismiss: self.send(.person(.notificationDismissed(key)))
        case .swipeBanner: self.send(.person(.bannerSwipedAway(key)))
        case .openSettings: self.send(.person(.notificationSettingsOpened(key)))
        case .provisional(let keep): self.send(.person(.provisionalAnswered(Self.bundle, keep: keep)))
        case .action(let action, let text):
            self.send(.person(.actionPerformed(key, action: action, text: text)))
        }
    }
}

extension StepAction {
    /// What a step whose value is a mapping is about.
    var label: String? {
        switch self {
        case .push(_, let label, _): label
        case .act(let label, .action(let action, _)): "\(action) on \(label)"
        case .local(let request, _): request.identifier
        case .activityPush(let push): "\(push.event.word) of \(push.target.text)"
        case .activity(.start(let label, _, _)), .activity(.update(let label, _)): label
        case .sdk(.message(let message)): message.label
        case .switches(let changes):
            changes.map { "\($0.which) \($0.isOn ? "on" : "off")" }.joined(separator: ", ")
        default: nil
        }
    }
}
