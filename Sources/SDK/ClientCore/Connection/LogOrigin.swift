import TidingsModel

package struct LogOrigin: Hashable, Sendable {
    package var storeID: String
    package var generation: UInt64
    /// Which start of the server told it last: told again in the hello, for the server to compare.
    package var opening: UInt64

    package init(storeID: String, generation: UInt64, opening: UInt64) {
        self.storeID = storeID
        self.generation = generation
        self.opening = opening
    }

    init?(_ welcome: ServerFrame.Welcome) {
        guard !welcome.storeID.isEmpty else { return nil }
        self.init(storeID: welcome.storeID, generation: welcome.generation, opening: welcome.opening)
    }

    func goesOn(in other: LogOrigin) -> Bool {
        self.storeID == other.storeID && self.generation == other.generation
    }
}
