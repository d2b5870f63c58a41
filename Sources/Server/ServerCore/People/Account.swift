import StoreModel
import TidingsModel

extension ServerCore {
    mutating func changeAccount(
        of user: UserKey, _ change: AccountChange, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        let now = self.turn.now
        let invalid: InvalidField? =
            switch change {
            case .revokeTokens(let time, _) where time > now.wall:
                InvalidField(field: "before", rule: "must not be in the future: it is \(now.wall), got \(time)")
            case .ban(let ban) where !ban.holds(at: now.wall):
                InvalidField(field: "until", rule: "must be in the future: it is \(now.wall), got \(ban.until ?? 0)")
            case .ban, .unban, .revokeTokens: nil
            }
        if let invalid { throw .init(invalid) }
        guard let slot = self.loadedSlot(of: user, for: request, .changeAccount(user, change)) else { return }
        self.people[slot].state.busyAt = now.monotonic
        if let end = change.endOfLegs { self.people[slot].beginSignOuts(as: end) }
        self.turn.ask(.changeAccount(user, change, at: now.wall), for: .api(request, .changeAccount(user, change)))
        self.people[slot].arm(&self.turn)
    }

    /// The store has not carried it out.
    mutating func takeBackAccount(of user: UserKey, _ change: AccountChange) {
        guard change.endOfLegs != nil, let slot = self.slots[user] else { return }
        for device in self.people[slot].devices.map(\.key) { self.keepSignedIn(device) }
    }

    mutating func finishAccount(_ request: APIRequestID, _ user: UserKey, _ change: AccountChange) {
        defer { self.turn.emit(.reply(request, .done)) }
        // A person who is not in memory has no session.
        guard let slot = self.slots[user], self.people[slot].state.isReady else { return }
        self.people[slot].state.account.apply(change)
        let devices = self.people[slot].devices.map(\.key)
        switch change {
        case .unban: break
        case .ban:
            for device in devices { self.removeDevice(device, because: StoreRules.bannedPerson) }
        case .revokeTokens(_, signsOut: true):
            for device in devices { self.removeDevice(device) }
        case .revokeTokens(_, signsOut: false):
            for device in self.people[slot].devices {
                guard let session = device.session,
                    let fault = self.people[slot].state.account.fault(
                        inTokenIssuedAt: device.userToken?.issuedAt, at: self.turn.now.wall)
                else { continue }
                self.endSession(session, because: fault)
            }
        }
    }
}
