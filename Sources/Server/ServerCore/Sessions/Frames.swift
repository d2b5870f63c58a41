import StoreModel
import TidingsModel

extension ServerCore {
    /// The lease is not told.
    mutating func forget(_ session: SessionID) {
        guard let ended = self.turn.sessions.remove(session) else { return }
        self.turn.emit(.report(.device(ended.device, .disconnected)))
        guard let index = self.people[ended.slot].devices.index(of: ended.device.device) else { return }
        guard self.people[ended.slot].devices[index].session == session else { return }
        self.people[ended.slot].devices[index].session = nil
    }

    /// The lease is not told.
    mutating func close(_ session: SessionID) {
        self.forget(session)
        self.turn.emit(.close(session))
    }

    mutating func loseSession(_ session: SessionID) {
        let ended = self.turn.sessions[session]
        self.forget(session)
        guard let ended, let index = self.people[ended.slot].devices.index(of: ended.device.device) else { return }
        guard self.people[ended.slot].devices[index].session == nil else { return }
        self.changeLease(ended.slot, index, .socketLost)
        self.people[ended.slot].busyAt = self.turn.now.monotonic
        self.arm(ended.slot)
    }

    /// For a fault of the client's; the lease goes on as if the socket had been lost.
    mutating func endSession(_ session: SessionID, because problem: ServerFrame.Problem) {
        guard self.turn.sessions.contains(session) else { return }
        self.turn.emit(.write(session, .problem(problem, isFatal: true)))
        self.turn.emit(.close(session))
        self.loseSession(session)
    }

    mutating func recordSignOfLife(_ session: SessionID) {
        guard let heard = self.turn.sessions[session],
            let index = self.people[heard.slot].devices.index(of: heard.device.device)
        else { return }
        self.recordSignOfLife(heard.slot, index)
    }

    private mutating func recordSignOfLife(_ slot: Int, _ index: Int) {
        self.people[slot].devices[index].heardAt = self.turn.now.monotonic
        guard case .probing = self.people[slot].devices[index].lease else { return }
        self.changeLease(slot, index, .heard)
    }

    mutating func receive(_ frame: ClientFrame, bytes: Int, from session: SessionID) {
        let now = self.turn.now
        guard let known = self.turn.sessions[session] else {
            let problem = ServerFrame.Problem(code: .unexpectedFrame, rule: "must not be sent before the welcome")
            self.endSession(session, because: problem)
            return
        }
        let slot = known.slot
        guard let index = self.people[slot].devices.index(of: known.device.device) else { return }
        self.recordSignOfLife(slot, index)
        guard self.admitFrame(frame, bytes: bytes, from: session, known) else { return }
        if frame.isDoneByPerson { self.people[slot].devices[index].activeAt = now.monotonic }
        do throws(InvalidField) {
            switch frame {
            case .hello:
                let problem = ServerFrame.Problem(code: .unexpectedFrame, rule: "hello must be sent only once")
                self.endSession(session, because: problem)
            case .send(let draft):
                self.handleSend(draft, from: session, known)
            case .ack(let ack):
                try self.acknowledge(ack, slot, index)
            case .runState(let run):
                try Self.checkRunState(run)
                self.changeLease(slot, index, .reported(run))
                if run == .foreground { self.settleStored(slot, index) }
            case .registerPush(let registration, let number):
                if let number, !self.reserveNumber(number, session) { return }
                guard self.mayCommand(session, "push_registration", as: number) else { return }
                let registrant = Registrant(session: session, number: number)
                self.register(registration, by: registrant, slot, index)
            case .sync(let after, let limit):
                self.handleSync(after: after, limit: limit, for: session, known)
            case .markRead(let conversation, let upTo):
                guard self.mayCommand(session, "mark_read") else { return }
                self.turn.sessions[session]?.commandsInFlight += 1
                self.turn.ask(
                    .markRead(known.device.user, conversation, upTo: upTo, at: now.wall),
                    for: .markRead(session, known.device.user, conversation, upTo: upTo), by: .person(known.device.user)
                )
            case .deviceStatus(let status): self.keepReport(status, slot: slot, index: index)
            case .opened(let message):
                self.handleOpened(message, from: session, known)
            case .request(let number, let request):
                self.handleRequest(request, number, from: session, known)
            case .typing(let conversation, let isTyping):
                self.handleTyping(in: conversation, isTyping, from: session, known)
            case .ping(let number):
                self.turn.emit(.write(session, .pong(number)))
            case .signOut:
                guard self.mayCommand(session, "sign_out") else { return }
                self.turn.sessions[session]?.commandsInFlight += 1
                self.beginSignOut(slot: slot, index: index)
                self.turn.ask(
                    .signOut(known.device, at: now.wall), for: .signOut(session, known.device),
                    by: .person(known.device.user))
            }
        } catch {
            self.turn.write(.problem(.init(error), isFatal: false), to: session)
        }
    }

