import StoreModel
import TidingsModel

/// An event from a device's connection that is about the device itself.
enum DeviceEvent {
    /// The person has done something, not merely their app.
    case active
    case ack(ClientFrame.Ack)
    case runState(ReportedRunState)
    case registerPush(PushRegistration?, Registrant)
    case status(DeviceStatus)
    case signOut
}

extension Person {
    mutating func handle(_ event: DeviceEvent, of device: DeviceID, _ turn: inout Turn) throws(InvalidField) {
        guard let index = self.devices.index(of: device) else { return }
        switch event {
        case .active: self.devices[index].activeAt = turn.now.monotonic
        case .ack(let ack): try self.devices[index].acknowledge(ack, &self.state, &turn)
        case .runState(let run):
            self.changeLease(at: index, .reported(run), &turn)
            if run == .foreground { self.devices[index].settleStored(&self.state, &turn) }
        case .registerPush(let registration, let registrant):
            self.devices[index].register(registration, by: registrant, &turn)
        case .status(let status): self.devices[index].keepReport(status, &turn)
        case .signOut: self.devices[index].beginSignOut()
        }
    }

    /// Returns false for a device that is not signed in.
    mutating func hear(_ device: DeviceID, _ turn: inout Turn) -> Bool {
        guard let index = self.devices.index(of: device) else { return false }
        self.devices[index].heardAt = turn.now.monotonic
        if case .probing = self.devices[index].lease { self.changeLease(at: index, .heard, &turn) }
        return true
    }

    mutating func forget(_ session: SessionID, of device: DeviceID) {
        guard let index = self.devices.index(of: device), self.devices[index].session == session else { return }
        self.devices[index].session = nil
    }

    mutating func loseSession(_ session: SessionID, of device: DeviceID, _ turn: inout Turn) {
        self.forget(session, of: device)
        turn.forget(session)
        guard let index = self.devices.index(of: device), self.devices[index].session == nil else { return }
        self.changeLease(at: index, .socketLost, &turn)
        self.state.busyAt = turn.now.monotonic
        self.arm(&turn)
    }

    /// Also does what follows for the device's connection and legs, and for the others (design.md §4).
    mutating func changeLease(at index: Int, _ event: LeaseEvent, _ turn: inout Turn) {
        let before = self.devices[index].lease
        self.devices[index].changeLease(event, &turn)
        let after = self.devices[index].lease
        if before != after {
            if after == .gone { self.state.busyAt = turn.now.monotonic }
            if !after.isLive { self.pump(at: index, &turn) }
            if before == .foreground, after != .foreground { self.pumpOthers(than: index, &turn) }
            self.arm(&turn)
        }
        // Visits every device of the person, so only if this one has changed.
        guard before.isInForeground != after.isInForeground else { return }
        let isElsewhere = self.devices.indices.contains { $0 != index && self.devices[$0].lease.isInForeground }
        self.sendPresence(before: isElsewhere || before.isInForeground, &turn)
    }

    /// Pushes to a device that is away; of one that is there the cursor may have moved.
    mutating func pumpOrDirty(at index: Int, _ turn: inout Turn) {
        if self.devices[index].lease.isLive {
            self.devices[index].dirtyCursor(&self.state, &turn)
        } else {
            self.pump(at: index, &turn)
        }
    }
}

extension Device {
    fileprivate mutating func changeLease(_ event: LeaseEvent, _ turn: inout Turn) {
        let before = self.lease
        var effects: [LeaseEffect] = []
        self.lease.handle(event, at: turn.now, settings: turn.settings, into: &effects)
        for effect in effects {
            switch effect {
            case .probe: if let session = self.session { turn.emit(.probe(session)) }
            case .hangUp:
                self.closeSession(because: .init(code: .timedOut, rule: "was not heard in time; connect again"), &turn)
            case .flagBug(let text): turn.emit(.flagBug("\(self.key.user)/\(self.id): \(text)"))
            }
        }
        let after = self.lease
        guard before != after else { return }
        // A background that ends at another time is the same.
        if before.name != after.name { turn.emit(.report(.device(self.key, .lease(after)))) }
        if before.isLive != after.isLive || !before.isLive && before.name != after.name {
            self.legs.addTurn(LegTurn(event, to: after), at: turn.now.wall)
        }
        switch after {
        case .foreground, .background:
            self.progressAt = turn.now.monotonic
            // The app sets the badge itself.
            self.badge.shown = nil
            self.badge.dueAt = nil
            if !before.isLive { self.legs.becomeLive(at: turn.now.monotonic) }
        case .probing:
            self.legs.becomeQueued(liveSinceAtMost: turn.now.monotonic - turn.settings.foregroundAckDeadline)
        case .grace, .returning: self.legs.becomeHeld()
        case .gone: self.legs.becomeQueued(liveSinceAtMost: .max)
        }
    }

    /// Closes its connection, if there is one. The lease is not told.
    mutating func closeSession(because problem: ServerFrame.Problem, _ turn: inout Turn) {
        guard let session = self.session.take() else { return }
        turn.emit(.write(session, .problem(problem, isFatal: true)))
        turn.forget(session)
        turn.emit(.close(session))
    }
}
