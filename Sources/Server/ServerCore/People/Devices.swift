import APNsModel
import OrderedCollections
import StoreModel
import TidingsModel

struct Registrant: Sendable {
    let session: SessionID
    /// nil for a client from before answers had a number; it is told only of failures.
    let number: RequestNumber?
}

extension ServerCore {
    /// Stores a push registration (S2.7), or clears it for nil. Whatever was held against an earlier one is forgotten
    /// (design.md P8).
    mutating func register(_ registration: PushRegistration?, by registrant: Registrant, _ slot: Int, _ index: Int) {
        do throws(InvalidField) {
            var push = PushState.none
            if let registration {
                try self.checkRegistration(registration, in: self.people[slot].key.app)
                let before = self.people[slot].devices[index].push
                push = .registered(
                    registration, at: self.turn.now.wall,
                    wasAccepted: before.registration == registration && before.wasAccepted)
            }
            self.forgetToken(slot, index)
            self.setPush(push, by: registrant, slot, index)
        } catch {
            self.turn.emit(.countRefusedRegistration)
            self.refuseCommand(registrant, .init(error))
        }
    }

    /// - Parameter field: what holds the registration's fields, with its dot.
    func checkRegistration(
        _ registration: PushRegistration, in app: AppID, field: String = "push_registration."
    ) throws(InvalidField) {
        try InvalidField.check(
            APNsFormat.isDeviceToken(registration.token.rawValue.utf8), "\(field)token",
            "must be 2 to 200 hexadecimal digits, an even number of them")
        try InvalidField.check(
            APNsFormat.isTopic(registration.topic.utf8), "\(field)topic",
            "must be 1 to 255 letters, digits, hyphens, underscores and dots")
        // The team's key may push to all its apps; only the app's own list says which of them are its.
        guard let topics = self.turn.settings.pushTopics[app],
            !self.turn.settings.mayPush(to: registration.topic, in: app)
        else { return }
        throw InvalidField(
            field: "\(field)topic",
            rule: "must be a topic of the app (\(topics.joined(separator: ", "))), or one with a suffix of Apple's")
    }

    mutating func refuseCommand(_ registrant: Registrant, _ problem: ServerFrame.Problem) {
        if let number = registrant.number {
            self.turn.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.turn.write(.answer(number, .refused(problem)), to: registrant.session)
        } else {
            self.turn.write(.problem(problem, isFatal: false), to: registrant.session)
        }
    }

    mutating func finishRegistering(_ registrant: Registrant?) {
        guard let registrant else { return }
        self.turn.sessions[registrant.session]?.commandsInFlight -= 1
        if let number = registrant.number {
            self.turn.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.turn.write(.answer(number, .done(0)), to: registrant.session)
        }
    }

