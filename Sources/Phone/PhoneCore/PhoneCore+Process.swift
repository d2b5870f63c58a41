extension PhoneCore {
    private enum Owner {
        case app(Int)
        case ending(Int)
        case serviceExtension(position: Int, app: Int)

        var app: Int {
            switch self {
            case .app(let index), .ending(let index), .serviceExtension(_, let index): index
            }
        }
    }

    private func owner(of process: ProcessID) -> Owner? {
        guard let index = self.index(of: process.app) else { return nil }
        if self.apps[index].run?.process == process { return .app(index) }
        if self.apps[index].ending?.process == process { return .ending(index) }
        guard let position = self.extensions.firstIndex(where: { $0.process == process }) else { return nil }
        return .serviceExtension(position: position, app: index)
    }

    mutating func handle(_ event: ProcessEvent, of process: ProcessID, _ turn: inout Turn) {
        guard let owner = self.owner(of: process) else { return }
        switch event {
        case .started: self.handleStart(owner, &turn)
        case .exited(let crashed): self.handleExit(owner, crashed: crashed, &turn)
        case .callbackCompleted(let number, let result): self.handleCallResult(number, result, owner, &turn)
        case .query(let number, let query): self.answer(query, number, of: process, owner.app, &turn)
        case .backgroundTaskBegan, .backgroundTaskEnded:
            // A process that is ending gets no more time.
            if case .ending = owner { return }
            self.handleReportOfApp(event, owner, &turn)
        case .delegateChanged, .remoteRegistrationRequested, .iconBadgeNumberSet, .screenChanged, .remoteTypesRequested,
            .userNotificationSettingsRegistered, .localNotificationScheduled, .localNotificationCancelled,
            .minimumFetchIntervalSet, .refreshTaskRegistered, .refreshTaskCompleted, .refreshTaskCancelled,
            .voipRegistrationChanged, .incomingCallReported, .callEnded, .activityStarted, .activityContentChanged,
            .activityEnded, .pushToStartRequested, .remoteRegistrationEnded:
            self.handleReportOfApp(event, owner, &turn)
        case .categoriesSet, .pendingRemoved, .deliveredRemoved: self.handleAppReport(event, owner.app, &turn)
        case .appGroupLockTaken, .appGroupLockReleased, .memoryUseChanged, .expiringActivityBegan,
            .expiringActivityEnded:
            switch owner {
            case .app(let index): self.handleProcessReport(event, index, &turn)
            case .serviceExtension(let position, _): self.handleExtensionReport(event, position, &turn)
            case .ending: break
            }
        case .systemSoundPlayed(let sound): turn.record(process.app, .systemSound(sound))
        case .messageDonated(let message): self.donate(message, owner.app)
        case .donationsDeleted(let identifiers, let group):
            self.deleteDonations(identifiers: identifiers, group: group, owner.app)
        }
    }

    private mutating func handleReportOfApp(_ event: ProcessEvent, _ owner: Owner, _ turn: inout Turn) {
        if case .serviceExtension(_, let index) = owner {
            return turn.recordFault(self.bundleID(index), "an extension must not do what only an app can: \(event)")
        }
        self.handleAppReport(event, owner.app, &turn)
    }

    private mutating func handleStart(_ owner: Owner, _ turn: inout Turn) {
        switch owner {
        case .serviceExtension(let position, _): self.handleExtensionStart(position, &turn)
        case .ending: break
        case .app(let index):
            guard let run = self.apps[index].run else { return }
            guard run.phase == .starting else {
                return turn.recordFault(run.process.app, "process \(run.process) must report its start once")
            }
            self.apps[index].run?.phase = .loaded
            if run.isPrewarmed { return self.suspend(index, &turn) }
            if self.apps[index].state != .suspended { self.callLaunch(index, &turn) }
        }
    }

    private mutating func handleExit(_ owner: Owner, crashed: Bool, _ turn: inout Turn) {
        let reason: EndReason = crashed ? .crashed : .exited
        switch owner {
        case .serviceExtension(let position, _):
            self.endExtension(position, reason: reason, kill: false, isOwnExit: !crashed, &turn)
        case .ending(let index):
            self.finishEnding(index, kills: false, &turn)
        case .app(let index):
            guard let run = self.apps[index].run else { return }
            self.discardHeldWake(index, outcome: .discardedByKill, &turn)
            self.processIsGone(index, run: run, reason: reason, &turn)
            self.enter(index, .notRunning, &turn)
        }
    }

    // MARK: Answers to calls

    private mutating func handleCallResult(
        _ number: CallbackNumber, _ result: CallbackResult, _ owner: Owner, _ turn: inout Turn
    ) {
        switch owner {
        case .serviceExtension(let position, _): self.handleExtensionAnswer(position, number, result, &turn)
        case .ending(let index):
            guard let ending = self.apps[index].ending, ending.openCalls.contains(number) else {
                return self.recordUnexpectedAnswer(number, index, &turn)
            }
            self.apps[index].ending?.openCalls.removeAll { $0 == number }
            if ending.lastCall == number { self.finishEnding(index, &turn) }
        case .app(let index):
            guard let (position, kind) = self.apps[index].openCall(number) else {
                self.handleSecondAnswer(number, index)
                return self.recordUnexpectedAnswer(number, index, &turn)
            }
            guard Self.fits(result, kind) else {
                return turn.recordFault(
                    self.bundleID(index), "callback \(number) must be answered by its own kind of result")
            }
            self.apps[index].run?.openCalls.remove(at: position)
            self.finishCall(number, kind, result, index, &turn)
        }
    }

    private func recordUnexpectedAnswer(_ number: CallbackNumber, _ index: Int, _ turn: inout Turn) {
        turn.recordFault(self.bundleID(index), "callback \(number) must be open and answered once")
    }

    private static func fits(_ result: CallbackResult, _ kind: OpenCall.Kind) -> Bool {
        switch kind {
        case .fetch, .performFetch: if case .fetch = result { true } else { false }
        case .present: if case .presentation = result { true } else { false }
        case .launch, .method, .enterBackground, .response, .voip, .expiration: result == .returned
        }
    }

    private mutating func finishCall(
        _ number: CallbackNumber, _ kind: OpenCall.Kind, _ result: CallbackResult, _ index: Int,
        _ turn: inout Turn
    ) {
        switch kind {
        case .launch(let isLast):
            guard isLast else { return }
            self.apps[index].run?.phase = .ready
            self.pump(index, &turn)
        case .method, .enterBackground, .expiration: break
        case .fetch:
            turn.record(self.bundleID(index), .completion(number: number, result))
            self.recordAnsweredFetch(number, index)
        case .performFetch, .response: turn.record(self.bundleID(index), .completion(number: number, result))
        case .voip(let mustReport):
            turn.record(self.bundleID(index), .completion(number: number, result))
            guard mustReport else { return }
            let reason = self.recordMissingCall(index, &turn)
            self.kill(index, reason: reason, &turn)
        case .present(let notification, _):
            turn.record(self.bundleID(index), .completion(number: number, result))
            guard case .presentation(let options) = result else { return }
            self.presentAsAnswered(notification, index, answered: options, &turn)
        }
    }

    // MARK: Reports

    private mutating func handleAppReport(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        let app = self.bundleID(index)
        switch event {
        case .delegateChanged(let isSet):
            self.apps[index].run?.delegateSet = isSet
            if isSet { self.apps[index].run?.delegateWasSet = true }
        case .remoteRegistrationRequested: self.registerForPushes(index, &turn)
        case .remoteRegistrationEnded: self.unregisterForPushes(index, &turn)
        case .backgroundTaskBegan(let task):
            guard self.apps[index].run?.tasks.contains(task) == false else {
                return turn.recordFault(app, "background task \(task) must begin once")
            }
            self.apps[index].run?.tasks.append(task)
        case .backgroundTaskEnded(let task):
            self.apps[index].run?.tasks.removeAll { $0 == task }
            self.clearKillWithoutTasks(index)
        case .iconBadgeNumberSet(let count):
            guard self.allowsBadge(index) || count <= 0 else { return }
            self.setBadge(count, index, &turn)
            if count <= 0, self.settings.quirks.badgeZeroClearsDelivered { self.removeNotices(of: app) }
        case .categoriesSet(let categories): self.apps[index].categories = categories
        case .pendingRemoved(let identifiers): self.removePending(identifiers, index)
        case .deliveredRemoved(let identifiers): self.removeNotices(of: app, identifiers: identifiers)
        case .screenChanged(let screen): self.apps[index].screen = screen
        case .remoteTypesRequested(let types): self.requestRemoteTypes(types, index, &turn)
        case .userNotificationSettingsRegistered(let types, let categories):
            self.registerUserSettings(types, categories, index, &turn)
        case .localNotificationScheduled(let request): self.scheduleLegacy(request, index, &turn)
        case .localNotificationCancelled(let identifier):
            let identifiers = identifier.map { [$0] }
            self.removePending(identifiers, index)
            self.removeNotices(of: app, identifiers: identifiers)
        case .minimumFetchIntervalSet(let interval):
            self.apps[index].background.fetchInterval = interval.map { max(0, $0) }
        case .refreshTaskRegistered(let identifier): self.registerRefreshHandler(identifier, index, &turn)
        case .refreshTaskCompleted(let identifier, let success):
            self.completeRefreshTask(identifier, success: success, index, &turn)
        case .refreshTaskCancelled(let identifier): self.cancelRefreshTask(identifier, index, &turn)
        case .voipRegistrationChanged(let isOn): self.changeVoIPRegistration(isOn: isOn, index, &turn)
        case .incomingCallReported(let call): self.reportCall(call, index, &turn)
        case .callEnded(let identifier): self.endCall(identifier, index)
        case .activityStarted(let activity, let pushType, let contentState):
            self.startActivity(activity, pushType: pushType, contentState: contentState, index, &turn)
        case .activityContentChanged(let activity, let contentState):
            self.changeActivity(activity, contentState: contentState, index, &turn)
        case .activityEnded(let activity): self.changeActivity(activity, contentState: nil, index, &turn)
        case .pushToStartRequested: self.requestPushToStart(index, &turn)
        default: break
        }
    }

    private mutating func removePending(_ identifiers: [String]?, _ index: Int) {
        self.apps[index].pending.removeAll { identifiers?.contains($0.request.identifier) ?? true }
    }

    /// ios-delivery.md §9.
    func allowsBadge(_ index: Int) -> Bool {
        guard self.version >= 8 else { return true }
        let settings = self.apps[index].settings
        return settings.badge && settings.authorizationStatus.showsBadges
    }
}
