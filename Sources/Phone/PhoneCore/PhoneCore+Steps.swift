import TidingsModel

/// Leading an app through its life-cycle and what it is told, in order.
extension PhoneCore {
    /// Adds a step and goes on as far as the app can.
    mutating func append(_ step: AppStep, to index: Int, _ turn: inout Turn) {
        self.apps[index].run?.steps.append(step)
        self.pump(index, &turn)
    }

    /// Performs what waits, unless the launch is not over or the app is suspended.
    mutating func pump(_ index: Int, _ turn: inout Turn) {
        while let run = self.apps[index].run, run.phase == .ready, self.apps[index].state != .suspended,
            let step = run.steps.first
        {
            self.apps[index].run?.steps.removeFirst()
            self.perform(step, index, &turn)
        }
    }

    private mutating func perform(_ step: AppStep, _ index: Int, _ turn: inout Turn) {
        let scenes = self.facts(of: index).scenes
        let state = self.apps[index].state
        switch step {
        case .call(let callback):
            self.call(index, callback, &turn)
        case .moveToFront:
            guard self.isWantedInForeground(index) else { return }
            let way = self.wayToFront(index, response: nil)
            self.perform(way.before + way.after, index, &turn)
            self.deliverHeldWake(index, &turn)
        case .moveToBackground:
            let way = Lifecycle.toBackground(
                from: state, scenes: scenes, sceneConnected: self.apps[index].run?.sceneConnected ?? false)
            self.perform(way, index, &turn)
        case .moveToInactive:
            self.perform(Lifecycle.toInactive(from: state, scenes: scenes), index, &turn)
        case .deliver(let arrival):
            self.deliver(arrival, index, &turn)
        case .refreshTask(let identifier):
            self.launchRefreshTask(identifier, index, &turn)
        case .respond(let response, let foreground, let launched):
            self.respond(
                response, index, foreground: foreground && self.isWantedInForeground(index), launched: launched, &turn)
        case .openSettings(let notification):
            guard self.isWantedInForeground(index) else { return }
            let way = self.wayToFront(index, response: nil)
            self.perform(way.before, index, &turn)
            if self.apps[index].run?.delegateSet == true { self.call(index, .openSettings(notification), &turn) }
            self.perform(way.after, index, &turn)
            self.deliverHeldWake(index, &turn)
        }
    }

    /// Performs life-cycle steps.
    mutating func perform(_ steps: [Lifecycle.Step], _ index: Int, _ turn: inout Turn) {
        for step in steps {
            switch step {
            case .call(let callback): self.call(index, callback, &turn)
            case .enter(let state): self.enter(index, state, &turn)
            }
        }
    }

    /// The report of a person's action between `willEnterForeground` and `didBecomeActive` (ios-delivery.md §5.6 `open`).
    private mutating func respond(
        _ response: UserResponse, _ index: Int, foreground: Bool, launched: Bool, _ turn: inout Turn
    ) {
        let wasActive = self.apps[index].state == .foregroundActive
        let way = self.wayToFront(index, response: response)
        if foreground { self.perform(way.before, index, &turn) }
        let report = Dispatch.report(
            response, launched: launched, wasActive: wasActive, facts: self.facts(of: index))
        for callback in report { self.call(index, callback, &turn) }
        guard foreground else { return }
        self.perform(way.after, index, &turn)
        self.deliverHeldWake(index, &turn)
    }

    private func wayToFront(
        _ index: Int, response: UserResponse?
    ) -> (before: [Lifecycle.Step], after: [Lifecycle.Step]) {
        Lifecycle.toForeground(
            from: self.apps[index].state, scenes: self.facts(of: index).scenes,
            sceneConnected: self.apps[index].run?.sceneConnected ?? false,
            sceneConfigured: self.apps[index].run?.sceneConfigured ?? false, response: response)
    }

    /// Whether the person still wants it there; a launch may take longer than that.
    private func isWantedInForeground(_ index: Int) -> Bool {
        self.lock == .unlocked && self.foregroundApp == self.apps[index].installed.bundleID
    }

    /// Brings an app to the foreground for a step, launching it if it has no process. The app that was there leaves.
    mutating func bringToFront(_ index: Int, options: LaunchOptions, step: AppStep, _ turn: inout Turn) {
        let app = self.apps[index].installed.bundleID
        self.leaveForeground(unless: app, &turn)
        if self.apps[index].run == nil, self.refusesLaunch(index, &turn) { return }
        self.foregroundApp = app
        self.apps[index].isQuit = false
        self.refreshEphemeral(index, &turn)
        if self.apps[index].state == .backgroundRunning, self.crashOnResume(index, &turn) { return }
        self.wake(index, inForeground: true, options: options, &turn)
        self.append(step, to: index, &turn)
    }

    /// Sends the app in the foreground to the background, unless it is the given one.
    mutating func leaveForeground(unless app: BundleID?, _ turn: inout Turn) {
        guard let front = self.foregroundApp, front != app else { return }
        self.foregroundApp = nil
        guard let index = self.index(of: front) else { return }
        self.append(.moveToBackground, to: index, &turn)
    }
}