    /// Also does what follows for the device's connection and legs (design.md §4).
    mutating func changeLease(_ slot: Int, _ index: Int, _ event: LeaseEvent) {
        let before = self.people[slot].devices[index].lease
        var leaseEffects: [LeaseEffect] = []
        self.people[slot].devices[index].lease.handle(
            event, at: self.turn.now, settings: self.turn.settings, into: &leaseEffects)
        for effect in leaseEffects {
            switch effect {
            case .probe:
                if let session = self.people[slot].devices[index].session { self.turn.emit(.probe(session)) }
            case .hangUp:
                guard let session = self.people[slot].devices[index].session else { continue }
                let problem = ServerFrame.Problem(code: .timedOut, rule: "was not heard in time; connect again")
                self.turn.emit(.write(session, .problem(problem, isFatal: true)))
                self.close(session)
            case .flagBug(let text):
                self.turn.emit(.flagBug("\(self.people[slot].key)/\(self.people[slot].devices[index].id): \(text)"))
            }
        }
        let after = self.people[slot].devices[index].lease
        if before != after {
            self.reportLease(before, slot: slot, index: index)
            if before.isLive != after.isLive || !before.isLive && before.name != after.name {
                self.people[slot].devices[index].legs.addTurn(LegTurn(event, to: after), at: self.turn.now.wall)
            }
            self.followLease(slot, index, from: before, to: after)
        }
        // Visits every device of the person, so only if this one has changed.
        guard before.isInForeground != after.isInForeground else { return }
        let isElsewhere = self.people[slot].devices.indices.contains {
            $0 != index && self.people[slot].devices[$0].lease.isInForeground
        }
        self.sendPresence(slot: slot, before: isElsewhere || before.isInForeground)
    }

    private mutating func followLease(_ slot: Int, _ index: Int, from before: Lease, to after: Lease) {
        let now = self.turn.now
        switch after {
        case .foreground, .background:
            self.people[slot].devices[index].progressAt = now.monotonic
            // The app sets the badge itself.
            self.people[slot].devices[index].badge.shown = nil
            self.people[slot].devices[index].badge.dueAt = nil
            if !before.isLive { self.people[slot].devices[index].legs.becomeLive(at: now.monotonic) }
        case .probing:
            self.people[slot].devices[index].legs.becomeQueued(
                liveSinceAtMost: now.monotonic - self.turn.settings.foregroundAckDeadline)
            self.pump(slot, index)
        case .grace, .returning:
            self.people[slot].devices[index].legs.becomeHeld()
            self.pump(slot, index)
        case .gone:
            self.people[slot].devices[index].legs.becomeQueued(liveSinceAtMost: .max)
            self.people[slot].busyAt = now.monotonic
            self.pump(slot, index)
        }
        if before == .foreground, after != .foreground { self.pumpOthers(slot, than: index) }
        self.arm(slot)
    }

    private mutating func mayCommand(_ session: SessionID, _ field: String, as number: RequestNumber? = nil) -> Bool {
        let count = self.turn.settings.commandsInFlightMax
        guard let known = self.turn.sessions[session] else { return true }
        guard known.commandsInFlight < count else {
            self.refuseCommand(Registrant(session: session, number: number), Self.mustWait(field, count))
            return false
        }
        return self.hasBacklogRoom(known, session, field, as: number)
    }

