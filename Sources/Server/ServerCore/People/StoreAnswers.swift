import DequeModule
import StoreModel
import TidingsModel

/// What the answer to a store command is for.
enum StorePurpose: Sendable {
    case send(SessionID, SharedMessage, DeviceID)
    case apiSend(APIRequestID, SharedMessage)
    case apiAnswer(APIRequestID)
    case apiSignOut(APIRequestID, DeviceKey)
    case missed(APIRequestID, UserKey)
    case signIn(SessionID, DeviceKey)
    case compareLog(SessionID)
    case signOut(SessionID, DeviceKey)
    case load(slot: Int)
    case loadPage(slot: Int)
    case sync(SessionID, after: LogPosition)
    case markRead(SessionID, UserKey, ConversationID, upTo: LogPosition)
    case errand(Errand)
}

extension ServerCore {
    /// Hands a command to the store whose answer is needed.
    ///
    /// - Parameter asker: in whose backlog it counts until it is answered; nil for the core's own.
    mutating func ask(
        _ command: StoreCommand, for purpose: StorePurpose, by asker: Asker? = nil, _ effects: inout [ServerEffect]
    ) {
        self.tell(command, &effects)
        self.purposes.append((self.storeRequests, purpose, asker, command.isReading))
        if let asker { self.noteAsked(asker, isReading: command.isReading) }
    }

    /// Hands a command to the store whose answer is `.done`.
    mutating func tell(_ command: StoreCommand, _ effects: inout [ServerEffect]) {
        self.storeRequests += 1
        effects.append(.store(StoreRequestID(self.storeRequests), command))
    }

    /// How many commands the store has not answered.
    var storeBacklog: Int { Int(self.storeRequests - self.storeAnswers) }

    /// Takes the store's answer to one command.
    mutating func takeAnswer(
        _ id: StoreRequestID, _ result: StoreResult, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard id.rawValue == self.storeAnswers + 1, id.rawValue <= self.storeRequests else {
            effects.append(.flagBug("\(id) was answered out of turn"))
            return
        }
        self.storeAnswers = id.rawValue
        while let end = self.lateEnds.first, end.request <= id.rawValue { self.lateEnds.removeFirst() }
        if case .unreadable(let user, _) = result {
            let waiting = self.purposes.first?.id == id.rawValue ? self.purposes.removeFirst() : nil
            if let waiting, let asker = waiting.asker { self.noteAnswered(asker, isReading: waiting.isReading) }
            return self.useUnreadable(waiting?.purpose, setAside: user, now, &effects)
        }
        guard let first = self.purposes.first, first.id == id.rawValue else {
            if case .refused(let problem) = result { effects.append(.flagBug("the store refused \(id): \(problem)")) }
            return
        }
        self.purposes.removeFirst()
        if let asker = first.asker { self.noteAnswered(asker, isReading: first.isReading) }
        self.use(result, for: first.purpose, now, &effects)
    }

