import DequeModule
import TidingsModel

/// The begin, the rest and the end of an app's process (ios-delivery.md §2).
extension App {
    /// Launches or resumes it in the background, and has the step follow.
    mutating func wake(for step: AppStep, options: LaunchOptions = LaunchOptions(), _ turn: inout Turn) {
        self.wake(options: options, &turn)
        self.append(step, &turn)
    }

    mutating func wake(inForeground: Bool = false, options: LaunchOptions = LaunchOptions(), _ turn: inout Turn) {
        if self.process == nil {
            self.launch(inForeground: inForeground, options: options, &turn)
        } else if self.process?.isPrewarmed == true {
            self.process?.endPrewarming(inForeground: inForeground, options: options, &turn)
        } else if self.state == .suspended, !self.crashOnResume(&turn) {
            self.process?.resume(&turn)
        }
    }

    private mutating func launch(inForeground: Bool, options: LaunchOptions, _ turn: inout Turn) {
        self.finishEnding(&turn)
        guard !self.installed.refusesLaunch(&turn) else { return }
        self.screen = nil
        self.process = AppProcess(of: self.installed, inForeground: inForeground, options: options, &turn)
    }

    /// From iOS 15, and never for an app that the person quit: up to but not including the launch.
    mutating func prewarm(_ turn: inout Turn) {
        guard turn.version >= 15, self.state == .notRunning else { return }
        self.launch(inForeground: false, options: LaunchOptions(), &turn)
        self.process?.isPrewarmed = true
    }

    /// Returns whether the process is gone.
    mutating func crashOnResume(_ turn: inout Turn) -> Bool {
        guard self.process?.crashesOnResume == true else { return false }
        self.kill(.completionHandlerCalledTwice, &turn)
        return true
    }

    /// A suspended process runs for that moment.
    mutating func disconnectScene(_ turn: inout Turn) {
        guard self.process?.disconnectScene() == true else { return }
        self.wake(&turn)
        self.tell(.sceneDidDisconnect, &turn)
    }

    // MARK: Suspending

    mutating func suspend(_ turn: inout Turn) {
        guard self.state != .suspended else { return }
        // 0xDEAD10CC.
        if turn.settings.quirks.lockHeldWhileSuspendedKills, self.process?.locks.isEmpty == false {
            return self.kill(.heldLockWhileSuspended, &turn)
        }
        self.process?.suspend(&turn)
    }

    /// No callback and no time for tasks; what was meant for the foreground is shown instead.
    mutating func freeze(_ turn: inout Turn) {
        guard self.state != .suspended, let process = self.process else { return }
        if turn.system.foregroundApp == self.bundleID { turn.system.foregroundApp = nil }
        self.process?.steps.removeAll()
        self.suspend(&turn)
        for step in process.steps {
            switch step {
            case .call, .refreshTask: self.process?.steps.append(step)
            case .deliver(let arrival):
                self.center.presentElsewhere(arrival, of: self.installed, &turn)
                guard arrival.pushClass.wakes else { continue }
                guard self.process != nil else {
                    // Killed for a lock that it held.
                    turn.record(.wake(identifier: arrival.request.identifier, .discardedByKill))
                    continue
                }
                guard self.mayWake(arrival, &turn) else { continue }
                self.process?.steps.append(.call(.receiveRemoteFetch(arrival.payload)))
            case .moveToFront, .moveToBackground, .moveToInactive, .respond, .openSettings: break
            }
        }
    }

    // MARK: Ending

    /// With `isQuit` nil it stays as it was whether the person has quit the app.
    mutating func kill(_ reason: EndReason, isQuit: Bool? = nil, _ turn: inout Turn) {
        self.finishEnding(&turn)
        self.wakes.discard(isQuit == true ? .discardedForceQuit : .discardedByKill, &turn)
        if let process = self.process?.id { turn.endProcess(process, reason) }
        self.leave(isQuit: isQuit, &turn)
    }

    /// A running app ends when it has answered; a suspended or launching one is killed.
    mutating func terminate(_ reason: EndReason, isQuit: Bool? = nil, _ turn: inout Turn) {
        guard self.process?.phase == .ready, self.state != .suspended else {
            return self.kill(reason, isQuit: isQuit, &turn)
        }
        self.wakes.discard(isQuit == true ? .discardedForceQuit : .discardedByKill, &turn)
        self.ending = self.process?.terminate(reason, &turn)
        self.leave(isQuit: isQuit, &turn)
    }

    mutating func finishEnding(kills: Bool = true, _ turn: inout Turn) {
        guard let ending = self.ending else { return }
        self.ending = nil
        turn.endProcess(ending.id, ending.reason, kills: kills)
    }

    /// The process answers no more: notifications that waited for it are presented without it.
    mutating func leave(isQuit: Bool? = nil, _ turn: inout Turn) {
        let old = self.state
        if let process = self.process {
            for open in process.openCalls {
                guard case .present(let notification, let wasRemote) = open.kind else { continue }
                turn.recordHidden(notification.request.identifier, isRemote: wasRemote, .appGone)
            }
            for step in process.steps {
                guard case .deliver(let arrival) = step else { continue }
                self.center.presentElsewhere(arrival, of: self.installed, &turn)
                if arrival.pushClass.wakes {
                    turn.record(.wake(identifier: arrival.request.identifier, .discardedByKill))
                }
            }
            self.process = nil
            self.screen = nil
            if turn.system.foregroundApp == self.bundleID { turn.system.foregroundApp = nil }
            turn.system.prompts.removeAll { $0.process == process.id }
        }
        self.isQuit = isQuit ?? self.isQuit
        if self.state != old { turn.record(.state(self.state)) }
    }
}