    private mutating func hasBacklogRoom(
        _ known: Session, _ session: SessionID, _ field: String, as number: RequestNumber? = nil,
        isReading: Bool = false
    ) -> Bool {
        do throws(ServerFrame.Problem) {
            try self.turn.checkBacklog(of: .person(known.device.user), isReading: isReading)
            return true
        } catch {
            var problem = error
            problem.field = field
            self.refuseCommand(Registrant(session: session, number: number), problem)
            return false
        }
    }

    private mutating func handleOpened(_ message: MessageID, from session: SessionID, _ known: Session) {
        let max = self.turn.settings.openedInFlightMax
        guard known.openedInFlight < max, (try? self.turn.checkBacklog(of: .person(known.device.user))) != nil
        else {
            return self.reportDroppedFrame(Self.mustWait("opened", max), to: session)
        }
        self.turn.sessions[session]?.openedInFlight += 1
        let leg = LegID(message: message, user: known.device.user, device: known.device.device)
        self.turn.ask(
            .receipt(leg, .opened, at: self.turn.now.wall), for: .opened(session), by: .person(known.device.user))
    }

    private mutating func handleSync(after: LogPosition, limit: UInt32, for session: SessionID, _ known: Session) {
        guard known.syncsInFlight < self.turn.settings.syncsInFlightMax else {
            let problem = ServerFrame.Problem(
                code: .unavailable, field: "sync",
                rule:
                    "must wait: \(self.turn.settings.syncsInFlightMax) are being answered already, not the one after \(after)"
            )
            self.turn.emit(.write(session, .problem(problem, isFatal: false)))
            return
        }
        guard self.hasBacklogRoom(known, session, "sync", isReading: true) else { return }
        self.turn.sessions[session]?.syncsInFlight += 1
        let entries = max(1, min(Int(limit), self.turn.settings.pageEntriesMax))
        self.turn.ask(
            .readLog(
                known.device.user, after: after, limit: entries, frameBytesMax: Int(self.turn.settings.frameBytesMax)),
            for: .sync(session, after: after), by: .person(known.device.user))
    }

    mutating func finishSync(_ session: SessionID, after: LogPosition, _ page: LogPage) {
        guard let known = self.turn.sessions[session] else { return }
        self.turn.sessions[session]?.syncsInFlight -= 1
        let erased = Set(page.erased)
        let entries = self.fitting(
            page.entries.map { entry in
                guard !erased.contains(entry.position) else { return entry.place }
                return entry.seen(on: known.device.device).handedOver(at: self.turn.now.wall)
            })
        var pushes = ServerFrame.Pushes()
        if let index = self.people[known.slot].devices.index(of: known.device.device) {
            if self.people[known.slot].devices[index].skippedUpTo <= entries.last?.position ?? 0 {
                self.people[known.slot].devices[index].skippedUpTo = 0
            }
            pushes = self.pushes(of: entries, to: index, known.slot)
        }
        self.turn.emit(
            .write(
                session,
                .page(
                    .init(
                        after: after, entries: entries, head: page.head, unread: UInt32(clamping: page.unread),
                        pushes: pushes))))
    }

    func fitting(_ messages: [Message]) -> [Message] {
        var room = self.turn.settings.pageBytesMax
        let count = messages.prefix { message in
            room -= message.frameBytes
            return room >= 0
        }.count
        return count == messages.count ? messages : Array(messages.prefix(max(1, count)))
    }

    private func fitting(_ entries: [LogEntry]) -> [LogEntry] {
        var room = self.turn.settings.pageBytesMax
        var count = 0
        for entry in entries {
            room -= entry.body.frameBytes
            if room < 0, count > 0 { break }
            count += 1
        }
        return count == entries.count ? entries : Array(entries.prefix(count))
    }
}

extension ClientFrame {
    /// The person has done something, not merely their app: this starts the wait `active_elsewhere`.
    fileprivate var isDoneByPerson: Bool {
        switch self {
        case .send, .markRead, .opened, .request, .typing, .runState(.foreground): true
        case .hello, .ack, .runState, .registerPush, .sync, .ping, .signOut, .deviceStatus: false
        }
    }
}
