import NIOCore
import Synchronization

/// The HTTP connections of one listener. When one more comes than there may be, the one that has waited longest for (the rest of) a
/// request is closed, so that connections on which nothing is asked keep nobody out.
final class HTTPConnections: Sendable {
    enum Closing: String, CaseIterable, Sendable {
        /// There was no room, and it had waited longest.
        case full
        /// The head of its first request did not come in time.
        case header
        case body
        case idle
        /// An answer was not read.
        case answer
    }

    let listener: Listener
    let limits: ServerConfiguration.Http

    private struct Connection {
        var channel: any Channel
        /// A number that grows; nil while a request is answered.
        var waitsSince: UInt64?
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var socket: (any Channel)?
        var clock: UInt64 = 0
    }

    private let connectionsMax: Int
    private let metrics: ServerMetrics
    private let state = Mutex(State())

    init(
        _ listener: Listener, connectionsMax: Int, limits: ServerConfiguration.Http, metrics: ServerMetrics
    ) {
        self.listener = listener
        self.connectionsMax = connectionsMax
        self.limits = limits
        self.metrics = metrics
    }

    /// The listener's socket, which is told when there is no room (`AcceptPause.Full`).
    func setSocket(_ socket: any Channel) { self.state.withLock { $0.socket = socket } }

    /// Closes another connection if there is no room, or this one if all others are being answered.
    func add(_ channel: any Channel) {
        let (count, closed, socket) = self.state.withLock { state -> (Int, (any Channel)?, (any Channel)?) in
            state.clock += 1
            state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, waitsSince: state.clock)
            guard state.connections.count > self.connectionsMax else { return (state.connections.count, nil, nil) }
            var longest: (id: ObjectIdentifier, since: UInt64)?
            for (id, connection) in state.connections {
                guard let since = connection.waitsSince, since < longest?.since ?? .max else { continue }
                longest = (id, since)
            }
            let closed = longest.flatMap { state.connections.removeValue(forKey: $0.id) }
            return (state.connections.count, closed?.channel, state.socket)
        }
        self.metrics.setHTTPConnections(self.listener, count)
        guard let closed else { return }
        self.countClosing(.full)
        socket?.pipeline.fireUserInboundEventTriggered(AcceptPause.Full())
        // Not before it is set up.
        closed.eventLoop.execute { closed.close(promise: nil) }
    }

    /// Whether it waits for (the rest of) a request, or has one that is being answered.
    func setWaiting(_ isWaiting: Bool, _ channel: any Channel) {
        self.state.withLock { state in
            state.clock += 1
            state.connections[ObjectIdentifier(channel)]?.waitsSince = isWaiting ? state.clock : nil
        }
    }

    func remove(_ channel: any Channel) {
        let count = self.state.withLock { state in
            state.connections.removeValue(forKey: ObjectIdentifier(channel))
            return state.connections.count
        }
        self.metrics.setHTTPConnections(self.listener, count)
    }

    func countClosing(_ reason: Closing) { self.metrics.countHTTPClosing(self.listener, reason) }
}
