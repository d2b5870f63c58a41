import OrderedCollections
import TidingsModel

// What the app asks of the server, and what the core asks for itself.
extension ClientCore {
    mutating func request(
        _ number: RequestNumber, _ request: ClientRequest, at now: Now, into effects: inout [ClientEffect]
    ) {
        // Whether or not the server hears of it: the next connection does not enter it again.
        if case .exitRoom(let room) = request { self.rooms.removeValue(forKey: room) }
        if case .unwatch(let users) = request { self.watched.subtract(users) }
        guard self.isOnline, !self.isLeaving else {
            return effects.append(.finishRequest(number, .notConnected))
        }
        guard self.requests.add(.app(number), request, at: now) else {
            return effects.append(.finishRequest(number, .tooMany))
        }
        self.writeRequests(into: &effects)
    }

    /// At a welcome what matters is asked again.
    mutating func sendRequest(
        _ asker: Requests.Asker, _ request: ClientRequest, at now: Now, into effects: inout [ClientEffect]
    ) {
        guard self.isOnline, !self.isLeaving, !self.requests.isOpen(asker) else { return }
        _ = self.requests.add(asker, request, at: now)
        self.writeRequests(into: &effects)
    }

    private mutating func writeRequests(into effects: inout [ClientEffect]) {
        for (number, request) in self.requests.due() { self.write(.request(number, request), into: &effects) }
    }

    mutating func answered(
        _ number: RequestNumber, _ answer: ClientAnswer, at now: Now, into effects: inout [ClientEffect]
    ) {
        if number == self.registrationNumber { return self.registrationAnswered(answer, at: now, into: &effects) }
        guard let item = self.requests.removeAnswered(number) else { return }
        self.recordAnswer(answer, to: item.request, at: now, into: &effects)
        switch item.asker {
        case .app(let number): effects.append(.finishRequest(number, .answered(answer)))
        case .pendingChanges(let pendingChanges): self.settingsAnswered(pendingChanges, answer, at: now, into: &effects)
        case .settings: self.settingsSaid(answer, at: now, into: &effects)
        case .voIP: self.voIPAnswered(answer, to: item.request, at: now, into: &effects)
        case .token: self.answeredToken(answer, at: now)
        case .conversation: self.askConversation(at: now, into: &effects)
        case .room(let room): self.reentered(room, answer, into: &effects)
        case .watch:
            guard case .presence(let people) = answer else { break }
            for presence in people { effects.append(.publishSignal(.presence(presence))) }
        }
        self.writeRequests(into: &effects)
    }

    private mutating func recordAnswer(
        _ answer: ClientAnswer, to request: ClientRequest, at now: Now, into effects: inout [ClientEffect]
    ) {
        switch answer {
        case .conversation(let info): effects.append(.storeConversation(info))
        case .settings(let all):
            self.owesSettings = false
            self.dropPendingChanges(into: &effects) { [wall = self.wall(at: now)] in
                $0.replaceConfirmed(all, wall: wall)
            }
            effects.append(.storeSettings(all))
        case .history(let messages, _):
            guard case .enterRoom(let room, _) = request, self.rooms[room] == nil else { return }
            self.rooms[room] = messages.map(\.id).max() ?? MessageID(rawValue: 0)
        case .presence(let people):
            guard case .watch = request else { return }
            self.watched.formUnion(people.map(\.id))
        case .done, .invited, .refused, .receipts, .profiles, .devices, .following, .tags: break
        }
    }

    mutating func requestDeadlineReached(at now: Now, into effects: inout [ClientEffect]) {
        let expired = self.requests.removeExpired(at: now)
        if (expired.written + expired.waiting).contains(where: { $0.asker == .token }) {
            self.renewal.notTaken(at: now)
        }
        self.finishRequests(expired, into: &effects)
        if let wait = self.pendingChangeRetryAt, now.monotonic >= wait {
            self.pendingChangeRetryAt = nil
        }
        self.requestSettings(at: now, into: &effects)
        self.tellPendingChanges(at: now, into: &effects)
    }

    mutating func endRequests(into effects: inout [ClientEffect]) {
        self.pendingChangeRetryAt = nil
        self.finishRequests(self.requests.removeAll(), into: &effects)
    }

    private mutating func finishRequests(_ removed: Requests.Removed, into effects: inout [ClientEffect]) {
        for (items, isWritten) in [(removed.written, true), (removed.waiting, false)] {
            for item in items {
                switch item.asker {
                case .app(let number): effects.append(.finishRequest(number, .unknown))
                case .pendingChanges(let tellings) where isWritten: self.settingsUnanswered(tellings, into: &effects)
                case .pendingChanges(let tellings): self.settingsNotTaken(tellings, into: &effects)
                case .token, .voIP, .settings, .conversation, .room, .watch: break
                }
            }
        }
    }

