import Foundation
import NIOCore
import ServerCore
import Synchronization
import TidingsModel

/// The HTTP connections of one listener. Tells `HTTPPlaces` what becomes of them, and closes the ones that it gives up, so that
/// neither connections on which nothing is asked nor answers that nobody reads keep others out or take the memory.
final class HTTPConnections: Sendable {
    enum Closing: String, CaseIterable, Sendable {
        /// There was no room, and it had waited longest, or its answer was read least.
        case full
        /// The head of its first request did not come in time.
        case header
        case body
        case idle
        /// An answer did not come, or was not read fast enough.
        case answer
        /// More answers were unread than may be, and its own was read least.
        case unread
    }

    let listener: Listener
    let limits: ServerConfiguration.Http

    private struct State {
        var places: HTTPPlaces<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
        var socket: (any Channel)?
    }

    private let metrics: ServerMetrics
    private let state: Mutex<State>

    init(
        _ listener: Listener, connectionsMax: Int, limits: ServerConfiguration.Http, metrics: ServerMetrics
    ) {
        self.listener = listener
        self.limits = limits
        self.metrics = metrics
        self.state = Mutex(
            State(
                places: HTTPPlaces(
                    .init(
                        connectionsMax: connectionsMax, unreadBytesMax: limits.unreadBytesMax,
                        bytesPerSecond: limits.answerBytesPerSecond,
                        stallMilliseconds: Int64(limits.answerMilliseconds),
                        answersPerPersonMax: limits.answersPerPersonMax,
                        unreadPerAddressMax: limits.unreadPerAddressMax))))
    }

    static func ofListeners(
        _ configuration: ServerConfiguration, _ metrics: ServerMetrics
    ) -> [Listener: HTTPConnections] {
        let places = [Listener.api: configuration.api.connectionsMax, .phone: configuration.phone.connectionsMax]
        return Dictionary(
            uniqueKeysWithValues: places.map { listener, most in
                (listener, .init(listener, connectionsMax: most, limits: configuration.http, metrics: metrics))
            })
    }

    /// The listener's socket, which is told when there is no room (`AcceptPause.Full`).
    func setSocket(_ socket: any Channel) { self.state.withLock { $0.socket = socket } }

    /// Closes what has to go because of it: this connection, or others.
    func noteEvent(_ event: HTTPPlaces<ObjectIdentifier>.Event, _ channel: any Channel, at now: NIODeadline) {
        let id = ObjectIdentifier(channel)
        let (count, closed, socket) = self.state.withLock { state in
            if event == .opened { state.channels[id] = channel }
            var effects: [HTTPPlaces<ObjectIdentifier>.Effect] = []
            state.places.handle(event, of: id, at: now.milliseconds, into: &effects)
            let closed = effects.compactMap { effect in
                switch effect {
                case .close(let id, let reason): state.channels.removeValue(forKey: id).map { ($0, reason) }
                }
            }
            if event == .closed { state.channels[id] = nil }
            return (state.places.count, closed, state.socket)
        }
        if event == .opened || event == .closed || !closed.isEmpty {
            self.metrics.setHTTPConnections(self.listener, count)
        }
        for (channel, reason) in closed {
            switch reason {
            case .full, .stalled:
                self.countClosing(.full)
                socket?.pipeline.fireUserInboundEventTriggered(AcceptPause.Full())
            case .unread: self.countClosing(.unread)
            }
            // Not before it is set up.
            channel.eventLoop.execute {
                if reason == .full { channel.close(promise: nil) } else { Self.abort(channel) }
            }
        }
    }

    /// Closes a connection whose answer nobody reads; what the system holds of that is dropped, instead of waiting for the reader there.
    static func abort(_ channel: any Channel) {
        guard let options = channel as? any SocketOptionProvider else { return channel.close(promise: nil) }
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    /// Nil as long as nothing waits to be read.
    func answerDeadline(of channel: any Channel) -> NIODeadline? {
        self.state.withLock { $0.places.deadline(of: ObjectIdentifier(channel)) }.map {
            .uptimeNanoseconds(UInt64(max(0, $0)) * 1_000_000)
        }
    }

    /// Says if the person may have one more answer; the connection's request counts as theirs until its answer is read.
    func admits(_ person: UserKey, on channel: any Channel) -> Bool {
        self.state.withLock { $0.places.admits(person, on: ObjectIdentifier(channel)) }
    }

    func countClosing(_ reason: Closing) { self.metrics.countHTTPClosing(self.listener, reason) }
}

extension NIODeadline {
    fileprivate var milliseconds: Int64 { Int64(clamping: self.uptimeNanoseconds / 1_000_000) }
}
