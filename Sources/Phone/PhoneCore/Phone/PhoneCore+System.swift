import TidingsModel

/// Actions of the system by itself, and messages from APNs.
extension PhoneCore {
    mutating func handle(_ event: SystemEvent, _ turn: inout Turn) {
        switch event {
        case .appInstalled(let app):
            if self.index(of: app.bundleID) == nil { return self.apps.append(App(app, turn.system)) }
            self.hand(&turn, to: app.bundleID) { $0.update(to: app, &$1) }
        case .appRemoved(let app):
            self.hand(&turn, to: app) {
                $0.leaveNothing(&$1)
                $0.tokens.drop(&$1)
            }
            self.apps.removeAll { $0.bundleID == app }
        case .appKilled(let app):
            self.hand(&turn, to: app) { if $0.state.hasProcess { $0.kill(.killedBySystem, &$1) } }
        case .appFrozen(let app): self.hand(&turn, to: app) { $0.freeze(&$1) }
        case .appEvicted(let app):
            self.hand(&turn, to: app) {
                if $0.state.hasProcess { $0.terminate(.evicted, &$1) }
            }
        case .memoryRanLow: self.handToEach(&turn) { $0.warnOfMemory(&$1) }
        case .restarted: self.restart(&turn)
        case .sceneDisconnected(let app): self.hand(&turn, to: app) { $0.disconnectScene(&$1) }
        case .prewarmed(let app): self.hand(&turn, to: app) { $0.prewarm(&$1) }
        case .regionCrossed(let region, let entered):
            self.handToEach(&turn) { app, turn in
                for request in app.center.schedule.take(crossing: region, entered: entered) {
                    app.presentLocal(request, &turn)
                }
            }
        case .appUpdated(let app): self.hand(&turn, to: app.bundleID) { $0.update(to: app, &$1) }
        case .appReinstalled(let app): self.reinstall(app, &turn)
        case .restoredFromBackup: self.restoreFromBackup(&turn)
        case .backgroundChance(let app): self.hand(&turn, to: app) { $0.grantBackgroundTime(&$1) }
        case .backgroundRefreshRestricted(let isRestricted):
            turn.system.isBackgroundRefreshRestricted = isRestricted
            self.handToEach(&turn) { $0.announceRefreshStatus(&$1) }
        }
    }

    /// Settings, list and registrations are gone, and the token is a new one.
    private mutating func reinstall(_ app: InstalledApp, _ turn: inout Turn) {
        if let index = self.index(of: app.bundleID) {
            self.hand(&turn, toAppAt: index) {
                $0.leaveNothing(&$1)
                $0 = App(app, $1.system)
            }
        } else {
            self.apps.append(App(app, turn.system))
        }
        turn.add(.invalidateTokens(app.bundleID))
    }

    /// On a new device: no push arrives until the app has registered again.
    private mutating func restoreFromBackup(_ turn: inout Turn) {
        self.handToEach(&turn) { $0.restore(&$1) }
        turn.system.lockAnew(at: turn.now.monotonic)
        self.startAnew(&turn)
    }

    /// The list, badges, settings and held wakes stay. A restart clears NQ (ios-delivery.md §2.1).
    private mutating func restart(_ turn: inout Turn) {
        self.handToEach(&turn) { $0.restart(&$1) }
        turn.system.lockAnew(at: turn.now.monotonic)
        // The extensions' pushes are shown as they came, and their wakes are held.
        self.handToEach(&turn) { $0.endExtensions(reason: .restarted, &$1) }
        self.startAnew(&turn)
    }

    private func startAnew(_ turn: inout Turn) {
        turn.notices.list.clearScreen()
        turn.notices.litUntil = nil
        guard !turn.system.airplaneMode else { return }
        turn.add(.disconnectCourier)
        turn.add(.connectCourier)
    }

    // MARK: APNs

    mutating func handle(_ event: CourierEvent, _ turn: inout Turn) {
        switch event {
        case .pushArrived(let push): self.receive(push, &turn)
        case .tokenIssued(let app, let token):
            self.hand(&turn, toInstalled: app) { $0.finishRegistration(.registeredForRemoteNotifications(token), &$1) }
        case .registrationFailed(let app, let reason):
            self.hand(&turn, toInstalled: app) {
                $0.finishRegistration(.failedToRegisterForRemoteNotifications(reason: reason), &$1)
            }
        case .tokenOfKindIssued(let app, let kind, let token):
            self.hand(&turn, toInstalled: app) { $0.take(token, kind, &$1) }
        }
    }

    /// A push while the connection is down was never received and stays with APNs (ios-delivery.md §4 gate 2).
    private mutating func receive(_ push: Push, _ turn: inout Turn) {
        guard !turn.system.airplaneMode else { return }
        turn.add(.acknowledge(delivery: push.delivery))
        let address = PushAddress(topic: push.topic)
        let limit = turn.version.payloadLimit(address.kind, isBroadcast: push.channel != nil)
        guard push.payload.byteCount <= turn.settings.payloadLimit ?? limit else {
            return turn.record(.refused(delivery: push.delivery, .payloadTooLarge), of: address.app)
        }
        guard let index = self.index(of: address.app),
            address.kind != .notification || self.apps[index].tokens.isRegistered
        else {
            let rule = "topic \(push.topic) must belong to an app that is registered"
            return turn.record(.fault(rule), of: address.app)
        }
        self.hand(&turn, toAppAt: index) { app, turn in
            switch address.kind {
            case .notification: app.receiveNotification(push, &turn)
            case .voip: app.receiveVoIP(push, &turn)
            case .liveActivity: app.receiveActivity(push, &turn)
            }
        }
    }
}
