import DequeModule
import StoreModel
import TidingsModel

/// What a store command was sent for, until the store answers it. A new one needs a case here, in `complete` and in `refuse`.
enum PendingStoreRequest: Sendable {
    /// The device is not the sender's if somebody writes as an account.
    case send(SessionID, SharedMessage, DeviceKey)
    case sync(SessionID, after: LogPosition)
    case markRead(SessionID, UserKey, ConversationID, upTo: LogPosition)
    case opened(SessionID)
    /// Reads who may be told that somebody is typing.
    case typing(ConversationID, UserKey, isTyping: Bool, SessionID)
    /// Reads the message at which the read cursor of a watched person stands.
    case readReceipt(UserKey, ConversationID)
    case clientRequest(Asked)
    case enterRoom(Asked, ConversationID, history: Int)
    /// The registrant is nil if the core itself changes the state.
    case setPushState(Registrant?)
    /// As `setPushState`.
    case setVoIPToken(Asked?)

    case signIn(SessionID, DeviceKey)
    case compareLog(SessionID)
    case signOut(SessionID, DeviceKey)
    /// The person has signed it out on another device.
    case signOutDevice(Asked, DeviceKey)
    /// A newer device has taken this one's place, or it was not seen for long.
    case kick(DeviceKey)

    case loadUser(slot: Int)
    case loadPage(slot: Int)
    /// Reads which devices have shown the message of the recall at this position of the person's log; `wasUnread`: it was unread
    /// and counted until then.
    case findShown(UserKey, Recall, LogPosition, wasUnread: Bool)

    /// The result is the answer, as it is.
    case apiAnswer(APIRequestID)
    /// With the person whose log was looked through, if it was one.
    case apiLegs(APIRequestID, UserKey?)
    case apiSend(APIRequestID, SharedMessage)
    case apiSendCustom(APIRequestID, CustomOperation)
    case apiPutConversation(APIRequestID, ConversationRecord)
    case apiChangeAccount(APIRequestID, UserKey, AccountChange)
    case apiSignOut(APIRequestID, DeviceKey)
    case apiMissed(APIRequestID, DeviceKey)
    case apiIssueToken(APIRequestID, at: Int64, ofRenewal: Int64?)
    /// Reads what the caller is called.
    case apiRing(APIRequestID, AppID, Call, at: Int64)
    /// Keeps the idempotency key of what passes by the log.
    indirect case apiPass(APIRequestID, APICommand, at: Int64)
    /// Reads where in the person's log a message stands.
    case apiFindRead(APIRequestID, UserKey, ConversationID, MessageID)
    /// Reads whether there is anything to read.
    case apiFindUnread(APIRequestID, UserKey, ConversationID)
    case apiMarkRead(APIRequestID, UserKey, ConversationID, upTo: LogPosition)
    case apiKept(APIRequestID, APICommand)
    indirect case apiChangeControl(APIRequestID, ControlChange)
    indirect case push(PushStoreRequest)
}

extension ServerCore {
    /// Without a pending request the store's answer must be `.done`. The command counts in the backlog of `asker`, if any, until it is
    /// answered.
    mutating func sendToStore(
        _ command: StoreCommand, for request: PendingStoreRequest? = nil, by asker: Asker? = nil,
        _ effects: inout [ServerEffect]
    ) {
        self.storeRequests += 1
        if !self.keysUnderWay.isEmpty, let keyed = request?.apiRequest.flatMap({ self.keysUnderWay[$0] }) {
            effects.append(.store(StoreRequestID(self.storeRequests), .once(keyed, command)))
        } else {
            effects.append(.store(StoreRequestID(self.storeRequests), command))
        }
        guard let request else { return }
        self.pendingRequests.append((self.storeRequests, request, asker, command.isReading))
        if let asker { self.addToBacklog(asker, isReading: command.isReading) }
    }

    var storeBacklog: Int { Int(self.storeRequests - self.storeAnswers) }

