import PhoneCore
import TidingsModel

// The steps of a case.
extension Stage {
    mutating func perform(_ step: Step) {
        self.trace.step(step.words, at: self.now.monotonic)
        switch step.action {
        case .phone(let event): self.send(event)
        case .push(let push, let label):
            self.push(push, label: label)
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
        case .local(let request, let wait, let repeats):
            guard let process = self.running() else { return }
            self.add(request, after: wait, repeats: repeats, process)
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
    private mutating func running() -> ProcessID? {
        if let process = self.process, self.state != .suspended { return process }
        self.halt("the app is \(self.state.word): only a running app can call anything")
        return nil
    }

    private mutating func add(
        _ request: NotificationRequest, after wait: Int64?, repeats: Bool, _ process: ProcessID
    ) {
        var request = request
        self.labels.named(request.identifier, request.identifier)
        if self.setup.phone.version.hasUserNotifications {
            request.trigger = wait.map { .timeInterval(milliseconds: $0, repeats: repeats) }
            _ = self.ask(.add(request), of: process)
        } else {
            request.trigger = wait.map { .fireDate(self.now.wall + $0, repeatInterval: nil) }
            self.follow(.process(process, .localNotificationScheduled(request)))
        }
    }

    /// The person acts on an entry that must be there to be touched.
    private mutating func act(on label: String, _ act: PersonAct) {
        let screen = self.core.screen
        let entries = screen.list + screen.banners
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
        case .action(let action, let text):
            self.send(.person(.actionPerformed(key, action: action, text: text)))
        }
    }
}

extension StepAction {
    /// What a step whose value is a mapping is about.
    var label: String? {
        switch self {
        case .push(_, let label): label
        case .act(let label, .action(let action, _)): "\(action) on \(label)"
        case .local(let request, _, _): request.identifier
        case .sdk(.message(let message)): message.label
        case .switches(let changes):
            changes.map { "\($0.which) \($0.isOn ? "on" : "off")" }.joined(separator: ", ")
        default: nil
        }
    }
}
