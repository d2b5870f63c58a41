import TidingsModel

/// The notification service extension (ios-delivery.md §10).
extension PhoneCore {
    /// Gate 6 of ios-delivery.md §4.
    func wantsExtension(_ arrival: Arrival, _ index: Int) -> Bool {
        let app = self.apps[index]
        return self.version.hasUserNotifications && app.installed.hasServiceExtension && arrival.isVisible
            && arrival.payload.isMutable && arrival.request.content.hasText && app.settings.alert
            && (self.lock != .beforeFirstUnlock || self.settings.quirks.extensionRunsBeforeFirstUnlock)
    }

    mutating func startExtension(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        let app = self.bundleID(index)
        if self.settings.sharesExtensionProcess,
            let position = self.extensions.lastIndex(where: { $0.process.app == app })
        {
            self.extensions[position].runs.append(ExtensionRun(arrival: arrival))
            return self.callExtension(position, &turn)
        }
        self.processCount += 1
        let process = ProcessID(app: app, role: .serviceExtension, number: self.processCount)
        self.extensions.append(
            ExtensionProcess(
                process: process, startDeadline: turn.now.monotonic + self.settings.extensionStartLimit,
                runs: [ExtensionRun(arrival: arrival)]))
        turn.add(.startProcess(process))
        turn.record(app, .processStarted(process))
    }

    mutating func handleExtensionStart(_ position: Int, _ turn: inout Turn) {
        let process = self.extensions[position].process
        guard self.extensions[position].startDeadline != nil else {
            return turn.recordFault(process.app, "process \(process) must report its start once")
        }
        self.extensions[position].startDeadline = nil
        self.callExtension(position, &turn)
    }

    /// From `didReceive(_:withContentHandler:)` on, each push has its 30 s.
    private mutating func callExtension(_ position: Int, _ turn: inout Turn) {
        guard self.extensions[position].startDeadline == nil else { return }
        let process = self.extensions[position].process
        for run in self.extensions[position].runs.indices where self.extensions[position].runs[run].stage == .waiting {
            let number = self.nextCallback()
            self.extensions[position].runs[run].stage = .running(
                call: number, deadline: turn.now.monotonic + self.settings.extensionLimit)
            let request = self.extensions[position].runs[run].arrival.request
            self.emit(.serviceExtensionReceive(request), number: number, to: process, state: .background, &turn)
        }
    }

    /// The content handler was called. The return of `serviceExtensionTimeWillExpire()` needs no answer.
    mutating func handleExtensionAnswer(
        _ position: Int, _ number: CallbackNumber, _ result: CallbackResult, _ turn: inout Turn
    ) {
        let process = self.extensions[position].process
        let open = self.extensions[position].runs.firstIndex { $0.call == number }
        guard case .content(let content) = result else {
            if open != nil { turn.recordFault(process.app, "callback \(number) must be answered with content") }
            return
        }
        guard let open else { return turn.recordFault(process.app, "callback \(number) must be answered once") }
        turn.record(process.app, .completion(number: number, result))
        let run = self.extensions[position].runs.remove(at: open)
        if self.extensions[position].runs.isEmpty {
            self.extensions[position].activitiesExpired = false
            self.extensions[position].activitiesUntil = turn.now.monotonic + self.settings.wakeTaskTime
            self.updateExtensionEnd(position, &turn)
        }
        guard let index = self.index(of: process.app) else { return }
        let installed = self.apps[index].installed
        let arrival = ExtensionResult.apply(
            content.shown(with: installed.localizations), to: run.arrival, app: installed, version: self.version)
        self.dispatch(self.withGate(arrival, index), index, &turn)
    }

    /// Activities keep an idle process until their time is over, however often they begin and end.
    private mutating func updateExtensionEnd(_ position: Int, _ turn: inout Turn) {
        let process = self.extensions[position]
        guard process.runs.isEmpty else { return }
        let linger = turn.now.monotonic + self.settings.extensionLinger
        self.extensions[position].endsAt =
            process.activities.isEmpty ? min(linger, process.activitiesUntil) : process.activitiesUntil
    }

