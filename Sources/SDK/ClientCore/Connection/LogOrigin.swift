import TidingsModel

/// Which log the local store holds, as the server told it in its last welcome.
package struct LogOrigin: Hashable, Sendable {
    /// Which store the log is of.
    package var storeID: String
    /// Which life of the store: another one after a copy was put back.
    package var generation: UInt64
    /// Which start of the server told it last: told again in the hello, for the server to compare.
    package var opening: UInt64

    /// An origin from its parts.
    package init(storeID: String, generation: UInt64, opening: UInt64) {
        self.storeID = storeID
        self.generation = generation
        self.opening = opening
    }

    /// What a welcome says; nil from a server that does not say it.
    init?(_ welcome: ServerFrame.Welcome) {
        guard !welcome.storeID.isEmpty else { return nil }
        self.init(storeID: welcome.storeID, generation: welcome.generation, opening: welcome.opening)
    }

    /// Whether a log of this origin goes on in a log of another.
    func goesOn(in other: LogOrigin) -> Bool {
        self.storeID == other.storeID && self.generation == other.generation
    }
}
