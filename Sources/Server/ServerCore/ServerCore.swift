import APNsModel
import DequeModule
import StoreModel
package import TidingsModel

/// The server's machine: sessions, leases, legs and pushes of every person it owns (design.md §3 "Owner"). Where to read
/// on: `PushVerdict` (when a push is sent), `Lease` (who listens), `TokenBurst` (when refused tokens stop a lane), `DeviceLegs`
/// (what is unfinished).
/// Times are monotonic milliseconds unless a comment says that they are of the wall clock.
package struct ServerCore: Sendable {
    enum State: Hashable, Sendable {
        case closed
        case open
        /// Connections still open at this monotonic time are closed.
        case draining(until: Int64)
        case drained
        case failed
    }

    var turn: Turn
    var messageIDs: MessageIDGenerator
    var isStorageFull = false

    // People: a slot each, so that timers and legs name them by a number.
    var slots: [UserKey: Int] = [:]
    var people: [Person] = []
    var freeSlots: [Int] = []
    var loadings: [Int: Loading] = [:]
    var recovery: Deque<UserKey> = []
    var recoveryLoads = 0
    /// Monotonic milliseconds: the newest alert of a person who has left memory.
    var forgottenAlertAt: Int64?
    /// The census, taken when a caller asks.
    var legCensus: LegCensus?

    var passed = PassedPushes()
    var pushRunner = PushRunner()

    /// `seed` is drawn by the shell; the jitter of every back-off comes from it.
    package init(settings: ServerSettings = ServerSettings(), seed: UInt64) {
        self.turn = Turn(settings: settings, chance: SplitMix64(seed: seed))
        self.messageIDs = MessageIDGenerator(node: settings.node)
    }

    /// When `ServerEvent.timeReached` is due, in monotonic milliseconds; nil for never.
    package var nextDeadline: Int64? {
        switch self.turn.state {
        case .open, .draining: self.turn.timers.next
        case .closed, .drained, .failed: nil
        }
    }

    package mutating func handle(_ event: consuming ServerEvent, at now: Now, into effects: inout [ServerEffect]) {
        let first = effects.count
        self.turn.now = now
        swap(&self.turn.effects, &effects)
        self.turn.state = self.transition(consume event)
        if !self.turn.shares.keysUnderWay.isEmpty { self.releaseKeys(since: first) }
        swap(&self.turn.effects, &effects)
    }

    package mutating func handle(_ event: ServerEvent, at now: Now) -> [ServerEffect] {
        var effects: [ServerEffect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    // tidy: long because it is one switch over (state, event).
    private mutating func transition(_ event: consuming ServerEvent) -> State {
        // Taken apart, not copied: an event is large.
        switch (self.turn.state, consume event) {
        // Start.
        case (.closed, .opened(let opening)):
            self.messageIDs = MessageIDGenerator(node: self.turn.settings.node, last: opening.lastMessageID)
            self.turn.identity = opening.identity
            self.applySettings(of: opening.control)
            self.recover(opening)
            self.resumePushJobs(opening.pushJobs)
            return .open
        case (.open, .opened), (.draining, .opened), (.drained, .opened), (.failed, .opened):
            self.turn.emit(.flagBug("the store was opened twice"))
            return self.turn.state

        // Work.
        case (.open, .accepted(let session, let address)):
            self.accept(session, from: address)
            return .open
        case (.open, .connected(let session, let hello, let verdict, let address)):
            self.connect(session, hello, verdict, from: address)
            return .open
        case (.open, .frame(let session, let frame, let bytes)),
            (.draining, .frame(let session, let frame, let bytes)):
            self.receive(frame, bytes: bytes, from: session)
            return self.turn.state
        case (.open, .tokenChecked(let session, let number, let verdict)),
            (.draining, .tokenChecked(let session, let number, let verdict)):
            self.finishRenewal(session, number, verdict)
            return self.turn.state
        case (.open, .heard(let session)), (.draining, .heard(let session)):
            self.recordSignOfLife(session)
            return self.turn.state
        case (.open, .disconnected(let session)):
            self.loseSession(session)
            return .open
        case (.open, .backlogExceeded(let session)), (.draining, .backlogExceeded(let session)):
            let problem = ServerFrame.Problem(code: .slowReader, rule: "reads more slowly than the server writes")
            self.endSession(session, because: problem)
            return self.afterDrainStep()
        case (.open, .timeReached):
            self.handleDueTimers()
            return .open
        case (.open, .api(let request, let command)), (.draining, .api(let request, let command)):
            self.serve(command, for: request)
            return self.turn.state
        case (.open, .timeZoneRead(let name, let facts)), (.draining, .timeZoneRead(let name, let facts)):
            self.handleTimeZone(name, facts)
            return self.turn.state
        case (.closed, .storageMeasured(let free)), (.open, .storageMeasured(let free)),
            (.draining, .storageMeasured(let free)), (.drained, .storageMeasured(let free)),
            (.failed, .storageMeasured(let free)):
            self.updateStorage(free: free)
            return self.turn.state

        // Answers.
        case (.open, .stored(_, .failed(let reason))), (.draining, .stored(_, .failed(let reason))),
            (.drained, .stored(_, .failed(let reason))), (.open, .storeFault(.failed(let reason))),
            (.draining, .storeFault(.failed(let reason))):
            self.failStore(because: reason)
            return .failed
        case (.open, .stored(let id, let result)), (.draining, .stored(let id, let result)):
            self.handleStoreResult(id, result)
            return self.afterDrainStep()
        case (.open, .storeFault(let result)), (.draining, .storeFault(let result)):
            self.endSessions(ofSetAside: result)
            return self.afterDrainStep()
        case (.open, .pushEnded(let push, let outcome)), (.draining, .pushEnded(let push, let outcome)),
            (.drained, .pushEnded(let push, let outcome)):
            self.endPush(push, .answered(outcome))
            return self.turn.state
        case (.open, .credentialMissing(let push)), (.draining, .credentialMissing(let push)),
            (.drained, .credentialMissing(let push)):
            self.endPush(push, .noCredential)
            return self.turn.state
        case (.open, .channelsAnswered(let request, let outcome)),
            (.draining, .channelsAnswered(let request, let outcome)),
            (.drained, .channelsAnswered(let request, let outcome)):
            self.finishChannels(request, outcome)
            return self.turn.state
        case (.closed, .laneReported(let app, let environment, let topic, let state)),
            (.open, .laneReported(let app, let environment, let topic, let state)),
            (.draining, .laneReported(let app, let environment, let topic, let state)):
            let scope = LaneScope(app: app, environment: environment, topic: topic)
            self.handleLaneReport(scope, state)
            return self.turn.state

        // Drain.
        case (.open, .drainRequested):
            return self.drain()
        case (.draining, .disconnected(let session)):
            self.forget(session)
            return self.afterDrainStep()
        case (.draining(let until), .timeReached):
            _ = self.turn.timers.popDue(self.turn.now)
            guard self.turn.now.monotonic >= until else { return self.turn.state }
            for session in self.turn.sessions.ids { self.close(session) }
            for session in self.turn.sessions.openings.keys.sorted() { self.close(session) }
            return self.afterDrainStep()

        // Work is refused before the start, while stopping, and after a failure.
        case (.closed, .connected(let session, _, _, _)), (.draining, .connected(let session, _, _, _)),
            (.drained, .connected(let session, _, _, _)), (.failed, .connected(let session, _, _, _)):
            self.turn.emit(.write(session, .problem(Self.unavailable, isFatal: true)))
            self.turn.emit(.close(session))
            return self.turn.state
        case (.closed, .api(let request, _)), (.drained, .api(let request, _)), (.failed, .api(let request, _)):
            self.turn.emit(.reply(request, .refused(Self.unavailable)))
            return self.turn.state
        case (.failed, .frame(let session, .send(let draft), _)):
            self.turn.emit(.write(session, .sendRefused(draft.clientMessageID, Self.unavailable)))
            return .failed
        case (.failed, .frame(let session, .request(let number, _), _)):
            self.turn.emit(.write(session, .answer(number, .refused(Self.unavailable))))
            return .failed
        case (.closed, .drainRequested):
            self.turn.emit(.drained)
            return .drained

        // Legal but late or early: nothing to do.
        case (.closed, .accepted), (.draining, .accepted), (.drained, .accepted), (.failed, .accepted),
            (.drained, .frame), (.failed, .frame), (.closed, .heard), (.drained, .heard), (.failed, .heard),
            (.closed, .disconnected), (.drained, .disconnected), (.failed, .disconnected), (.closed, .backlogExceeded),
            (.drained, .backlogExceeded), (.failed, .backlogExceeded), (.closed, .timeReached),
            (.drained, .timeReached),
            (.failed, .timeReached), (.draining, .drainRequested), (.drained, .drainRequested),
            (.failed, .drainRequested), (.failed, .stored), (.failed, .pushEnded), (.closed, .storeFault),
            (.drained, .storeFault), (.failed, .storeFault),
            (.failed, .credentialMissing), (.drained, .stored), (.drained, .timeZoneRead), (.failed, .timeZoneRead),
            (.drained, .tokenChecked), (.failed, .tokenChecked), (.drained, .laneReported), (.failed, .laneReported),
            (.failed, .channelsAnswered):
            return self.turn.state

        // Our own bug: answers without a question.
        case (.closed, .frame), (.closed, .stored), (.closed, .pushEnded), (.closed, .credentialMissing),
            (.closed, .timeZoneRead), (.closed, .tokenChecked), (.closed, .channelsAnswered):
            self.turn.emit(.flagBug("an event came before the store was opened"))
            return .closed
        }
    }

    package static let unavailable = ServerFrame.Problem(
        code: .unavailable, rule: "the server takes no work at the moment; try again later")
}
