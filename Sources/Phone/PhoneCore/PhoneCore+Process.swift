import TidingsModel

/// What processes report.
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

    /// Whose process it is; nil for one that is gone.
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
        case .started: self.started(owner, &turn)
        case .exited(let crashed): self.exited(owner, crashed: crashed, &turn)
        case .callbackCompleted(let number, let result): self.completed(number, result, owner, &turn)
        case .query(let number, let query): self.answer(query, number, of: process, owner.app, &turn)
        case .delegateChanged, .remoteRegistrationRequested, .backgroundTaskBegan, .backgroundTaskEnded,
            .iconBadgeNumberSet, .screenChanged, .remoteTypesRequested, .userNotificationSettingsRegistered,
            .localNotificationScheduled, .localNotificationCancelled, .minimumFetchIntervalSet,
            .refreshTaskRegistered, .refreshTaskCompleted, .refreshTaskCancelled, .voipRegistrationChanged,
            .incomingCallReported, .callEnded, .activityStarted, .activityContentChanged, .activityEnded,
            .pushToStartRequested, .remoteRegistrationEnded:
            if case .serviceExtension = owner {
                return turn.record(process.app, .fault("an extension must not do what only an app can: \(event)"))
            }
            // A process on its way out is given no more time, and what it says is not its successor's.
            if case .ending = owner, event.isAboutTime { return }
            self.appReported(event, owner.app, &turn)
        case .categoriesSet, .pendingRemoved, .deliveredRemoved:
            self.appReported(event, owner.app, &turn)
        case .appGroupLockTaken, .appGroupLockReleased, .memoryUseChanged, .expiringActivityBegan,
            .expiringActivityEnded:
            switch owner {
            case .app(let index): self.processReported(event, index, &turn)
            case .serviceExtension(let position, _): self.extensionReported(event, position, &turn)
            case .ending: break
            }
        case .systemSoundPlayed(let sound): turn.record(process.app, .systemSound(sound))
        }
    }

    private mutating func started(_ owner: Owner, _ turn: inout Turn) {
        switch owner {
        case .serviceExtension(let position, _): self.extensionStarted(position, &turn)
        case .ending: break
        case .app(let index):
            guard let run = self.apps[index].run else { return }
            guard run.phase == .starting else {
                return turn.record(run.process.app, .fault("process \(run.process) must report its start once"))
            }
            self.apps[index].run?.phase = .loaded
            if run.isPrewarmed { return self.suspend(index, &turn) }
            if self.apps[index].state != .suspended { self.callLaunch(index, &turn) }
        }
    }

    private mutating func exited(_ owner: Owner, crashed: Bool, _ turn: inout Turn) {
        let reason: EndReason = crashed ? .crashed : .exited
        switch owner {
        case .serviceExtension(let position, _):
            self.endExtension(position, reason: reason, kill: false, isOwnExit: !crashed, &turn)
        case .ending(let index):
            guard let ending = self.apps[index].ending else { return }
            self.apps[index].ending = nil
            turn.record(ending.process.app, .processEnded(ending.process, ending.reason))
        case .app(let index):
            guard let run = self.apps[index].run else { return }
            self.discardHeldWake(index, outcome: .discardedByKill, &turn)
            self.processIsGone(index, run: run, reason: reason, &turn)
            self.enter(index, .notRunning, &turn)
        }
    }

    // MARK: Answers to calls

    private mutating func completed(
        _ number: CallbackNumber, _ result: CallbackResult, _ owner: Owner, _ turn: inout Turn
    ) {
        switch owner {
        case .serviceExtension(let position, _): self.extensionAnswered(position, number, result, &turn)
        case .ending(let index):
            guard let ending = self.apps[index].ending, ending.openCalls.contains(number) else {
                return self.unexpectedAnswer(number, index, &turn)
            }
            self.apps[index].ending?.openCalls.removeAll { $0 == number }
            if ending.lastCall == number { self.finishEnding(index, &turn) }
        case .app(let index):
            guard let position = self.apps[index].run?.openCalls.firstIndex(where: { $0.number == number }),
                let purpose = self.apps[index].run?.openCalls[position].purpose
            else {
                self.answeredTwice(number, index)
                return self.unexpectedAnswer(number, index, &turn)
            }
            guard Self.fits(result, purpose) else {
                return turn.record(
                    self.apps[index].installed.bundleID,
                    .fault("callback \(number) must be answered by its own kind of result"))
            }
            self.apps[index].run?.openCalls.remove(at: position)
            self.conclude(number, purpose, result, index, &turn)
        }
    }

    private func unexpectedAnswer(_ number: CallbackNumber, _ index: Int, _ turn: inout Turn) {
        turn.record(
            self.apps[index].installed.bundleID, .fault("callback \(number) must be open and answered once"))
    }

    private static func fits(_ result: CallbackResult, _ purpose: OpenCall.Purpose) -> Bool {
        switch (purpose, result) {
        case (.fetch, .fetch), (.performFetch, .fetch), (.present, .presentation): true
        case (.launch, .returned), (.method, .returned), (.enterBackground, .returned), (.response, .returned),
            (.voip, .returned), (.expiration, .returned):
            true
        case (.fetch, _), (.performFetch, _), (.present, _), (.launch, _), (.method, _), (.enterBackground, _),
            (.response, _),
            (.voip, _), (.expiration, _):
            false
        }
    }

    private mutating func conclude(
        _ number: CallbackNumber, _ purpose: OpenCall.Purpose, _ result: CallbackResult, _ index: Int,
        _ turn: inout Turn
    ) {
        let app = self.apps[index].installed.bundleID
        switch purpose {
        case .launch(let isLast):
            guard isLast else { return }
            self.apps[index].run?.phase = .ready
            self.pump(index, &turn)
        case .method, .enterBackground, .expiration:
            break
        case .fetch:
            turn.record(app, .completion(number: number, result))
            self.rememberFetch(number, index)
        case .performFetch, .response:
            turn.record(app, .completion(number: number, result))
        case .voip(let mustReport):
            turn.record(app, .completion(number: number, result))
            guard mustReport else { return }
            let reason = self.callWasNotReported(index, &turn)
            self.kill(index, to: .notRunning, reason: reason, &turn)
        case .present(let notification, _):
            turn.record(app, .completion(number: number, result))
            guard case .presentation(let options) = result else { return }
            self.present(notification, index, answered: options, &turn)
        }
    }

    // MARK: Reports

    private mutating func appReported(_ event: ProcessEvent, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed.bundleID
        switch event {
        case .delegateChanged(let isSet):
            self.apps[index].run?.delegateSet = isSet
            if isSet { self.apps[index].run?.delegateWasSet = true }
        case .remoteRegistrationRequested: self.register(index, &turn)
        case .remoteRegistrationEnded: self.unregister(index, &turn)
        case .backgroundTaskBegan(let task):
            guard self.apps[index].run?.tasks.contains(task) == false else {
                return turn.record(app, .fault("background task \(task) must begin once"))
            }
            self.apps[index].run?.tasks.append(task)
        case .backgroundTaskEnded(let task):
            self.apps[index].run?.tasks.removeAll { $0 == task }
            self.taskEnded(index)
        case .iconBadgeNumberSet(let count):
            guard self.allowsBadge(index) || count <= 0 else { return }
            self.setBadge(count, index, &turn)
            if count <= 0, self.settings.quirks.badgeZeroClearsDelivered { self.removeNotices(of: app) }
        case .categoriesSet(let categories): self.apps[index].categories = categories
        case .pendingRemoved(let identifiers):
            self.apps[index].pending.removeAll { identifiers?.contains($0.request.identifier) ?? true }
        case .deliveredRemoved(let identifiers):
            self.list.remove(app: app, identifiers: identifiers)
            self.notices.remove(app: app, identifiers: identifiers)
        case .screenChanged(let screen): self.apps[index].screen = screen
        case .remoteTypesRequested, .userNotificationSettingsRegistered, .localNotificationScheduled,
            .localNotificationCancelled:
            self.legacyReported(event, index, &turn)
        case .minimumFetchIntervalSet, .refreshTaskRegistered, .refreshTaskCompleted, .refreshTaskCancelled,
            .voipRegistrationChanged, .incomingCallReported, .callEnded, .activityStarted, .activityContentChanged,
            .activityEnded, .pushToStartRequested:
            self.backgroundReported(event, index, &turn)
        case .started, .exited, .callbackCompleted, .query, .appGroupLockTaken, .appGroupLockReleased,
            .memoryUseChanged, .expiringActivityBegan, .expiringActivityEnded, .systemSoundPlayed:
            break
        }
    }

    /// A badge needs authorization from iOS 8 (ios-delivery.md §9).
    func allowsBadge(_ index: Int) -> Bool {
        guard self.version >= 8 else { return true }
        let settings = self.apps[index].settings
        return settings.badge && settings.authorizationStatus.showsBadges
    }
}

extension ProcessEvent {
    /// Whether it asks for, or gives back, background time.
    fileprivate var isAboutTime: Bool {
        switch self {
        case .backgroundTaskBegan, .backgroundTaskEnded: true
        case .started, .exited, .callbackCompleted, .delegateChanged, .remoteRegistrationRequested,
            .remoteRegistrationEnded, .iconBadgeNumberSet, .categoriesSet, .pendingRemoved, .deliveredRemoved,
            .screenChanged, .query, .remoteTypesRequested, .userNotificationSettingsRegistered,
            .localNotificationScheduled, .localNotificationCancelled, .minimumFetchIntervalSet,
            .refreshTaskRegistered, .refreshTaskCompleted, .refreshTaskCancelled, .voipRegistrationChanged,
            .incomingCallReported, .callEnded, .activityStarted, .activityContentChanged, .activityEnded,
            .pushToStartRequested, .appGroupLockTaken, .appGroupLockReleased, .memoryUseChanged,
            .expiringActivityBegan, .expiringActivityEnded, .systemSoundPlayed:
            false
        }
    }
}
