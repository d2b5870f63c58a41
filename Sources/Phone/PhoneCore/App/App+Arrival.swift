import DequeModule
import TidingsModel

/// Arrivals from APNs, from its own schedule and from its extension: the decision procedure of ios-delivery.md §5.6.
extension App {
    mutating func receiveNotification(_ push: Push, _ turn: inout Turn) {
        let identifier = push.collapseID ?? self.center.newIdentifier(of: self.bundleID, &turn)
        let pushClass = PushClass(payload: push.payload, pushType: push.pushType, quirks: turn.settings.quirks)
        turn.record(
            .arrival(
                ArrivalRecord(
                    identifier: identifier, delivery: push.delivery, pushClass: pushClass, state: self.state)))
        guard pushClass != .nothing else { return }
        let arrival = Arrival(
            request: NotificationRequest(
                identifier: identifier,
                content: NotificationContent(payload: push.payload, strings: self.installed.localizations),
                trigger: .push),
            payload: push.payload, pushClass: pushClass, pushType: push.pushType,
            isVisible: pushClass.isVisible && self.center.permissions.allowsPresentation)
        // Gate 6 of ios-delivery.md §4.
        if turn.version.hasUserNotifications, self.installed.hasServiceExtension, arrival.isVisible,
            arrival.payload.isMutable, arrival.request.content.hasText, self.center.permissions.alert,
            turn.system.lock != .beforeFirstUnlock || turn.settings.quirks.extensionRunsBeforeFirstUnlock
        {
            return self.serviceExtension.serve(arrival, of: self.bundleID, &turn)
        }
        self.dispatch(arrival, &turn)
    }

    mutating func presentLocal(_ request: NotificationRequest, _ turn: inout Turn) {
        var request = request
        request.content = request.content.shown(with: self.installed.localizations)
        let onlyRemovesBadge = request.content.badge == 0 && !request.content.hasText && request.content.sound == nil
        if turn.version.hasUserNotifications, turn.settings.quirks.badgeZeroRequestIsLost, onlyRemovesBadge { return }
        self.dispatch(
            Arrival(
                request: request, payload: JSONObject(), pushClass: .local, pushType: nil,
                isVisible: self.center.allowsLocal(turn.version)), &turn)
    }

    /// ios-delivery.md §5.1 to §5.4.
    mutating func dispatch(_ arrival: Arrival, _ turn: inout Turn) {
        if self.state.isInForeground, self.process?.phase != .ready || self.process?.steps.isEmpty != true {
            self.process?.steps.append(.deliver(arrival))
        } else {
            self.deliver(arrival, &turn)
        }
    }

    /// The app may have left the foreground while the arrival waited.
    mutating func deliver(_ arrival: Arrival, _ turn: inout Turn) {
        guard self.state.isInForeground else {
            self.center.presentElsewhere(arrival, of: self.installed, &turn)
            if arrival.pushClass.wakes { self.tryWake(arrival, &turn) }
            return
        }
        for step in Dispatch.inForeground(arrival, facts: DispatchFacts(of: self, &turn)) {
            switch step {
            case .call(let callback):
                // Q12: what `applicationState` reads when a push meets the app inactive.
                let seesActive = self.state == .foregroundInactive && !turn.settings.quirks.inactiveOnArrival
                self.process?.call(callback, seen: seesActive ? .active : nil, &turn)
            case .callWillPresent:
                self.process?.call(
                    .willPresent(DeliveredNotification(request: arrival.request, date: turn.now.wall)), &turn)
            case .presentAsIs: self.center.present(arrival, of: self.installed, &turn)
            case .presentNothing(.filtered): self.center.presentFiltered(arrival, &turn)
            case .presentNothing(let reason):
                turn.recordHidden(arrival.request.identifier, isRemote: !arrival.isLocal, reason)
            }
        }
    }

    // MARK: Waking

    /// `tryWake` of ios-delivery.md §5.6.
    private mutating func tryWake(_ arrival: Arrival, _ turn: inout Turn) {
        guard self.mayWake(arrival, &turn) else { return }
        let options = Dispatch.wakeOptions(arrival.payload, facts: DispatchFacts(of: self, &turn))
        self.wake(for: .call(.receiveRemoteFetch(arrival.payload)), options: options, &turn)
    }

