import APNsModel
import OrderedCollections
import StoreModel
import TidingsModel

struct Registrant: Sendable {
    let session: SessionID
    /// nil for a client from before answers had a number; it is told only of failures.
    let number: RequestNumber?
}

extension ServerSettings {
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
        guard let topics = self.pushTopics[app], !self.mayPush(to: registration.topic, in: app) else { return }
        throw InvalidField(
            field: "\(field)topic",
            rule: "must be a topic of the app (\(topics.joined(separator: ", "))), or one with a suffix of Apple's")
    }
}

extension Turn {
    mutating func refuseCommand(_ registrant: Registrant, _ problem: ServerFrame.Problem) {
        if let number = registrant.number {
            self.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.write(.answer(number, .refused(problem)), to: registrant.session)
        } else {
            self.write(.problem(problem, isFatal: false), to: registrant.session)
        }
    }

    mutating func finishRegistering(_ registrant: Registrant?) {
        guard let registrant else { return }
        self.sessions[registrant.session]?.commandsInFlight -= 1
        if let number = registrant.number {
            self.sessions[registrant.session]?.numbersInFlight.remove(number)
            self.write(.answer(number, .done(0)), to: registrant.session)
        }
    }
}

extension ServerCore {
    mutating func clearTokens(of devices: [DeviceKey]) {
        for device in devices {
            guard let slot = self.slots[device.user] else { continue }
            // A record read before the store changed would bring the token back.
            self.loadings[slot]?.forgetToken(of: device.device)
            self.people[slot].clearToken(of: device.device, &self.turn)
        }
    }

    /// The token for calls of the device that asks, or nil to forget it.
    mutating func registerVoIP(_ registration: PushRegistration?, _ asked: Asked) throws(ServerFrame.Problem) {
        guard let known = self.turn.sessions[try asked.session()],
            let index = self.people[known.slot].devices.index(of: known.device.device)
        else { throw Self.unavailable }
        self.people[known.slot].devices[index].registerVoIP(registration, asked, &self.turn)
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
        guard self.people[slot].beginSignOut(device.device) else { throw .init(Self.unknownDevice) }
        self.turn.ask(.signOut(device, at: self.turn.now.wall), for: .api(request, .signOut(device)))
    }

    mutating func keepSignedIn(_ device: DeviceKey) {
        guard let slot = self.slots[device.user] else { return }
        self.people[slot].keepSignedIn(device.device, &self.turn)
    }

    mutating func removeDevice(_ device: DeviceKey, because problem: ServerFrame.Problem = Person.signedOut) {
        guard let slot = self.slots[device.user] else { return }
        self.people[slot].removeDevice(device.device, because: problem, &self.turn)
    }
}

extension Person {
    static let signedOut = ServerFrame.Problem(code: .invalidToken, field: "device", rule: "was signed out")

    /// Another device has the token now.
    fileprivate mutating func clearToken(of device: DeviceID, _ turn: inout Turn) {
        // The store has signed it out.
        if ImportedInstallation.hasMade(device) { self.removeDevice(device, because: Self.signedOut, &turn) }
        guard let index = self.devices.index(of: device) else { return }
        self.devices[index].push = .none
        self.devices[index].forgetToken(&turn)
        self.pump(at: index, &turn)
        self.arm(&turn)
    }

    mutating func beginSignOuts(as end: LegEnd = .signedOut) {
        for index in self.devices.indices { self.devices[index].beginSignOut(as: end) }
    }

    /// False for a device that is not signed in.
    mutating func beginSignOut(_ device: DeviceID) -> Bool {
        guard let index = self.devices.index(of: device) else { return false }
        self.devices[index].beginSignOut()
        return true
    }

    /// The store has not signed it out: what is under way to it goes on, and what has ended meanwhile is told.
    fileprivate mutating func keepSignedIn(_ device: DeviceID, _ turn: inout Turn) {
        guard let index = self.devices.index(of: device), self.devices[index].stay(&turn) else { return }
        // A newer device has closed its connection.
        if self.devices[index].session == nil, self.devices[index].lease.getsFrames {
            self.changeLease(at: index, .socketLost, &turn)
        }
        self.pumpOrDirty(at: index, &turn)
        self.arm(&turn)
    }

