/// The process must end and be started again (design.md P1).
package struct StoreFailure: Error, Equatable, CustomStringConvertible {
    /// The store's message, with the remedy.
    package var reason: String

    package var description: String {
        "the store has stopped: \(self.reason)"
    }
}
