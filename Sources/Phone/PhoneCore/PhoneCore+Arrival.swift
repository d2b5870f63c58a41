import TidingsModel

/// Deliveries from APNs, and the decision procedure of ios-delivery.md §5.6.
extension PhoneCore {
    mutating func handle(_ event: CourierEvent, _ turn: inout Turn) {
        switch event {
        case .pushArrived(let push): self.receive(push, &turn)
        case .tokenIssued(let app, let token):
            self.finishRegistration(app, .registeredForRemoteNotifications(token), &turn)
        case .registrationFailed(let app, let reason):
            self.finishRegistration(app, .failedToRegisterForRemoteNotifications(reason: reason), &turn)
        case .tokenOfKindIssued(let app, let kind, let token): self.issue(token, of: kind, to: app, &turn)
        }
    }

    /// A push while the connection is down was never received and stays with APNs (ios-delivery.md §4 gate 2).
    private mutating func receive(_ push: Push, _ turn: inout Turn) {
        guard !self.airplaneMode else { return }
        turn.add(.acknowledge(delivery: push.delivery))
        let address = PushAddress(topic: push.topic)
        let app = address.app
        let limit = self.version.payloadLimit(address.kind, isBroadcast: push.channel != nil)
        guard push.payload.byteCount <= self.settings.payloadLimit ?? limit else {
            return turn.record(app, .refused(delivery: push.delivery, .payloadTooLarge))
        }
        guard let index = self.index(of: app), address.kind != .notification || self.apps[index].isRegistered else {
            return turn.recordFault(app, "topic \(push.topic) must belong to an app that is registered")
        }
        switch address.kind {
        case .notification: self.receiveNotification(push, index, &turn)
        case .voip: self.receiveVoIP(push, index, &turn)
        case .liveActivity: self.receiveActivity(push, index, &turn)
        }
    }

    private mutating func receiveNotification(_ push: Push, _ index: Int, _ turn: inout Turn) {
        let app = self.bundleID(index)
        let identifier = push.collapseID ?? self.newIdentifier(of: app)
        let pushClass = PushClass(payload: push.payload, pushType: push.pushType, quirks: self.settings.quirks)
        turn.record(
            app,
            .arrival(
                ArrivalRecord(
                    identifier: identifier, delivery: push.delivery, pushClass: pushClass,
                    state: self.apps[index].state)))
        guard pushClass != .nothing else { return }
        let arrival = Arrival(
            request: NotificationRequest(
                identifier: identifier,
                content: NotificationContent(
                    payload: push.payload, strings: self.apps[index].installed.localizations), trigger: .push),
            payload: push.payload, pushClass: pushClass, pushType: push.pushType,
            isVisible: pushClass.isVisible && self.apps[index].settings.allowsPresentation)
        if self.wantsExtension(arrival, index) { return self.startExtension(arrival, index, &turn) }
        self.dispatch(arrival, index, &turn)
    }

    private mutating func newIdentifier(of app: BundleID) -> String {
        while true {
            self.identifierCount += 1
            let key = NotificationKey(app: app, identifier: "push-\(self.identifierCount)")
            if !self.isInUse(key) { return key.identifier }
        }
    }

    private func isInUse(_ key: NotificationKey) -> Bool {
        self.list.has(key) || self.notices.heldForSummary.contains { $0.key == key }
            || self.index(of: key.app).map { index in
                self.apps[index].pending.contains { $0.request.identifier == key.identifier }
            } ?? false
    }

    mutating func presentLocal(_ request: NotificationRequest, _ index: Int, _ turn: inout Turn) {
        var request = request
        request.content = request.content.shown(with: self.apps[index].installed.localizations)
        let arrival = Arrival(
            request: request, payload: JSONObject(), pushClass: .local, pushType: nil,
            isVisible: self.allowsLocal(index))
        let onlyRemovesBadge = request.content.badge == 0 && !request.content.hasText && request.content.sound == nil
        if self.version.hasUserNotifications, self.settings.quirks.badgeZeroRequestIsLost, onlyRemovesBadge { return }
        self.dispatch(arrival, index, &turn)
    }

    /// ios-delivery.md §5.1 to §5.4.
    mutating func dispatch(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        guard self.apps[index].state.isInForeground else { return self.dispatchElsewhere(arrival, index, &turn) }
        guard let run = self.apps[index].run, run.phase == .ready, run.steps.isEmpty else {
            self.apps[index].run?.steps.append(.deliver(arrival))
            return
        }
        self.deliver(arrival, index, &turn)
    }

    /// The app may have left the foreground while the arrival waited.
    mutating func deliver(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        guard self.apps[index].state.isInForeground else { return self.dispatchElsewhere(arrival, index, &turn) }
        for step in Dispatch.inForeground(arrival, facts: self.facts(of: index)) {
            switch step {
            case .call(let callback): self.call(index, callback, &turn, seen: self.stateSeenOnArrival(index))
            case .callWillPresent:
                let shown = DeliveredNotification(request: arrival.request, date: turn.now.wall)
                self.call(index, .willPresent(shown), &turn)
            case .presentAsIs: self.presentBySystem(arrival, index, &turn)
            case .presentNothing(.filtered): self.presentFiltered(arrival, index, &turn)
            case .presentNothing(let reason):
                self.presentNothing(
                    arrival.request.identifier, index, isRemote: !arrival.isLocal, reason: reason, &turn)
            }
        }
    }

