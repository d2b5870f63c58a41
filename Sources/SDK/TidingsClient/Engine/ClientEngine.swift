import ClientCore
import Foundation
import Synchronization
import TidingsModel
import TidingsWire

/// Runs a `ClientCore` for one person: performs its effects in order and hands their results back. Decides nothing.
///
/// All events go through one stream, and one task owns the core; an effect list is finished before the next event.
final class ClientEngine: Sendable {
    /// What the engine works with.
    struct Parts: Sendable {
        var core: ClientCore
        var store: LocalStore
        var group: AppGroup?
        var transport: any ClientTransport
        var serverURL: URL
        var clock: any ClientClock
        /// Tells this process's claims in the ledger from an earlier one's.
        var processNumber: UInt64
        var outlets: Outlets
    }

    /// Where the engine tells the app.
    struct Outlets: Sendable {
        var status: @Sendable (ConnectionStatus) -> Void
        var runState: @Sendable (RunState) -> Void
        var entries: @Sendable ([LogEntry]) -> Void
        var storeFault: @Sendable (String) -> Void
    }

    typealias TokenProvider = @Sendable () async throws -> String

    private struct Shared {
        var tokenProvider: TokenProvider
        var host: (any KitHost)?
        var connecting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var connects: UInt64 = 0
        var lastReason = "the connection is still being made"
        var sending: [ClientMessageID: CheckedContinuation<Message, any Error>] = [:]
    }

    let person: UserID
    let store: LocalStore
    private let parts: Parts
    private let shared: Mutex<Shared>
    private let events: AsyncStream<ClientEvent>.Continuation
    private let task: Mutex<Task<Void, Never>?>

    init(person: UserID, parts: Parts, host: (any KitHost)?, tokenProvider: @escaping TokenProvider) {
        self.person = person
        self.store = parts.store
        self.parts = parts
        self.shared = Mutex(Shared(tokenProvider: tokenProvider, host: host))
        let (stream, continuation) = AsyncStream.makeStream(of: ClientEvent.self)
        self.events = continuation
        self.task = Mutex(nil)
        let task = Task { [self] in await self.run(stream) }
        self.task.withLock { $0 = task }
    }

    /// Hands an event to the core, after all earlier ones.
    func post(_ event: ClientEvent) { self.events.yield(event) }

    func setHost(_ host: (any KitHost)?) { self.shared.withLock { $0.host = host } }

    /// Wishes to be connected and waits for the server's welcome or refusal.
    ///
    /// - Parameter limit: how long to wait, in milliseconds; the wish outlives it.
    func connect(tokenProvider: @escaping TokenProvider, limit: Int64) async throws {
        let number = self.shared.withLock { shared in
            shared.tokenProvider = tokenProvider
            shared.connects += 1
            return shared.connects
        }
        let clock = self.parts.clock
        let deadline = clock.now.monotonic.addingReportingOverflow(limit)
        let timer = Task { [self] in
            await clock.sleep(untilMonotonic: deadline.overflow ? .max : deadline.partialValue)
            guard !Task.isCancelled else { return }
            let late = self.shared.withLock { ($0.connecting.removeValue(forKey: number), $0.lastReason) }
            late.0?.resume(throwing: ChatError.timedOut(reason: late.1))
        }
        defer { timer.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            self.shared.withLock { $0.connecting[number] = continuation }
            self.post(.connectWished)
        }
    }

    /// Hands a message to the outbox and waits for the server's answer.
    func send(_ draft: MessageDraft) async throws -> Message {
        try await withCheckedThrowingContinuation { continuation in
            self.shared.withLock { $0.sending[draft.clientMessageID] = continuation }
            self.post(.sendWished(draft))
        }
    }

    /// Ends the engine after everything posted before.
    func finish() async {
        self.events.finish()
        await self.task.withLock { $0 }?.value
        let left = self.shared.withLock { shared in
            let left = (shared.connecting, shared.sending)
            shared.connecting = [:]
            shared.sending = [:]
            return left
        }
        for (_, continuation) in left.0 { continuation.resume(throwing: ChatError.cancelled) }
        for (_, continuation) in left.1 { continuation.resume(throwing: ChatError.cancelled) }
    }

    // MARK: The loop