    // MARK: The push registration

    mutating func tellRegistration(into effects: inout [ClientEffect]) {
        guard self.isOnline, !self.isLeaving else { return }
        let number = self.requests.nextNumber()
        self.registrationNumber = number
        self.write(.registerPush(self.registration, number: number), into: &effects)
    }

    private mutating func registrationAnswered(
        _ answer: ClientAnswer, at now: Now, into effects: inout [ClientEffect]
    ) {
        self.registrationNumber = nil
        guard case .refused(let problem) = answer else { return self.refusedRegistration = nil }
        guard problem.waitMilliseconds(default: 0) == nil else { return self.heldBack(by: problem, at: now) }
        guard problem != self.refusedRegistration else { return }
        self.refusedRegistration = problem
        effects.append(.publishProblem(.pushRegistrationRefused(problem)))
    }

    struct VoIPRegistration: Hashable, Sendable {
        let registration: PushRegistration?
        /// The app hears of each fault once.
        var refused: ServerFrame.Problem?
    }

    mutating func tellVoIPRegistration(at now: Now, into effects: inout [ClientEffect]) {
        guard let voIP = self.voIP else { return }
        self.sendRequest(.voIP, .registerVoIP(voIP.registration), at: now, into: &effects)
    }

    /// Takes the answer, and tells the server a registration that was set while the request was open.
    private mutating func voIPAnswered(
        _ answer: ClientAnswer, to request: ClientRequest, at now: Now, into effects: inout [ClientEffect]
    ) {
        if case .registerVoIP(let told) = request, let voIP = self.voIP, voIP.registration != told {
            return self.tellVoIPRegistration(at: now, into: &effects)
        }
        guard case .refused(let problem) = answer else { return }
        guard problem.waitMilliseconds(default: 0) == nil else { return self.heldBack(by: problem, at: now) }
        guard problem != self.voIP?.refused else { return }
        self.voIP?.refused = problem
        effects.append(.publishProblem(.pushRegistrationRefused(problem)))
    }

    // MARK: Conversations the local store does not know well

    mutating func want(
        _ conversations: [ConversationID], at now: Now, into effects: inout [ClientEffect]
    ) {
        for conversation in conversations where !self.asked.contains(conversation) {
            self.wanted.append(conversation)
        }
        self.askConversation(at: now, into: &effects)
    }

    /// One after the other, each once on a connection: a device that comes back after weeks must not flood the
    /// server.
    mutating func askConversation(at now: Now, into effects: inout [ClientEffect]) {
        guard self.isOnline, !self.isLeaving, let next = self.wanted.first,
            !self.asked.contains(where: { self.requests.isOpen(.conversation($0)) })
        else { return }
        self.wanted.removeFirst()
        self.asked.append(next)
        self.sendRequest(.conversation(next), .conversation(next), at: now, into: &effects)
    }

    // MARK: Rooms, typing

    /// Rooms belong to a connection; the next one enters them again.
    mutating func reenterRooms(at now: Now, into effects: inout [ClientEffect]) {
        for room in self.rooms.keys {
            self.sendRequest(
                .room(room), .enterRoom(room, history: Self.roomHistory), at: now, into: &effects)
        }
    }

    /// Watching belongs to a connection; the next one watches again, and the current state is told as news.
    mutating func watchAgain(at now: Now, into effects: inout [ClientEffect]) {
        var rest = self.watched[...]
        var part = 0
        while !rest.isEmpty {
            self.sendRequest(
                .watch(part: part), .watch(Array(rest.prefix(ClientRequest.watchedMax))), at: now, into: &effects)
            rest = rest.dropFirst(ClientRequest.watchedMax)
            part += 1
        }
    }

    package static let roomHistory: UInt32 = 50

    private mutating func reentered(_ room: ConversationID, _ answer: ClientAnswer, into effects: inout [ClientEffect])
    {
        switch answer {
        case .history(let messages, _):
            for message in messages.reversed() { self.receiveSignal(.room(message), into: &effects) }
        case .refused(let problem) where problem.waitMilliseconds(default: 0) == nil:
            guard self.rooms.removeValue(forKey: room) != nil else { return }
            effects.append(.publishProblem(.roomLost(room, problem)))
        case .done, .invited, .refused, .conversation, .settings, .receipts, .presence, .profiles, .devices,
            .following, .tags:
            break
        }
    }

    /// Each message of a room once and in order: one that came while the room was entered again is in the history
    /// too.
    mutating func receiveSignal(_ signal: Signal, into effects: inout [ClientEffect]) {
        if case .room(let message) = signal {
            guard let last = self.rooms[message.conversation], message.id > last else { return }
            self.rooms[message.conversation] = message.id
        }
        effects.append(.publishSignal(signal))
    }
}
