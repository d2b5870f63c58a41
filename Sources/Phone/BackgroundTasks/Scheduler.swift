public import Dispatch
import Foundation
import PhoneCore
import Synchronization
import VirtualPhone

/// Work that the system let begin (iOS 13).
public class BGTask: @unchecked Sendable {
    // The state is guarded by the lock.

    private struct State {
        var isDone = false
        var expirationHandler: (@Sendable () -> Void)?
    }

    /// The identifier of its request.
    public let identifier: String
    private let process: PhoneProcess
    private let state = Mutex(State())

    init(identifier: String, process: PhoneProcess) {
        self.identifier = identifier
        self.process = process
    }

    /// Called when the time is almost up; complete the task in it, or the app is killed (ios-delivery.md §7.1).
    public var expirationHandler: (@Sendable () -> Void)? {
        get { self.state.withLock { $0.expirationHandler } }
        set { self.state.withLock { $0.expirationHandler = newValue } }
    }

    /// The work is done; a second call says nothing.
    public func setTaskCompleted(success: Bool) {
        let isFirst = self.state.withLock { state in
            defer { state.isDone = true }
            return !state.isDone
        }
        guard isFirst else { return }
        self.process.report(.refreshTaskCompleted(identifier: self.identifier, success: success))
    }
}

/// Half a minute to refresh.
///
/// `@unchecked Sendable`: the state is the superclass's, under its lock.
public final class BGAppRefreshTask: BGTask, @unchecked Sendable {}
/// Minutes of work; never granted by a virtual phone.
///
/// `@unchecked Sendable`: the state is the superclass's, under its lock.
public final class BGProcessingTask: BGTask, @unchecked Sendable {}

/// Lets an app be woken at a good moment (iOS 13; ios-delivery.md §8).
public final class BGTaskScheduler: Sendable {
    private struct Handler {
        var queue: DispatchQueue?
        var launch: @Sendable (BGTask) -> Void
    }

    private struct State {
        var handlers: [String: Handler] = [:]
        var running: [String: BGTask] = [:]
    }

    private let process: PhoneProcess
    private let state = Mutex(State())

    private init(process: PhoneProcess) { self.process = process }

    /// The scheduler of the app this code belongs to.
    public static var shared: BGTaskScheduler {
        let process = PhoneProcess.current
        return process.facade(BGTaskScheduler.self) {
            let scheduler = BGTaskScheduler(process: process)
            process.addFacadeHandler { [weak scheduler] callback, reply in scheduler?.handle(callback, reply) ?? false }
            return scheduler
        }
    }

    /// Names the code of a task; to be called before `application(_:didFinishLaunchingWithOptions:)` returns.
    ///
    /// - Parameters:
    ///   - identifier: the task's identifier.
    ///   - queue: where the code runs; nil is a background queue.
    ///   - launchHandler: the code.
    /// - Returns: false if the identifier has code already.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping @Sendable (BGTask) -> Void
    ) -> Bool {
        let isNew = self.state.withLock { state in
            guard state.handlers[identifier] == nil else { return false }
            state.handlers[identifier] = Handler(queue: queue, launch: launchHandler)
            return true
        }
        if isNew { self.process.report(.refreshTaskRegistered(identifier: identifier)) }
        return isNew
    }

    /// Asks to be woken; a request of the same identifier is replaced. On any thread.
    ///
    /// - Throws: `BGTaskScheduler.Error`: not permitted, or not available now.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        guard let request = taskRequest as? BGAppRefreshTaskRequest else {
            return self.process.send(
                .log(level: "notice", text: "BGProcessingTaskRequest \(taskRequest.identifier) is never granted"))
        }
        if case .taskRefused(let error) = self.process.queryNow(.submitRefreshTask(request.value)) {
            throw Error(error)
        }
    }

    /// Takes a request back.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        self.process.report(.refreshTaskCancelled(identifier: identifier))
    }

    /// Takes all requests back.
    public func cancelAllTaskRequests() { self.process.report(.refreshTaskCancelled(identifier: nil)) }

    /// Requests that have not been granted.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        Self.requests(await self.process.query(.pendingRefreshTasks))
    }

    /// Requests that have not been granted.
    public func getPendingTaskRequests(completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void) {
        self.process.query(.pendingRefreshTasks) { completionHandler(Self.requests($0)) }
    }

    private static func requests(_ answer: QueryAnswer?) -> [BGTaskRequest] {
        guard case .refreshTasks(let requests) = answer else { return [] }
        return requests.map { BGAppRefreshTaskRequest($0) }
    }

    private func handle(_ callback: Callback, _ reply: PhoneReply) -> Bool {
        switch callback {
        case .refreshTaskLaunched(let identifier): self.launch(identifier)
        case .refreshTaskExpired(let identifier): self.state.withLock { $0.running[identifier] }?.expirationHandler?()
        default: return false
        }
        reply()
        return true
    }

    private func launch(_ identifier: String) {
        let task = BGAppRefreshTask(identifier: identifier, process: self.process)
        let handler = self.state.withLock { state in
            state.running[identifier] = task
            return state.handlers[identifier]
        }
        guard let handler else {
            return self.process.send(.fault("no launch handler is registered for the task \(identifier)"))
        }
        guard handler.queue !== DispatchQueue.main else { return handler.launch(task) }
        let process = self.process
        (handler.queue ?? .global()).async { withPhoneProcess(process) { handler.launch(task) } }
    }
}
