import TidingsModel

/// An app's registrations for pushes (ios-delivery.md §12, §13): asked for at each launch, changed by a reinstallation, a restore
/// and a new device. What a function returns the process is to be told.
struct PushTokens: Equatable, Sendable {
    /// For the device token.
    var isRegistered = false
    private(set) var isVoIPRegistered = false
    private var voipToken: PushToken?
    private var unreportedCalls = 0
    /// For PushKit (ios-delivery.md §12), until the app is reinstalled.
    private(set) var isVoIPBlocked = false
    private(set) var wantsPushToStart = false
    private var pushToStart: PushToken?

    mutating func changeVoIP(isOn: Bool, of app: InstalledApp, _ turn: inout Turn) -> Callback? {
        guard turn.version >= 8, app.backgroundModes.contains(.voip) else {
            turn.recordFault("PushKit needs iOS 8 and the background mode voip")
            return nil
        }
        guard isOn else {
            guard self.isVoIPRegistered else { return nil }
            self.dropVoIP(&turn)
            return .voipTokenInvalidated
        }
        self.isVoIPRegistered = true
        if let token = self.voipToken { return .voipTokenUpdated(token) }
        turn.requestToken(.voip)
        return nil
    }

    mutating func dropVoIP(_ turn: inout Turn) {
        guard self.isVoIPRegistered else { return }
        self.isVoIPRegistered = false
        self.voipToken = nil
        turn.add { .dropToken($0, .voip) }
    }

    /// The app is killed; after some such pushes no more arrive.
    mutating func recordMissingCall(_ turn: inout Turn) -> EndReason {
        self.unreportedCalls += 1
        if self.unreportedCalls >= turn.settings.unreportedCallsMax {
            self.isVoIPBlocked = true
            turn.recordFault("VoIP pushes are blocked until the app is installed anew: none brought a call")
        }
        return .noCallReported
    }

    mutating func requestPushToStart(_ turn: inout Turn) -> Callback? {
        guard turn.version >= OSVersion(17, 2) else {
            turn.recordFault("starting a Live Activity by push needs iOS 17.2")
            return nil
        }
        self.wantsPushToStart = true
        if let token = self.pushToStart { return .pushToStartTokenUpdated(token) }
        turn.requestToken(.pushToStart)
        return nil
    }

    mutating func takeVoIP(_ token: PushToken) -> Callback? {
        guard self.isVoIPRegistered, self.voipToken != token else { return nil }
        self.voipToken = token
        return .voipTokenUpdated(token)
    }

    mutating func takePushToStart(_ token: PushToken) -> Callback? {
        guard self.wantsPushToStart, self.pushToStart != token else { return nil }
        self.pushToStart = token
        return .pushToStartTokenUpdated(token)
    }

    func requestMissing(_ turn: inout Turn) {
        if self.isVoIPRegistered, self.voipToken == nil { turn.requestToken(.voip) }
        if self.wantsPushToStart, self.pushToStart == nil { turn.requestToken(.pushToStart) }
    }

    /// The app is gone.
    mutating func drop(_ turn: inout Turn) {
        self.dropVoIP(&turn)
        if self.wantsPushToStart { turn.add { .dropToken($0, .pushToStart) } }
        if self.isRegistered { turn.add { .unregisterTopic($0) } }
    }
}
