/// What the other side has announced in SETTINGS, with the values in force before it said anything (RFC 9113 §6.5.2).
package struct PeerSettings: Hashable, Sendable {
    /// How many bytes our header encoder may keep in the table.
    package var headerTableSize: UInt32 = 4_096
    /// How many streams we may have open at once; `nil` while nothing was announced, which means no limit.
    package var maxConcurrentStreams: UInt32?
    /// The send window a new stream starts with, in bytes, 0…2³¹−1.
    package var initialWindowSize: UInt32 = 65_535
    /// The longest frame payload the other side takes, in bytes, 16,384…16,777,215.
    package var maxFrameSize: UInt32 = 16_384
    /// The longest header list it takes, by the count of RFC 9113 §6.5.2; `nil` when it did not say.
    package var maxHeaderListSize: UInt32?

    /// The values in force before any SETTINGS.
    package init() {}
}
