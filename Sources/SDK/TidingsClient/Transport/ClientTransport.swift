package import Foundation

/// Opens WebSocket connections to a server: NIO on Linux, `URLSessionWebSocketTask` on Apple's systems, a double in tests.
package protocol ClientTransport: Sendable {
    /// Starts to open a connection at `/v1/connect` with the subprotocol `tidings.v1.protobuf`.
    ///
    /// - Parameter events: called in order: `opened` at most once, then any number of `received`, `closed` exactly once and
    ///   last, also if the connection could not be opened.
    func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection
}

/// One connection, open or not yet.
package protocol TransportConnection: Sendable {
    /// Writes one binary message; messages leave in the order of the calls. Ignored when the connection is closed.
    func send(_ bytes: [UInt8])
    /// Closes after everything written before has left; answered by `closed`.
    func close()
    /// Takes messages of so many bytes at most from now on; a longer one ends the connection. Until then it is
    /// `FrameCodec.serverFrameBytesMax`.
    func limitReceived(to bytes: Int)
    /// Stops reading from the network, or goes on: what the server sends meanwhile waits at its end. What was read already may
    /// still be told.
    func setReading(_ isReading: Bool)
}

/// What a connection tells.
package enum TransportEvent: Hashable, Sendable {
    /// The WebSocket handshake is done.
    case opened
    /// A whole message.
    case received([UInt8])
    /// The connection is gone.
    case closed(reason: String)
}
