import Synchronization

/// Whether the server takes work, for `/readyz`.
final class Readiness: Sendable {
    /// The stages of a server's life.
    enum State: Sendable {
        case starting
        case ready
        case stopping
    }

    private let current = Mutex(State.starting)

    /// The stage; only ever moved forward.
    var state: State {
        get { self.current.withLock { $0 } }
        set { self.current.withLock { $0 = newValue } }
    }
}