    mutating func handleStoreResult(
        _ id: StoreRequestID, _ result: StoreResult, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        guard id.rawValue == self.storeAnswers + 1, id.rawValue <= self.storeRequests else {
            effects.append(.flagBug("\(id) was answered out of turn"))
            return
        }
        self.storeAnswers = id.rawValue
        while let end = self.lateEnds.first, end.request <= id.rawValue { self.lateEnds.removeFirst() }
        // Asked where it lies, and taken out once: a request is large.
        if !self.pendingRequests.isEmpty, self.pendingRequests[0].id == id.rawValue {
            let pending = self.pendingRequests.removeFirst()
            if let asker = pending.asker { self.removeFromBacklog(asker, isReading: pending.isReading) }
            guard case .unreadable = result else { return self.complete(pending.request, with: result, now, &effects) }
            self.refuse(pending.request, storeHasFailed: false, now, &effects)
        } else if case .refused(let problem) = result {
            effects.append(.flagBug("the store refused \(id): \(problem)"))
        }
        guard case .unreadable(let setAside?, _) = result, let slot = self.slots[setAside] else { return }
        // They receive nothing new: an open connection would look as if nobody wrote.
        for session in self.people[slot].devices.compactMap(\.session) {
            self.endSession(session, because: Self.unavailable, now, &effects)
        }
    }

