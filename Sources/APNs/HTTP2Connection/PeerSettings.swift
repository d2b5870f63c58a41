/// With the values in force before any SETTINGS (RFC 9113 §6.5.2).
package struct PeerSettings: Hashable, Sendable {
    /// Bytes our header encoder may keep in the table.
    package var headerTableSize: UInt32 = 4_096
    /// Nil, for no limit, while nothing was announced.
    package var maxConcurrentStreams: UInt32?
    /// The window of a new stream, in bytes, 0…2³¹−1.
    package var initialWindowSize: UInt32 = 65_535
    /// Bytes of payload, 16,384…16,777,215.
    package var maxFrameSize: UInt32 = 16_384
    /// By the count of RFC 9113 §6.5.2; nil when it did not say.
    package var maxHeaderListSize: UInt32?

    package init() {}
}