    private func run(_ stream: AsyncStream<ClientEvent>) async {
        var core = self.parts.core
        var connections: [ConnectionNumber: any TransportConnection] = [:]
        var timer: Task<Void, Never>?
        var armed: Int64?
        var effects: [ClientEffect] = []
        for await event in stream {
            effects.removeAll(keepingCapacity: true)
            core.handle(event, at: self.parts.clock.now, into: &effects)
            if case .connectionClosed(let number, _) = event { connections.removeValue(forKey: number) }
            for effect in effects { self.perform(effect, &connections) }
            guard core.nextDeadline != armed || event == .deadlineReached else { continue }
            timer?.cancel()
            armed = core.nextDeadline
            timer = armed.map { deadline in
                Task { [clock = self.parts.clock, events = self.events] in
                    await clock.sleep(untilMonotonic: deadline)
                    if !Task.isCancelled { events.yield(.deadlineReached) }
                }
            }
        }
        timer?.cancel()
        for connection in connections.values { connection.close() }
    }

    private func perform(_ effect: ClientEffect, _ connections: inout [ConnectionNumber: any TransportConnection]) {
        // tidy: long because it is one line per effect.
        switch effect {
        case .askToken: self.askToken()
        case .open(let number): connections[number] = self.open(number)
        case .sendFrame(let number, let frame): connections[number]?.send(FrameCodec.encode(frame, as: .protobuf))
        case .close(let number): connections[number]?.close()

        case .storeEntries(let entries):
            self.storing {
                let (stored, unread) = try self.store.write(entries, person: self.person)
                self.post(.entriesStored(upTo: stored, unread: unread))
            }
        case .storeSettled(let position): self.storing { try self.store.writeSettled(position) }
        case .storeOutgoing(let draft):
            self.storing {
                try self.store.writeOutgoing(draft)
                self.post(.outgoingStored(draft.clientMessageID))
            }
        case .removeOutgoing(let id): self.storing { try self.store.removeOutgoing(id) }
        case .storeRead(let conversation, let position):
            self.storing {
                self.post(.unreadCounted(try self.store.writeRead(conversation, upTo: position)))
            }
        case .resetLog: self.storing { try self.store.resetLog() }
        case .storeRecipient(let recipient): self.withGroup { $0.recipient = recipient }
        case .forgetPerson:
            self.storing { try self.store.forgetAll() }
            self.withGroup { contents in
                contents.recipient = nil
                contents.ledger = Ledger()
                if contents.badge != nil { contents.badge = Badge() }
            }
            self.shared.withLock { $0.host }?.showBadge(0)

        case .publishStatus(let status):
            if case .waiting(_, let reason) = status { self.shared.withLock { $0.lastReason = reason } }
            self.parts.outlets.status(status)
        case .publishRunState(let state): self.parts.outlets.runState(state)
        case .publishEntries(let entries): self.parts.outlets.entries(entries)
        case .finishSend(let id, let outcome): self.finishSend(id, outcome)
        case .finishConnect(let failure): self.finishConnect(failure)

        case .resolveNames(let id, let question):
            self.asking { host in .namesResolved(id, await host.names(question)) }
        case .askDelegate(let message, let name):
            self.asking { host in .delegateAnswered(message.id, handled: await host.handles(message, senderName: name))
            }
        case .claimRing(let id): self.claim(id)
        case .postNotification(let notification): self.postNotification(notification)
        case .markShown(let id):
            let holder = Ledger.Holder.kit(process: self.parts.processNumber)
            let wall = self.parts.clock.now.wall
            self.withGroup { $0.ledger.markShown(id, by: holder, wall: wall) }
        case .releaseClaim(let id):
            let holder = Ledger.Holder.kit(process: self.parts.processNumber)
            self.withGroup { $0.ledger.release(id, by: holder) }
        case .clearNotifications(let conversation):
            self.shared.withLock { $0.host }?.clearNotifications(conversation)
        case .writeBadge(let unread, let position): self.writeBadge(unread: unread, position: position)

        case .beginBackgroundTask: self.shared.withLock { $0.host }?.beginBackgroundTask()
        case .endBackgroundTask: self.shared.withLock { $0.host }?.endBackgroundTask()
        }
    }

    // MARK: Effects that take more than a line

    private func askToken() {
        let provider = self.shared.withLock { $0.tokenProvider }
        Task {
            do {
                self.post(.tokenProvided(try await provider()))
            } catch {
                self.post(.tokenFailed(reason: "\(error)"))
            }
        }
    }