    /// First `serviceExtensionTimeWillExpire`, then the original content, then the end of the process.
    mutating func handleExtensionDeadline(_ position: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        if self.extensions[position].startDeadline != nil {
            return self.endExtension(position, reason: .extensionStartTooSlow, &turn)
        }
        guard let due = self.extensions[position].runs.firstIndex(where: { $0.deadline <= now }) else {
            return self.endIdleExtension(position, &turn)
        }
        let process = self.extensions[position].process
        switch self.extensions[position].runs[due].stage {
        case .waiting: break
        case .running(let call, _):
            self.extensions[position].runs[due].stage = .expiring(
                call: call, deadline: now + self.settings.extensionExpiryGrace)
            let identifier = self.extensions[position].runs[due].arrival.request.identifier
            self.emit(
                .serviceExtensionTimeWillExpire(identifier: identifier, call: call), number: self.nextCallback(),
                to: process, state: .background, &turn)
        case .expiring:
            guard self.extensions[position].runs.count > 1 else {
                return self.endExtension(position, reason: .extensionLate, &turn)
            }
            let run = self.extensions[position].runs.remove(at: due)
            self.fallBack(run, of: process, isOwnExit: false, &turn)
        }
    }

    /// Open activities are told before the process ends.
    private mutating func endIdleExtension(_ position: Int, _ turn: inout Turn) {
        let activities = self.extensions[position].activities
        guard !activities.isEmpty, !self.extensions[position].activitiesExpired else {
            return self.endExtension(position, reason: .extensionDone, &turn)
        }
        self.extensions[position].activitiesExpired = true
        self.extensions[position].activitiesUntil = turn.now.monotonic + self.settings.expirationGrace
        self.extensions[position].endsAt = self.extensions[position].activitiesUntil
        for activity in activities {
            self.emit(
                .expiringActivityExpired(activity), number: self.nextCallback(),
                to: self.extensions[position].process, state: .background, &turn)
        }
    }

    /// An extension is never suspended, so its locks do no harm (Q13).
    mutating func handleExtensionReport(_ event: ProcessEvent, _ position: Int, _ turn: inout Turn) {
        let process = self.extensions[position].process
        switch event {
        case .expiringActivityBegan(let number):
            guard !self.extensions[position].activities.contains(number) else {
                return turn.recordFault(process.app, "expiring activity \(number) must begin once")
            }
            self.extensions[position].activities.append(number)
            self.updateExtensionEnd(position, &turn)
        case .expiringActivityEnded(let number):
            self.extensions[position].activities.removeAll { $0 == number }
            self.updateExtensionEnd(position, &turn)
        case .memoryUseChanged(let bytes):
            // Killed at once, without `serviceExtensionTimeWillExpire` (ios-delivery.md §7.1).
            guard bytes > self.settings.extensionMemoryLimit else { return }
            self.endExtension(position, reason: .extensionMemory, &turn)
        default: break
        }
    }

    /// Its pushes go on as they came, or are discarded (Q14): after an own exit if the app may filter.
    mutating func endExtension(
        _ position: Int, reason: EndReason, kill: Bool = true, isOwnExit: Bool = false, _ turn: inout Turn
    ) {
        let ended = self.extensions.remove(at: position)
        if kill { turn.add(.killProcess(ended.process)) }
        turn.record(ended.process.app, .processEnded(ended.process, reason))
        for run in ended.runs { self.fallBack(run, of: ended.process, isOwnExit: isOwnExit, &turn) }
    }

    private mutating func fallBack(_ run: ExtensionRun, of process: ProcessID, isOwnExit: Bool, _ turn: inout Turn) {
        guard let index = self.index(of: process.app) else { return }
        let discards =
            (isOwnExit || self.settings.quirks.killedExtensionWithFilteringDiscards)
            && ExtensionResult.mayFilter(self.apps[index].installed, version: self.version)
        let arrival = discards ? ExtensionResult.discard(run.arrival) : run.arrival
        self.dispatch(self.withGate(arrival, index), index, &turn)
    }

    mutating func endExtensions(of app: BundleID, reason: EndReason, _ turn: inout Turn) {
        while let position = self.extensions.firstIndex(where: { $0.process.app == app }) {
            self.endExtension(position, reason: reason, &turn)
        }
    }

    /// Used when the app is removed: its pushes go with it.
    mutating func discardExtensions(of app: BundleID, reason: EndReason, _ turn: inout Turn) {
        for position in self.extensions.indices where self.extensions[position].process.app == app {
            self.extensions[position].runs = []
        }
        self.endExtensions(of: app, reason: reason, &turn)
    }

    /// Authorization may have been recalled while the extension ran.
    private func withGate(_ arrival: Arrival, _ index: Int) -> Arrival {
        var arrival = arrival
        arrival.isVisible = arrival.isVisible && self.apps[index].settings.allowsPresentation
        return arrival
    }
}
