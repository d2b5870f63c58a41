/// The two clocks a core may know, handed in with every event.
public struct Now: Hashable, Sendable {
    /// Milliseconds on a clock that only goes forward, from an arbitrary start. For leases, ack deadlines and back-off.
    public var monotonic: Int64
    /// Milliseconds since 1970-01-01T00:00:00Z; may step in either direction. For expiry, quiet hours, ids and stored deadlines.
    public var wall: Int64

    /// Both readings of one moment, in milliseconds.
    public init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }
}
