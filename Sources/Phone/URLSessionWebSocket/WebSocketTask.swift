public import Foundation
import NIOCore
import NIOWebSocket
import Synchronization

/// A task of a session. On Linux always a `URLSessionWebSocketTask`.
///
/// `@unchecked Sendable`: what changes is the subclass's, behind a lock.
public class URLSessionTask: @unchecked Sendable {
    /// Counts the tasks of a session.
    public let taskIdentifier: Int

    init(_ taskIdentifier: Int) { self.taskIdentifier = taskIdentifier }

    /// Begins.
    public func resume() {}
    /// Ends at once.
    public func cancel() {}
}

/// A WebSocket (RFC 6455). May be used from any thread.
///
/// `@unchecked Sendable`: what changes is behind a lock.
public final class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// A message sent or received.
    public enum Message: Sendable {
        case data(Data)
        case string(String)
    }

    /// Why a connection was closed (RFC 6455 §7.4.1). Raw values as Apple's.
    public enum CloseCode: Int, Sendable {
        case invalid = 0
        case normalClosure = 1000
        case goingAway = 1001
        case protocolError = 1002
        case unsupportedData = 1003
        case noStatusReceived = 1005
        case abnormalClosure = 1006
        case invalidFramePayloadData = 1007
        case policyViolation = 1008
        case messageTooBig = 1009
        case mandatoryExtensionMissing = 1010
        case internalServerError = 1011
        case tlsHandshakeFailure = 1015
    }

    typealias Receiver = @Sendable (Result<Message, any Error>) -> Void
    typealias Ender = @Sendable ((any Error)?) -> Void

    private struct State {
        var isResumed = false
        var channel: (any Channel)?
        /// Sent before the connection was open.
        var early: [(frame: WebSocketFrame, completion: Ender)] = []
        var received: [Message] = []
        var receivers: [Receiver] = []
        var pings: [Ender] = []
        var maximumMessageSize = 1_048_576
        var closeCode = CloseCode.invalid
        var closeReason: Data?
        var fault: (any Error)?
        var isClosing = false
        var isComplete = false
        var isPaused = false

        /// The channel that is to read on; nil if it does.
        mutating func resumeReading() -> (any Channel)? {
            guard self.isPaused else { return nil }
            self.isPaused = false
            return self.channel
        }
    }

    private let session: URLSession
    private let url: URL
    private let protocols: [String]
    private let state = Mutex(State())
    /// How long the server may take to answer a close frame.
    static let closeWait = TimeAmount.seconds(5)

    init(_ number: Int, of session: URLSession, _ url: URL, _ protocols: [String]) {
        self.session = session
        self.url = url
        self.protocols = protocols
        super.init(number)
    }

    /// A longer message ends the connection; in bytes, 1 MiB at first.
    public var maximumMessageSize: Int {
        get { self.state.withLock { $0.maximumMessageSize } }
        set { self.state.withLock { $0.maximumMessageSize = newValue } }
    }

    /// `invalid` as long as the connection is open.
    public var closeCode: CloseCode { self.state.withLock { $0.closeCode } }

    /// The reason that came, or went, with the close code.
    public var closeReason: Data? { self.state.withLock { $0.closeReason } }

    /// Connects.
    public override func resume() {
        let isFirst = self.state.withLock { state in
            defer { state.isResumed = true }
            return !state.isResumed && !state.isComplete
        }
        if isFirst { WebSocketConnector(task: self, self.session.configuration).connect(self.url, self.protocols) }
    }

    /// Ends at once; nothing is said to the server.
    public override func cancel() {
        self.fail(URLError(.cancelled))
        self.close()
    }

    /// Closes the connection; the server has five seconds to answer.
    public func cancel(with closeCode: CloseCode, reason: Data?) {
        let channel = self.state.withLock { state -> (any Channel)? in
            guard !state.isClosing, !state.isComplete else { return nil }
            state.isClosing = true
            if state.closeCode == .invalid {
                state.closeCode = closeCode
                state.closeReason = reason
            }
            return state.channel
        }
        guard let channel else { return self.cancel() }
        var data = channel.allocator.buffer(capacity: 2 + (reason?.count ?? 0))
        data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: closeCode.rawValue))
        if let reason { data.writeBytes(reason) }
        channel.writeAndFlush(Self.frame(.connectionClose, data), promise: nil)
        channel.eventLoop.scheduleTask(in: Self.closeWait) { channel.close(promise: nil) }
    }

    /// Sends a message; those before the connection is open wait for it. They leave in the order of the calls.
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let frame =
            switch message {
            case .data(let data): Self.frame(.binary, ByteBuffer(bytes: data))
            case .string(let text): Self.frame(.text, ByteBuffer(string: text))
            }
        self.write(frame, completionHandler)
    }

    /// Asks for a sign of life; called with nil when the pong is there.
    public func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        enum Now { case failure, write(resumes: (any Channel)?) }
        let now: Now = self.state.withLock { state in
            guard !state.isComplete, !state.isClosing else { return .failure }
            state.pings.append(pongReceiveHandler)
            return .write(resumes: state.resumeReading())
        }
        switch now {
        case .failure: self.perform { pongReceiveHandler(self.endError) }
        case .write(let channel):
            channel?.setOption(.autoRead, value: true).whenComplete { _ in }
            self.write(Self.frame(.ping, ByteBuffer())) { _ in }
        }
    }

    /// Called once, with the next message that was not received yet. Several that wait are served in the order of the calls.
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        enum Now { case message(Message), failure, wait }
        let (now, paused) = self.state.withLock { state -> (Now, (any Channel)?) in
            if state.receivers.isEmpty, !state.received.isEmpty {
                let message = state.received.removeFirst()
                // What is read on is a pong or the end, too, not a message alone.
                return (.message(message), state.received.isEmpty ? state.resumeReading() : nil)
            }
            guard !state.isComplete else { return (.failure, nil) }
            state.receivers.append(completionHandler)
            return (.wait, state.resumeReading())
        }
        paused?.setOption(.autoRead, value: true).whenComplete { _ in }
        switch now {
        case .message(let message): self.perform { completionHandler(.success(message)) }
        case .failure: self.perform { completionHandler(.failure(self.endError)) }
        case .wait: break
        }
    }

    // MARK: The channel's side

    private func perform(_ work: @escaping @Sendable () -> Void) { self.session.perform(work) }

    private var endError: any Error { self.state.withLock { $0.fault } ?? URLError(.networkConnectionLost) }

    private static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }

    private func write(_ frame: WebSocketFrame, _ completion: @escaping Ender) {
        enum Now { case write(any Channel), failure, wait }
        let now: Now = self.state.withLock { state in
            guard !state.isClosing, !state.isComplete else { return .failure }
            if let channel = state.channel { return .write(channel) }
            state.early.append((frame, completion))
            return .wait
        }
        switch now {
        case .write(let channel): self.write(frame, to: channel, completion)
        case .failure: self.perform { completion(self.endError) }
        case .wait: break
        }
    }

    private func write(_ frame: WebSocketFrame, to channel: any Channel, _ completion: @escaping Ender) {
        channel.writeAndFlush(frame).whenComplete { result in
            self.perform {
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error)
                }
            }
        }
    }

    func opened(_ channel: any Channel, protocol: String?) {
        let early = self.state.withLock { state -> [(frame: WebSocketFrame, completion: Ender)]? in
            guard !state.isComplete, !state.isClosing else { return nil }
            state.channel = channel
            defer { state.early = [] }
            return state.early
        }
        guard let early else { return channel.close(promise: nil) }
        let session = self.session
        session.callDelegate { delegate in
            (delegate as? any URLSessionWebSocketDelegate)?.urlSession(
                session, webSocketTask: self, didOpenWithProtocol: `protocol`)
        }
        for (frame, completion) in early { self.write(frame, to: channel, completion) }
    }

    func received(_ message: Message, bytes: Int, on channel: any Channel) {
        enum Now { case deliver(Receiver), pause, readOn, tooLong }
        let now: Now = self.state.withLock { state in
            guard bytes <= state.maximumMessageSize else { return .tooLong }
            if !state.receivers.isEmpty { return .deliver(state.receivers.removeFirst()) }
            state.received.append(message)
            // The pong comes behind it.
            guard state.pings.isEmpty else { return .readOn }
            state.isPaused = true
            return .pause
        }
        switch now {
        case .deliver(let receiver): self.perform { receiver(.success(message)) }
        // Nobody asks: the network holds the rest.
        case .pause: channel.setOption(.autoRead, value: false).whenComplete { _ in }
        case .readOn: break
        case .tooLong:
            self.fail(URLError(.dataLengthExceedsMaximum))
            self.cancel(with: .messageTooBig, reason: nil)
        }
    }

    func receivedPong() {
        let (ping, pausing) = self.state.withLock { state -> (Ender?, (any Channel)?) in
            guard !state.pings.isEmpty else { return (nil, nil) }
            let ping = state.pings.removeFirst()
            guard state.pings.isEmpty, !state.received.isEmpty else { return (ping, nil) }
            state.isPaused = true
            return (ping, state.channel)
        }
        pausing?.setOption(.autoRead, value: false).whenComplete { _ in }
        if let ping { self.perform { ping(nil) } }
    }

    /// The server has closed; its code is answered by the caller.
    func closed(_ number: Int?, _ reason: Data?) {
        let code = number.map { CloseCode(rawValue: $0) ?? .invalid } ?? .noStatusReceived
        let isOwn = self.state.withLock { state in
            defer { state.isClosing = true }
            if state.isClosing { return true }
            state.closeCode = code
            state.closeReason = reason
            return false
        }
        guard !isOwn else { return }
        let session = self.session
        session.callDelegate { delegate in
            (delegate as? any URLSessionWebSocketDelegate)?.urlSession(
                session, webSocketTask: self, didCloseWith: code, reason: reason)
        }
    }

    /// The first fault stays: later ones follow from it.
    func fail(_ error: any Error) { self.state.withLock { if $0.fault == nil { $0.fault = error } } }

    private func close() {
        if let channel = self.state.withLock({ $0.channel }) { channel.close(promise: nil) } else { self.complete() }
    }

    /// There is no connection, or none any more.
    func complete() {
        let ended = self.state.withLock { state -> State? in
            guard !state.isComplete else { return nil }
            let ended = state
            state.isComplete = true
            state.channel = nil
            (state.receivers, state.pings, state.early) = ([], [], [])
            if state.closeCode == .invalid { state.closeCode = .abnormalClosure }
            return ended
        }
        guard let ended else { return }
        let error = self.endError
        let told: (any Error)? = ended.isClosing ? ended.fault : error
        let session = self.session
        self.perform {
            for receiver in ended.receivers { receiver(.failure(error)) }
            for ping in ended.pings { ping(error) }
            for (_, completion) in ended.early { completion(error) }
        }
        session.callDelegate { delegate in
            (delegate as? any URLSessionTaskDelegate)?.urlSession(session, task: self, didCompleteWithError: told)
        }
        session.finish(self)
    }
}
