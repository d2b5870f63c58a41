import StoreModel
import TidingsModel

// What the app's backend decides about a person: banned, let in again, tokens revoked. The store refuses the sign-ins that follow it.
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
        let slot = self.slot(of: user, now, &effects)
        guard self.people[slot].isReady else {
            self.loadings[slot]?.queue.append(.userAccount(request, change))
            return
        }
        self.people[slot].busyAt = now.monotonic
        if let end = change.endOfLegs {
            for index in self.people[slot].devices.indices { self.leave(slot, index, as: end, &effects) }
        }
        self.ask(
            .changeAccount(user, change, at: now.wall), for: .errand(.userAccount(request, user, change)), &effects)
        self.arm(slot)
    }

    /// The store has it: connections it does not suffer are closed.
    mutating func finishAccount(
        _ request: APIRequestID, _ user: UserKey, _ change: AccountChange, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        defer { effects.append(.reply(request, .done)) }
        // Whoever is not in memory has no session, and is loaded as the store has them now.
        guard let slot = self.slots[user], self.people[slot].isReady else { return }
        self.people[slot].account.take(change)
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
                self.end(session, because: fault, now, &effects)
            }
        }
    }
}
