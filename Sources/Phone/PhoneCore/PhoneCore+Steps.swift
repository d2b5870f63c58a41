extension PhoneCore {
    mutating func append(_ step: AppStep, to index: Int, _ turn: inout Turn) {
        self.apps[index].run?.steps.append(step)
        self.pump(index, &turn)
    }

    mutating func pump(_ index: Int, _ turn: inout Turn) {
        while let step = self.apps[index].takeStep() { self.performStep(step, index, &turn) }
    }

    private mutating func performStep(_ step: AppStep, _ index: Int, _ turn: inout Turn) {
        let scenes = self.facts(of: index).scenes
        let state = self.apps[index].state
        switch step {
        case .call(let callback): self.call(index, callback, &turn)
        case .moveToFront:
            guard self.isWantedInForeground(index) else { return }
            let way = self.stepsToFront(index, response: nil)
            self.performLifecycle(way.before + way.after, index, &turn)
            self.deliverHeldWake(index, &turn)
        case .moveToBackground:
            let way = Lifecycle.toBackground(
                from: state, scenes: scenes, sceneConnected: self.apps[index].run?.sceneConnected ?? false)
            self.performLifecycle(way, index, &turn)
        case .moveToInactive: self.performLifecycle(Lifecycle.toInactive(from: state, scenes: scenes), index, &turn)
        case .deliver(let arrival): self.deliver(arrival, index, &turn)
        case .refreshTask(let identifier): self.launchRefreshTask(identifier, index, &turn)
        case .respond(let response, let foreground, let launched):
            self.respond(
                response, index, foreground: foreground && self.isWantedInForeground(index), launched: launched, &turn)
        case .openSettings(let notification):
            guard self.isWantedInForeground(index) else { return }
            let way = self.stepsToFront(index, response: nil)
            self.performLifecycle(way.before, index, &turn)
            if self.apps[index].run?.delegateSet == true { self.call(index, .openSettings(notification), &turn) }
            self.performLifecycle(way.after, index, &turn)
            self.deliverHeldWake(index, &turn)
        }
    }

    mutating func performLifecycle(_ steps: [Lifecycle.Step], _ index: Int, _ turn: inout Turn) {
        for step in steps {
            switch step {
            case .call(let callback): self.call(index, callback, &turn)
            case .enter(let state): self.enter(index, state, &turn)
            }
        }
    }

    /// Reported between `willEnterForeground` and `didBecomeActive` (`open` of ios-delivery.md §5.6).
    private mutating func respond(
        _ response: UserResponse, _ index: Int, foreground: Bool, launched: Bool, _ turn: inout Turn
    ) {
        let wasActive = self.apps[index].state == .foregroundActive
        let way = self.stepsToFront(index, response: response)
        if foreground { self.performLifecycle(way.before, index, &turn) }
        let report = Dispatch.responseCallbacks(
            response, launched: launched, wasActive: wasActive, facts: self.facts(of: index))
        for callback in report { self.call(index, callback, &turn) }
        guard foreground else { return }
        self.performLifecycle(way.after, index, &turn)
        self.deliverHeldWake(index, &turn)
    }

    private func stepsToFront(
        _ index: Int, response: UserResponse?
    ) -> (before: [Lifecycle.Step], after: [Lifecycle.Step]) {
        Lifecycle.toForeground(
            from: self.apps[index].state, scenes: self.facts(of: index).scenes,
            sceneConnected: self.apps[index].run?.sceneConnected ?? false,
            sceneConfigured: self.apps[index].run?.sceneConfigured ?? false, response: response)
    }

    /// A launch may take longer than the person wants the app.
    private func isWantedInForeground(_ index: Int) -> Bool {
        self.lock == .unlocked && self.foregroundApp == self.bundleID(index)
    }

    mutating func bringToFront(_ index: Int, options: LaunchOptions, step: AppStep, _ turn: inout Turn) {
        let app = self.bundleID(index)
        self.leaveForeground(unless: app, &turn)
        if self.apps[index].run == nil, self.refusesLaunch(index, &turn) { return }
        self.foregroundApp = app
        self.apps[index].isQuit = false
        self.refreshEphemeral(index, &turn)
        if self.apps[index].state == .backgroundRunning, self.crashOnResume(index, &turn) { return }
        self.wake(index, inForeground: true, options: options, &turn)
        self.append(step, to: index, &turn)
    }

    mutating func leaveForeground(unless app: BundleID?, _ turn: inout Turn) {
        guard let front = self.foregroundApp, front != app else { return }
        self.foregroundApp = nil
        guard let index = self.index(of: front) else { return }
        self.append(.moveToBackground, to: index, &turn)
    }
}
