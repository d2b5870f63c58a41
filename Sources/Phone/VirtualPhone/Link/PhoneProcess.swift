public import PhoneCore
import Synchronization
public import TidingsModel

package protocol PhoneLink: Sendable {
    /// Keeps the order of one caller.
    func send(_ message: ProcessMessage)
    /// On any thread; waits for an answer that needs no person.
    func answer(to query: Query, number: QueryNumber) -> QueryAnswer?
}

/// The facts that a process is told when it starts.
public struct PhoneProcessFacts: Hashable, Sendable, JSONCodable {
    /// The kind of a process.
    public enum Role: String, Hashable, Sendable, CaseIterable, Codable {
        case app
        case notificationService
        case notificationContent

        var process: ProcessID.Role {
            switch self {
            case .app: .app
            case .notificationService: .serviceExtension
            case .notificationContent: .contentExtension
            }
        }
    }

    /// The kind of this process.
    public var role: Role
    /// The bundle identifier of the app; also in its extension.
    public var bundleID: String
    /// The system version, for example `17.2`.
    public var osVersion: String
    /// The name of the phone.
    public var phoneID: String
    /// The process's own folder.
    public var home: String
    /// The folders of the app groups the process belongs to, by group identifier.
    public var groups: [String: String]
    /// The app's entitlements.
    public var entitlements: Entitlements = []
    /// The file of the phone's keychain; nil on a phone without a folder.
    public var keychain: String?
    /// Apple's identifier of the phone's model.
    package var model: String { PhoneCore.model }

    private enum CodingKeys: String, CodingKey {
        case role, bundleID, osVersion
        case phoneID = "phone"
        case home, groups, entitlements, keychain
    }
}

/// The phone sees every call; Apple allows one.
package struct PhoneReply: Sendable {
    package let number: CallbackNumber
    let send: @Sendable (CallbackResult) -> Void

    package func callAsFunction(_ result: CallbackResult = .returned) { self.send(result) }
}

/// One running process of an app or an extension, as the facades see it: the end of the link inside the process.
///
/// In process mode there is one for the whole operating-system process. In one process there may be many; a task finds its
/// own by a task-local value, and a call from outside any phone is a programmer's error (design.md §7).
public final class PhoneProcess: Sendable {
    package typealias Handler = @MainActor @Sendable (Callback, PhoneReply) -> Void
    /// Returns false to leave a callback to the others.
    package typealias FacadeHandler = @MainActor @Sendable (Callback, PhoneReply) -> Bool

    private struct State {
        var applicationState = ApplicationState.background
        var isAlive = true
        var lastNumber: UInt64 = 0
        var waiting: [QueryNumber: @Sendable (QueryAnswer?) -> Void] = [:]
        var facades: [ObjectIdentifier: any Sendable] = [:]
        var handler: Handler?
        var facadeHandlers: [FacadeHandler] = []
        var early: [(Callback, PhoneReply)] = []
        var content: (any ContentExtensionHosting)?
        var views: (any ViewHosting)?
        var viewReporter: ViewReporter?
        var declared: DelegateMethods?
    }

    /// The facts that the process was told at its start.
    public let facts: PhoneProcessFacts
    private let link: any PhoneLink
    private let state = Mutex(State())

    package init(facts: PhoneProcessFacts, link: any PhoneLink) {
        self.facts = facts
        self.link = link
    }

    /// The process this code runs in.
    ///
    /// - Precondition: there is one; a thread, timer or detached task started outside a phone has none.
    public static var current: PhoneProcess {
        guard let process = self.currentIfAny else {
            fatalError("this call belongs to no virtual phone: use a task started by the app's own callbacks")
        }
        return process
    }

    /// The process this code runs in, if there is one.
    public static var currentIfAny: PhoneProcess? { PhoneContext.process ?? PhoneContext.processWide.withLock { $0 } }

    package var applicationState: ApplicationState { self.state.withLock { $0.applicationState } }

    /// False once the process has been killed: nothing it does reaches the phone any more.
    public var isAlive: Bool { self.state.withLock { $0.isAlive } }