    // tidy: long because it is one switch over (purpose, result).
    private mutating func use(
        _ result: StoreResult, for purpose: StorePurpose, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch (purpose, result) {
        case (.send(let session, let message, let device), .accepted(let deliveries, let name)):
            self.finishSend(session, message, .success(deliveries), &effects)
            self.countDeliveries(of: message.message, deliveries, byBackend: false, now)
            self.tellRoom(message.message, from: session, &effects)
            self.fanOut(message.named(name), deliveries, from: device, now, &effects)
        case (.send(let session, let message, _), .duplicate(let id, let sentAt)):
            self.sessions[session]?.sendsInFlight -= 1
            self.write(
                .sendAccepted(
                    .init(
                        clientMessageID: message.message.clientMessageID, messageID: id, sentAt: sentAt, position: 0)),
                to: session, &effects)
        case (.send(let session, let message, _), .refused(let problem)):
            self.finishSend(session, message, .failure(problem), &effects)
        case (.apiSend(let request, let message), .accepted(let deliveries, let name)):
            effects.append(.reply(request, .accepted(Self.acceptance(of: message.message, deliveries))))
            self.countDeliveries(of: message.message, deliveries, byBackend: true, now)
            self.tellRoom(message.message, from: nil, &effects)
            self.fanOut(message.named(name), deliveries, from: nil, now, &effects)
        case (.apiSend(let request, let message), .duplicate(let id, let sentAt)):
            let first = ServerFrame.SendAccepted(
                clientMessageID: message.message.clientMessageID, messageID: id, sentAt: sentAt, position: 0)
            effects.append(.reply(request, .accepted(first)))
        case (.apiSend(let request, _), .refused(let problem)), (.apiAnswer(let request), .refused(let problem)),
            (.apiSignOut(let request, _), .refused(let problem)), (.missed(let request, _), .refused(let problem)):
            effects.append(.reply(request, .refused(problem)))
        case (.apiAnswer(let request), .done):
            effects.append(.reply(request, .done))
        case (.apiAnswer(let request), .trace(let trace)):
            let trace = trace.map(self.withLiveLegs)
            effects.append(.reply(request, .trace(trace, trace.map(self.toldStatuses(of:)) ?? [])))
        case (.apiAnswer(let request), .page(let page)):
            effects.append(.reply(request, .page(page)))
        case (.missed(let request, let user), .page(let page)):
            // Whoever asked is in memory, for some time.
            guard let slot = self.slots[user] else {
                return effects.append(.reply(request, .refused(Self.unavailable)))
            }
            let hidesContent = self.people[slot].settings.person.hidesContent
            effects.append(
                .reply(
                    request,
                    .missed(self.missed(page, of: user, now), self.words(of: slot).words, hidesContent: hidesContent)))
        case (.apiAnswer(let request), .unread(let report)):
            effects.append(.reply(request, .unread(report)))
        case (.apiAnswer(let request), .objectNames(let names)):
            effects.append(.reply(request, .objectNames(names)))
        case (.apiAnswer(let request), .accounts(let accounts)):
            effects.append(.reply(request, .accounts(accounts)))
        case (.apiAnswer(let request), .bans(let bans)):
            effects.append(.reply(request, .bans(bans)))
        case (.apiSignOut(let request, let device), .done):
            self.removeDevice(device, now, &effects)
            effects.append(.reply(request, .done))
        case (.apiAnswer(let request), .userAccount(let account)):
            effects.append(.reply(request, .userAccount(account)))
        case (.signIn(let session, let device), .refused(let problem)):
            self.refuseSignIn(session, device, problem, &effects)
        case (.signIn(let session, let device), .device(let record)):
            self.finishSignIn(session, device.user, record, now, &effects)
        case (.compareLog(let session), .isSameLog(let isSame)):
            if !isSame { self.openings[session]?.isOtherLog = true }
        case (.signOut(let session, let device), .done):
            if self.sessions[session] != nil { self.close(session, &effects) }
            self.removeDevice(device, now, &effects)
        case (.load(let slot), .user(let record)):
            self.takeRecord(record, into: slot, now, &effects)
        case (.loadPage(let slot), .page(let page)):
            self.takeLoadedPage(page, into: slot, now, &effects)
        case (.sync(let session, let after), .page(let page)):
            self.finishSync(session, after: after, page, now, &effects)
        case (.markRead(let session, let user, let conversation, let upTo), .read(let position, let unread)):
            self.sessions[session]?.commandsInFlight -= 1
            if let position {
                let body = LogEntry.Body.read(conversation: conversation, upTo: upTo)
                let delivery = Delivery(user: user.user, position: position, unread: unread)
                self.note(body, [delivery], in: user.app, now, &effects)
                self.noteReading(user, conversation, upTo: upTo, &effects)
            }
        case (.markRead(let session, _, _, _), .refused(let problem)):
            self.sessions[session]?.commandsInFlight -= 1
            self.write(.problem(problem, isFatal: false), to: session, &effects)
        case (.errand(let errand), let answer): self.use(answer, for: errand, now, &effects)
        case (.send, _), (.apiSend, _), (.apiAnswer, _), (.apiSignOut, _), (.missed, _), (.signIn, _), (.signOut, _),
            (.compareLog, _), (.load, _), (.loadPage, _), (.sync, _), (.markRead, _):
            self.flag("\(purpose)", &effects)
        }
    }

    func flag(_ purpose: String, _ effects: inout [ServerEffect]) {
        effects.append(.flagBug("the store gave \(purpose) an answer of the wrong kind"))
    }

    /// The disk refused: everybody who waits is told, nothing is taken any more.
    mutating func failStore(_ id: StoreRequestID, _ reason: String, _ effects: inout [ServerEffect]) {
        for (_, purpose, _, _) in self.purposes {
            switch purpose {
            case .send(let session, let message, _):
                self.finishSend(session, message, .failure(Self.unavailable), &effects)
            case .errand(.request(let asked)), .errand(.enterRoom(let asked, _, _)):
                self.answer(asked.requester, .refused(Self.unavailable), &effects)
            case .apiSend(let request, _), .apiAnswer(let request), .apiSignOut(let request, _),
                .missed(let request, _),
                .errand(.custom(let request, _)), .errand(.put(let request, _)),
                .errand(.userAccount(let request, _, _)):
                effects.append(.reply(request, .refused(Self.unavailable)))
            case .signIn(let session, _):
                guard self.openings[session] != nil else { continue }
                effects.append(.write(session, .problem(Self.unavailable, isFatal: true)))
                self.close(session, &effects)
            case .errand(.pushState(_, let registrant?)):
                guard registrant.number != nil else { continue }
                self.refuse(registrant, Self.unavailable, &effects)
            case .compareLog, .signOut, .load, .loadPage, .sync, .markRead, .errand(.pushState), .errand(.typing),
                .errand(.kick), .errand(.shown), .errand(.readReceipt), .errand(.opened):
                break
            }
        }
        self.purposes.removeAll()
        self.backlogs.removeAll()
        effects.append(.stopForStoreFailure(reason))
    }
}