    mutating func removeDevice(_ device: DeviceID, because problem: ServerFrame.Problem, _ turn: inout Turn) {
        guard let index = self.devices.index(of: device) else { return }
        let wasOnline = self.isOnline
        self.devices[index].end(because: problem, &turn)
        self.devices.remove(at: index)
        self.sendPresence(before: wasOnline, &turn)
        self.arm(&turn)
    }
}

extension Device {
    /// Stores a push registration (S2.7), or clears it for nil. Whatever was held against an earlier one is forgotten
    /// (design.md P8).
    mutating func register(_ registration: PushRegistration?, by registrant: Registrant, _ turn: inout Turn) {
        do throws(InvalidField) {
            var push = PushState.none
            if let registration {
                try turn.settings.checkRegistration(registration, in: self.key.user.app)
                push = .registered(
                    registration, at: turn.now.wall,
                    wasAccepted: self.push.registration == registration && self.push.wasAccepted)
            }
            self.forgetToken(&turn)
            self.setPush(push, by: registrant, &turn)
        } catch {
            turn.emit(.countRefusedRegistration)
            turn.refuseCommand(registrant, .init(error))
        }
    }

    fileprivate mutating func forgetToken(_ turn: inout Turn) {
        self.retry = nil
        self.leaveLane(&turn)
        if let lane = self.lane { turn.lanes[lane]?.held.release(self.key) }
    }

    /// Sets the push state. A `registrant` is a session that asked. Without one the state is APNs's answer about the present
    /// registration: by the time the store comes to it, another person may have registered the token.
    mutating func setPush(_ push: PushState, by registrant: Registrant? = nil, _ turn: inout Turn) {
        let about = registrant == nil ? self.push.registration : nil
        self.push = push
        if let registrant { turn.sessions[registrant.session]?.commandsInFlight += 1 }
        turn.ask(
            .setPushState(self.key, push, about: about), for: .setPushState(registrant),
            by: registrant == nil ? nil : .person(self.key.user))
    }

    fileprivate mutating func registerVoIP(_ registration: PushRegistration?, _ asked: Asked, _ turn: inout Turn) {
        // Registered again it counts as newer: an answer of APNs about the old one clears nothing.
        self.voIP = registration.map { [now = turn.now] in VoIPToken($0, at: now.wall) }
        if let registration { turn.lanes[PushLane(registration, in: self.key.user.app)]?.held.release(self.key) }
        turn.ask(.setVoIPToken(self.key, self.voIP), for: .setVoIPToken(asked), by: asked.asker)
    }

    /// The store ends everything under way to the device together with the sign-out (design.md P6), and what it accepts
    /// for it until then. It may fail to: until it has answered, the legs stay, and nothing is pushed. `end` is how they end
    /// there, unless the device was leaving already.
    mutating func beginSignOut(as end: LegEnd = .signedOut) {
        if self.leaving == nil { self.leaving = Leaving(end: end) }
        self.leaving?.signOuts += 1
    }

    /// False if another sign-out is under way.
    fileprivate mutating func stay(_ turn: inout Turn) -> Bool {
        self.leaving?.signOuts -= 1
        guard let leaving = self.leaving, leaving.signOuts == 0 else { return false }
        self.leaving = nil
        for ended in leaving.ended { self.endLeg(ended, &turn) }
        for leg in 0..<self.legs.count { self.keepRecall(at: leg, &turn) }
        self.writeSettled(&turn)
        return true
    }

    /// The store has signed it out.
    fileprivate mutating func end(because problem: ServerFrame.Problem, _ turn: inout Turn) {
        let leaving = self.leaving ?? Leaving(end: .signedOut)
        for ended in leaving.ended {
            let end = ended.end == .ownDevice ? .ownDevice : leaving.end
            turn.emit(.countEnd(end))
            turn.emit(.report(.endedLeg(EndedLeg(leg: ended.leg, end: end, at: turn.now.wall))))
        }
        for _ in 0..<self.legs.count { turn.emit(.countEnd(leaving.end)) }
        self.reportSignOut(as: leaving.end, &turn)
        self.closeSession(because: problem, &turn)
        self.forgetToken(&turn)
    }
}
