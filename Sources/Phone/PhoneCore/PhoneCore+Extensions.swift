import TidingsModel

/// The notification service extension: one process per push (ios-delivery.md §10).
extension PhoneCore {
    /// Gate 6 of ios-delivery.md §4: a mutable alert with text, alerts allowed, and the app has an extension.
    func wantsExtension(_ arrival: Arrival, _ index: Int) -> Bool {
        let app = self.apps[index]
        return self.version.hasUserNotifications && app.installed.hasServiceExtension && arrival.isVisible
            && arrival.payload.isMutable && arrival.request.content.hasText && app.settings.alert
            && (self.lock != .beforeFirstUnlock || self.settings.quirks.extensionRunsBeforeFirstUnlock)
    }

    mutating func startExtension(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        self.processCount += 1
        let app = self.apps[index].installed.bundleID
        let process = ProcessID(app: app, role: .serviceExtension, number: self.processCount)
        self.extensions.append(
            ExtensionRun(
                process: process, arrival: arrival,
                deadline: turn.now.monotonic + self.settings.extensionStartLimit))
        turn.add(.startProcess(process))
        turn.record(app, .processStarted(process))
    }

    /// The extension's process takes calls: its 30 s begin.
    mutating func extensionStarted(_ position: Int, _ turn: inout Turn) {
        let run = self.extensions[position]
        guard case .starting = run.stage else {
            return turn.record(run.process.app, .fault("process \(run.process) must report its start once"))
        }
        let number = self.nextCallback()
        self.extensions[position].enter(
            .running(call: number, deadline: turn.now.monotonic + self.settings.extensionLimit))
        self.emit(
            .serviceExtensionReceive(run.arrival.request), number: number, to: run.process, state: .background,
            &turn)
    }

    /// The content handler was called, in time or in the last second. EXP's own return needs no answer.
    mutating func extensionAnswered(
        _ position: Int, _ number: CallbackNumber, _ result: CallbackResult, _ turn: inout Turn
    ) {
        let run = self.extensions[position]
        let open: CallbackNumber? =
            switch run.stage {
            case .running(let call, _), .expiring(let call, _): call
            case .starting, .done: nil
            }
        guard case .content(let content) = result else {
            if open == number {
                turn.record(run.process.app, .fault("callback \(number) must be answered with content"))
            }
            return
        }
        guard open == number else {
            return turn.record(run.process.app, .fault("callback \(number) must be answered once"))
        }
        turn.record(run.process.app, .completion(number: number, result))
        self.extensions[position].enter(.done(deadline: turn.now.monotonic + self.settings.extensionLinger))
        guard let index = self.index(of: run.process.app) else { return }
        let arrival = ExtensionResult.apply(
            content, to: run.arrival, app: self.apps[index].installed, version: self.version)
        self.dispatch(self.withGate(arrival, index), index, &turn)
    }

    /// A stage's time is over: EXP, then the original content, then the end of the process.
    mutating func extensionTimePassed(_ position: Int, _ turn: inout Turn) {
        let run = self.extensions[position]
        switch run.stage {
        case .starting:
            self.endExtension(position, reason: .extensionStartTooSlow, &turn)
        case .running(let call, _):
            self.extensions[position].enter(
                .expiring(call: call, deadline: turn.now.monotonic + self.settings.extensionExpiryGrace))
            self.emit(
                .serviceExtensionTimeWillExpire, number: self.nextCallback(), to: run.process, state: .background,
                &turn)
        case .expiring:
            self.endExtension(position, reason: .extensionLate, &turn)
        case .done:
            self.endExtension(position, reason: .extensionDone, &turn)
        }
    }

    /// Ends a run; its push goes on as it came, or is discarded by Q14.
    mutating func endExtension(_ position: Int, reason: EndReason, kill: Bool = true, _ turn: inout Turn) {
        let run = self.extensions.remove(at: position)
        if kill { turn.add(.killProcess(run.process)) }
        turn.record(run.process.app, .processEnded(run.process, reason))
        guard run.isPending, let index = self.index(of: run.process.app) else { return }
        var arrival = run.arrival
        if self.settings.quirks.killedExtensionWithFilteringDiscards,
            ExtensionResult.mayFilter(self.apps[index].installed, version: self.version)
        {
            arrival.isVisible = false
            arrival.isFiltered = true
            arrival.request.content.badge = nil
        }
        self.dispatch(self.withGate(arrival, index), index, &turn)
    }

    /// Ends all runs of an app.
    mutating func endExtensions(of app: BundleID, reason: EndReason, _ turn: inout Turn) {
        while let position = self.extensions.firstIndex(where: { $0.process.app == app }) {
            self.endExtension(position, reason: reason, &turn)
        }
    }

    /// Authorization may have been taken away while the extension ran.
    private func withGate(_ arrival: Arrival, _ index: Int) -> Arrival {
        var arrival = arrival
        arrival.isVisible = arrival.isVisible && self.apps[index].settings.allowsPresentation
        return arrival
    }
}
