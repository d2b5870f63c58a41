import TidingsModel

/// Reports and questions of an app's processes.
extension App {
    /// A process that is gone is not heard.
    mutating func handle(_ event: ProcessEvent, of id: ProcessID, _ turn: inout Turn) {
        if self.process?.id == id {
            self.handleReport(event, of: id, &turn)
        } else if self.ending?.id == id {
            self.handleLastReport(event, of: id, &turn)
        } else if self.serviceExtension.has(id) {
            self.handleReportOfExtension(event, of: id, &turn)
        }
    }

    private mutating func handleReport(_ event: ProcessEvent, of id: ProcessID, _ turn: inout Turn) {
        switch event {
        case .started: if self.process?.handleStart(&turn) == true { self.suspend(&turn) }
        case .exited(let crashed):
            self.wakes.discard(.discardedByKill, &turn)
            turn.endProcess(id, crashed ? .crashed : .exited, kills: false)
            self.leave(&turn)
        case .callbackCompleted(let number, let result): self.handleResult(result, of: number, &turn)
        case .query(let number, let query): self.answer(query, number, of: id, &turn)
        case .delegateChanged, .backgroundTaskBegan, .backgroundTaskEnded, .appGroupLockTaken, .appGroupLockReleased,
            .expiringActivityBegan, .expiringActivityEnded:
            self.process?.handle(event, &turn)
        case .memoryUseChanged: break
        case .systemSoundPlayed(let sound): turn.record(.systemSound(sound))
        case .messageDonated(let message): self.donations.add(message)
        case .donationsDeleted(let identifiers, let group):
            self.donations.delete(identifiers: identifiers, group: group)
        case .screenChanged(let screen): self.screen = screen
        case .remoteRegistrationRequested: self.registerForPushes(&turn)
        case .remoteRegistrationEnded:
            // A registration on its way is not reported any more.
            self.tokens.isRegistered = false
            self.process?.awaitsToken = false
            self.process?.withheldRegistration = nil
            turn.add { .unregisterTopic($0) }
        case .voipRegistrationChanged(let isOn):
            self.tell(self.tokens.changeVoIP(isOn: isOn, of: self.installed, &turn), &turn)
        case .pushToStartRequested: self.tell(self.tokens.requestPushToStart(&turn), &turn)
        case .remoteTypesRequested(let types):
            // Gone from iOS 8: the person is asked once, then comes the token.
            guard turn.version < 8 else {
                return turn.recordFault("registerForRemoteNotificationTypes must not be used from iOS 8")
            }
            self.requestPermission(.remoteTypes, types, &turn)
        case .userNotificationSettingsRegistered(let types, let categories):
            guard turn.version >= 8 else {
                return turn.recordFault("registerUserNotificationSettings must not be used before iOS 8")
            }
            self.center.categories = categories
            self.requestPermission(.userSettings, types, &turn)
        case .iconBadgeNumberSet, .categoriesSet, .pendingRemoved, .deliveredRemoved, .localNotificationCancelled:
            self.center.handle(event, of: self.bundleID, &turn)
        case .localNotificationScheduled(let request):
            if self.center.addLegacy(request, &turn) { self.presentLocal(request, &turn) }
        case .minimumFetchIntervalSet(let interval): self.background.fetchInterval = interval.map { max(0, $0) }
        case .refreshTaskRegistered(let identifier):
            self.process?.registerRefreshHandler(identifier, of: self.installed, &turn)
        case .refreshTaskCompleted(let identifier, let success):
            guard self.process?.endRefreshTask(identifier) == true else {
                return turn.recordFault("task \(identifier) must run and be completed once")
            }
            turn.record(.refreshTask(identifier: identifier, success ? .completed : .failed))
        case .refreshTaskCancelled(let identifier): self.background.cancel(identifier, &turn)
        case .incomingCallReported(let call):
            guard turn.version >= 10 else { return turn.recordFault("CallKit needs iOS 10") }
            self.process?.report(call, &turn)
        case .callEnded(let identifier): self.process?.endCall(identifier)
        case .activityStarted(let activity, let pushType, let contentState):
            self.activities.start(
                activity, pushType: pushType, contentState: contentState, isInForeground: self.state.isInForeground,
                &turn)
        case .activityContentChanged(let activity, let contentState):
            self.record(self.activities.change(activity, contentState: contentState, &turn), &turn)
        case .activityEnded(let activity):
            self.record(self.activities.change(activity, contentState: nil, &turn), &turn)
        }
    }

