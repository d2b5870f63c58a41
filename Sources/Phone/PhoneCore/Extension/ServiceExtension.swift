import TidingsModel

/// An app's notification service extension (ios-delivery.md §10): its processes, oldest first. What a function returns goes on to be
/// presented.
struct ServiceExtension: Equatable, Sendable {
    private var processes: [ExtensionProcess] = []

    @inline(__always) var nextDeadline: Int64 { self.processes.nextDeadline }

    func has(_ process: ProcessID) -> Bool { self.processes.contains { $0.id == process } }

    func late(at now: Int64) -> ProcessID? { self.processes.firstDue(at: now).map { self.processes[$0].id } }

    mutating func serve(_ arrival: Arrival, of app: BundleID, _ turn: inout Turn) {
        let run = ExtensionRun(arrival: arrival)
        if turn.settings.sharesExtensionProcess, let last = self.processes.indices.last {
            self.processes[last].runs.append(run)
            return self.processes[last].callWaiting(&turn)
        }
        self.processes.append(
            ExtensionProcess(
                id: turn.startProcess(of: app, .serviceExtension),
                startDeadline: turn.now.monotonic + turn.settings.extensionStartLimit, runs: [run]))
    }

    mutating func handle(
        _ event: ProcessEvent, of process: ProcessID, _ app: InstalledApp, _ turn: inout Turn
    ) -> [Arrival] {
        guard let position = self.processes.firstIndex(where: { $0.id == process }) else { return [] }
        return self.finish(self.processes[position].handle(event, &turn), position, app, &turn)
    }

    mutating func expire(of app: InstalledApp, _ turn: inout Turn) -> [Arrival] {
        guard let position = self.processes.firstDue(at: turn.now.monotonic) else { return [] }
        return self.finish(self.processes[position].expire(&turn), position, app, &turn)
    }

    /// Ends the oldest process; nil if there is none. The pushes of a removed app go with it.
    mutating func endFirst(
        _ reason: EndReason, of app: InstalledApp, dropsPushes: Bool, _ turn: inout Turn
    ) -> [Arrival]? {
        guard !self.processes.isEmpty else { return nil }
        if dropsPushes { self.processes[0].runs = [] }
        return self.finish(.over(reason), 0, app, &turn)
    }

    private mutating func finish(
        _ outcome: ExtensionProcess.Outcome?, _ position: Int, _ app: InstalledApp, _ turn: inout Turn
    ) -> [Arrival] {
        // Q14: after an own exit if the app may filter.
        let mayFilter = app.hasFilteringEntitlement && turn.version >= OSVersion(13, 3)
        let discards = mayFilter && turn.settings.quirks.killedExtensionWithFilteringDiscards
        switch outcome {
        case nil: return []
        case .served(let arrival, let content):
            return [arrival.served(content.shown(with: app.localizations), mayFilter: mayFilter)]
        case .late(let arrival): return [discards ? arrival.discarded : arrival]
        case .over(let reason):
            let ended = self.processes.remove(at: position)
            turn.endProcess(ended.id, reason, kills: reason != .exited && reason != .crashed)
            return ended.runs.map { discards || mayFilter && reason == .exited ? $0.arrival.discarded : $0.arrival }
        }
    }
}

/// May serve several pushes at once, and later ones while it lives. Deadlines are monotonic milliseconds.
struct ExtensionProcess: Equatable, Sendable, Due {
    let id: ProcessID
    /// nil once it has reported its start.
    private(set) var startDeadline: Int64?
    var runs: [ExtensionRun]
    /// Counts while no push is at work.
    private(set) var endsAt: Int64 = 0
    private(set) var activities: [BackgroundTaskNumber] = []
    private(set) var activitiesUntil: Int64 = 0
    private(set) var activitiesExpired = false

    enum Outcome {
        case served(Arrival, NotificationContent)
        /// One push of several.
        case late(Arrival)
        /// With all pushes that it has.
        case over(EndReason)
    }

    var deadline: Int64 { self.startDeadline ?? (self.runs.isEmpty ? self.endsAt : self.runs.nextDeadline) }

    /// From `didReceive(_:withContentHandler:)` on, each push has its 30 s.
    mutating func callWaiting(_ turn: inout Turn) {
        guard self.startDeadline == nil else { return }
        for run in self.runs.indices where self.runs[run].call == nil {
            let request = self.runs[run].arrival.request
            self.runs[run].call = turn.call(self.id, .serviceExtensionReceive(request), in: .background)
            self.runs[run].deadline = turn.now.monotonic + turn.settings.extensionLimit
        }
    }

