public import Foundation
import Synchronization

/// How a session's tasks behave. Of Foundation's members those that a WebSocket needs.
///
/// `@unchecked Sendable`: one thread changes it at a time, before it is given to a session, which copies it.
public final class URLSessionConfiguration: @unchecked Sendable {
    /// A new configuration that keeps nothing on disk.
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    /// A new configuration with Foundation's defaults.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration() }

    /// How long a connection may take to open, in seconds.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// Linux only: a PEM file with the authorities to trust in place of the system's. On Apple's systems a profile installs them.
    public var certificateAuthorityFile: String?

    init() {}
}

/// Who is told of a session.
public protocol URLSessionDelegate: AnyObject, Sendable {}

/// Who is told of a session's tasks. All methods are optional on Apple's systems.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task has ended: nothing follows.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

/// Who is told of a session's WebSockets. All methods are optional on Apple's systems.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The server has agreed.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    /// The server has sent a close frame.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionTaskDelegate {
    /// Nothing, unless the delegate has it.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

extension URLSessionWebSocketDelegate {
    /// Nothing, unless the delegate has it.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {}
    /// Nothing, unless the delegate has it.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {}
}

/// Foundation's session, as far as WebSockets go, over NIO: on Linux Foundation's own has none that can be relied on. Holds its delegate
/// until it is invalidated, as on Apple's systems. All calls of a session come one after the other, on a queue of its own.
public final class URLSession: Sendable {
    private struct State {
        var delegate: (any URLSessionDelegate)?
        var tasks: [Int: URLSessionWebSocketTask] = [:]
        var lastTask = 0
        var isInvalidated = false
    }

    let configuration: URLSessionConfiguration
    private let queue: DispatchQueue
    private let state: Mutex<State>

    /// A session.
    ///
    /// - Parameter queue: nil for one of the session's own; others are not there on Linux.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        let copy = URLSessionConfiguration()
        copy.timeoutIntervalForRequest = configuration.timeoutIntervalForRequest
        copy.certificateAuthorityFile = configuration.certificateAuthorityFile
        self.configuration = copy
        self.queue = DispatchQueue(label: "URLSession")
        self.state = Mutex(State(delegate: delegate))
    }

    /// A WebSocket that opens when it is resumed.
    public func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        self.state.withLock { state in
            state.lastTask += 1
            let task = URLSessionWebSocketTask(state.lastTask, of: self, url, protocols)
            if state.isInvalidated { task.cancel() } else { state.tasks[state.lastTask] = task }
            return task
        }
    }

    /// Lets go of the delegate when the last task has ended; no new one begins.
    public func finishTasksAndInvalidate() { self.invalidate() }

    /// Ends all tasks, and lets go of the delegate.
    public func invalidateAndCancel() { for task in self.invalidate() { task.cancel() } }

    @discardableResult
    private func invalidate() -> [URLSessionWebSocketTask] {
        self.state.withLock { state in
            state.isInvalidated = true
            if state.tasks.isEmpty { state.delegate = nil }
            return state.tasks.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    func perform(_ work: @escaping @Sendable () -> Void) { self.queue.async(execute: work) }

    func callDelegate(_ call: @escaping @Sendable (any URLSessionDelegate) -> Void) {
        self.perform {
            if let delegate = self.state.withLock({ $0.delegate }) { call(delegate) }
        }
    }

    /// After everything the task has told.
    func finish(_ task: URLSessionWebSocketTask) {
        self.perform {
            self.state.withLock { state in
                state.tasks[task.taskIdentifier] = nil
                if state.isInvalidated, state.tasks.isEmpty { state.delegate = nil }
            }
        }
    }
}