    /// It gets no more time, and its app's state is another already.
    private mutating func handleLastReport(_ event: ProcessEvent, of id: ProcessID, _ turn: inout Turn) {
        switch event {
        case .started, .backgroundTaskBegan, .backgroundTaskEnded, .appGroupLockTaken, .appGroupLockReleased,
            .memoryUseChanged, .expiringActivityBegan, .expiringActivityEnded:
            break
        case .exited: self.finishEnding(kills: false, &turn)
        case .callbackCompleted(let number, _):
            guard let open = self.ending?.openCalls.firstIndex(of: number) else {
                return turn.recordFault("callback \(number) must be open and answered once")
            }
            self.ending?.openCalls.remove(at: open)
            if self.ending?.lastCall == number { self.finishEnding(&turn) }
        default: self.handleReport(event, of: id, &turn)
        }
    }

    private mutating func handleReportOfExtension(_ event: ProcessEvent, of id: ProcessID, _ turn: inout Turn) {
        switch event {
        case .started, .exited, .callbackCompleted, .appGroupLockTaken, .appGroupLockReleased, .memoryUseChanged,
            .expiringActivityBegan, .expiringActivityEnded:
            self.present(self.serviceExtension.handle(event, of: id, self.installed, &turn), &turn)
        case .query, .categoriesSet, .pendingRemoved, .deliveredRemoved, .systemSoundPlayed, .messageDonated,
            .donationsDeleted:
            self.handleReport(event, of: id, &turn)
        default:
            turn.recordFault("an extension must not do what only an app can: \(event)")
        }
    }

    private mutating func handleResult(_ result: CallbackResult, of number: CallbackNumber, _ turn: inout Turn) {
        guard let kind = self.process?.close(number, with: result, &turn) else { return }
        switch kind {
        case .launch(let isLast):
            guard isLast else { return }
            return self.pump(&turn)
        case .method, .enterBackground, .expiration: return
        case .fetch, .performFetch, .response, .voip, .present:
            turn.record(.completion(number: number, result))
        }
        if case .voip(mustReport: true) = kind {
            self.kill(self.tokens.recordMissingCall(&turn), &turn)
        } else if case .present(let notification, _) = kind, case .presentation(let options) = result {
            self.center.present(notification, asAnswered: options, of: self.installed, &turn)
        }
    }

    // MARK: Registration

    /// Fails at once without a network; the app asks again.
    private mutating func registerForPushes(_ turn: inout Turn) {
        guard self.process != nil else { return }
        self.tokens.isRegistered = true
        self.process?.awaitsToken = true
        if turn.system.airplaneMode { return self.finishRegistration(.registrationFailedOffline, &turn) }
        turn.add { .registerTopic($0) }
    }

    /// A suspended process is told when it runs again, a later process not at all.
    mutating func finishRegistration(_ callback: Callback, _ turn: inout Turn) {
        let isWithheld = turn.system.withholdsRegistration(self.center.permissions, turn.version)
        self.tell(self.process?.finishRegistration(callback, isWithheld: isWithheld), &turn)
    }

    mutating func reportWithheldRegistration(_ turn: inout Turn) {
        guard !turn.system.withholdsRegistration(self.center.permissions, turn.version) else { return }
        self.tell(self.process?.withheldRegistration.take(), &turn)
    }

    mutating func take(_ token: PushToken, _ kind: TokenKind, _ turn: inout Turn) {
        let callback =
            switch kind {
            case .voip: self.tokens.takeVoIP(token)
            case .pushToStart: self.tokens.takePushToStart(token)
            case .activity(let activity): self.activities.take(token, of: activity)
            }
        self.tell(callback, newestOnly: true, &turn)
    }

    // MARK: Permissions

