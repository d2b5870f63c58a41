import APNsModel
import StoreModel
import TidingsModel

// Apps, their keys and the operators as the store has them (docs/inside/decisions/0043-apps-at-run-time.md). Of all that the core goes by what is set
// of an app and by whether it is suspended; keys and secrets are the shell's.
extension ServerCore {
    static let suspended = ServerFrame.Problem(
        code: .wrongApp, field: "token", rule: "names an app that is suspended")

    func checkSuspension(of app: AppID) throws(ServerFrame.Problem) {
        if self.turn.settings.suspendedApps.contains(app) { throw Self.suspended }
    }

    mutating func applySettings(of control: ControlState) {
        // tidy: order does not leave: a list, sorted by id
        for app in control.apps { self.turn.settings.apply(app) }
    }

    /// Ends a control change. The shell hears of it before the caller: a new key is good as soon as it is told.
    mutating func finishControl(_ change: ControlChange, _ answer: ControlAnswer, for request: APIRequestID) {
        self.turn.emit(.controlChanged(change.withAuthor.change, answer))
        switch answer {
        case .app(let app): self.follow(app)
        case .ofOperator, .noted: break
        }
        self.turn.emit(.reply(request, .control(answer)))
    }

    private mutating func follow(_ app: ManagedApp) {
        let wasSuspended = self.turn.settings.suspendedApps.contains(app.id)
        let limits = self.turn.settings.limits(of: app.id)
        let credentials = self.turn.settings.activeCredentials[app.id] ?? []
        self.turn.settings.apply(app)
        if self.turn.settings.activeCredentials[app.id] ?? [] != credentials {
            self.forgetRefusals(of: app.id)
        }
        if self.turn.settings.limits(of: app.id) != limits { self.fillBuckets(of: app.id) }
        guard app.isSuspended != wasSuspended else { return }
        if app.isSuspended { self.endSessions(of: app.id) }
        self.followClients { $0.app == app.id }
    }

    /// Fills the buckets: a debt under a higher limit, paid at once there, would be owed for ten minutes at the new rate.
    private mutating func fillBuckets(of app: AppID) {
        self.turn.shares.apps[app]?.buckets = RateBuckets()
        // tidy: order does not leave: each is changed by itself
        for (user, slot) in self.slots where user.app == app { self.people[slot].state.buckets = RateBuckets() }
    }

    private mutating func endSessions(of app: AppID) {
        // tidy: order does not leave: the sessions are sorted before they end
        let open = self.turn.sessions.openings.keys.filter { self.turn.sessions.openings[$0]?.device.user.app == app }
        let live = self.turn.sessions.ids.filter { self.turn.sessions[$0]?.device.user.app == app }
        for session in (open + live).sorted() { self.endSession(session, because: Self.suspended) }
    }
}

extension LaneOutage {
    /// Whatever the APNs client says.
    static let ofSuspension = LaneOutage(.credential, reason: "AppSuspended")
}
