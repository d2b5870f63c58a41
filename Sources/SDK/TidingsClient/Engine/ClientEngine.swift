import ClientCore
import Foundation
import TidingsAppGroup
import TidingsModel
import TidingsWire

/// Runs a `ClientCore` for one person: carries out its effects in order and hands their results back. Decides
/// nothing. All events go through one stream, and one task owns the core; an effect list is finished before the next
/// event.
final class ClientEngine: Sendable {
    struct Parts: Sendable {
        var core: ClientCore
        var store: LocalStore
        var group: AppGroup?
        var tokens: (any ExtensionTokens)?
        var center: NotificationCenterWorker
        var transport: any ClientTransport
        var serverURL: URL
        var apiURL: URL?
        var clock: any ClientClock
        /// Tells this process's claims in the ledger from an earlier one's.
        var processNumber: UInt64
        var isForeground: Bool
        var settings = PersonSettings()
        var words = AppWords()
        var outlets: Outlets
    }

    struct Outlets: Sendable {
        var status: @Sendable (ConnectionStatus) -> Void
        var runState: @Sendable (RunState) -> Void
        var entries: @Sendable ([LogEntry]) -> Void
        var customMessage: @Sendable (CustomMessage) -> Void
        var signal: @Sendable (Signal) -> Void
        var problem: @Sendable (ClientProblem) -> Void
        var wakeFinished: @Sendable (WakeNumber, BackgroundRefreshResult) -> Void
        /// The person has signed out and the server does not know: the last token the app gave, and whether the
        /// server has welcomed the person.
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
        /// The core answers nothing that is requested from now on.
        var isFinished = false
        /// Identifies the person on this device since the last welcome (design.md P7).
        var recipientTag: String?
        var signingOut: [CheckedContinuation<Void, Never>] = []
        var sending: [ClientMessageID: CheckedContinuation<Message, any Error>] = [:]
        var requesting: [RequestNumber: CheckedContinuation<ClientAnswer, any Error>] = [:]
        var requests: RequestNumber = 0
        /// Closures that cancel the transfers under way.
        var transferring: [UInt64: @Sendable () -> Void] = [:]
        var transfers: UInt64 = 0
        /// The kit's own switch, and the person's setting for all devices.
        var showsContent = true
        var hidesContent: Bool
        var language: String?

        var hasEnded: Bool { self.isMute || self.isFinished }
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

    func post(_ event: ClientEvent) { self.events.yield(event) }

    func setHost(_ host: (any KitHost)?) { self.shared.withLock { $0.host = host } }

    /// Returns when the server has welcomed this device. The request to connect outlives `limit` (milliseconds).
    /// `requested` is called when the core has the request, before the answer.
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
        try await self.waitForAnswer(posted: requested) {
            (shared, continuation: CheckedContinuation<Void, any Error>) in
            shared.connecting[number] = continuation
            return .connectRequested
        }
    }