    /// Gate 8 of ios-delivery.md §4: charges the budget if the app gets the silent part now; else holds or drops it.
    mutating func mayWake(_ arrival: Arrival, _ turn: inout Turn) -> Bool {
        guard turn.version.wakesForPushes else { return false }
        let identifier = arrival.request.identifier
        if let obstacle = Wakes.obstacle(to: self.installed, in: self.state, self.center.permissions, &turn) {
            if obstacle == .discardedForceQuit { self.wakes.discard(obstacle, &turn) }
            turn.record(.wake(identifier: identifier, obstacle))
            return false
        }
        if let hold = self.wakes.reasonToHold(&turn) {
            self.wakes.discard(.replaced, &turn)
            self.wakes.held = arrival
            turn.record(.wake(identifier: identifier, hold))
            return false
        }
        if self.process == nil, self.installed.refusesLaunch(&turn) { return false }
        // The app crashes when it is resumed, and the push is lost.
        if self.state == .suspended, self.crashOnResume(&turn) {
            turn.record(.wake(identifier: identifier, .discardedByKill))
            return false
        }
        self.wakes.budget.charge(at: turn.now.monotonic)
        turn.record(.wake(identifier: identifier, .delivered))
        return true
    }

    mutating func retryHeldWake(_ turn: inout Turn) {
        guard self.wakes.held != nil, self.wakes.reasonToHold(&turn) == nil else { return }
        if let held = self.wakes.held.take() { self.tryWake(held, &turn) }
    }

    /// The system shows nothing of such a push; it launches the app, a force-quit one too (ios-delivery.md §12).
    mutating func receiveVoIP(_ push: Push, _ turn: inout Turn) {
        guard self.tokens.isVoIPRegistered else {
            return turn.recordFault("topic \(push.topic) must belong to an app that registered for it")
        }
        guard !self.tokens.isVoIPBlocked else { return turn.record(.refused(delivery: push.delivery, .voipBlocked)) }
        self.wake(for: .call(.voipPushReceived(push.payload)), &turn)
    }

    // MARK: Live Activities

    mutating func receiveActivity(_ push: Push, _ turn: inout Turn) {
        let reception = self.activities.receive(push, isStartWanted: self.tokens.wantsPushToStart, &turn)
        if let started = reception.started {
            // The app gets a moment in the background to learn the new token.
            if turn.settings.quirks.pushToStartWakes, self.state != .forceQuit, turn.system.lock != .beforeFirstUnlock {
                self.wake(&turn)
            }
            self.tell(.activityUpdated(started), newestOnly: true, &turn)
        }
        self.record(reception.changes, &turn)
        if let alerting = reception.alerting, !self.state.isInForeground {
            self.center.presentAlert(push.payload["aps"], ofActivity: alerting, of: self.installed, &turn)
        }
        self.record(self.activities.advance(&turn), &turn)
    }

    mutating func record(_ changes: [LiveActivities.Change], _ turn: inout Turn) {
        for change in changes {
            if let dropped = change.dropped { turn.add(dropped) }
            turn.record(.activity(change.update))
            self.tell(.activityUpdated(change.update), newestOnly: true, &turn)
        }
    }

    // MARK: The service extension

    mutating func expireExtension(_ turn: inout Turn) {
        self.present(self.serviceExtension.expire(of: self.installed, &turn), &turn)
    }

    mutating func endExtensions(reason: EndReason, dropsPushes: Bool = false, _ turn: inout Turn) {
        while let arrivals = self.serviceExtension.endFirst(reason, of: self.installed, dropsPushes: dropsPushes, &turn)
        {
            self.present(arrivals, &turn)
        }
    }

    /// Presents what the extension has let go. Authorization may have been recalled while it ran.
    mutating func present(_ arrivals: [Arrival], _ turn: inout Turn) {
        for var arrival in arrivals {
            arrival.isVisible = arrival.isVisible && self.center.permissions.allowsPresentation
            self.dispatch(arrival, &turn)
        }
    }
}
