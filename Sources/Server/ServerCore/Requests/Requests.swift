import OrderedCollections
import StoreModel
import TidingsModel

/// A request under way: who waits for its answer, and on whose behalf it is.
struct Asked: Sendable {
    enum Requester: Hashable, Sendable {
        case session(SessionID, RequestNumber)
        case api(APIRequestID)
        case core
    }

    let requester: Requester
    let app: AppID
    /// Whose entry is named in the answer; nil for the app's backend.
    let actor: UserID?

    func session() throws(ServerFrame.Problem) -> SessionID {
        guard case .session(let session, _) = self.requester else {
            throw .init(code: .notAllowed, field: "request", rule: "must come on a connection")
        }
        return session
    }

    var isBackend: Bool { if case .api = self.requester { true } else { false } }

    var asker: Asker? {
        switch self.requester {
        case .session: self.actor.map { .person(UserKey(app: self.app, user: $0)) }
        case .api: .backend(self.app)
        case .core: nil
        }
    }
}

extension ServerCore {
    mutating func handleRequest(
        _ request: ClientRequest, _ number: RequestNumber, from session: SessionID, _ known: Session
    ) {
        guard known.requestsInFlight < self.turn.settings.requestsInFlightMax else {
            let problem = Self.mustWait("request", self.turn.settings.requestsInFlightMax)
            self.turn.emit(.write(session, .answer(number, .refused(problem))))
            return
        }
        guard self.reserveNumber(number, session) else { return }
        self.turn.sessions[session]?.requestsInFlight += 1
        let user = known.device.user
        self.carryOut(request, Asked(requester: .session(session, number), app: user.app, actor: user.user))
    }

    /// Reserves a request's number until it is answered. A number in use is refused by a problem: an answer with that
    /// number would be taken for that of the first.
    mutating func reserveNumber(_ number: RequestNumber, _ session: SessionID) -> Bool {
        guard self.turn.sessions[session]?.numbersInFlight.append(number).inserted != false else {
            let problem = ServerFrame.Problem(
                code: .invalidField, field: "request.number",
                rule: "must be another one: request \(number) of this connection is not answered yet")
            self.turn.emit(.write(session, .problem(problem, isFatal: false)))
            return false
        }
        return true
    }

    static func mustWait(_ field: String, _ count: Int) -> ServerFrame.Problem {
        .init(code: .unavailable, field: field, rule: "must wait: \(count) are being carried out already")
    }

    mutating func carryOut(_ request: ClientRequest, _ asked: Asked) {
        do throws(ServerFrame.Problem) {
            if let asker = asked.asker {
                try self.turn.checkBacklog(of: asker, isReading: request.isReading)
            }
            try AnonymousRules.check(request, asked)
            try self.checkRequest(request, asked)
            if request.isSomethingNew { try self.checkStorage() }
            switch request {
            case .setPersonSettings(let settings):
                let user = try Self.person(asked)
                if self.hasTimeZone(of: settings, orQueue: .init(asked: asked, user: user, settings: settings)) {
                    self.turn.ask(
                        .setPersonSettings(user, settings, at: self.turn.now.wall), for: .clientRequest(request, asked),
                        by: asked.asker)
                }
            case .enterRoom(let room, let history):
                try self.enterRoom(room, history: Int(history), asked)
            case .exitRoom(let room):
                try self.exitRoom(room, asked)
                self.answer(asked, .done(0))
            case .renewToken(let token):
                guard case .session(let session, let number) = asked.requester else {
                    throw .init(code: .notAllowed, field: "token", rule: "must be renewed on the connection it is for")
                }
                self.turn.emit(.checkToken(session, number, token))
            case .registerVoIP(let registration): try self.registerVoIP(registration, asked)
            case .devices: self.answer(asked, .devices(try self.ownDevices(asked)))
            case .signOutDevice(let device): try self.signOutOther(device, asked)
            case .watch(let users): try self.watch(users, asked)
            case .unwatch(let users):
                try self.unwatch(users, asked)
                self.answer(asked, .done(0))
            case .change, .recall, .edit, .delete, .setConversationSettings, .setConversationState, .setBlocked,
                .conversation, .settings, .history, .receipts, .setProfile, .profiles, .setFollowing, .following,
                .setTags:
                self.turn.ask(
                    try self.command(for: request, asked), for: .clientRequest(request, asked), by: asked.asker)
            }
        } catch {
            self.answer(asked, .refused(error))
        }
    }

