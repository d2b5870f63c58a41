import DequeModule
import StoreModel
import TidingsModel

/// The request behind a store command, kept until the store answers. A new one is a case here: `complete` says which answer it expects,
/// `refuse` who is told without one.
enum PendingStoreRequest: Sendable {
    /// Sends a message. The device is not the sender's if a person writes as an account.
    case send(SessionID, SharedMessage, DeviceKey)
    case sync(SessionID, after: LogPosition)
    case markRead(SessionID, UserKey, ConversationID, upTo: LogPosition)
    case opened(SessionID)
    /// Reads who may be told that a person is typing.
    case typing(ConversationID, UserKey, isTyping: Bool, SessionID)
    /// Reads the message at which the read cursor of a watched person stands.
    case readReceipt(UserKey, ConversationID)
    /// The request says which answer it expects.
    case clientRequest(ClientRequest, Asked)
    /// The registrant is nil if the core itself changes the state.
    case setPushState(Registrant?)
    /// Sets the token, like `setPushState`.
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

    case startPush(PushJobID)
    case stepPush(PushJobID, at: Int64)
    case api(APIRequestID, APIStoreRequest)

    /// False where a refusal of the store's is a bug.
    var mayBeRefused: Bool {
        switch self {
        case .send, .markRead, .typing, .clientRequest, .setVoIPToken, .signIn, .api: true
        case .sync, .opened, .readReceipt, .setPushState, .compareLog, .signOut, .signOutDevice, .kick, .loadUser,
            .loadPage, .findShown, .startPush, .stepPush:
            false
        }
    }
}

/// The store has given an answer of another kind than the request expects.
struct UnexpectedAnswer: Error {}

extension StoreResult {
    func expect<Answer>(_ answer: (StoreResult) -> Answer?) throws(UnexpectedAnswer) -> Answer {
        guard let answer = answer(self) else { throw UnexpectedAnswer() }
        return answer
    }
}

extension ServerCore {
    mutating func handleStoreResult(_ id: StoreRequestID, _ result: StoreResult) {
        guard id.rawValue == self.turn.store.answered + 1, id.rawValue <= self.turn.store.sent else {
            self.turn.emit(.flagBug("\(id) was answered out of turn"))
            return
        }
        self.turn.store.answered = id.rawValue
        while let end = self.turn.store.lateEnds.first, end.request <= id.rawValue {
            self.turn.store.lateEnds.removeFirst()
        }
        // Asked where it lies, and taken out once: a request is large.
        guard !self.turn.store.pending.isEmpty, self.turn.store.pending[0].id == id.rawValue else {
            if case .refused(let problem) = result { self.turn.emit(.flagBug("the store refused \(id): \(problem)")) }
            return self.endSessions(ofSetAside: result)
        }
        let pending = self.turn.store.pending.removeFirst()
        if let asker = pending.asker { self.turn.removeFromBacklog(asker, isReading: pending.isReading) }
        if case .unreadable = result {
            self.refuse(pending.request, because: Self.unavailable)
            return self.endSessions(ofSetAside: result)
        }
        if case .refused(let problem) = result, pending.request.mayBeRefused {
            return self.refuse(pending.request, because: problem)
        }
        do throws(UnexpectedAnswer) {
            try self.complete(pending.request, with: result)
        } catch {
            self.turn.emit(.flagBug("the store gave \(pending.request) an answer of the wrong kind"))
        }
    }

    /// They receive nothing new: an open connection would look as if nobody wrote.
    mutating func endSessions(ofSetAside result: StoreResult) {
        guard case .unreadable(let setAside?, _) = result, let slot = self.slots[setAside] else { return }
        for session in self.people[slot].devices.compactMap(\.session) {
            self.endSession(session, because: Self.unavailable)
        }
    }

