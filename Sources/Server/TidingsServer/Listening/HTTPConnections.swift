import NIOCore
import Synchronization

/// The HTTP connections of one listener. There are at most so many; when one more comes, the one that has waited longest for (the
/// rest of) a request is closed, so that connections on which nothing is asked keep nobody out.
final class HTTPConnections: Sendable {
    /// Why the server closed a connection.
    enum Closing: String, CaseIterable, Sendable {
        /// There was no room, and it had waited longest.
        case full
        /// The head of its first request did not come in time.
        case header
        /// A body did not come in time.
        case body
        /// It was not used.
        case idle
        /// An answer was not read.
        case answer
    }

    /// Which listener's they are.
    let listener: Listener
    /// Their time limits.
    let limits: ServerConfiguration.Http

    private struct Connection {
        var channel: any Channel
        /// A number that grows; nil while a request is answered.
        var waitsSince: UInt64?
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// The listener's socket, once it listens.
        var socket: (any Channel)?
        var clock: UInt64 = 0
    }

    private let connectionsMax: Int
    private let metrics: ServerMetrics
    private let state = Mutex(State())

    /// - Parameter connectionsMax: how many there may be at the same time, 1 or more.
    init(
        _ listener: Listener, connectionsMax: Int, limits: ServerConfiguration.Http, metrics: ServerMetrics
    ) {
        self.listener = listener
        self.connectionsMax = connectionsMax
        self.limits = limits
        self.metrics = metrics
    }

    /// The listener listens: its socket is told when there is no room (`AcceptPause.Full`).
    func listens(_ socket: any Channel) { self.state.withLock { $0.socket = socket } }

    /// Takes a connection; another one is closed if there is no room, or this one if all others are being answered.
    func opened(_ channel: any Channel) {
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
        self.metrics.httpConnections(self.listener, count)
        guard let closed else { return }
        self.closing(.full)
        socket?.pipeline.fireUserInboundEventTriggered(AcceptPause.Full())
        // Not before it is set up.
        closed.eventLoop.execute { closed.close(promise: nil) }
    }

    /// A connection waits for (the rest of) a request from now on, or has one that is being answered.
    func change(_ channel: any Channel, isWaiting: Bool) {
        self.state.withLock { state in
            state.clock += 1
            state.connections[ObjectIdentifier(channel)]?.waitsSince = isWaiting ? state.clock : nil
        }
    }

    /// A connection is gone.
    func closed(_ channel: any Channel) {
        let count = self.state.withLock { state in
            state.connections.removeValue(forKey: ObjectIdentifier(channel))
            return state.connections.count
        }
        self.metrics.httpConnections(self.listener, count)
    }

    /// Counts that the server closes a connection.
    func closing(_ reason: Closing) { self.metrics.httpClosed(self.listener, reason) }
}
