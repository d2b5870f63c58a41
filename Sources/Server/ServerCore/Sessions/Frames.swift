import StoreModel
import TidingsModel

extension ServerCore {
    /// The lease is not told.
    mutating func forget(_ session: SessionID) {
        if let ended = self.turn.sessions[session] { self.people[ended.slot].forget(session, of: ended.device.device) }
        self.turn.forget(session)
    }

    /// The lease is not told.
    mutating func close(_ session: SessionID) {
        self.forget(session)
        self.turn.emit(.close(session))
    }

    mutating func loseSession(_ session: SessionID) {
        guard let ended = self.turn.sessions[session] else { return self.turn.forget(session) }
        self.people[ended.slot].loseSession(session, of: ended.device.device, &self.turn)
    }

    /// For a fault of the client's; the lease goes on as if the socket had been lost.
    mutating func endSession(_ session: SessionID, because problem: ServerFrame.Problem) {
        guard self.turn.sessions.contains(session) else { return }
        self.turn.emit(.write(session, .problem(problem, isFatal: true)))
        self.turn.emit(.close(session))
        self.loseSession(session)
    }

    mutating func recordSignOfLife(_ session: SessionID) {
        guard let heard = self.turn.sessions[session] else { return }
        _ = self.people[heard.slot].hear(heard.device.device, &self.turn)
    }

    mutating func receive(_ frame: ClientFrame, bytes: Int, from session: SessionID) {
        guard let known = self.turn.sessions[session] else {
            let problem = ServerFrame.Problem(code: .unexpectedFrame, rule: "must not be sent before the welcome")
            return self.endSession(session, because: problem)
        }
        let user = known.device.user
        guard self.people[known.slot].hear(known.device.device, &self.turn),
            self.admitFrame(frame, bytes: bytes, from: session, known)
        else { return }
        do throws(InvalidField) {
            if frame.isDoneByPerson { try self.handle(.active, known) }
            switch frame {
            case .hello:
                let problem = ServerFrame.Problem(code: .unexpectedFrame, rule: "hello must be sent only once")
                self.endSession(session, because: problem)
            case .send(let draft): self.handleSend(draft, from: session, known)
            case .ack(let ack): try self.handle(.ack(ack), known)
            case .runState(let run):
                try Self.checkRunState(run)
                try self.handle(.runState(run), known)
            case .registerPush(let registration, let number):
                if let number, !self.reserveNumber(number, session) { return }
                guard self.mayCommand(session, "push_registration", as: number) else { return }
                try self.handle(.registerPush(registration, Registrant(session: session, number: number)), known)
            case .sync(let after, let limit): self.handleSync(after: after, limit: limit, for: session, known)
            case .markRead(let conversation, let upTo):
                guard self.mayCommand(session, "mark_read") else { return }
                self.turn.sessions[session]?.commandsInFlight += 1
                self.turn.ask(
                    .markRead(user, conversation, upTo: upTo, at: self.turn.now.wall),
                    for: .markRead(session, user, conversation, upTo: upTo), by: .person(user))
            case .deviceStatus(let status): try self.handle(.status(status), known)
            case .opened(let message): self.handleOpened(message, from: session, known)
            case .request(let number, let request): self.handleRequest(request, number, from: session, known)
            case .typing(let conversation, let isTyping):
                self.handleTyping(in: conversation, isTyping, from: session, known)
            case .ping(let number): self.turn.emit(.write(session, .pong(number)))
            case .signOut:
                guard self.mayCommand(session, "sign_out") else { return }
                self.turn.sessions[session]?.commandsInFlight += 1
                try self.handle(.signOut, known)
                self.turn.ask(
                    .signOut(known.device, at: self.turn.now.wall), for: .signOut(session, known.device),
                    by: .person(user))
            }
        } catch {
            self.turn.write(.problem(.init(error), isFatal: false), to: session)
        }
    }

    private mutating func handle(_ event: DeviceEvent, _ known: Session) throws(InvalidField) {
        try self.people[known.slot].handle(event, of: known.device.device, &self.turn)
    }

    private mutating func mayCommand(_ session: SessionID, _ field: String, as number: RequestNumber? = nil) -> Bool {
        let count = self.turn.settings.commandsInFlightMax
        guard let known = self.turn.sessions[session] else { return true }
        guard known.commandsInFlight < count else {
            self.turn.refuseCommand(Registrant(session: session, number: number), Self.mustWait(field, count))
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
            self.turn.refuseCommand(Registrant(session: session, number: number), problem)
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
        let pushes = self.people[known.slot].pushes(ofPage: entries, to: known.device.device, &self.turn)
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
