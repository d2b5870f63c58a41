package import Foundation

/// WebSocket connections to a server: NIO on Linux, `URLSessionWebSocketTask` on Apple's systems, a double in tests.
package protocol ClientTransport: Sendable {
    /// Opens `/v1/connect` with the subprotocol `tidings.v1.protobuf`. `events` is called in order: `opened` at most
    /// once, then any number of `received`, and exactly one `closed` at the end, also if the connection could not be
    /// opened.
    func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection
}

extension URL {
    var connectPath: String {
        let base = self.path.hasSuffix("/") ? String(self.path.dropLast()) : self.path
        return base.hasSuffix("/v1/connect") ? base : base + "/v1/connect"
    }
}

package protocol TransportConnection: Sendable {
    /// Messages leave in the order of the calls. Ignored when the connection is closed.
    func send(_ bytes: [UInt8])
    /// Closes after everything written before has left; answered by `closed`.
    func close()
    /// A longer message ends the connection. The limit begins at `FrameCodec.serverFrameBytesMax`.
    func limitReceived(to bytes: Int)
    /// Stops or resumes reading from the network; what was already read may still be delivered.
    func setReading(_ isReading: Bool)
}

package enum TransportEvent: Hashable, Sendable {
    case opened
    case received([UInt8])
    case closed(reason: String)
}
