package import APNsModel
import DequeModule
package import ServerCore
import StoreMachine
package import StoreModel
package import TidingsModel

/// The shipped server's decisions without a disk and a network: `ServerCore` on a `MemoryStore`, with every effect carried out at once.
/// The store answers within the same call, APNs accepts every push, and time zones are UTC. A class, as its store is one: a copy would
/// share what is stored, and nothing else.
package final class SimulatedServer {
    /// An output of the server, in the order in which it was decided.
    package enum Output: Hashable, Sendable {
        case write(SessionID, ServerFrame)
        case close(SessionID)
        /// The transport answers with `ServerEvent.heard` if the client's end is alive.
        case probe(SessionID)
        case push(APNsRequest)
        case reply(APIRequestID, APIResult)
        /// The store has carried out a command: what a test sees of the server's records.
        case stored(StoreCommand, StoreResult)
        case fault(String)
    }

    package typealias TokenCheck = @Sendable (String, Now) -> TokenVerdict

    private static let utc = TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)

    private var core: ServerCore
    private let store: MemoryStore
    private let epoch: UInt64
    private let checkToken: TokenCheck
    private var apiRequests: UInt64 = 0
    /// Sessions whose sign-out is not with the store yet.
    private var signingOut: Set<SessionID> = []

    /// - Parameter prepared: commands the store has carried out before the server is started.
    package init(
        settings: ServerSettings = ServerSettings(), seed: UInt64 = 1, prepared: [StoreCommand] = [], at now: Now,
        checkToken: @escaping TokenCheck
    ) {
        let store = MemoryStore()
        let first = store.open()
        _ = try? store.apply(prepared, epoch: first.epoch)
        let opening = store.open()
        self.core = ServerCore(settings: settings, seed: seed)
        self.store = store
        self.epoch = opening.epoch
        self.checkToken = checkToken
        _ = self.handle(.opened(opening), at: now)
    }

    /// A check that takes the token for the person's id. The extension token it issues is the time of the connect.
    package static func tokenIsUser(in app: AppID) -> TokenCheck {
        { token, now in
            .valid(
                CheckedToken(user: UserKey(app: app, user: UserID(token)), expiresAt: 1 << 53),
                extensionToken: String(now.wall))
        }
    }

    /// When `ServerEvent.timeReached` is due, in monotonic milliseconds.
    package var nextDeadline: Int64? { self.core.nextDeadline }

    /// A frame of a client, its hello included. A sign-out waits for what the client says next, or for its hanging up: a real disk is so slow
    /// that the server reads the client's ping behind it before it closes the session.
    package func receive(_ frame: ClientFrame, on session: SessionID, at now: Now) -> [Output] {
        switch frame {
        case .hello(let hello):
            return self.handle(.connected(session, hello, self.checkToken(hello.token, now)), at: now)
        case .signOut:
            self.signingOut.insert(session)
            return []
        case .send, .ack, .sync, .runState, .registerPush, .markRead, .deviceStatus, .opened, .request, .typing, .ping:
            return self.handle(.frame(session, frame), at: now) + self.finishSignOut(session, at: now)
        }
    }

    private func finishSignOut(_ session: SessionID, at now: Now) -> [Output] {
        self.signingOut.remove(session) == nil ? [] : self.handle(.frame(session, .signOut), at: now)
    }

    package func hangUp(_ session: SessionID, at now: Now) -> [Output] {
        self.finishSignOut(session, at: now) + self.handle(.disconnected(session), at: now)
    }

    /// A request of the HTTP API.
    ///
    /// - Returns: the answer, if it comes at once, and what else leaves the server.
    package func request(_ command: APICommand, at now: Now) -> (answer: APIResult?, outputs: [Output]) {
        self.apiRequests += 1
        let request = APIRequestID(self.apiRequests)
        var answer: APIResult?
        var outputs = self.handle(.api(request, command), at: now)
        outputs.removeAll { output in
            guard case .reply(request, let result) = output else { return false }
            answer = result
            return true
        }
        return (answer, outputs)
    }

    package func handle(_ event: ServerEvent, at now: Now) -> [Output] {
        var outputs: [Output] = []
        var events: Deque = [event]
        while let event = events.popFirst() {
            for effect in self.core.handle(event, at: now) {
                self.carryOut(effect, at: now, answers: &events, into: &outputs)
            }
        }
        return outputs
    }

    private func carryOut(
        _ effect: ServerEffect, at now: Now, answers: inout Deque<ServerEvent>, into outputs: inout [Output]
    ) {
        switch effect {
        case .write(let session, let frame): outputs.append(.write(session, frame))
        case .close(let session): outputs.append(.close(session))
        case .turnAway(let session, _): outputs.append(.close(session))
        case .probe(let session): outputs.append(.probe(session))
        case .store(let request, let command):
            let result = self.result(of: command)
            outputs.append(.stored(command, result))
            answers.append(.stored(request, result))
        case .push(let push, _, let request):
            outputs.append(.push(request))
            answers.append(.pushEnded(push, .accepted(apnsID: request.apnsID ?? "", uniqueID: nil)))
        case .pass(let push, _, let request):
            outputs.append(.push(request))
            answers.append(.pushEnded(push, .accepted(apnsID: request.apnsID ?? "", uniqueID: nil)))
        case .broadcast(let push, _, let broadcast):
            answers.append(.pushEnded(push, .accepted(apnsID: broadcast.requestID ?? "", uniqueID: nil)))
        case .manageChannels(let request, _, _): answers.append(.channelsAnswered(request, .noCredential))
        case .readTimeZone(let name): answers.append(.timeZoneRead(name, Self.utc))
        case .checkToken(let session, let number, let token):
            answers.append(.tokenChecked(session, number, self.checkToken(token, now)))
        case .reply(let request, let result): outputs.append(.reply(request, result))
        case .flagBug(let text), .stopForStoreFailure(let text): outputs.append(.fault(text))
        case .countEnd, .countRefusal, .countRefusedRegistration, .noteAct, .raiseAlarm, .clearAlarm, .storageChanged,
            .controlChanged, .drained, .report:
            break
        }
    }

    private func result(of command: StoreCommand) -> StoreResult {
        do {
            return try self.store.apply(command, epoch: self.epoch)
        } catch {
            return .failed("\(error)")
        }
    }

    // MARK: What the store holds

    /// - Parameter command: one that reads.
    package func read(_ command: StoreCommand) -> StoreResult? { try? self.store.apply(command, epoch: self.epoch) }

    /// A person's whole log, as a device is told it now.
    package func log(of person: UserKey) -> [LogEntry] {
        guard case .page(let page)? = self.read(.readLog(person, after: 0, limit: .max)) else { return [] }
        return page.entries
    }

    /// The unread messages of a person outside muted conversations, and how far their log reaches.
    package func unread(of person: UserKey) -> (count: Int, head: LogPosition) {
        guard case .unread(let report)? = self.read(.readUnread(person, nil)) else { return (0, 0) }
        return (report.counts.unread, report.head)
    }
}
