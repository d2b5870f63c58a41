import StoreModel
import TidingsModel

/// Says what a request of the API has asked the store for. A new one is a case here, and says in `completeAPI` which answer it expects.
enum APIStoreRequest: Sendable {
    // These are answered as the store answers.
    case done
    case labels
    case mediaUse
    case trace
    /// The repeat of a request under its idempotency key: the job as it is by now.
    case pushJob

    /// With the person whose log was looked through, if it was one.
    case legs(UserKey?)
    case send(SharedMessage)
    case sendCustom(CustomOperation)
    case putConversation(ConversationRecord)
    case changeAccount(UserKey, AccountChange)
    case signOut(DeviceKey)
    /// With the problems of those that the store is not asked about.
    case register([ServerFrame.Problem?])
    case missed(DeviceKey)
    case issueToken(at: Int64, ofRenewal: Int64?)
    /// Reads what the caller is called.
    case ring(AppID, Call, at: Int64)
    /// Keeps the idempotency key of what passes by the log.
    indirect case pass(APICommand, at: Int64)
    /// Reads where in the person's log a message stands.
    case findRead(UserKey, ConversationID, MessageID)
    /// Reads whether there is anything to read.
    case findUnread(UserKey, ConversationID)
    case markRead(UserKey, ConversationID, upTo: LogPosition)
    case kept(APICommand)
    indirect case changeControl(ControlChange)
    case createPush
    /// Changes a job whose steps wait for the answer, or one without.
    case changePush(PushJobID, holdsSteps: Bool)
    indirect case countAudience(AppID, PushAudience, counted: AudienceCount)
}

extension ServerCore {
    // tidy: long because it is one switch over the requests.
    mutating func completeAPI(
        _ request: APIRequestID, _ asked: APIStoreRequest, with result: StoreResult
    ) throws(UnexpectedAnswer) {
        let now = self.turn.now
        switch asked {
        case .done:
            try result.expect(\.done)
            self.turn.emit(.reply(request, .done))
        case .labels:
            _ = try result.expect(\.labels)
            self.turn.emit(.reply(request, .done))
        case .mediaUse: self.turn.emit(.reply(request, .mediaUse(try result.expect(\.mediaUse))))
        case .trace:
            let trace = try result.expect(\.trace).map { self.withLiveReports(self.withLiveLegs($0)) }
            self.turn.emit(.reply(request, .trace(trace)))
        case .pushJob: self.turn.emit(.reply(request, .pushJob(try result.expect(\.pushJob))))
        case .legs(let user):
            let page = try result.expect(\.legs)
            self.turn.emit(.reply(request, .legs(user.map { self.withLiveLegs(page, of: $0) } ?? page)))
        case .send(let message): try self.finishSend(message, for: request, result)
        case .sendCustom(let operation): try self.finishCustom(operation, for: request, result)
        case .putConversation(let record):
            try result.expect(\.done)
            self.turn.emit(.reply(request, .done))
            self.followPut(record)
        case .changeAccount(let user, let change):
            try result.expect(\.done)
            self.finishAccount(request, user, change)
        case .signOut(let device):
            try result.expect(\.done)
            self.removeDevice(device)
            self.turn.emit(.reply(request, .done))
        case .register(let problems):
            self.finishInstallations(try result.expect(\.installations), problems, for: request)
        case .missed(let device): self.finishMissed(try result.expect(\.page), on: device, for: request)
        case .issueToken(let at, let renewal):
            let account = try result.expect(\.userAccount)
            let banned = account.isBanned(at: now.wall) ? StoreRules.bannedUser : nil
            let fault = banned ?? renewal.flatMap { account.fault(inTokenIssuedAt: $0, at: now.wall) }
            self.turn.emit(.reply(request, fault.map { .refused($0) } ?? .mayIssueToken(at: at)))
        case .ring(let app, let call, let at):
            let name = try result.expect(\.profiles).first?.profile.name
            self.finishRing(call, in: app, name, for: request, at: at)
        case .pass(let command, let at):
            _ = try result.expect(\.profiles)
            self.finishPassing(command, for: request, at: at)
        case .findRead(let user, let conversation, let message):
            let trace = try result.expect(\.trace)
            self.finishFindRead(conversation, of: user, upTo: message, trace, for: request)
        case .findUnread(let user, let conversation):
            self.finishFindUnread(conversation, of: user, try result.expect(\.unread), for: request)
        case .markRead(let user, let conversation, let upTo):
            let (position, unread) = try result.expect(\.read)
            self.turn.emit(.reply(request, .done))
            self.publishRead(conversation, of: user, upTo: upTo, at: position, unread: unread)
        case .kept(let command): self.finishLookup(request, command, try result.expect(\.kept))
        case .changeControl(let change):
            self.finishControl(change, try result.expect(\.control), for: request)
        case .createPush:
            let job = try result.expect { $0.pushJob ?? nil }
            self.turn.emit(.reply(request, .pushJob(job)))
            self.followPush(job)
        case .changePush(let id, let holdsSteps):
            let job = try result.expect(\.pushJob)
            if holdsSteps { self.noteAnswer(id) }
            self.turn.emit(.reply(request, .pushJob(job)))
            if let job { self.followPush(job) }
        case .countAudience(let app, let audience, let counted):
            guard case .audience(let count, let next) = result else { throw UnexpectedAnswer() }
            self.finishCount(counted + count, next: next, of: audience, in: app, for: request)
        }
    }

    /// The store has not carried it out.
    mutating func takeBackAPI(_ asked: APIStoreRequest) {
        if case .signOut(let device) = asked { self.keepSignedIn(device) }
        if case .changeAccount(let user, let change) = asked { self.takeBackAccount(of: user, change) }
        if case .changePush(let id, let holdsSteps) = asked {
            if holdsSteps { self.noteAnswer(id) }
            self.runPushJobs()
        }
    }
}