    private func open(_ number: ConnectionNumber) -> any TransportConnection {
        self.parts.transport.open(self.parts.serverURL) { event in
            switch event {
            case .opened: self.post(.connectionOpened(number))
            case .received(let bytes):
                do {
                    let frame = try FrameCodec.decodeServerFrame(bytes, as: .protobuf)
                    self.post(.frameReceived(number, frame))
                } catch {
                    let problem = ServerFrame.Problem(code: .malformedFrame, rule: "\(error)")
                    self.post(.frameReceived(number, .problem(problem, isFatal: true)))
                }
            case .closed(let reason): self.post(.connectionClosed(number, reason: reason))
            }
        }
    }

    private func storing(_ work: () throws -> Void) {
        do {
            try work()
        } catch {
            self.parts.outlets.storeFault("\(error)")
            self.post(.storeFailed(reason: "\(error)"))
        }
    }

    /// Without an app group, and when its files cannot be written, there is no ledger and no badge; messages still come.
    @discardableResult
    private func withGroup<Value>(_ body: (inout AppGroup.Contents) -> Value) -> Value? {
        guard let group = self.parts.group else { return nil }
        do {
            return try group.update(body)
        } catch {
            self.parts.outlets.storeFault("\(error)")
            return nil
        }
    }

    private func finishConnect(_ failure: ConnectFailure?) {
        let waiting = self.shared.withLock { shared in
            let waiting = shared.connecting
            shared.connecting = [:]
            return waiting
        }
        for (_, continuation) in waiting {
            switch failure {
            case nil: continuation.resume()
            case .refused(let problem)?: continuation.resume(throwing: ChatError.refused(problem))
            case .noToken(let reason)?: continuation.resume(throwing: ChatError.noToken(reason: reason))
            case .cancelled?: continuation.resume(throwing: ChatError.cancelled)
            }
        }
    }

    private func finishSend(_ id: ClientMessageID, _ outcome: SendOutcome) {
        guard let continuation = self.shared.withLock({ $0.sending.removeValue(forKey: id) }) else { return }
        switch outcome {
        case .accepted(let message): continuation.resume(returning: message)
        case .refused(let problem): continuation.resume(throwing: ChatError.refused(problem))
        case .abandoned(let reason): continuation.resume(throwing: ChatError.notSent(reason: reason))
        }
    }

    /// Asks the host in a task of its own; without a host nothing is answered, and the core's limit decides.
    private func asking(_ question: @escaping @Sendable (any KitHost) async -> ClientEvent) {
        guard let host = self.shared.withLock({ $0.host }) else { return }
        Task { self.post(await question(host)) }
    }

    private func claim(_ id: MessageID) {
        let holder = Ledger.Holder.kit(process: self.parts.processNumber)
        let clock = self.parts.clock
        let verdict = self.withGroup { $0.ledger.claim(id, by: holder, wall: clock.now.wall) }
        guard verdict == .lookAtDelivered else {
            // Without an app group there is no extension to race with.
            return self.post(.ringClaimed(id, verdict ?? .granted))
        }
        self.asking { host in
            let isDelivered = await host.deliveredIdentifiers().contains(id.description)
            let second = self.withGroup {
                $0.ledger.claim(id, by: holder, isDelivered: isDelivered, wall: clock.now.wall)
            }
            return .ringClaimed(id, second ?? .granted)
        }
    }

    private func postNotification(_ notification: LocalNotification) {
        let badge: Int?? = self.withGroup { contents in
            contents.badge?.posted(unread: notification.unread, position: notification.position)
            return contents.badge?.shown
        }
        self.asking { host in
            .notificationPosted(notification.message, await host.post(notification, badge: badge ?? nil))
        }
    }

    private func writeBadge(unread: Int, position: LogPosition) {
        let shown: Int? = self.withGroup { contents in
            var badge = contents.badge ?? Badge()
            badge.resigned(unread: unread, position: position)
            contents.badge = badge
            return badge.shown
        }
        self.shared.withLock { $0.host }?.showBadge(shown ?? unread)
    }

    /// After a start: claims of an earlier process are settled by looking at the delivered list (DESIGN P3).
    func recoverLedger() {
        let process = self.parts.processNumber
        let clock = self.parts.clock
        let open = self.withGroup { $0.ledger.unsettled(process: process, wall: clock.now.wall) } ?? []
        guard !open.isEmpty, let host = self.shared.withLock({ $0.host }) else { return }
        Task {
            let delivered = Set(await host.deliveredIdentifiers().compactMap { MessageID($0) })
            self.withGroup { $0.ledger.recover(delivered: delivered, process: process, wall: clock.now.wall) }
        }
    }
}