    /// Waits until the continuation that `register` stores is resumed by an effect.
    ///
    /// - Parameters:
    ///   - posted: called when the core has the event, before the answer.
    ///   - register: returns the event for the core.
    /// - Throws: `ChatError.cancelled` if the core answers nothing any more, and what the answer throws.
    func waitForAnswer<Answer>(
        posted: () -> Void = {},
        _ register: (inout Shared, CheckedContinuation<Answer, any Error>) -> ClientEvent
    ) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let event = self.shared.withLock { shared in
                shared.hasEnded ? nil : register(&shared, continuation)
            }
            guard let event else { return continuation.resume(throwing: ChatError.cancelled) }
            self.post(event)
            posted()
        }
    }

    /// Returns when the core has signed out; `keepPendingSignOut` tells what remains to be done.
    func signOut() async {
        self.cancelTransfers()
        await withCheckedContinuation { continuation in
            let isOver = self.shared.withLock { shared in
                if !shared.isFinished { shared.signingOut.append(continuation) }
                return shared.isFinished
            }
            if isOver { return continuation.resume() }
            self.post(.signOutRequested)
        }
    }

    func mute() { self.shared.withLock { $0.isMute = true } }

    func send(_ draft: MessageDraft) async throws -> Message {
        try await self.waitForAnswer { shared, continuation in
            shared.sending[draft.clientMessageID] = continuation
            return .sendRequested(draft)
        }
    }

    func finish() async {
        self.shared.withLock { $0.isFinished = true }
        self.cancelTransfers()
        self.events.finish()
        await self.task.withLock { $0 }?.value
        for waiting in self.shared.exchange(\.signingOut, []) { waiting.resume() }
        for waiting in self.shared.exchange(\.connecting, [:]).values { waiting.resume(throwing: ChatError.cancelled) }
        for waiting in self.shared.exchange(\.sending, [:]).values { waiting.resume(throwing: ChatError.cancelled) }
        for waiting in self.shared.exchange(\.requesting, [:]).values { waiting.resume(throwing: ChatError.cancelled) }
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
            // Answers to waiting callers come last: they find done what this event has led to.
            for effect in effects where !effect.answersCaller { self.carryOut(effect, &connections) }
            for effect in effects where effect.answersCaller { self.carryOut(effect, &connections) }
            if event == .signOutRequested {
                for waiting in self.shared.exchange(\.signingOut, []) { waiting.resume() }
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
        // The background task ends whatever the reason: the core is not asked what it still holds.
        self.shared.withLock { $0.host }?.endBackgroundTask(for: ObjectIdentifier(self))
    }

    private func carryOut(_ effect: ClientEffect, _ connections: inout [ConnectionNumber: any TransportConnection]) {
        // tidy: long because it is one line per effect.
        switch effect {
        case .askToken: self.askToken()
        case .open(let number): connections[number] = self.open(number)
        case .sendFrame(let number, let frame): connections[number]?.send(FrameCodec.encode(frame, as: .protobuf))
        case .close(let number): connections[number]?.close()

        case .storeEntries, .skipEntries, .storeSettled, .storeOutgoing, .removeOutgoing, .storeRead,
            .storePendingChange, .markPendingChange,
            .removePendingChange, .addPendingChange, .storeSettings, .storeConversation, .storeOrigin:
            self.store(effect)
        case .resetLog:
            self.store(effect)
            // The number was counted at a position of the old log: any position of the new one is newer.
            self.withGroup { $0.badge?.restarted() }
        case .setStoreAside:
            self.storing { self.parts.outlets.problem(.storeSetAside(path: try self.store.renew().path)) }
        case .storeRecipient(let recipient): self.storeRecipient(recipient)
        case .noteHiddenContent(let hides):
            self.shared.withLock { $0.hidesContent = hides }
            self.shareSettings()
        case .noteLanguage(let language):
            self.shared.withLock { $0.language = language }
            self.shareSettings()
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
        case .nameSent(let id, let question): self.asking { host in .sentNamed(id, await host.names(question)) }
        case .learnNames(let question):
            guard let host = self.shared.withLock({ $0.host }) else { return }
            Task { self.remember(await host.names(question), for: question) }
        case .askDelegate(let message, let name):
            self.asking { host in .delegateAnswered(message.id, handled: await host.handles(message, senderName: name))
            }
        case .claimRing, .postNotification, .markShown, .markRecalled, .releaseClaim, .clearNotifications,
            .recallNotification, .lowerBadge, .writeBadge, .donate, .deleteDonations:
            if let work = effect.centerWork { self.requestCenterWork(work) }
        case .ringInForeground(let notification):
            self.shared.withLock { $0.host }?.ringInForeground(notification)
        case .readDeviceStatus: self.readDeviceStatus()

        case .beginBackgroundTask:
            self.shared.withLock { $0.host }?.beginBackgroundTask(for: ObjectIdentifier(self))
        case .endBackgroundTask: self.shared.withLock { $0.host }?.endBackgroundTask(for: ObjectIdentifier(self))
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
        let connection = self.parts.transport.open(self.parts.serverURL) { reader.handle($0) }
        reader.attach(connection)
        return connection
    }

    private func store(_ effect: ClientEffect) {
        guard let command = effect.storeCommand(for: self.person) else { return }
        self.storing(command) {
            let outcome = try self.store.carryOut(command)
            for event in command.events(after: outcome) { self.post(event) }
        }
    }

    /// - Parameter command: nil for the engine's own work.
    func storing(_ command: LocalStoreCommand? = nil, _ work: () throws -> Void) {
        do {
            try work()
        } catch {
            guard !self.reportDamage(error) else { return }
            self.parts.outlets.problem(.storeFault(reason: "\(error)"))
            self.post(command?.failure(reason: "\(error)") ?? .storeFailed(reason: "\(error)"))
        }
    }

    /// Tells the core if an error says that the store is damaged and it does not know yet.
    func reportDamage(_ error: any Error) -> Bool {
        guard self.store.isFirstDamage(error) else { return false }
        self.post(.storeDamaged(reason: "\(error)"))
        return true
    }

    /// Without an app group, or when its files cannot be written, there is no ledger and no badge; messages still
    /// come.
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

    /// The extension cannot ask the app's providers, so it uses the names they gave last.
    func remember(_ names: ResolvedNames, for question: NameQuestion) {
        guard names.user != nil || names.group != nil || names.memberCount != nil else { return }
        self.withGroup { contents in
            // Asked here, where forgetting the person waits: the app may have taken its time.
            guard !self.hasEnded else { return }
            if let group = question.group, let count = names.memberCount {
                contents.settings.remember(String(count), for: .memberCount(group))
            }
            if let name = names.user { contents.settings.remember(name, for: .user(question.sender)) }
            if let group = question.group, let name = names.group {
                contents.settings.remember(name, for: .conversation(group))
            }
        }
    }
}