    /// Not used before in this process; 1 or more.
    package func nextNumber() -> UInt64 {
        self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Made at first use.
    package func facade<Object: AnyObject & Sendable>(_ type: Object.Type, make: () -> Object) -> Object {
        let key = ObjectIdentifier(type)
        if let object = self.state.withLock({ $0.facades[key] }) as? Object { return object }
        let made = make()
        let kept = self.state.withLock { state in
            let kept = state.facades[key] ?? made
            state.facades[key] = kept
            return kept
        }
        return kept as? Object ?? made
    }

    /// nil if the process is killed first.
    package func query(_ query: Query) async -> QueryAnswer? {
        await withCheckedContinuation { continuation in self.sendQuery(query) { continuation.resume(returning: $0) } }
    }

    /// Asks in the calling thread, so that an app's calls reach the phone in the order they were made. The answer
    /// comes on any thread, maybe before this returns; nil if the process is killed first.
    private func sendQuery(_ query: Query, then resume: @escaping @Sendable (QueryAnswer?) -> Void) {
        let number = self.nextNumber()
        let isAlive = self.state.withLock { state in
            if state.isAlive { state.waiting[number] = resume }
            return state.isAlive
        }
        guard isAlive else { return resume(nil) }
        self.link.send(.event(.query(number, query)))
    }

    /// The handler runs in a task of the process; never if the process is killed first.
    package func query(_ query: Query, completion: @escaping @Sendable (QueryAnswer) -> Void) {
        self.sendQuery(query) { answer in
            guard let answer else { return }
            withPhoneProcess(self) { _ = Task { completion(answer) } }
        }
    }

    /// On any thread; nil if the process has been killed.
    package func queryNow(_ query: Query) -> QueryAnswer? {
        guard self.isAlive else { return nil }
        return self.link.answer(to: query, number: self.nextNumber())
    }

    package func report(_ event: ProcessEvent) { self.send(.event(event)) }

    package func send(_ message: ProcessMessage) {
        guard self.isAlive else { return }
        self.link.send(message)
    }

    /// Callbacks that came before are made now, in order.
    @MainActor package func setHandler(_ handler: @escaping Handler) {
        let early = self.state.withLock { state in
            state.handler = handler
            defer { state.early = [] }
            return state.early
        }
        for (callback, reply) in early { self.runHandlers(callback, reply, by: handler) }
    }

    /// Before the main thread serves the phone.
    @MainActor package func setContent(_ screen: any ContentExtensionHosting) {
        self.state.withLock { $0.content = screen }
    }

    package func setViews(_ host: any ViewHosting) { self.state.withLock { $0.views = host } }

    /// From now on the phone is told what is on the screen, for a phone that cannot look itself.
    @MainActor package func reportViews() {
        let reporter = ViewReporter(process: self)
        self.state.withLock { $0.viewReporter = reporter }
        reporter.look()
    }

    private var viewReporter: ViewReporter? { self.state.withLock { $0.viewReporter } }

    /// Nil in a process that shows nothing.
    package var views: (any ViewHosting)? { self.state.withLock { $0.views } }

    /// For a facade that handles callbacks of its own, such as PushKit's.
    package func addFacadeHandler(_ handler: @escaping FacadeHandler) {
        self.state.withLock { $0.facadeHandlers.append(handler) }
    }

    package func declare(_ methods: DelegateMethods) { self.state.withLock { $0.declared = methods } }

    /// nil before the app declared them, and in an extension.
    package var declaredMethods: DelegateMethods? { self.state.withLock { $0.declared } }

    @MainActor private func runHandlers(_ callback: Callback, _ reply: PhoneReply, by handler: Handler) {
        PhoneContext.$process.withValue(self) {
            let facades = self.state.withLock { $0.facadeHandlers }
            if facades.contains(where: { $0(callback, reply) }) { return }
            handler(callback, reply)
        }
    }

    /// On the main thread, in order.
    @MainActor package func receive(_ message: HostMessage) {
        guard self.isAlive else { return }
        switch message {
        case .call(let number, let callback, let state):
            self.state.withLock { $0.applicationState = state }
            self.handleCall(callback, number)
        case .state(let state): self.state.withLock { $0.applicationState = state }
        case .answer(let number, let answer): self.resolve(answer, for: number)
        case .input(let value): PhoneInput.yield(value, in: self)
        case .show(let notification): self.content?.receive(notification)
        case .respond(let number, let response): self.respond(response, number)
        case .touch(let number, let view, let action): self.touch(view, action, number)
        case .exit: self.kill()
        }
        self.viewReporter?.look()
    }

    /// Carries out a touch; the changes it made are told before the answer.
    @MainActor private func touch(_ view: String?, _ action: ViewAction, _ number: UInt64) {
        let answer = PhoneContext.$process.withValue(self) { self.views?.touch(view, action) }
        self.viewReporter?.look()
        self.send(.touched(number, answer ?? .noSuchView))
    }

    private var content: (any ContentExtensionHosting)? { self.state.withLock { $0.content } }

    @MainActor private func respond(_ response: UserResponse, _ number: UInt64) {
        guard let content = self.content else { return }
        withPhoneProcess(self) {
            _ = Task { @MainActor in self.send(.responded(number, await content.respond(response))) }
        }
    }

    /// On any thread.
    package func resolve(_ answer: QueryAnswer, for number: QueryNumber) {
        self.state.withLock { $0.waiting.removeValue(forKey: number) }?(answer)
    }

    /// Ends the process: its further acts have no effect.
    package func kill() {
        // Released outside the lock: a deinitializer may call back into the process.
        let ended = self.state.withLock { state in
            var ended = State()
            ended.isAlive = false
            ended.applicationState = state.applicationState
            swap(&state, &ended)
            return ended
        }
        let waiting = ended.waiting.sorted { $0.key < $1.key }.map(\.value)
        for resume in waiting { resume(nil) }
    }

    @MainActor private func handleCall(_ callback: Callback, _ number: CallbackNumber) {
        let reply = PhoneReply(number: number) { [weak self] result in self?.report(.callbackCompleted(number, result))
        }
        let handler = self.state.withLock { state -> Handler? in
            if state.handler == nil { state.early.append((callback, reply)) }
            return state.handler
        }
        guard let handler else { return }
        self.runHandlers(callback, reply, by: handler)
    }
}

/// A task-local value must not sit in an actor-isolated type (building-blocks.md).
enum PhoneContext {
    @TaskLocal static var process: PhoneProcess?
    /// For every thread of the operating-system process (process mode).
    static let processWide = Mutex<PhoneProcess?>(nil)
}

/// For threads, timers and detached tasks, which lose the phone.
package func withPhoneProcess<Result>(_ process: PhoneProcess, _ work: () throws -> Result) rethrows -> Result {
    try PhoneContext.$process.withValue(process, operation: work)
}
