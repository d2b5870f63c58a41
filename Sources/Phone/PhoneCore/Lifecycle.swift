import TidingsModel

/// The life-cycle callbacks of ios-delivery.md §2.2. A process that is suspended is told nothing.
extension AppProcess {
    /// The report of what led there comes between `willEnterForeground` and `didBecomeActive` (§6.1). A scene that was disconnected keeps its
    /// configuration.
    mutating func comeToFront(for response: UserResponse?, telling report: [Callback], _ turn: inout Turn) {
        let activates = self.state == .foregroundInactive || self.state == .backgroundRunning
        if activates {
            let connects = self.hasScenes && !self.sceneConnected
            if connects, !self.sceneConfigured { self.call(.sceneConfiguration(response), &turn) }
            if connects { self.call(.sceneWillConnect(response), &turn) }
            if connects || self.state == .backgroundRunning {
                self.call(self.hasScenes ? .sceneWillEnterForeground : .applicationWillEnterForeground, &turn)
            }
            self.enter(.foregroundInactive, &turn)
        }
        for callback in report { self.call(callback, &turn) }
        guard activates else { return }
        self.enter(.foregroundActive, &turn)
        self.call(self.hasScenes ? .sceneDidBecomeActive : .applicationDidBecomeActive, &turn)
    }

    mutating func moveToInactive(_ turn: inout Turn) {
        guard self.state == .foregroundActive else { return }
        self.call(self.hasScenes ? .sceneWillResignActive : .applicationWillResignActive, &turn)
        self.enter(.foregroundInactive, &turn)
    }

    /// A scene that was never connected is told nothing.
    mutating func moveToBackground(_ turn: inout Turn) {
        self.moveToInactive(&turn)
        guard self.state == .foregroundInactive else { return }
        self.enter(.backgroundRunning, &turn)
        guard !self.hasScenes || self.sceneConnected else { return }
        self.call(self.hasScenes ? .sceneDidEnterBackground : .applicationDidEnterBackground, &turn)
    }

    /// Returns the process that ends with its last answer.
    mutating func terminate(_ reason: EndReason, _ turn: inout Turn) -> EndingProcess {
        self.moveToBackground(&turn)
        if self.hasScenes, self.sceneConnected { self.call(.sceneDidDisconnect, &turn) }
        let last = self.call(.applicationWillTerminate, &turn)
        return EndingProcess(
            id: self.id, lastCall: last, openCalls: self.openCalls.map(\.number),
            deadline: turn.now.monotonic + turn.settings.enterBackgroundLimit, reason: reason)
    }
}