    private mutating func complete(_ request: PendingStoreRequest, with result: StoreResult) throws(UnexpectedAnswer) {
        switch request {
        case .send(let session, let message, let device):
            try self.finishSend(session, message, by: device, result)
        case .sync(let session, let after):
            self.finishSync(session, after: after, try result.expect(\.page))
        case .markRead(let session, let user, let conversation, let upTo):
            let (position, unread) = try result.expect(\.read)
            self.turn.sessions[session]?.commandsInFlight -= 1
            self.turn.reader = self.turn.sessions[session]?.device.device
            self.publishRead(conversation, of: user, upTo: upTo, at: position, unread: unread)
            self.turn.reader = nil
        case .opened(let session):
            try result.expect(\.done)
            self.turn.sessions[session]?.openedInFlight -= 1
        case .typing(let conversation, let user, let isTyping, let session):
            // An account has no members to be told.
            if result.conversation == nil { try result.expect(\.done) }
            self.turn.sessions[session]?.isTypingAsked = false
            self.sendTyping(isTyping, of: user, in: conversation, result.conversation)
        case .readReceipt(let user, let conversation):
            self.sendReadReceipt(user, conversation, try result.expect(\.page))
        case .clientRequest(let request, let asked): try self.complete(request, asked, with: result)
        case .setPushState(let registrant):
            let others = try result.expect(\.taken)
            self.turn.finishRegistering(registrant)
            self.clearTokens(of: others)
        case .setVoIPToken(let asked):
            self.clearVoIPTokens(of: try result.expect(\.taken))
            if let asked { self.answer(asked, .done(0)) }
        case .signIn(let session, let device):
            self.finishSignIn(session, device.user, try result.expect(\.device))
        case .compareLog(let session):
            if try !result.expect(\.isSameLog) { self.turn.sessions.openings[session]?.isOtherLog = true }
        case .signOut(let session, let device):
            try result.expect(\.done)
            if self.turn.sessions[session] != nil { self.close(session) }
            self.removeDevice(device)
        case .signOutDevice(let asked, let device):
            try result.expect(\.done)
            self.removeDevice(device, because: Self.signedOutElsewhere)
            self.answer(asked, .done(0))
        case .kick(let device):
            try result.expect(\.done)
            self.removeDevice(device)
        case .loadUser(let slot): self.handleUserRecord(try result.expect(\.user), into: slot)
        case .loadPage(let slot): self.handleLogPage(try result.expect(\.page), into: slot)
        case .findShown(let user, let recall, let position, let wasUnread):
            let trace = try result.expect(\.trace)
            self.restoreRecall(recall, at: position, wasUnread: wasUnread, of: user, trace)
        case .startPush(let id):
            let job = try result.expect { $0.pushJob ?? nil }
            self.noteAnswer(id)
            self.followPush(job)
        case .stepPush(let id, let at): self.finishStep(id, try result.expect(\.pushStep), at: at)
        case .api(let request, let asked): try self.completeAPI(request, asked, with: result)
        }
    }

    /// The store refused to write: everybody who waits is told, and nothing new is stored.
    mutating func failStore(because reason: String) {
        for pending in self.turn.store.pending {
            self.refuse(pending.request, because: Self.unavailable, storeHasFailed: true)
        }
        self.turn.store.pending.removeAll()
        self.turn.store.backlogs.removeAll()
        self.turn.emit(.stopForStoreFailure(reason))
    }

    /// The store has not carried the command out: who waits for it is told.
    private mutating func refuse(
        _ request: PendingStoreRequest, because problem: ServerFrame.Problem, storeHasFailed: Bool = false
    ) {
        switch request {
        case .send(let session, let message, let device):
            self.turn.sessions[session]?.sendsInFlight -= 1
            self.turn.write(.sendRefused(message.message.clientMessageID, problem), to: session)
            self.noteSend(message.message, by: device.user, refused: problem, session)
        case .clientRequest(let request, let asked):
            if case .enterRoom(let room, _) = request { self.endEntering(room, asked) }
            self.answer(asked, .refused(problem))
        case .setVoIPToken(let asked?): self.answer(asked, .refused(problem))
        case .signOutDevice(let asked, let device):
            self.answer(asked, .refused(problem))
            if !storeHasFailed { self.keepSignedIn(device) }
        case .signIn(let session, let device): self.refuseSignIn(session, device, problem)
        case .api(let request, let asked):
            self.turn.emit(.reply(request, .refused(problem)))
            if !storeHasFailed { self.takeBackAPI(asked) }
        case .setPushState(let registrant?) where registrant.number != nil || !storeHasFailed:
            self.turn.sessions[registrant.session]?.commandsInFlight -= 1
            self.turn.refuseCommand(registrant, problem)
        // If the store has failed for good, only those are told whose frames have an answer of their own.
        case _ where storeHasFailed: break
        case .markRead(let session, _, _, _), .signOut(let session, _):
            self.turn.sessions[session]?.commandsInFlight -= 1
            self.turn.write(.problem(problem, isFatal: false), to: session)
            if case .signOut(_, let device) = request { self.keepSignedIn(device) }
        case .sync(let session, _):
            self.turn.sessions[session]?.syncsInFlight -= 1
            self.turn.write(.problem(problem, isFatal: false), to: session)
        case .loadUser(let slot), .loadPage(let slot): self.abandonLoading(slot)
        case .startPush(let id), .stepPush(let id, _): self.delayPush(id)
        case .opened(let session): self.turn.sessions[session]?.openedInFlight -= 1
        case .typing(_, _, _, let session): self.turn.sessions[session]?.isTypingAsked = false
        case .kick(let device): self.keepSignedIn(device)
        case .setPushState, .setVoIPToken, .compareLog, .findShown, .readReceipt: break
        }
    }
}
