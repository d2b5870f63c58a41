import TidingsModel

/// The wakes that silent pushes ask for (ios-delivery.md §7.3).
struct Wakes: Equatable, Sendable {
    var budget = WakeBudget()
    /// At most one silent push waits.
    var held: Arrival?
    @inline(__always) private var holds: Bool { if case .some = self.held { true } else { false } }

    /// Returns why a silent push never reaches the app.
    static func obstacle(
        to app: InstalledApp, in state: AppState, _ permissions: NotificationSettings, _ turn: inout Turn
    ) -> WakeOutcome? {
        guard app.methods.contains(.receiveRemoteFetch) else { return .notImplemented }
        guard app.backgroundModes.contains(.remoteNotification) else { return .modeMissing }
        guard turn.system.allowsRefresh(permissions) else { return .refreshOff }
        return state == .forceQuit ? .discardedForceQuit : nil
    }

    func reasonToHold(_ turn: inout Turn) -> WakeOutcome? {
        let now = turn.now.monotonic
        if turn.system.lock == .beforeFirstUnlock { return .heldBeforeFirstUnlock }
        if let restartedAt = turn.system.restartedAt, now < restartedAt + turn.settings.wakeHoldAfterRestart {
            return .heldAfterRestart
        }
        guard let free = self.budget.nextFree(settings: turn.settings), free <= now else { return .heldForBudget }
        return nil
    }

    /// `.max` if none is held, and if only an unlock or the end of the budget can free it.
    @inline(__always) func retry(_ system: SystemState, _ settings: PhoneSettings) -> Int64 {
        guard self.holds, system.lock != .beforeFirstUnlock, let free = self.budget.nextFree(settings: settings)
        else { return .max }
        return max(free, system.restartedAt.map { $0 + settings.wakeHoldAfterRestart } ?? .min)
    }

    mutating func discard(_ outcome: WakeOutcome, _ turn: inout Turn) {
        guard let held = self.held.take() else { return }
        turn.record(.wake(identifier: held.request.identifier, outcome))
    }
}

/// ios-delivery.md §7.3. Times are monotonic milliseconds.
struct WakeBudget: Equatable, Sendable {
    /// The wakes of the last hour, oldest first; missed handlers count as wakes.
    private var charges: [Int64] = []
    private var dayStart: Int64?
    private var dayCount = 0

    /// A moment in the past means at once, nil never.
    func nextFree(settings: PhoneSettings) -> Int64? {
        if settings.unlimitedWakes { return .min }
        guard settings.wakesPerHour > 0, settings.wakesPerDay > 0 else { return nil }
        var free = Int64.min
        if let start = self.dayStart, self.dayCount >= settings.wakesPerDay { free = start + CalendarMath.day }
        if self.charges.count >= settings.wakesPerHour {
            free = max(free, self.charges[self.charges.count - settings.wakesPerHour] + CalendarMath.hour)
        }
        return free
    }

    mutating func charge(at now: Int64) {
        self.charges.removeAll { $0 <= now - CalendarMath.hour }
        self.charges.append(now)
        if let start = self.dayStart, now < start + CalendarMath.day {
            self.dayCount += 1
        } else {
            self.dayStart = now
            self.dayCount = 1
        }
    }
}