    /// An extension is never suspended, so its locks do no harm (Q13).
    mutating func handle(_ event: ProcessEvent, _ turn: inout Turn) -> Outcome? {
        switch event {
        case .started:
            if self.startDeadline == nil { turn.recordFault("process \(self.id) must report its start once") }
            self.startDeadline = nil
            self.callWaiting(&turn)
        case .exited(let crashed): return .over(crashed ? .crashed : .exited)
        case .callbackCompleted(let number, let result): return self.close(number, with: result, &turn)
        case .memoryUseChanged(let bytes) where bytes > turn.settings.extensionMemoryLimit:
            // Killed at once, without `serviceExtensionTimeWillExpire` (ios-delivery.md §7.1).
            return .over(.extensionMemory)
        case .expiringActivityBegan(let number):
            guard !self.activities.contains(number) else {
                turn.recordFault("expiring activity \(number) must begin once")
                return nil
            }
            self.activities.append(number)
            self.updateEnd(&turn)
        case .expiringActivityEnded(let number):
            self.activities.removeAll { $0 == number }
            self.updateEnd(&turn)
        default: break
        }
        return nil
    }

    /// The content handler was called. The return of `serviceExtensionTimeWillExpire()` needs no answer.
    private mutating func close(_ number: CallbackNumber, with result: CallbackResult, _ turn: inout Turn) -> Outcome? {
        let open = self.runs.firstIndex { $0.call == number }
        guard case .content(let content) = result else {
            if open != nil { turn.recordFault("callback \(number) must be answered with content") }
            return nil
        }
        guard let open else {
            turn.recordFault("callback \(number) must be answered once")
            return nil
        }
        turn.record(.completion(number: number, result))
        let run = self.runs.remove(at: open)
        if self.runs.isEmpty {
            self.activitiesExpired = false
            self.activitiesUntil = turn.now.monotonic + turn.settings.wakeTaskTime
            self.updateEnd(&turn)
        }
        return .served(run.arrival, content)
    }

    /// Activities keep an idle process until their time is over, however often they begin and end.
    private mutating func updateEnd(_ turn: inout Turn) {
        guard self.runs.isEmpty else { return }
        let linger = turn.now.monotonic + turn.settings.extensionLinger
        self.endsAt = self.activities.isEmpty ? min(linger, self.activitiesUntil) : self.activitiesUntil
    }

    /// Its deadline has passed: first comes `serviceExtensionTimeWillExpire`, then the original content, then the end of the process,
    /// of which open activities are told before.
    mutating func expire(_ turn: inout Turn) -> Outcome? {
        let now = turn.now.monotonic
        if self.startDeadline != nil { return .over(.extensionStartTooSlow) }
        guard let due = self.runs.firstDue(at: now), let call = self.runs[due].call else {
            guard !self.activities.isEmpty, !self.activitiesExpired else { return .over(.extensionDone) }
            self.activitiesExpired = true
            self.activitiesUntil = now + turn.settings.expirationGrace
            self.endsAt = self.activitiesUntil
            for activity in self.activities { turn.call(self.id, .expiringActivityExpired(activity), in: .background) }
            return nil
        }
        if self.runs[due].isExpiring {
            return self.runs.count > 1 ? .late(self.runs.remove(at: due).arrival) : .over(.extensionLate)
        }
        self.runs[due].isExpiring = true
        self.runs[due].deadline = now + turn.settings.extensionExpiryGrace
        let identifier = self.runs[due].arrival.request.identifier
        turn.call(self.id, .serviceExtensionTimeWillExpire(identifier: identifier, call: call), in: .background)
        return nil
    }
}

struct ExtensionRun: Equatable, Sendable, Due {
    /// The push as it came: shown if the extension fails.
    let arrival: Arrival
    /// nil while it waits for the process.
    var call: CallbackNumber?
    var deadline = Int64.max
    /// The content handler may still be called.
    var isExpiring = false
}

extension Arrival {
    /// ios-delivery.md §10: without text and sound nothing is shown if the app may filter, else the original text
    /// stays and only the badge is used.
    fileprivate func served(_ content: NotificationContent, mayFilter: Bool) -> Arrival {
        var result = self
        if content.hasText || content.sound != nil {
            result.request.content = content
        } else if mayFilter, self.pushType ?? "alert" == "alert" {
            result.request.content = content
            result.isVisible = false
            result.isFiltered = true
        } else {
            result.request.content.badge = content.badge
        }
        return result
    }

    fileprivate var discarded: Arrival {
        var result = self
        result.isVisible = false
        result.isFiltered = true
        result.request.content.badge = nil
        return result
    }
}
