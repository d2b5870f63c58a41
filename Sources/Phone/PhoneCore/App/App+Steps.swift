import DequeModule
import TidingsModel

/// Tells an app's process, in order: at once, or when it is launched and runs.
extension App {
    /// nil tells nothing. With `newestOnly` what it makes out of date is not told any more.
    mutating func tell(_ callback: Callback?, newestOnly: Bool = false, _ turn: inout Turn) {
        guard let callback else { return }
        if newestOnly { self.process?.dropSteps(supersededBy: callback) }
        self.append(.call(callback), &turn)
    }

    /// A suspended app is not woken for it, and an app that starts reads the state itself.
    mutating func notifyIfRunning(_ callback: Callback, _ turn: inout Turn) {
        guard self.state != .suspended else { return }
        switch self.process?.phase {
        case .launching, .ready: self.tell(callback, &turn)
        case .starting, .loaded, nil: break
        }
    }

    mutating func append(_ step: AppStep, _ turn: inout Turn) {
        self.process?.steps.append(step)
        self.pump(&turn)
    }

    mutating func pump(_ turn: inout Turn) {
        while self.state != .suspended, self.process?.phase == .ready, let step = self.process?.steps.popFirst() {
            self.perform(step, &turn)
        }
    }

    private mutating func perform(_ step: AppStep, _ turn: inout Turn) {
        switch step {
        case .call(let callback): self.process?.call(callback, &turn)
        case .moveToFront: self.comeToFront(&turn)
        case .moveToBackground: self.process?.moveToBackground(&turn)
        case .moveToInactive: self.process?.moveToInactive(&turn)
        case .deliver(let arrival): self.deliver(arrival, &turn)
        case .refreshTask(let identifier): self.process?.launchRefreshTask(identifier, &turn)
        case .respond(let response, let foreground, let launched):
            let report = Dispatch.responseCallbacks(
                response, launched: launched, wasActive: self.state == .foregroundActive,
                facts: DispatchFacts(of: self, &turn))
            if foreground, turn.system.isInFront(self.bundleID) {
                self.comeToFront(for: response, telling: report, &turn)
            } else {
                for callback in report { self.process?.call(callback, &turn) }
            }
        case .openSettings(let notification):
            self.comeToFront(telling: self.process?.delegateSet == true ? [.openSettings(notification)] : [], &turn)
        }
    }

    /// Unless the person has gone elsewhere meanwhile. A held silent push follows (ios-delivery.md §6.2).
    private mutating func comeToFront(
        for response: UserResponse? = nil, telling report: [Callback] = [], _ turn: inout Turn
    ) {
        guard turn.system.isInFront(self.bundleID) else { return }
        self.process?.comeToFront(for: response, telling: report, &turn)
        guard let held = self.wakes.held.take() else { return }
        turn.record(.wake(identifier: held.request.identifier, .delivered))
        self.process?.call(.receiveRemoteFetch(held.payload), &turn)
    }

    // MARK: By the person

    /// The phone is unlocked, and no other app in front.
    mutating func bringToFront(for step: AppStep, options: LaunchOptions = LaunchOptions(), _ turn: inout Turn) {
        if self.process == nil, self.installed.refusesLaunch(&turn) { return }
        turn.system.foregroundApp = self.bundleID
        self.isQuit = false
        if turn.version >= 14, self.installed.isAppClip { self.center.refreshEphemeral(&turn) }
        if self.state == .backgroundRunning, self.crashOnResume(&turn) { return }
        self.wake(inForeground: true, options: options, &turn)
        self.append(step, &turn)
    }

    mutating func respond(to response: UserResponse, foreground: Bool, _ turn: inout Turn) {
        // A process that was only started in advance does not run the app's own code.
        let launched = self.process?.isPrewarmed != false
        let options = Dispatch.actionOptions(response.notification.request, facts: DispatchFacts(of: self, &turn))
        let step = AppStep.respond(response, foreground: foreground, launched: launched)
        if foreground { return self.bringToFront(for: step, options: options, &turn) }
        self.wake(for: step, options: options, &turn)
    }
}
