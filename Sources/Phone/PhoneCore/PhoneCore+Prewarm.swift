import TidingsModel

/// Processes started in advance, and scenes that come and go (ios-delivery.md §2.2, §6.1).
extension PhoneCore {
    /// A process that was only started in advance does not run the app's own code.
    func isLaunched(_ index: Int) -> Bool { self.apps[index].run?.isPrewarmed == false }

    /// Wakes the app in the background for a step.
    mutating func wake(
        _ index: Int, for step: AppStep, options: LaunchOptions = LaunchOptions(), _ turn: inout Turn
    ) {
        self.wake(index, inForeground: false, options: options, &turn)
        self.append(step, to: index, &turn)
    }

    mutating func wake(_ index: Int, inForeground: Bool, options: LaunchOptions, _ turn: inout Turn) {
        guard let run = self.apps[index].run else {
            return self.launch(index, inForeground: inForeground, options: options, &turn)
        }
        guard run.isPrewarmed else { return self.resume(index, &turn) }
        self.apps[index].run?.isPrewarmed = false
        self.apps[index].run?.options = options
        self.apps[index].run?.launchDeadline = turn.now.monotonic + self.settings.launchLimit
        if self.apps[index].state == .suspended { turn.add(.resumeProcess(run.process)) }
        self.enter(index, inForeground ? .foregroundInactive : .backgroundRunning, &turn)
        if run.phase == .loaded { self.callLaunch(index, &turn) }
    }

    /// From iOS 15, and never for an app that the person quit.
    mutating func prewarm(_ app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn), self.version >= 15, self.apps[index].state == .notRunning
        else { return }
        self.launch(index, inForeground: false, options: LaunchOptions(), &turn)
        self.apps[index].run?.isPrewarmed = true
    }

    /// A suspended process runs for that moment.
    mutating func disconnectScene(of app: BundleID, _ turn: inout Turn) {
        guard let index = self.installed(app, &turn), self.apps[index].run?.sceneConnected == true,
            !self.apps[index].state.isInForeground
        else { return }
        self.apps[index].run?.sceneConnected = false
        self.resume(index, &turn)
        self.append(.call(.sceneDidDisconnect), to: index, &turn)
    }
}
