import Foundation
import Logging
import NIOCore

/// Stops accepting for a second when there are no files or no memory for a connection, and for a moment when all connections of the
/// listener are taken. NIO's own `AcceptBackoffHandler` delays the next read only. The one that failed stays asked for, so the
/// selector reports the same connection again at once, and the loop spins; only reads that are switched off do not.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// Told to the listener's socket: a connection was closed to make room for another. A client that opens one for each that is
    /// closed would keep the loop busy; others wait in the system's queue, in order.
    struct Full: Sendable {}

    /// A full queue of `backlog` is worked off in seconds.
    static let fullPause = TimeAmount.milliseconds(10)

    private let listener: Listener
    private let metrics: ServerMetrics
    private let logger: Logger
    private var isPausing = false
    /// One line a minute is enough.
    private var loggedAt: NIODeadline?

    init(_ listener: Listener, metrics: ServerMetrics, logger: Logger) {
        self.listener = listener
        self.metrics = metrics
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.pauseIfExhausted(error, context.channel)
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is Full else { return context.fireUserInboundEventTriggered(event) }
        if !self.isPausing { self.pause(context.channel, Self.fullPause) }
    }

    private func pauseIfExhausted(_ error: any Error, _ channel: any Channel) {
        // accept(2): EMFILE of this process, ENFILE of the system, and no memory for the socket.
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode),
            !self.isPausing
        else { return }
        self.metrics.countAcceptFailure(self.listener)
        self.log(error)
        self.pause(channel, .seconds(1))
    }

    private func pause(_ channel: any Channel, _ time: TimeAmount) {
        self.isPausing = true
        let options = channel.syncOptions
        try? options?.setOption(.autoRead, value: false)
        channel.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.isPausing = false
            // Throws if the socket was closed meanwhile.
            try? options?.setOption(.autoRead, value: true)
        }
    }

    private func log(_ error: IOError) {
        let now = NIODeadline.now()
        if let last = self.loggedAt, now - last < .minutes(1) { return }
        self.loggedAt = now
        self.logger.log(
            .error, "cannot accept connections",
            [
                .listener: self.listener.rawValue, .reason: "\(error)",
                .field: "\(self.listener.rawValue).connections_max",
            ])
    }
}