    private mutating func dispatchElsewhere(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        self.showElsewhere(arrival, index, &turn)
        if arrival.pushClass.wakes { self.tryWake(arrival, index, &turn) }
    }

    mutating func showElsewhere(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        if arrival.isVisible {
            self.presentBySystem(arrival, index, &turn)
        } else if arrival.isFiltered {
            self.presentFiltered(arrival, index, &turn)
        } else if arrival.pushClass.isVisible {
            self.presentNothing(
                arrival.request.identifier, index, isRemote: !arrival.isLocal, reason: self.reasonToHide(index),
                &turn)
        }
    }

    /// ios-delivery.md §4 gate 3.
    private func reasonToHide(_ index: Int) -> PresentationReason {
        let isUnasked = self.apps[index].settings.authorizationStatus == .notDetermined
        return self.version >= 8 && self.version < 10 && isUnasked ? .notRegistered : .notAuthorized
    }

    /// Before iOS 8 local notifications needed no permission.
    private func allowsLocal(_ index: Int) -> Bool {
        let settings = self.apps[index].settings
        return settings.allowsPresentation || (self.version < 8 && settings.authorizationStatus == .notDetermined)
    }

    /// Q12: what `applicationState` reads when a push meets the app inactive; nil is the state itself.
    private func stateSeenOnArrival(_ index: Int) -> ApplicationState? {
        self.apps[index].state == .foregroundInactive && !self.settings.quirks.inactiveOnArrival ? .active : nil
    }

    // MARK: Waking

    /// `tryWake` of ios-delivery.md §5.6.
    private mutating func tryWake(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) {
        guard self.mayWake(arrival, index, &turn) else { return }
        let options = Dispatch.wakeOptions(arrival.payload, facts: self.facts(of: index))
        self.wake(index, for: .call(.receiveRemoteFetch(arrival.payload)), options: options, &turn)
    }

    /// Gate 8 of ios-delivery.md §4: charges the budget if the app gets the silent part now; else holds or drops it.
    mutating func mayWake(_ arrival: Arrival, _ index: Int, _ turn: inout Turn) -> Bool {
        guard self.version.wakesForPushes else { return false }
        let app = self.apps[index]
        let name = app.installed.bundleID
        let identifier = arrival.request.identifier
        if let obstacle = self.obstacle(to: app) {
            if obstacle == .discardedForceQuit { self.discardHeldWake(index, outcome: obstacle, &turn) }
            turn.record(name, .wake(identifier: identifier, obstacle))
            return false
        }
        if let hold = self.reasonToHold(app, at: turn.now.monotonic) {
            self.discardHeldWake(index, outcome: .replaced, &turn)
            self.apps[index].heldWake = arrival
            turn.record(name, .wake(identifier: identifier, hold))
            return false
        }
        if app.run == nil, self.refusesLaunch(index, &turn) { return false }
        // The app crashes when it is resumed, and the push is lost.
        if app.state == .suspended, self.crashOnResume(index, &turn) {
            turn.record(name, .wake(identifier: identifier, .discardedByKill))
            return false
        }
        self.apps[index].budget.charge(at: turn.now.monotonic)
        turn.record(name, .wake(identifier: identifier, .delivered))
        return true
    }

    func obstacle(to app: AppRecord) -> WakeOutcome? {
        guard app.installed.methods.contains(.receiveRemoteFetch) else { return .notImplemented }
        guard app.installed.backgroundModes.contains(.remoteNotification) else { return .modeMissing }
        guard self.allowsBackgroundRefresh(app) else { return .refreshOff }
        return app.state == .forceQuit ? .discardedForceQuit : nil
    }

    private func reasonToHold(_ app: AppRecord, at now: Int64) -> WakeOutcome? {
        if self.lock == .beforeFirstUnlock { return .heldBeforeFirstUnlock }
        if let restartedAt = self.restartedAt, now < restartedAt + self.settings.wakeHoldAfterRestart {
            return .heldAfterRestart
        }
        guard let free = app.budget.nextFree(settings: self.settings) else { return .heldForBudget }
        return free > now ? .heldForBudget : nil
    }

    /// Also nil if only an unlock or the end of the budget can free it.
    func heldWakeRetry(_ index: Int) -> Int64? {
        guard self.apps[index].holdsWake, self.lock != .beforeFirstUnlock,
            let free = self.apps[index].budget.nextFree(settings: self.settings)
        else { return nil }
        return max(free, self.restartedAt.map { $0 + self.settings.wakeHoldAfterRestart } ?? .min)
    }

    mutating func retryHeldWake(_ index: Int, _ turn: inout Turn) {
        guard let held = self.apps[index].heldWake, self.reasonToHold(self.apps[index], at: turn.now.monotonic) == nil
        else { return }
        self.apps[index].heldWake = nil
        self.tryWake(held, index, &turn)
    }

    /// The person opened the app: a held silent push is delivered at once (ios-delivery.md §6.2).
    mutating func deliverHeldWake(_ index: Int, _ turn: inout Turn) {
        guard let held = self.apps[index].heldWake else { return }
        self.apps[index].heldWake = nil
        turn.record(self.bundleID(index), .wake(identifier: held.request.identifier, .delivered))
        self.call(index, .receiveRemoteFetch(held.payload), &turn)
    }

    mutating func discardHeldWake(_ index: Int, outcome: WakeOutcome, _ turn: inout Turn) {
        guard let held = self.apps[index].heldWake else { return }
        self.apps[index].heldWake = nil
        turn.record(self.bundleID(index), .wake(identifier: held.request.identifier, outcome))
    }
}
