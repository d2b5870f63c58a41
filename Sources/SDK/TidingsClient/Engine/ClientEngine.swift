import ClientCore
import Foundation
import TidingsAppGroup
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
        /// Where the extension token lies; nil for the app group's file.
        var tokens: (any ExtensionTokens)?
        var center: NotificationCenterWorker
        var transport: any ClientTransport
        var serverURL: URL
        /// Where the extension finds the HTTP API.
        var apiURL: URL?
        var clock: any ClientClock
        /// Tells this process's claims in the ledger from an earlier one's.
        var processNumber: UInt64
        /// Where the app was when the core was made.
        var isForeground: Bool
        /// What the person has set for all their devices, as stored when the core was made.
        var settings = PersonSettings()
        /// What notifications say, by language.
        var words = AppWords()
        var outlets: Outlets
    }

    /// Where the engine tells the app.
    struct Outlets: Sendable {
        var status: @Sendable (ConnectionStatus) -> Void
        var runState: @Sendable (RunState) -> Void
        var entries: @Sendable ([LogEntry]) -> Void
        var customMessage: @Sendable (CustomMessage) -> Void
        var signal: @Sendable (Signal) -> Void
        var problem: @Sendable (ClientProblem) -> Void
        var wakeFinished: @Sendable (WakeNumber, BackgroundRefreshResult) -> Void
        /// The person has signed out and the server has not heard of it; the token is the last one the app gave, and whether
        /// the server has welcomed the person.
        var keepPendingSignOut: @Sendable (String?, Bool) -> Void
        var pendingSignOutEnded: @Sendable () -> Void
    }

    typealias TokenProvider = @Sendable () async throws -> String

    struct Shared {
        var tokenProvider: TokenProvider
        var host: (any KitHost)?
        var connecting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var connects: UInt64 = 0
        var lastReason = "the connection is still being made"
        var lastToken: String?
        /// A signed-out person's engine tells the app nothing any more.
        var isMute = false
        /// Nothing that is requested from now on is answered by the core any more.
        var isFinished = false
        /// Names the person on this device since the last welcome (DESIGN P7).
        var recipientTag: String?
        var signingOut: [CheckedContinuation<Void, Never>] = []
        var sending: [ClientMessageID: CheckedContinuation<Message, any Error>] = [:]
        var requesting: [RequestNumber: CheckedContinuation<ClientAnswer, any Error>] = [:]
        var requests: RequestNumber = 0
        /// The kit's own switch, and what the person has set for all their devices.
        var showsContent = true
        var hidesContent: Bool
        var language: String?
    }

    let person: UserID
    let store: LocalStore
    let parts: Parts
    let shared: Locked<Shared>
    private let events: AsyncStream<ClientEvent>.Continuation
    private let task: Locked<Task<Void, Never>?>
    private let intake = Intake()

    init(person: UserID, parts: Parts, host: (any KitHost)?, tokenProvider: @escaping TokenProvider) {
        self.person = person
        self.store = parts.store
        self.parts = parts
        self.shared = Locked(
            Shared(
                tokenProvider: tokenProvider, host: host, hidesContent: parts.settings.hidesContent,
                language: parts.settings.language))
        let (stream, continuation) = AsyncStream.makeStream(of: ClientEvent.self)
        self.events = continuation
        self.task = Locked(nil)
        let task = Task { [self] in await self.run(stream) }
        self.task.withLock { $0 = task }
    }

    /// Hands an event to the core, after all earlier ones.
    func post(_ event: ClientEvent) { self.events.yield(event) }

    func setHost(_ host: (any KitHost)?) { self.shared.withLock { $0.host = host } }

    /// Wishes to be connected and waits for the server's welcome or refusal.
    ///
    /// - Parameter limit: how long to wait, in milliseconds; the pending change outlives it.
    /// - Parameter requested: called when the pending change was handed to the core, before the answer.
    func connect(
        tokenProvider: @escaping TokenProvider, limit: Int64, requested: @Sendable () -> Void = {}
    ) async throws {
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
            let isOver = self.shared.withLock { shared in
                if shared.isMute || shared.isFinished { return true }
                shared.connecting[number] = continuation
                return false
            }
            if isOver { return continuation.resume(throwing: ChatError.cancelled) }
            self.post(.connectRequested)
            requested()
        }
    }

    /// Signs out; returns when the core has done so. What is left to say is told by the outlet `keepPendingSignOut`.
    func signOut() async {
        await withCheckedContinuation { continuation in
            let isOver = self.shared.withLock { shared in
                if !shared.isFinished { shared.signingOut.append(continuation) }
                return shared.isFinished
            }
            if isOver { return continuation.resume() }
            self.post(.signOutRequested)
        }
    }

    /// The app hears nothing of this engine any more.
    func mute() { self.shared.withLock { $0.isMute = true } }

    /// Hands a message to the outbox and waits for the server's answer.
    func send(_ draft: MessageDraft) async throws -> Message {
        try await withCheckedThrowingContinuation { continuation in
            let isOver = self.shared.withLock { shared in
                if shared.isMute || shared.isFinished { return true }
                shared.sending[draft.clientMessageID] = continuation
                return false
            }
            if isOver { return continuation.resume(throwing: ChatError.cancelled) }
            self.post(.sendRequested(draft))
        }
    }

    /// Ends the engine after everything posted before.
    func finish() async {
        self.shared.withLock { $0.isFinished = true }
        self.events.finish()
        await self.task.withLock { $0 }?.value
        let left = self.shared.withLock { shared in
            let left = (shared.connecting, shared.sending, shared.signingOut, shared.requesting)
            shared.connecting = [:]
            shared.sending = [:]
            shared.signingOut = []
            shared.requesting = [:]
            return left
        }
        for continuation in left.2 { continuation.resume() }
        for (_, continuation) in left.0 { continuation.resume(throwing: ChatError.cancelled) }
        for (_, continuation) in left.1 { continuation.resume(throwing: ChatError.cancelled) }
        for (_, continuation) in left.3 { continuation.resume(throwing: ChatError.cancelled) }
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
            if case .frameReceived = event { self.intake.handled() }
            // What lets a waiting caller go on comes last: it finds done what this event has led to.
            for effect in effects where !effect.answersCaller { self.perform(effect, &connections) }
            for effect in effects where effect.answersCaller { self.perform(effect, &connections) }
            if event == .signOutRequested {
                let waiting = self.shared.withLock { shared in
                    defer { shared.signingOut = [] }
                    return shared.signingOut
                }
                for continuation in waiting { continuation.resume() }
            }
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

        case .storeEntries, .skipEntries, .storeSettled, .storeOutgoing, .removeOutgoing, .storeRead,
            .storePendingChange,
            .removePendingChange, .addPendingChange, .storeSettings, .storeConversation, .storeOrigin:
            self.store(effect)
        case .resetLog:
            self.store(effect)
            // The number was counted at a position of the other log: any of the new one's is newer.
            self.withGroup { $0.badge?.restarted() }
        case .setStoreAside:
            self.storing { self.parts.outlets.problem(.storeSetAside(path: try self.store.renew().path)) }
        case .storeRecipient(let recipient): self.storeRecipient(recipient)
        case .noteHiddenContent(let hides):
            self.shared.withLock { $0.hidesContent = hides }
            self.noteSettings()
        case .noteLanguage(let language):
            self.shared.withLock { $0.language = language }
            self.noteSettings()
        case .readTimeZone(let name):
            self.post(.timeZoneRead(name, TimeZoneFacts(named: name, at: self.parts.clock.now.wall)))
        case .forgetPerson:
            self.forgetPerson()
            if let work = effect.centerWork { self.requestCenterWork(work) }

        case .publishStatus, .publishRunState, .publishEntries, .handOverCustomMessages, .publishProblem,
            .publishSignal:
            if !self.shared.withLock({ $0.isMute }) { self.publish(effect) }
        case .finishWake(let number, let result): self.parts.outlets.wakeFinished(number, result)
        case .keepPendingSignOut:
            let (token, tag) = self.shared.withLock { ($0.lastToken, $0.recipientTag) }
            self.parts.outlets.keepPendingSignOut(token, tag != nil)
        case .pendingSignOutEnded: self.parts.outlets.pendingSignOutEnded()
        case .finishSend(let id, let outcome): self.finishSend(id, outcome)
        case .finishRequest(let number, let outcome): self.finishRequest(number, outcome)
        case .finishConnect(let failure): self.finishConnect(failure)

        case .resolveNames(let id, let question):
            self.asking { host in
                let names = await host.names(question)
                self.remember(names, for: question)
                return .namesResolved(id, names)
            }
        case .askDelegate(let message, let name):
            self.asking { host in .delegateAnswered(message.id, handled: await host.handles(message, senderName: name))
            }
        case .claimRing, .postNotification, .markShown, .markRecalled, .releaseClaim, .clearNotifications,
            .recallNotification, .lowerBadge, .writeBadge:
            if let work = effect.centerWork { self.requestCenterWork(work) }
        case .readDeviceStatus: self.readDeviceStatus()

        case .beginBackgroundTask: self.shared.withLock { $0.host }?.beginBackgroundTask()
        case .endBackgroundTask: self.shared.withLock { $0.host }?.endBackgroundTask()
        }
    }

    // MARK: Effects that take more than a line

    private func askToken() {
        let provider = self.shared.withLock { $0.tokenProvider }
        Task {
            do {
                let token = try await provider()
                self.shared.withLock { $0.lastToken = token }
                self.post(.tokenProvided(token))
            } catch {
                self.post(.tokenFailed(reason: "\(error)"))
            }
        }
    }

    private func open(_ number: ConnectionNumber) -> any TransportConnection {
        let reader = FrameReader(number: number, intake: self.intake) { self.post($0) }
        let connection = self.parts.transport.open(self.parts.serverURL) { reader.take($0) }
        reader.attach(connection)
        return connection
    }

    /// Carries out what the core asks of the local store, and tells it what came of that.
    private func store(_ effect: ClientEffect) {
        guard let command = effect.storeCommand(for: self.person) else { return }
        self.storing(command) {
            let outcome = try self.store.carryOut(command)
            for event in command.events(after: outcome) { self.post(event) }
        }
    }

    /// - Parameter command: what is carried out; nil for what is the engine's own.
    func storing(_ command: LocalStoreCommand? = nil, _ work: () throws -> Void) {
        do {
            try work()
        } catch {
            guard !self.tellsDamage(error) else { return }
            self.parts.outlets.problem(.storeFault(reason: "\(error)"))
            self.post(command?.failure(reason: "\(error)") ?? .storeFailed(reason: "\(error)"))
        }
    }

    /// Tells the core if an error says that the store is damaged and nobody has told it yet.
    func tellsDamage(_ error: any Error) -> Bool {
        guard self.store.isFirstDamage(error) else { return false }
        self.post(.storeDamaged(reason: "\(error)"))
        return true
    }

    /// Without an app group, and when its files cannot be written, there is no ledger and no badge; messages still come.
    @discardableResult
    func withGroup<Value>(_ body: (inout AppGroup.Contents) -> Value) -> Value? {
        guard let group = self.parts.group else { return nil }
        do {
            return try group.update(body)
        } catch {
            self.parts.outlets.problem(.storeFault(reason: "\(error)"))
            return nil
        }
    }

    /// The extension cannot ask the app's providers; it takes the names they gave last.
    private func remember(_ names: ResolvedNames, for question: NameQuestion) {
        guard names.user != nil || names.group != nil else { return }
        self.withGroup { contents in
            if let name = names.user { contents.settings.remember(name, for: .user(question.sender)) }
            if let group = question.group, let name = names.group {
                contents.settings.remember(name, for: .conversation(group))
            }
        }
    }
}
