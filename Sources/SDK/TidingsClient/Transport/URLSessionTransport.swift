package import Foundation
import TidingsAppGroup
import TidingsWire

#if os(Linux)
    package import URLSessionWebSocket
#endif

/// WebSocket by `URLSessionWebSocketTask`, so that an app on Apple's systems links no network library. On Linux it is built and tested over
/// a stand-in of the same signatures (docs/app/apple.md); there apps use `NIOTransport`.
package struct URLSessionTransport: ClientTransport {
    private let configuration: URLSessionConfiguration

    package init(configuration: URLSessionConfiguration = .ephemeral) { self.configuration = configuration }

    package func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
        let connection = URLSessionConnection(self.configuration, events: events)
        connection.start(url)
        return connection
    }
}

private final class URLSessionConnection: NSObject, TransportConnection, URLSessionWebSocketDelegate {
    private struct State {
        var task: URLSessionWebSocketTask?
        var session: URLSession?
        var isOpen = false
        /// Why the task has ended; what the server sent before may still wait to be received.
        var endReason: String?
        var isEnded = false
        var queue: [[UInt8]] = []
        var isWriting = false
        var isClosing = false
        var isReading = true
        var isReceiving = false
    }

    private let state = Locked(State())
    private let configuration: URLSessionConfiguration
    private let events: @Sendable (TransportEvent) -> Void

    init(_ configuration: URLSessionConfiguration, events: @escaping @Sendable (TransportEvent) -> Void) {
        self.configuration = configuration
        self.events = events
    }

    func start(_ url: URL) {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        parts?.path = url.connectPath
        guard let address = parts?.url else { return self.end(reason: "\(url.absoluteString) is no address") }
        let session = URLSession(configuration: self.configuration, delegate: self, delegateQueue: nil)
        let task = session.webSocketTask(with: address, protocols: [WireFormat.protobuf.subprotocol])
        task.maximumMessageSize = FrameCodec.serverFrameBytesMax
        self.state.withLock { state in
            state.task = task
            state.session = session
        }
        task.resume()
    }

    func send(_ bytes: [UInt8]) {
        self.state.withLock { if !$0.isClosing { $0.queue.append(bytes) } }
        self.writeNext()
    }

    func close() {
        self.state.withLock { $0.isClosing = true }
        self.writeNext()
    }

    /// One message at a time, so that they leave in order; the close after the last.
    private func writeNext() {
        enum Work { case send(URLSessionWebSocketTask, [UInt8]), close(URLSessionWebSocketTask), nothing }
        let work: Work = self.state.withLock { state in
            guard let task = state.task, !state.isWriting else { return .nothing }
            guard !state.queue.isEmpty else { return state.isClosing ? .close(task) : .nothing }
            state.isWriting = true
            return .send(task, state.queue.removeFirst())
        }
        switch work {
        case .nothing: break
        case .close(let task):
            task.cancel(with: .normalClosure, reason: nil)
            self.end(reason: "closed", lettingTasksFinish: true)
        case .send(let task, let bytes):
            task.send(.data(Data(bytes))) { error in
                self.state.withLock { $0.isWriting = false }
                if let error { return self.end(reason: "\(error)") }
                self.writeNext()
            }
        }
    }

    func limitReceived(to bytes: Int) { self.state.withLock { $0.task }?.maximumMessageSize = bytes }

    func setReading(_ isReading: Bool) {
        let task = self.state.withLock { state in
            state.isReading = isReading
            return state.task
        }
        if let task { self.receiveNext(task) }
    }

    private func receiveNext(_ task: URLSessionWebSocketTask) {
        let asks = self.state.withLock { state in
            guard state.isReading, !state.isReceiving, !state.isEnded else { return false }
            state.isReceiving = true
            return true
        }
        guard asks else { return }
        task.receive { result in
            self.state.withLock { $0.isReceiving = false }
            // Nothing may follow `closed`.
            guard !self.state.withLock({ $0.isEnded }) else { return }
            switch result {
            case .success(let message): if let bytes = Self.bytes(of: message) { self.events(.received(bytes)) }
            case .failure(let error):
                // The own close ends the receiving, too, perhaps before `writeNext` says so.
                let (isOwn, reason) = self.state.withLock { ($0.isClosing, $0.endReason) }
                return self.end(reason: isOwn ? "closed" : reason ?? "\(error)", lettingTasksFinish: isOwn)
            }
            self.receiveNext(task)
        }
    }

    private static func bytes(of message: URLSessionWebSocketTask.Message) -> [UInt8]? {
        switch message {
        case .data(let data): [UInt8](data)
        case .string(let text): Array(text.utf8)
        @unknown default: nil
        }
    }

    /// The session tells of the end beside the receiving: a refusal that the server sent before it closed would be lost if that were the
    /// end. Receiving fails when nothing is left, and ends the connection.
    private func endWhenAllIsReceived(reason: String) {
        let task = self.state.withLock { state -> URLSessionWebSocketTask? in
            if state.endReason == nil { state.endReason = reason }
            return state.isOpen ? state.task : nil
        }
        if let task { self.receiveNext(task) } else { self.end(reason: reason) }
    }

    /// - Parameter lettingTasksFinish: whether the close frame still has to leave.
    private func end(reason: String, lettingTasksFinish: Bool = false) {
        let session: URLSession?? = self.state.withLock { state in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            state.isClosing = true
            state.queue = []
            state.task = nil
            return .some(state.session)
        }
        guard let session else { return }
        self.events(.closed(reason: reason))
        if lettingTasksFinish { session?.finishTasksAndInvalidate() } else { session?.invalidateAndCancel() }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        let isWanted = self.state.withLock { state in
            state.isOpen = true
            return !state.isEnded
        }
        guard isWanted else { return }
        self.events(.opened)
        self.receiveNext(webSocketTask)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { self.endWhenAllIsReceived(reason: "the server closed the connection") }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.endWhenAllIsReceived(reason: error.map { "\($0)" } ?? "the connection ended")
    }
}