    private mutating func forgetToken(_ slot: Int, _ index: Int) {
        self.people[slot].devices[index].retry = nil
        self.leaveLane(slot, index)
        guard let lane = self.lane(slot, index) else { return }
        self.turn.lanes[lane]?.held.release(
            DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id))
    }

    /// Sets a device's push state. A `registrant` is a session that asked. Without one the state is APNs's answer about the present
    /// registration: by the time the store comes to it, another person may have registered the token.
    mutating func setPush(_ push: PushState, by registrant: Registrant? = nil, _ slot: Int, _ index: Int) {
        let about = registrant == nil ? self.people[slot].devices[index].push.registration : nil
        self.people[slot].devices[index].push = push
        let key = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        if let registrant { self.turn.sessions[registrant.session]?.commandsInFlight += 1 }
        self.turn.ask(
            .setPushState(key, push, about: about), for: .setPushState(registrant),
            by: registrant == nil ? nil : .person(key.user))
    }

    mutating func clearTokens(of devices: [DeviceKey]) {
        for device in devices {
            guard let slot = self.slots[device.user] else { continue }
            // A record read before the store changed would bring the token back.
            self.loadings[slot]?.forgetToken(of: device.device)
            // The store has signed it out.
            if ImportedInstallation.hasMade(device.device) { self.removeDevice(device) }
            guard let index = self.people[slot].devices.index(of: device.device) else { continue }
            self.people[slot].devices[index].push = .none
            self.forgetToken(slot, index)
            self.pump(slot, index)
            self.arm(slot)
        }
    }

    /// The token for calls of the device that asks, or nil to forget it.
    mutating func registerVoIP(_ registration: PushRegistration?, _ asked: Asked) throws(ServerFrame.Problem) {
        let now = self.turn.now
        guard let known = self.turn.sessions[try asked.session()],
            let index = self.people[known.slot].devices.index(of: known.device.device)
        else { throw Self.unavailable }
        // Registered again it counts as newer: an answer of APNs about the old one clears nothing.
        let token = registration.map { VoIPToken($0, at: now.wall) }
        if let registration {
            self.turn.lanes[PushLane(registration, in: known.device.user.app)]?.held.release(known.device)
        }
        self.people[known.slot].devices[index].voIP = token
        self.turn.ask(.setVoIPToken(known.device, token), for: .setVoIPToken(asked), by: asked.asker)
    }

    mutating func clearVoIPTokens(of devices: [DeviceKey]) {
        for device in devices {
            guard let slot = self.slots[device.user] else { continue }
            // A record read before the store changed would bring the token back.
            self.loadings[slot]?.forgetVoIPToken(of: device.device)
            guard let index = self.people[slot].devices.index(of: device.device) else { continue }
            self.people[slot].devices[index].voIP = nil
        }
    }

    mutating func signOut(_ device: DeviceKey, for request: APIRequestID) throws(ServerFrame.Problem) {
        guard let slot = self.loadedSlot(of: device.user, for: request, .signOut(device)) else { return }
        guard let index = self.people[slot].devices.index(of: device.device) else { throw .init(Self.unknownDevice) }
        self.beginSignOut(slot: slot, index: index)
        self.turn.ask(.signOut(device, at: self.turn.now.wall), for: .api(request, .signOut(device)))
    }

    /// The store ends everything under way to the device together with the sign-out (design.md P6), and what it accepts
    /// for it until then. It may fail to: until it has answered, the legs stay, and nothing is pushed. `end` is how they end
    /// there, unless the device was leaving already.
    mutating func beginSignOut(slot: Int, index: Int, as end: LegEnd = .signedOut) {
        let before = self.people[slot].devices[index].leaving
        self.people[slot].devices[index].leaving = before ?? Device.Leaving(end: end)
        self.people[slot].devices[index].leaving?.signOuts += 1
    }

    /// The store has not signed it out: what is under way to it goes on, and what has ended meanwhile is told.
    mutating func keepSignedIn(_ device: DeviceKey) {
        guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device) else {
            return
        }
        self.people[slot].devices[index].leaving?.signOuts -= 1
        guard let leaving = self.people[slot].devices[index].leaving, leaving.signOuts == 0 else { return }
        self.people[slot].devices[index].leaving = nil
        for ended in leaving.ended { self.tellEnd(ended, slot: slot, index: index) }
        for leg in 0..<self.people[slot].devices[index].legs.count {
            self.keepRecall(slot, index, leg)
        }
        self.writeSettled(slot, index)
        // A newer device has closed its connection.
        if self.people[slot].devices[index].session == nil, self.people[slot].devices[index].lease.getsFrames {
            self.changeLease(slot, index, .socketLost)
        }
        if self.people[slot].devices[index].lease.isLive {
            self.dirtyCursor(slot, index)
        } else {
            self.pump(slot, index)
        }
        self.arm(slot)
    }

    mutating func removeDevice(
        _ device: DeviceKey,
        because problem: ServerFrame.Problem = .init(code: .invalidToken, field: "device", rule: "was signed out")
    ) {
        guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device) else {
            return
        }
        let wasOnline = self.people[slot].isOnline
        let leaving = self.people[slot].devices[index].leaving ?? Device.Leaving(end: .signedOut)
        for ended in leaving.ended {
            let end = ended.end == .ownDevice ? .ownDevice : leaving.end
            self.turn.emit(.countEnd(end))
            self.turn.emit(.report(.endedLeg(EndedLeg(leg: ended.leg, end: end, at: self.turn.now.wall))))
        }
        for _ in 0..<self.people[slot].devices[index].legs.count { self.turn.emit(.countEnd(leaving.end)) }
        self.reportSignOut(slot: slot, index: index, as: leaving.end)
        if let session = self.people[slot].devices[index].session {
            self.turn.emit(.write(session, .problem(problem, isFatal: true)))
            self.close(session)
        }
        self.forgetToken(slot, index)
        self.people[slot].devices.remove(at: index)
        self.sendPresence(slot: slot, before: wasOnline)
        self.arm(slot)
    }
}
