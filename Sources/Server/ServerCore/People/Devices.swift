import APNsModel
import StoreModel
import TidingsModel

extension ServerCore {
    /// Takes a device's push registration (S2.7), or takes it back for nil. Whatever was held against an earlier one is
    /// forgotten (DESIGN P8).
    mutating func register(
        _ registration: PushRegistration?, _ slot: Int, _ index: Int, _ now: Now, _ effects: inout [ServerEffect]
    ) throws(InvalidField) {
        let session = self.people[slot].devices[index].session
        guard let registration else {
            self.people[slot].devices[index].retry = nil
            return self.setPush(.none, of: session, slot, index, &effects)
        }
        guard APNsFormat.isDeviceToken(registration.token.rawValue.utf8) else {
            throw InvalidField(
                field: "push_registration.token", rule: "must be 2 to 200 hexadecimal digits, an even number of them")
        }
        guard APNsFormat.isTopic(registration.topic.utf8) else {
            throw InvalidField(
                field: "push_registration.topic",
                rule: "must be 1 to 255 letters, digits, hyphens, underscores and dots")
        }
        self.people[slot].devices[index].retry = nil
        self.setPush(.registered(registration, at: now.wall), of: session, slot, index, &effects)
    }

    /// Changes what is known of a device's token, here and in the store.
    ///
    /// - Parameter session: whose registration it is, if one asked.
    mutating func setPush(
        _ push: PushState, of session: SessionID? = nil, _ slot: Int, _ index: Int, _ effects: inout [ServerEffect]
    ) {
        self.people[slot].devices[index].push = push
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        if let session { self.sessions[session]?.commandsInFlight += 1 }
        self.ask(.setPushState(key, push), for: .errand(.pushState(key, session)), &effects)
    }

    /// The store has a device's token; other devices that had the same one have none any more.
    mutating func takeTokens(from devices: [DeviceKey], _ now: Now, _ effects: inout [ServerEffect]) {
        for device in devices {
            guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device)
            else {
                continue
            }
            self.people[slot].devices[index].push = .none
            self.people[slot].devices[index].retry = nil
            self.pump(slot, index, now, &effects)
            self.arm(slot)
        }
    }

    /// Signs a device out by the API.
    mutating func signOut(
        _ device: DeviceKey, for request: ApiRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        let slot = self.slot(of: device.user, now, &effects)
        guard self.people[slot].isReady else {
            self.loadings[slot]?.queue.append(.signOut(request, device))
            return
        }
        guard let index = self.people[slot].devices.index(of: device.device) else {
            let invalid = InvalidField(field: "device", rule: "must be a device of this person that is signed in")
            effects.append(.reply(request, .refused(.init(invalid))))
            return
        }
        self.leave(slot, index, &effects)
        self.ask(.signOut(device, at: now.wall), for: .apiSignOut(request, device), &effects)
    }

    /// A device is about to be signed out: the store ends with it everything that was under way to it, and what it accepts for it
    /// until then (DESIGN P6). Here it is forgotten.
    ///
    /// - Parameter end: how its legs end there, unless it was leaving already.
    mutating func leave(_ slot: Int, _ index: Int, as end: LegEnd = .signedOut, _ effects: inout [ServerEffect]) {
        let end = self.people[slot].devices[index].leaving ?? end
        self.people[slot].devices[index].leaving = end
        for _ in self.people[slot].devices[index].legs.removeAll(where: { _ in true }) {
            effects.append(.countEnd(end))
        }
    }

    /// A device is signed out in the store: it gets no more legs.
    ///
    /// - Parameter problem: what its connection is told.
    mutating func removeDevice(
        _ device: DeviceKey,
        because problem: ServerFrame.Problem = .init(code: .invalidToken, field: "device", rule: "was signed out"),
        _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device) else {
            return
        }
        let wasOnline = self.people[slot].isOnline
        self.leave(slot, index, &effects)
        if let session = self.people[slot].devices[index].session {
            effects.append(.write(session, .problem(problem, isFatal: true)))
            self.close(session, &effects)
        }
        self.people[slot].devices.remove(at: index)
        self.tellPresence(slot, before: wasOnline, now, &effects)
        self.arm(slot)
    }
}
