import APNsModel
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

/// The senders of all apps, by the routes that `PushRoutes` chooses: each is made when the first push needs it, and closed when its credential
/// is no longer used and what it has is answered, so that a push that is under way is answered by whom it was given to.
///
/// `@unchecked Sendable`: everything that changes is used on the owner loop only; what is called from elsewhere hops there first.
final class PushSenders: @unchecked Sendable {
    typealias Make = @Sendable (PushClient) throws -> any PushSender

    /// Between choosing a credential and looking it up it cannot go: both happen on the loop that changes them.
    struct Gone: Error {}

    /// A sender that has been made. A retired sender is not used again. A credential that returns gets a new sender without history.
    private final class Open {
        let sender: any PushSender
        var inFlight = 0
        var isRetired = false

        init(_ sender: any PushSender) { self.sender = sender }
    }

    private let eventLoop: any EventLoop
    private let make: Make
    private var routes = PushRoutes()
    private var open: [PushClient: Open] = [:]
    /// Retired senders that wait for their last answers, in no order.
    private var retired: [Open] = []
    /// On the loop.
    private var onEffect: (PushRoutes.Effect) -> Void = { _ in }
    /// Done when all are that were told to close.
    private var closing: EventLoopFuture<Void>

    /// - Parameter make: throws what is wrong with credential or configuration, in words.
    init(eventLoop: any EventLoop, make: @escaping Make) {
        self.eventLoop = eventLoop
        self.make = make
        self.closing = eventLoop.makeSucceededVoidFuture()
    }

    /// - Parameter handler: called on the loop; not with `.retire`, which is seen to here.
    func onEffect(_ handler: @escaping (PushRoutes.Effect) -> Void) { self.onEffect = handler }

    // MARK: On the loop

    func follow(_ app: ManagedApp, at wall: Int64) {
        self.eventLoop.assertInEventLoop()
        self.carryOut(self.routes.follow(app, at: wall))
    }

    /// Hands a push to its sender.
    ///
    /// - Parameter completion: called on the loop.
    /// - Returns: false if there is no credential for it; then `completion` is not called.
    func send(
        _ request: APNsRequest, of lane: PushLane, at wall: Int64, completion: @escaping (APNsOutcome) -> Void
    ) throws -> Bool {
        try self.submit(lane, at: wall, { $0.send(request, completion: $1) }) { client, outcome in
            if case .accepted = outcome { self.carryOut(self.routes.accepted(by: client, topic: lane.topic)) }
            completion(outcome)
        }
    }

    /// Sends a broadcast like a push: to a channel, on behalf of the lane of the app's Live Activities.
    func send(
        _ broadcast: APNsBroadcast, of lane: PushLane, at wall: Int64, completion: @escaping (APNsOutcome) -> Void
    ) throws -> Bool {
        try self.submit(lane, at: wall, { $0.send(broadcast, completion: $1) }) { client, outcome in
            if case .accepted = outcome { self.carryOut(self.routes.accepted(by: client, topic: lane.topic)) }
            completion(outcome)
        }
    }

    /// Sends a request about the app's channels like a push.
    func manage(
        _ asked: APNsChannelRequest, of lane: PushLane, at wall: Int64, completion: @escaping (ChannelOutcome) -> Void
    ) throws -> Bool {
        try self.submit(lane, at: wall, { $0.manage(asked, completion: $1) }) { _, outcome in completion(outcome) }
    }

    private func submit<Outcome: Sendable>(
        _ lane: PushLane, at wall: Int64,
        _ submit: (any PushSender, @escaping @Sendable (Outcome) -> Void) -> Void,
        completion: @escaping (PushClient, Outcome) -> Void
    ) throws -> Bool {
        self.eventLoop.assertInEventLoop()
        let (route, effects) = self.routes.client(for: lane, at: wall)
        self.carryOut(effects)
        guard let client = route else { return false }
        let open: Open
        do {
            open = try self.opened(client)
        } catch {
            // It is looked for again when the credentials change.
            self.routes.strand(lane)
            throw error
        }
        open.inFlight += 1
        let bound = NIOLoopBound((open, completion), eventLoop: self.eventLoop)
        submit(open.sender) { [self] outcome in
            self.eventLoop.execute {
                let (open, completion) = bound.value
                open.inFlight -= 1
                completion(client, outcome)
                self.closeIfRetired(open)
            }
        }
        return true
    }

    private func opened(_ client: PushClient) throws -> Open {
        if let open = self.open[client] { return open }
        let open = Open(try self.make(client))
        let bound = NIOLoopBound(open, eventLoop: self.eventLoop)
        open.sender.reportLanes { [weak self, eventLoop = self.eventLoop] topic, state in
            eventLoop.execute { [weak self] in self?.handleReport(of: client, bound.value, topic, state) }
        }
        self.open[client] = open
        return open
    }

    private func handleReport(of client: PushClient, _ open: Open, _ topic: String?, _ state: LaneState) {
        // What a retired one says is not about the one that may be in its place.
        guard !open.isRetired else { return }
        self.carryOut(self.routes.report(of: client, topic: topic, state, at: Clocks.now().wall))
    }

    private func carryOut(_ effects: [PushRoutes.Effect]) {
        for effect in effects {
            switch effect {
            case .report, .note: self.onEffect(effect)
            case .retire(let client):
                guard let open = self.open.removeValue(forKey: client) else { break }
                open.isRetired = true
                self.retired.append(open)
                self.closeIfRetired(open)
            }
        }
    }

    private func closeIfRetired(_ open: Open) {
        guard open.isRetired, open.inFlight == 0 else { return }
        self.retired.removeAll { $0 === open }
        self.close(open.sender)
    }

    private func close(_ sender: any PushSender) {
        let before = self.closing
        self.closing = self.eventLoop.makeFutureWithTask { await sender.close() }.flatMap { before }
    }

    // MARK: From any thread

    /// Closes all; waits for the answers that are due.
    func close() async {
        let closed = self.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            // tidy: order does not leave: all are closed at once.
            for open in Array(self.open.values) + self.retired { self.close(open.sender) }
            self.open = [:]
            self.retired = []
            return self.closing
        }
        try? await closed.get()
    }
}
