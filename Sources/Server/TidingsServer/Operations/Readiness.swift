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
    private let full = Mutex(false)

    /// The stage; only ever moved forward.
    var state: State {
        get { self.current.withLock { $0 } }
        set { self.current.withLock { $0 = newValue } }
    }

    /// Whether sends are refused because the disk is almost full.
    var isStorageFull: Bool {
        get { self.full.withLock { $0 } }
        set { self.full.withLock { $0 = newValue } }
    }
}
