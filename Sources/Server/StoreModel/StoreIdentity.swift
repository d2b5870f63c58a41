package import TidingsModel

/// Tells a phone whether the log it holds is the one the server has.
package struct StoreIdentity: Hashable, Sendable {
    /// 16 hexadecimal digits, drawn when the store was made and never changed; empty if unknown.
    package var id: String
    /// Drawn when the store was made, and again when it was found or declared to be restored from a copy; 1 to 2^53 -
    /// 1, 0 if unknown.
    package var generation: UInt64
    /// Drawn at each opening; 1 to 2^53 - 1, 0 if unknown. A log held up to some position under this number is this
    /// store's, unless an older copy was restored (`StoreCommand.compareLog`).
    package var opening: UInt64

    package init(id: String = "", generation: UInt64 = 0, opening: UInt64 = 0) {
        self.id = id
        self.generation = generation
        self.opening = opening
    }

    /// JSON numbers hold these exactly.
    package static let numbers: ClosedRange<UInt64> = 1...9_007_199_254_740_991
}

/// The log that a device says to hold: everything up to a position, as last heard from an opening.
package struct HeldLog: Hashable, Sendable {
    package var opening: UInt64
    package var position: LogPosition

    package init(opening: UInt64, position: LogPosition) {
        self.opening = opening
        self.position = position
    }
}
