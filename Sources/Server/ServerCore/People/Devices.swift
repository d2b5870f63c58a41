import APNsModel
import OrderedCollections
import StoreModel
import TidingsModel

/// Who has told a push registration, or taken it back.
struct Registrant: Sendable {
    let session: SessionID
    /// The number of the answer; nil for a client from before there was one, which hears of faults alone.
    let number: RequestNumber?
}

extension ServerCore {
    /// Takes a device's push registration (S2.7), or takes it back for nil. Whatever was held against an earlier one is
    /// forgotten (DESIGN P8).
    mutating func register(
        _ registration: PushRegistration?, by registrant: Registrant, _ slot: Int, _ index: Int, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        do throws(InvalidField) {
            var push = PushState.none
            if let registration {
                try self.check(registration, in: self.people[slot].key.app)
                let before = self.people[slot].devices[index].push
                push = .registered(
                    registration, at: now.wall,
                    wasAccepted: before.registration == registration && before.wasAccepted)
            }
            self.forgetToken(slot, index)
            self.setPush(push, by: registrant, slot, index, &effects)
        } catch {
            effects.append(.countRefusedRegistration)
            self.refuse(registrant, .init(error), &effects)
        }
    }

    private func check(_ registration: PushRegistration, in app: AppID) throws(InvalidField) {
        guard APNsFormat.isDeviceToken(registration.token.rawValue.utf8) else {
            throw InvalidField(
                field: "push_registration.token", rule: "must be 2 to 200 hexadecimal digits, an even number of them")
        }
        guard APNsFormat.isTopic(registration.topic.utf8) else {
            throw InvalidField(
                field: "push_registration.topic",
                rule: "must be 1 to 255 letters, digits, hyphens, underscores and dots")
        }
        // The team's key may push to all its apps; whose phones these are says the app's list alone.
        guard let topics = self.settings.pushTopics[app], !self.settings.mayPush(to: registration.topic, in: app)
        else { return }
        throw InvalidField(
            field: "push_registration.topic",
            rule: "must be a topic of the app (\(topics.joined(separator: ", "))), or one with a suffix of Apple's")
    }

    /// A registration was not carried out, or another command of a session: nothing was changed.
    mutating func refuse(
        _ registrant: Registrant, _ problem: ServerFrame.Problem, _ effects: inout [ServerEffect]
    ) {
        if let number = registrant.number {
            self.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.write(.answer(number, .refused(problem)), to: registrant.session, &effects)
        } else {
            self.write(.problem(problem, isFatal: false), to: registrant.session, &effects)
        }
    }

    /// The store has a registration.
    mutating func finishRegistering(_ registrant: Registrant?, _ effects: inout [ServerEffect]) {
        guard let registrant else { return }
        self.sessions[registrant.session]?.commandsInFlight -= 1
        if let number = registrant.number {
            self.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.write(.answer(number, .done(0)), to: registrant.session, &effects)
        }
    }

    /// Whatever was held against a device's token is forgotten, and it waits for no turn.
    private mutating func forgetToken(_ slot: Int, _ index: Int) {
        self.people[slot].devices[index].retry = nil
        self.people[slot].devices[index].doubtedAt = nil
        self.leaveLane(slot, index)
    }

    /// Changes what is known of a device's token, here and in the store.
    ///
    /// - Parameter registrant: whose registration it is, if a session asked. Otherwise it is what APNs has answered about the present
    ///   one: by the time the store comes to it, somebody else may have registered the token.
    mutating func setPush(
        _ push: PushState, by registrant: Registrant? = nil, _ slot: Int, _ index: Int,
        _ effects: inout [ServerEffect]
    ) {
        let about = registrant == nil ? self.people[slot].devices[index].push.registration : nil
        self.people[slot].devices[index].push = push
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        if let registrant { self.sessions[registrant.session]?.commandsInFlight += 1 }
        self.ask(
            .setPushState(key, push, about: about), for: .errand(.pushState(key, registrant)),
            by: registrant == nil ? nil : .person(key.user), &effects)
    }

    /// The store has a device's token; other devices that had the same one have none any more.
    mutating func takeTokens(from devices: [DeviceKey], _ now: Now, _ effects: inout [ServerEffect]) {
        for device in devices {
            guard let slot = self.slots[device.user] else { continue }
            // Read before the store had it, and not taken up yet: the token would come back with the record.
            self.loadings[slot]?.forgetToken(of: device.device)
            guard let index = self.people[slot].devices.index(of: device.device) else { continue }
            self.people[slot].devices[index].push = .none
            self.forgetToken(slot, index)
            self.pump(slot, index, now, &effects)
            self.arm(slot)
        }
    }

    /// Signs a device out by the API.
    mutating func signOut(
        _ device: DeviceKey, for request: APIRequestID, _ now: Now, _ effects: inout [ServerEffect]
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
        self.leaveLane(slot, index)
        self.people[slot].devices.remove(at: index)
        self.statuses.forget(device)
        self.tellPresence(slot, before: wasOnline, now, &effects)
        self.arm(slot)
    }
}
