import StoreModel
import TidingsModel

/// Requests under idempotency keys that are not answered yet. What was answered is the store's to know: these are gone with the process,
/// and so is whatever had not been stored.
struct KeysUnderWay: Sendable {
    private var requests: [APIRequestID: IdempotentRequest] = [:]
    private var keys: Set<IdempotencyKey> = []

    var isEmpty: Bool { self.requests.isEmpty }

    subscript(request: APIRequestID) -> IdempotentRequest? { self.requests[request] }

    /// False if another request with the key is not answered yet.
    mutating func begin(_ id: APIRequestID, _ request: IdempotentRequest) -> Bool {
        guard self.keys.insert(request.key).inserted else { return false }
        self.requests[id] = request
        return true
    }

    mutating func end(_ id: APIRequestID) {
        if let request = self.requests.removeValue(forKey: id) { self.keys.remove(request.key) }
    }
}

// A request with a key is looked up first, before anything could refuse it: its repeat gets the first answer also where the same request
// would be refused by now. If nothing is kept, it is carried out, and the store keeps the answer with its effect (`StoreCommand.once`).
extension ServerCore {
    mutating func serve(
        _ command: APICommand, as key: IdempotencyKey, _ fingerprint: [UInt8], for id: APIRequestID
    ) throws(ServerFrame.Problem) {
        let request = IdempotentRequest(
            key: key, fingerprint: fingerprint, keptMax: self.turn.settings.idempotencyKeysMax, at: self.turn.now.wall)
        guard self.turn.shares.keysUnderWay.begin(id, request) else { return self.turn.emit(.reply(id, .keyInUse)) }
        try self.turn.checkBacklog(of: .backend(key.app))
        self.turn.ask(.readKept(key, at: self.turn.now.wall), for: .api(id, .kept(command)), by: .backend(key.app))
    }

    mutating func finishLookup(_ id: APIRequestID, _ command: APICommand, _ kept: KeptAnswer?) {
        guard let kept else { return self.serve(command, for: id) }
        guard kept.fingerprint == self.turn.shares.keysUnderWay[id]?.fingerprint else {
            return self.turn.emit(.reply(id, .keyReused))
        }
        switch (command, kept.answer) {
        case (.createPush(let app, _), .accepted(let job, _, _)):
            self.turn.ask(.readPush(app, job), for: .api(id, .pushJob))
        case (.changePush(let app, let job, _), _):
            self.turn.ask(.readPush(app, job), for: .api(id, .pushJob))
        case (.registerInstallations(let app, let all), _):
            self.turn.shares.keysUnderWay.end(id)
            self.serve(.registerInstallations(app, all.map { $0.map(\.again) }), for: id)
        default:  // tidy: the others are answered at once
            let repeated = self.repeatedAnswer(to: command, kept) ?? Self.result(of: command, kept)
            self.turn.emit(.reply(id, repeated))
        }
    }

    /// The first answer once more.
    private static func result(of command: APICommand, _ kept: KeptAnswer) -> APIResult {
        switch (command, kept.answer) {
        case (.send(_, let draft, _, _), .accepted(let id, let sentAt, let isRepeat)):
            .accepted(Self.acceptance(ofRepeat: draft.clientMessageID, id, sentAt), isRepeat: isRepeat)
        case (.sendCustom(_, _, _, let clientID), .accepted(let id, let sentAt, let isRepeat)):
            .accepted(Self.acceptance(ofRepeat: clientID, id, sentAt), isRepeat: isRepeat)
        case (.request, .done): .answer(.done(0))
        case (.request, .invited(let users)): .answer(.invited(users, 0))
        case (.ring, .done): .ringing(at: kept.at)
        case (.issueToken, .done): .mayIssueToken(at: kept.at)
        default: .done  // tidy: every other command answers that it is done
        }
    }

    /// Once a request is answered, its key may be used again: the next one finds the answer, or is carried out if there is none.
    mutating func releaseKeys(since first: Int) {
        for case .reply(let request, _) in self.turn.effects[first...] { self.turn.shares.keysUnderWay.end(request) }
    }
}

extension PendingStoreRequest {
    /// The request of the HTTP API that is answered with the command's result.
    var apiRequest: APIRequestID? {
        switch self {
        // They look for what others need, or have kept.
        case .api(_, .kept), .api(_, .findRead), .api(_, .findUnread), .api(_, .pushJob), .api(_, .countAudience): nil
        case .api(let request, _): request
        case .clientRequest(_, let asked): if case .api(let request) = asked.requester { request } else { nil }
        default: nil  // tidy: devices and the core itself ask for the others
        }
    }
}
