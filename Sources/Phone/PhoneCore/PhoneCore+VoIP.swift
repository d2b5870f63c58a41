/// PushKit (ios-delivery.md §12). The system shows nothing of such a push; it launches the app, a force-quit one too.
extension PhoneCore {
    mutating func changeVoIPRegistration(isOn: Bool, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index].installed
        guard self.version >= 8, app.backgroundModes.contains(.voip) else {
            return turn.recordFault(app.bundleID, "PushKit needs iOS 8 and the background mode voip")
        }
        guard isOn else {
            guard self.apps[index].background.voip.isRegistered else { return }
            self.apps[index].background.voip.isRegistered = false
            self.apps[index].background.voip.token = nil
            turn.add(.dropToken(app.bundleID, .voip))
            return self.append(.call(.voipTokenInvalidated), to: index, &turn)
        }
        self.apps[index].background.voip.isRegistered = true
        if let token = self.apps[index].background.voip.token {
            return self.append(.call(.voipTokenUpdated(token)), to: index, &turn)
        }
        if !self.airplaneMode { turn.add(.requestToken(app.bundleID, .voip)) }
    }

    mutating func receiveVoIP(_ push: Push, _ index: Int, _ turn: inout Turn) {
        let app = self.apps[index]
        guard app.background.voip.isRegistered else {
            return turn.recordFault(
                app.installed.bundleID, "topic \(push.topic) must belong to an app that registered for it")
        }
        guard !app.background.voip.isBlocked else {
            return turn.record(app.installed.bundleID, .refused(delivery: push.delivery, .voipBlocked))
        }
        self.wake(index, for: .call(.voipPushReceived(push.payload)), &turn)
    }

    /// The app is killed; after some such pushes no more arrive.
    mutating func recordMissingCall(_ index: Int, _ turn: inout Turn) -> EndReason {
        self.apps[index].background.voip.unreportedCalls += 1
        if self.apps[index].background.voip.unreportedCalls >= self.settings.unreportedCallsMax {
            self.apps[index].background.voip.isBlocked = true
            turn.recordFault(
                self.bundleID(index), "VoIP pushes are blocked until the app is installed anew: none brought a call")
        }
        return .noCallReported
    }
}
