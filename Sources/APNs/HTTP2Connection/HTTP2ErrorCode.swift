/// Why a stream or a connection ended (RFC 9113 §7).
package enum HTTP2ErrorCode: UInt32, Hashable, Sendable {
    /// Nothing went wrong.
    case noError = 0x0
    /// The other side broke the protocol.
    case protocolError = 0x1
    /// A fault of our own.
    case internalError = 0x2
    /// More bytes than the window allowed.
    case flowControlError = 0x3
    /// SETTINGS were not acknowledged in time.
    case settingsTimeout = 0x4
    /// A frame for a stream that was closed.
    case streamClosed = 0x5
    /// A frame of a wrong length.
    case frameSizeError = 0x6
    /// Not processed; may be sent again.
    case refusedStream = 0x7
    /// Not wanted any more.
    case cancel = 0x8
    /// The header table cannot be kept.
    case compressionError = 0x9
    /// A CONNECT was cut.
    case connectError = 0xa
    /// Too much work asked for.
    case enhanceYourCalm = 0xb
    /// TLS is too weak.
    case inadequateSecurity = 0xc
    /// HTTP/1.1 is wanted.
    case http11Required = 0xd
}