    private mutating func command(
        for request: ClientRequest, _ asked: Asked
    ) throws(ServerFrame.Problem) -> StoreCommand {
        let now = self.turn.now
        return switch request {
        case .change(let conversation, let action):
            .change(
                ConversationOperation(
                    app: asked.app, conversation: conversation, action: action, actor: asked.actor,
                    membersMax: self.turn.settings.membersMax(in: asked.app),
                    policy: self.turn.settings.policy(of: conversation.type), at: now.wall))
        case .recall(let message):
            .recall(
                RecallOperation(
                    id: self.messageIDs.next(wallMilliseconds: now.wall), app: asked.app, message: message,
                    actor: asked.actor, window: self.turn.settings.recallWindow, room: self.roomAccess(), at: now.wall))
        case .edit(let message, let content):
            .edit(
                EditOperation(
                    app: asked.app, message: message, actor: asked.actor, content: content,
                    window: self.turn.settings.editWindow, room: self.roomAccess(), at: now.wall))
        case .delete(let deletion):
            .delete(
                try Self.person(asked),
                Deletion(conversation: deletion.conversation, messages: Set(deletion.messages).sorted()), at: now.wall)
        case .setConversationSettings(let conversation, let settings):
            .setConversationSettings(try Self.person(asked), conversation, settings, at: now.wall)
        case .setConversationState(let conversation, let change):
            .setConversationState(try Self.person(asked), conversation, change, at: now.wall)
        case .setPersonSettings(let settings): .setPersonSettings(try Self.person(asked), settings, at: now.wall)
        case .setBlocked(let user, let isBlocked):
            .setBlocked(try Self.person(asked), user, isBlocked, at: now.wall)
        case .conversation(let conversation):
            .readConversation(asked.app, conversation, asked: asked.actor, at: now.wall)
        case .settings: .readSettings(try Self.person(asked))
        case .history(let conversation, let before, let limit):
            .readHistory(
                try Self.person(asked), conversation, before: before, limit: Int(limit), room: self.roomAccess())
        case .receipts(let message): .readReceipts(asked.app, message, asked: asked.actor)
        case .setProfile(let profile):
            .setProfiles(asked.app, [UserProfile(try Self.person(asked).user, profile)], isOwn: true)
        case .profiles(let users):
            .readProfiles(asked.app, users, offered: self.turn.settings.offered(to: asked.app, among: users))
        case .setFollowing(let account, let isFollowing):
            .setFollowing(try Self.person(asked), account, isFollowing)
        case .following: .readFollowing(try Self.person(asked))
        case .setTags(let tags): .setLabels(try Self.person(asked), .tags(tags))
        case .enterRoom, .exitRoom, .watch, .unwatch, .renewToken, .registerVoIP, .devices, .signOutDevice:
            throw Self.unavailable
        }
    }

    /// Ends a request of which the store was asked, by the answer that it expects.
    mutating func complete(
        _ request: ClientRequest, _ asked: Asked, with result: StoreResult
    ) throws(UnexpectedAnswer) {
        switch request {
        case .change:
            guard case .changed(let changes, let invited) = result else { throw UnexpectedAnswer() }
            self.finishChange(asked, changes, invited: invited)
        case .recall:
            // It may have been recalled before.
            guard case .recalled(let recall, let message, let deliveries, let shown) = result else { fallthrough }
            self.answerDone(asked, deliveries)
            self.noteRecall(recall, asked)
            self.recall(message, recall, deliveries, shown: shown)
        case .edit, .delete, .setConversationSettings, .setConversationState, .setPersonSettings, .setBlocked:
            guard case .noted(let body, let deliveries) = result else { throw UnexpectedAnswer() }
            self.answerDone(asked, deliveries)
            guard let body else { return }
            self.noteEdit(body, deliveries, asked)
            self.publishEntry(body, deliveries, in: asked.app)
        case .conversation: self.answer(asked, .conversation(try result.expect(\.conversation)))
        case .settings:
            let settings = try result.expect(\.settings)
            // What is pinned, hidden and drafted is the person's own.
            self.answer(asked, .settings(asked.isBackend ? settings.levelsAlone : settings))
        case .history: self.answer(asked, self.recent(try result.expect(\.history)))
        case .enterRoom(let room, let history):
            self.finishEnter(room, history: Int(history), asked, try result.expect(\.history))
        case .receipts: self.answer(asked, .receipts(try result.expect(\.receipts)))
        case .setProfile, .setFollowing:
            try result.expect(\.done)
            self.answer(asked, .done(0))
        case .profiles: self.answer(asked, .profiles(try result.expect(\.profiles)))
        case .following: self.answer(asked, .following(try result.expect(\.following)))
        case .setTags: self.answer(asked, .tags(try result.expect(\.labels).tags))
        // Others are pending, or the store is not asked.
        case .registerVoIP, .signOutDevice, .exitRoom, .watch, .unwatch, .renewToken, .devices:
            throw UnexpectedAnswer()
        }
    }

    private static func person(_ asked: Asked) throws(ServerFrame.Problem) -> UserKey {
        guard let user = asked.actor else {
            throw ServerFrame.Problem(code: .invalidField, field: "actor", rule: "must name a person for this request")
        }
        return UserKey(app: asked.app, user: user)
    }

    mutating func answer(_ asked: Asked, _ answer: ClientAnswer) {
        switch asked.requester {
        case .session(let session, let number):
            self.turn.sessions[session]?.requestsInFlight -= 1
            self.turn.sessions[session]?.numbersInFlight.remove(number)
            self.turn.write(.answer(number, answer), to: session)
        case .api(let request): self.turn.emit(.reply(request, .answer(answer)))
        case .core: break
        }
    }

    /// - Parameter invited: people the request was to make members, who are asked first.
    mutating func answerDone(_ asked: Asked, _ deliveries: [Delivery], invited: [UserID] = []) {
        let position = deliveries.last { $0.user == asked.actor }?.position ?? 0
        self.answer(asked, invited.isEmpty ? .done(position) : .invited(invited, position))
        self.countDeliveries(deliveries.count, by: asked)
    }

    mutating func finishChange(_ asked: Asked, _ changes: [MadeChange], invited: [UserID]) {
        self.answerDone(asked, changes.flatMap(\.deliveries), invited: invited)
        for made in changes {
            self.publishEntry(.change(made.change), made.deliveries, in: asked.app)
            self.putOut(made.change, in: asked.app)
        }
    }
}

extension ClientRequest {
    /// It adds texts or conversations to the store: refused first when there is little room.
    fileprivate var isSomethingNew: Bool {
        switch self {
        case .edit, .change(_, .create), .setProfile, .setConversationState(_, .draft(_?)), .setFollowing(_, true),
            .setTags:
            true
        default: false
        }
    }
}