    // tidy: long because it is one switch over (pending request, result).
    private mutating func complete(
        _ request: PendingStoreRequest, with result: StoreResult, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch (request, result) {
        case (.send(let session, let message, let device), .accepted(let deliveries, let names, let push)):
            let isOwn = device.user == message.message.senderKey
            self.reportAccepted(message.message, to: deliveries, &effects)
            self.finishSend(session, message, .success(isOwn ? deliveries : []), &effects)
            self.noteSend(message.message, by: device.user, session, &effects)
            self.countDeliveries(of: message.message, deliveries, by: device.user, now)
            let message = message.accepted(names, push)
            self.sendToRoom(message.message, from: session, &effects)
            self.fanOut(message, deliveries, from: isOwn ? device.device : nil, now, &effects)
        case (.send(let session, let message, _), .duplicate(let id, let sentAt)):
            self.sessions[session]?.sendsInFlight -= 1
            self.write(
                .sendAccepted(Self.acceptance(ofRepeat: message.message.clientMessageID, id, sentAt)), to: session,
                &effects)
        case (.send(let session, let message, let device), .refused(let problem)):
            self.finishSend(session, message, .failure(problem), &effects)
            self.noteSend(message.message, by: device.user, refused: problem, session, &effects)
        case (.sync(let session, let after), .page(let page)):
            self.finishSync(session, after: after, page, now, &effects)
        case (.markRead(let session, let user, let conversation, let upTo), .read(let position, let unread)):
            self.sessions[session]?.commandsInFlight -= 1
            self.readingDevice = self.sessions[session]?.device.device
            self.publishRead(conversation, of: user, upTo: upTo, at: position, unread: unread, now, &effects)
            self.readingDevice = nil
        case (.markRead(let session, _, _, _), .refused(let problem)):
            self.sessions[session]?.commandsInFlight -= 1
            self.write(.problem(problem, isFatal: false), to: session, &effects)
        case (.opened(let session), .done): self.sessions[session]?.openedInFlight -= 1
        case (.typing(let conversation, let user, let isTyping, let session), .conversation(let info)):
            self.sessions[session]?.isTypingAsked = false
            guard info.mayWrite(user.user, at: now.wall) else { return }
            self.sendTyping(isTyping, of: user, in: conversation, to: info.members.map(\.id), now, &effects)
        case (.typing(let conversation, let user, let isTyping, let session), .done):
            self.sessions[session]?.isTypingAsked = false
            let seen = ConversationID(type: conversation.type, target: user.user.rawValue)
            self.sendTyping(isTyping, of: user, in: seen, to: [UserID(conversation.target)], now, &effects)
        case (.typing(_, _, _, let session), .refused): self.sessions[session]?.isTypingAsked = false
        case (.readReceipt(let user, let conversation), .page(let page)):
            self.sendReadReceipt(user, conversation, page, &effects)
        case (.clientRequest(let asked), .refused(let problem)): self.answer(asked, .refused(problem), &effects)
        case (.clientRequest(let asked), .conversation(let info)): self.answer(asked, .conversation(info), &effects)
        case (.clientRequest(let asked), .done): self.answer(asked, .done(0), &effects)
        case (.clientRequest(let asked), .profiles(let profiles)): self.answer(asked, .profiles(profiles), &effects)
        case (.clientRequest(let asked), .following(let accounts)): self.answer(asked, .following(accounts), &effects)
        case (.clientRequest(let asked), .labels(let labels)): self.answer(asked, .tags(labels.tags), &effects)
        case (.clientRequest(let asked), .settings(let settings)):
            // What is pinned, hidden and drafted is the person's own.
            self.answer(asked, .settings(asked.isBackend ? settings.levelsAlone : settings), &effects)
        case (.clientRequest(let asked), .receipts(let receipts)): self.answer(asked, .receipts(receipts), &effects)
        case (.clientRequest(let asked), .history(let messages, let hasMore)):
            let (recent, hasMore) = self.recent(messages, hasMore: hasMore, now)
            let fitting = self.fitting(recent)
            self.answer(asked, .history(fitting, hasMore: hasMore || fitting.count < recent.count), &effects)
        case (.clientRequest(let asked), .changed(let changes, let invited)):
            self.finishChange(asked, changes, invited: invited, now, &effects)
        case (.clientRequest(let asked), .noted(let body, let deliveries)):
            self.answerDone(asked, deliveries, now, &effects)
            if let body {
                self.noteEdit(body, deliveries, asked, &effects)
                self.publishEntry(body, deliveries, in: asked.app, now, &effects)
            }
        case (.clientRequest(let asked), .recalled(let recall, let message, let deliveries, let shown)):
            self.answerDone(asked, deliveries, now, &effects)
            self.noteRecall(recall, asked, &effects)
            self.recall(message, recall, deliveries, shown: shown, now, &effects)
        case (.enterRoom(let asked, let room, let history), .history(let messages, let hasMore)):
            self.finishEnter(room, history: history, asked, messages, hasMore: hasMore, now, &effects)
        case (.enterRoom(let asked, let room, _), .refused(let problem)):
            self.endEntering(room, asked)
            self.answer(asked, .refused(problem), &effects)
        case (.setPushState(let registrant), .done): self.finishRegistering(registrant, &effects)
        case (.setPushState(let registrant), .taken(let devices)):
            self.finishRegistering(registrant, &effects)
            self.clearTokens(of: devices, now, &effects)
        case (.setVoIPToken(let asked), .done): if let asked { self.answer(asked, .done(0), &effects) }
        case (.setVoIPToken(let asked), .refused(let problem)):
            if let asked { self.answer(asked, .refused(problem), &effects) }
        case (.setVoIPToken(let asked), .taken(let devices)):
            if let asked { self.answer(asked, .done(0), &effects) }
            self.clearVoIPTokens(of: devices)
        case (.apiRing(let request, let app, let call, let at), .profiles(let profiles)):
            self.finishRing(call, in: app, profiles.first?.profile.name, for: request, at: at, now, &effects)
        case (.apiPass(let request, let command, let at), .profiles):
            self.finishPassing(command, for: request, at: at, now, &effects)
        case (.signIn(let session, let device), .refused(let problem)):
            self.refuseSignIn(session, device, problem, &effects)
        case (.signIn(let session, let device), .device(let record)):
            self.finishSignIn(session, device.user, record, now, &effects)
        case (.compareLog(let session), .isSameLog(let isSame)):
            if !isSame { self.openings[session]?.isOtherLog = true }
        case (.signOut(let session, let device), .done):
            if self.sessions[session] != nil { self.close(session, &effects) }
            self.removeDevice(device, now, &effects)
        case (.signOutDevice(let asked, let device), .done):
            self.removeDevice(device, because: Self.signedOutElsewhere, now, &effects)
            self.answer(asked, .done(0), &effects)
        case (.kick(let device), .done): self.removeDevice(device, now, &effects)
        case (.loadUser(let slot), .user(let record)): self.handleUserRecord(record, into: slot, now, &effects)
        case (.loadPage(let slot), .page(let page)): self.handleLogPage(page, into: slot, now, &effects)
        case (.findShown(let user, let recall, let position, let wasUnread), .trace(let trace)):
            self.restoreRecall(recall, at: position, wasUnread: wasUnread, of: user, trace, now, &effects)
        case (.apiSend(let request, let message), .accepted(let deliveries, let names, let push)):
            self.reportAccepted(message.message, to: deliveries, &effects)
            effects.append(.reply(request, .accepted(Self.acceptance(of: message.message, deliveries))))
            self.countDeliveries(of: message.message, deliveries, by: nil, now)
            let message = message.accepted(names, push)
            self.sendToRoom(message.message, from: nil, &effects)
            self.fanOut(message, deliveries, from: nil, now, &effects)
        case (.apiSend(let request, let message), .duplicate(let id, let sentAt)):
            let first = Self.acceptance(ofRepeat: message.message.clientMessageID, id, sentAt)
            effects.append(.reply(request, .accepted(first, isRepeat: true)))
        case (.apiSendCustom(let request, let operation), .accepted(let deliveries, _, _)):
            effects.append(
                .report(.acceptedCustom(operation.message.id, operation.app, recipients: deliveries.count)))
            // There is no sender whose position it could be.
            let accepted = ServerFrame.SendAccepted(
                clientMessageID: operation.clientMessageID, messageID: operation.message.id,
                sentAt: operation.message.sentAt, position: deliveries.first?.position ?? 0)
            effects.append(.reply(request, .accepted(accepted)))
            self.countDeliveries(deliveries.count, by: nil, in: operation.app, now)
            self.publishEntry(.custom(operation.message), deliveries, in: operation.app, now, &effects)
        case (.apiSendCustom(let request, let operation), .duplicate(let id, let sentAt)):
            let first = Self.acceptance(ofRepeat: operation.clientMessageID, id, sentAt)
            effects.append(.reply(request, .accepted(first, isRepeat: true)))
        case (.apiPutConversation(let request, let record), .done):
            effects.append(.reply(request, .done))
            self.followPut(record, &effects)
        case (.apiChangeAccount(let request, let user, let change), .done):
            self.finishAccount(request, user, change, now, &effects)
        case (.apiChangeAccount(let request, let user, let change), .refused(let problem)):
            effects.append(.reply(request, .refused(problem)))
            self.takeBackAccount(of: user, change, now, &effects)
        case (.apiSignOut(let request, let device), .done):
            self.removeDevice(device, now, &effects)
            effects.append(.reply(request, .done))
        case (.apiMissed(let request, let device), .page(let page)):
            // Who asked stays in memory for some time.
            guard let slot = self.slots[device.user] else {
                return effects.append(.reply(request, .refused(Self.unavailable)))
            }
            let page = self.missed(page, on: device, now)
            let hidesContent = self.people[slot].settings.person.hidesContent
            effects.append(.reply(request, .missed(page, self.words(of: slot).words, hidesContent: hidesContent)))
        case (.apiSend(let request, _), .refused(let problem)), (.apiSignOut(let request, _), .refused(let problem)),
            (.apiMissed(let request, _), .refused(let problem)),
            (.apiPutConversation(let request, _), .refused(let problem)),
            (.apiIssueToken(let request, _, _), .refused(let problem)),
            (.apiRing(let request, _, _, _), .refused(let problem)),
            (.apiPass(let request, _, _), .refused(let problem)),
            (.apiMarkRead(let request, _, _, _), .refused(let problem)),
            (.apiLegs(let request, _), .refused(let problem)),
            (.apiSendCustom(let request, _), .refused(let problem)),
            (.apiChangeControl(let request, _), .refused(let problem)):
            effects.append(.reply(request, .refused(problem)))
        case (.apiAnswer(let request), .refused(let problem)): effects.append(.reply(request, .refused(problem)))
        case (.apiAnswer(let request), .done): effects.append(.reply(request, .done))
        case (.apiAnswer(let request), .trace(let trace)):
            effects.append(.reply(request, .trace(trace.map { self.withLiveReports(self.withLiveLegs($0)) })))
        case (.apiLegs(let request, let user), .legs(let page)):
            effects.append(.reply(request, .legs(user.map { self.withLiveLegs(page, of: $0) } ?? page)))
        case (.apiAnswer(let request), .unread(let report)): effects.append(.reply(request, .unread(report)))
        case (.apiAnswer(let request), .objectNames(let names)): effects.append(.reply(request, .objectNames(names)))
        case (.apiAnswer(let request), .accounts(let accounts)): effects.append(.reply(request, .accounts(accounts)))
        case (.apiAnswer(let request), .followers(let users, let hasMore)):
            effects.append(.reply(request, .followers(users, hasMore: hasMore)))
        case (.apiAnswer(let request), .people(let people, let hasMore)):
            effects.append(.reply(request, .people(people, hasMore: hasMore)))
        case (.apiAnswer(let request), .conversations(let conversations, let hasMore)):
            effects.append(.reply(request, .conversations(conversations, hasMore: hasMore)))
        case (.apiAnswer(let request), .conversationList(let conversations, let hasMore)):
            effects.append(.reply(request, .conversationList(conversations, hasMore: hasMore)))
        case (.apiAnswer(let request), .pushJob(let job)): effects.append(.reply(request, .pushJob(job)))
        case (.apiAnswer(let request), .pushJobs(let jobs, let hasMore)):
            effects.append(.reply(request, .pushJobs(jobs, hasMore: hasMore)))
        case (.apiAnswer(let request), .pushRecipient(let id)): effects.append(.reply(request, .pushRecipient(id)))
        case (.apiAnswer(let request), .labels(let labels)): effects.append(.reply(request, .labels(labels)))
        case (.apiAnswer(let request), .profiles(let profiles)): effects.append(.reply(request, .profiles(profiles)))
        case (.apiAnswer(let request), .mediaUse(let use)): effects.append(.reply(request, .mediaUse(use)))
        case (.apiAnswer(let request), .mediaUses(let uses)): effects.append(.reply(request, .mediaUses(uses)))
        case (.apiAnswer(let request), .audit(let records, let hasMore)):
            effects.append(.reply(request, .audit(records, hasMore: hasMore)))
        case (.apiAnswer(let request), .bans(let bans)): effects.append(.reply(request, .bans(bans)))
        case (.apiAnswer(let request), .invited(let people)): effects.append(.reply(request, .invited(people)))
        case (.apiAnswer(let request), .userAccount(let account)):
            effects.append(.reply(request, .userAccount(account)))
        case (.apiIssueToken(let request, let at, let renewal), .userAccount(let account)):
            guard !account.isBanned else {
                let problem = ServerFrame.Problem(code: .disabled, field: "user", rule: "must not be banned")
                return effects.append(.reply(request, .refused(problem)))
            }
            if let renewal, let fault = account.fault(inTokenIssuedAt: renewal) {
                return effects.append(.reply(request, .refused(fault)))
            }
            effects.append(.reply(request, .mayIssueToken(at: at)))
        case (.apiFindRead(let request, let user, let conversation, let message), .trace(let trace)):
            self.finishFindRead(conversation, of: user, upTo: message, trace, for: request, now, &effects)
        case (.apiFindUnread(let request, let user, let conversation), .unread(let report)):
            self.finishFindUnread(conversation, of: user, report, for: request, now, &effects)
        case (.apiMarkRead(let request, let user, let conversation, let upTo), .read(let position, let unread)):
            effects.append(.reply(request, .done))
            self.publishRead(conversation, of: user, upTo: upTo, at: position, unread: unread, now, &effects)
        case (.apiChangeControl(let request, let change), .control(let answer)):
            self.finishControl(change, answer, for: request, now, &effects)
        case (.apiKept(let request, let command), .kept(let kept)):
            self.finishLookup(request, command, kept, now, &effects)
        case (.push(let asked), let result): self.completePush(asked, with: result, now, &effects)
        // The compiler cannot check so many pairs: a case that is missing here shows as a bug, one missing in `refuse` does not compile.
        default:
            effects.append(.flagBug("the store gave \(request) an answer of the wrong kind"))
        }
    }

