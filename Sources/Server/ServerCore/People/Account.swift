import StoreModel
import TidingsModel

extension ServerCore {
    mutating func changeAccount(
        of user: UserKey, _ change: AccountChange, for request: APIRequestID, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        if case .revokeTokens(let time, _) = change, time > now.wall {
            let invalid = InvalidField(
                field: "before", rule: "must not be in the future: it is \(now.wall), got \(time)")
            return effects.append(.reply(request, .refused(.init(invalid))))
        }
        guard let slot = self.loadedSlot(of: user, for: request, .changeAccount(user, change), now, &effects) else {
            return
        }
        self.people[slot].busyAt = now.monotonic
        if let end = change.endOfLegs {
            for index in self.people[slot].devices.indices {
                self.beginSignOut(slot: slot, index: index, as: end)
            }
        }
        self.sendToStore(
            .changeAccount(user, change, at: now.wall), for: .apiChangeAccount(request, user, change), &effects)
        self.arm(slot)
    }

    /// The store has not carried it out.
    mutating func takeBackAccount(
        of user: UserKey, _ change: AccountChange, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard change.endOfLegs != nil, let slot = self.slots[user] else { return }
        for device in self.people[slot].devices.map(\.id) {
            self.keepSignedIn(DeviceKey(user: user, device: device), now, &effects)
        }
    }

    mutating func finishAccount(
        _ request: APIRequestID, _ user: UserKey, _ change: AccountChange, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        defer { effects.append(.reply(request, .done)) }
        // Somebody who is not in memory has no session.
        guard let slot = self.slots[user], self.people[slot].isReady else { return }
        self.people[slot].account.apply(change)
        let devices = self.people[slot].devices.map { DeviceKey(user: user, device: $0.id) }
        switch change {
        case .unban: break
        case .ban:
            let problem = ServerFrame.Problem(
                code: .disabled, field: "token", rule: "names a person whom the app has banned")
            for device in devices { self.removeDevice(device, because: problem, now, &effects) }
        case .revokeTokens(_, signsOut: true):
            for device in devices { self.removeDevice(device, now, &effects) }
        case .revokeTokens(_, signsOut: false):
            for device in self.people[slot].devices {
                guard let session = device.session,
                    let fault = self.people[slot].account.fault(inTokenIssuedAt: device.userToken?.issuedAt)
                else { continue }
                self.endSession(session, because: fault, now, &effects)
            }
        }
    }
}
