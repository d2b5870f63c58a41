import APNsClient
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

    private struct Entry {
        var sender: any PushSender
        var inFlight = 0
        var isRetired = false
    }

    private let eventLoop: any EventLoop
    private let make: Make
    private var routes = PushRoutes()
    private var entries: [PushClient: Entry] = [:]
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
        self.eventLoop.assertInEventLoop()
        let (route, effects) = self.routes.client(for: lane, at: wall)
        self.carryOut(effects)
        guard let client = route else { return false }
        let sender = try self.sender(for: client)
        self.entries[client]?.inFlight += 1
        let completion = NIOLoopBound(completion, eventLoop: self.eventLoop)
        sender.send(request) { outcome in
            self.eventLoop.execute {
                self.ended(client, lane.topic, outcome)
                completion.value(outcome)
            }
        }
        return true
    }

    private func sender(for client: PushClient) throws -> any PushSender {
        if let entry = self.entries[client] {
            // One that is rolled back to may still have answers to get.
            self.entries[client]?.isRetired = false
            return entry.sender
        }
        let sender = try self.make(client)
        sender.reportLanes { [weak self] topic, state in
            self?.eventLoop.execute { self?.handleReport(of: client, topic, state) }
        }
        self.entries[client] = Entry(sender: sender)
        return sender
    }

    private func handleReport(of client: PushClient, _ topic: String?, _ state: LaneState) {
        self.carryOut(self.routes.report(of: client, topic: topic, state, at: Clocks.now().wall))
    }

    private func ended(_ client: PushClient, _ topic: String, _ outcome: APNsOutcome) {
        if case .accepted = outcome { self.carryOut(self.routes.accepted(by: client, topic: topic)) }
        self.entries[client]?.inFlight -= 1
        self.closeIfRetired(client)
    }

    private func carryOut(_ effects: [PushRoutes.Effect]) {
        for effect in effects {
            switch effect {
            case .report, .note: self.onEffect(effect)
            case .retire(let client):
                self.entries[client]?.isRetired = true
                self.closeIfRetired(client)
            }
        }
    }

    private func closeIfRetired(_ client: PushClient) {
        guard let entry = self.entries[client], entry.isRetired, entry.inFlight == 0 else { return }
        self.entries[client] = nil
        self.close(entry.sender)
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
            for entry in self.entries.values { self.close(entry.sender) }
            self.entries = [:]
            return self.closing
        }
        try? await closed.get()
    }
}