    /// The store refused to write: everybody who waits is told, and nothing new is stored.
    mutating func failStore(because reason: String, _ now: Now, _ effects: inout [ServerEffect]) {
        for pending in self.pendingRequests { self.refuse(pending.request, storeHasFailed: true, now, &effects) }
        self.pendingRequests.removeAll()
        self.backlogs.removeAll()
        effects.append(.stopForStoreFailure(reason))
    }

    /// The store could not carry the command out: who waits for it is told to try again later. If it has failed for good, only those
    /// are told whose frames have an answer of their own.
    private mutating func refuse(
        _ request: PendingStoreRequest, storeHasFailed: Bool, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch request {
        case .send(let session, let message, _):
            self.finishSend(session, message, .failure(Self.unavailable), &effects)
        case .clientRequest(let asked), .enterRoom(let asked, _, _), .setVoIPToken(let asked?):
            self.answer(asked, .refused(Self.unavailable), &effects)
        case .signOutDevice(let asked, let device):
            self.answer(asked, .refused(Self.unavailable), &effects)
            if !storeHasFailed { self.keepSignedIn(device, now, &effects) }
        case .apiSignOut(let request, let device):
            effects.append(.reply(request, .refused(Self.unavailable)))
            if !storeHasFailed { self.keepSignedIn(device, now, &effects) }
        case .setPushState(let registrant?):
            guard !storeHasFailed || registrant.number != nil else { return }
            self.sessions[registrant.session]?.commandsInFlight -= 1
            self.refuseCommand(registrant, Self.unavailable, &effects)
        case .signIn(let session, let device): self.refuseSignIn(session, device, Self.unavailable, &effects)
        case .apiSend(let request, _), .apiAnswer(let request), .apiMissed(let request, _), .apiLegs(let request, _),
            .apiSendCustom(let request, _), .apiPutConversation(let request, _),
            .apiIssueToken(let request, _, _), .apiKept(let request, _), .apiRing(let request, _, _, _),
            .apiPass(let request, _, _),
            .apiFindRead(let request, _, _, _), .apiFindUnread(let request, _, _), .apiMarkRead(let request, _, _, _),
            .apiChangeControl(let request, _):
            effects.append(.reply(request, .refused(Self.unavailable)))
        case .apiChangeAccount(let request, let user, let change):
            effects.append(.reply(request, .refused(Self.unavailable)))
            if !storeHasFailed { self.takeBackAccount(of: user, change, now, &effects) }
        case .signOut(let session, let device):
            guard !storeHasFailed else { return }
            self.sessions[session]?.commandsInFlight -= 1
            self.write(.problem(Self.unavailable, isFatal: false), to: session, &effects)
            self.keepSignedIn(device, now, &effects)
        case .markRead(let session, _, _, _):
            guard !storeHasFailed else { return }
            self.sessions[session]?.commandsInFlight -= 1
            self.write(.problem(Self.unavailable, isFatal: false), to: session, &effects)
        case .sync(let session, _):
            guard !storeHasFailed else { return }
            self.sessions[session]?.syncsInFlight -= 1
            self.write(.problem(Self.unavailable, isFatal: false), to: session, &effects)
        case .loadUser(let slot), .loadPage(let slot):
            guard !storeHasFailed else { return }
            self.abandonLoading(slot, now, &effects)
        case .push(let asked): self.refusePush(asked, storeHasFailed: storeHasFailed, now, &effects)
        case .opened(let session): self.sessions[session]?.openedInFlight -= 1
        case .typing(_, _, _, let session): self.sessions[session]?.isTypingAsked = false
        case .kick(let device): if !storeHasFailed { self.keepSignedIn(device, now, &effects) }
        case .setPushState(nil), .setVoIPToken(nil), .compareLog, .findShown, .readReceipt: break
        }
    }
}