    /// Asked once: later the stored answer counts.
    private mutating func requestPermission(
        _ origin: SystemState.PermissionPrompt.Origin, _ options: AuthorizationOptions, _ turn: inout Turn
    ) {
        guard let process = self.process?.id else { return }
        let prompt = SystemState.PermissionPrompt(process: process, origin: origin, options: options)
        let status = self.center.permissions.authorizationStatus
        if status == .notDetermined { return turn.system.prompts.append(prompt) }
        self.report(prompt, allowed: status != .denied, &turn)
    }

    mutating func report(_ prompt: SystemState.PermissionPrompt, allowed: Bool, _ turn: inout Turn) {
        switch prompt.origin {
        case .query(let query): turn.add(.answer(prompt.process, query, .granted(allowed)))
        case .remoteTypes: if allowed { self.registerForPushes(&turn) }
        case .userSettings:
            let types = self.center.permissions.allowedKinds.intersection(prompt.options)
            self.tell(.registeredUserNotificationSettings(types), &turn)
        }
    }

    // MARK: Questions

    private mutating func answer(_ query: Query, _ number: QueryNumber, of process: ProcessID, _ turn: inout Turn) {
        if let (rule, refusal) = query.refusal(on: turn.version) {
            turn.recordFault(rule)
            return turn.add(.answer(process, number, refusal))
        }
        var answer: QueryAnswer
        switch query {
        case .requestAuthorization(let options):
            let mayAsk = self.process?.id == process
            guard let isGranted = self.center.authorize(options, mayAsk: mayAsk, turn.version) else {
                return turn.system.prompts.append(
                    SystemState.PermissionPrompt(process: process, origin: .query(number), options: options))
            }
            answer = .granted(isGranted)
        case .settings: answer = .settings(self.center.permissions)
        case .add(let request):
            let added = self.center.add(request, &turn)
            turn.add(.answer(process, number, added))
            if added == .added, request.trigger == nil { self.presentLocal(request, &turn) }
            return
        case .pendingRequests: answer = .pending(self.center.schedule.requests.map(\.request))
        case .deliveredNotifications: answer = .delivered(turn.notices.delivered(to: self.bundleID))
        case .categories: answer = .categories(self.center.categories)
        case .setBadgeCount(let count):
            let isSet = self.center.setBadge(byApp: count, &turn)
            answer = isSet ? .done : .refused(.notificationsNotAllowed)
        case .badgeCount: answer = .badge(self.center.badge)
        case .backgroundTimeRemaining:
            answer = .backgroundTime(process.role == .app ? self.process?.backgroundTimeRemaining(at: turn.now) : nil)
        case .lowPowerMode: answer = .lowPowerMode(turn.system.lowPowerMode)
        case .protectedDataAvailable: answer = .protectedData(isAvailable: turn.system.lock == .unlocked)
        case .remoteRegistration: answer = .registered(self.tokens.isRegistered)
        case .backgroundRefreshStatus:
            answer = .backgroundRefreshStatus(turn.system.refreshStatus(self.center.permissions))
        case .submitRefreshTask(let request):
            let isAvailable =
                turn.version >= 13 && process.role == .app
                && turn.system.refreshStatus(self.center.permissions) == .available
            answer = .taskRefused(.unavailable)
            if isAvailable { answer = self.background.submit(request, of: self.installed, &turn) }
        case .pendingRefreshTasks: answer = .refreshTasks(self.background.tasks)
        }
        turn.add(.answer(process, number, answer))
    }
}

extension Query {
    /// An app must check the version first; what the system answers nevertheless (ios-delivery.md §0.3, §9).
    fileprivate func refusal(on version: OSVersion) -> (rule: String, QueryAnswer)? {
        switch self {
        case .requestAuthorization where !version.hasUserNotifications:
            ("UNUserNotificationCenter must not be used before iOS 10", .granted(false))
        case .add where !version.hasUserNotifications:
            ("UNUserNotificationCenter must not be used before iOS 10", .refused(.notificationsNotAllowed))
        case .setBadgeCount where version < 16:
            ("setBadgeCount must not be used before iOS 16", .refused(.notificationsNotAllowed))
        default: nil
        }
    }
}
