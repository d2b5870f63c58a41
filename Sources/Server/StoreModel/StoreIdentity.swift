package import TidingsModel

/// Which store this is, and which life of it: what tells a phone whether the log it holds is the one the server has.
package struct StoreIdentity: Hashable, Sendable {
    /// Drawn when the store was made and never changed: 16 hexadecimal digits. Empty if nothing is known.
    package var id: String
    /// Drawn when the store was made, and again whenever it was found or declared to be restored from a copy; 1 to 2^53 - 1, 0 if nothing is
    /// known.
    package var generation: UInt64
    /// Drawn at each opening; 1 to 2^53 - 1, 0 if nothing is known. Whoever holds a log up to some position under this number holds
    /// this store's log, unless a copy was put back that is older (`StoreCommand.compareLog`).
    package var opening: UInt64

    /// An identity from its parts.
    package init(id: String = "", generation: UInt64 = 0, opening: UInt64 = 0) {
        self.id = id
        self.generation = generation
        self.opening = opening
    }

    /// The range numbers are drawn from: JSON numbers hold them exactly.
    package static let numbers: ClosedRange<UInt64> = 1...9_007_199_254_740_991
}

/// What somebody says to hold of a log: everything up to a position, as last heard from the store's opening with a number.
package struct HeldLog: Hashable, Sendable {
    /// The number of the opening.
    package var opening: UInt64
    /// The last position; 0 for none.
    package var position: LogPosition

    /// A claim from its parts.
    package init(opening: UInt64, position: LogPosition) {
        self.opening = opening
        self.position = position
    }
}
