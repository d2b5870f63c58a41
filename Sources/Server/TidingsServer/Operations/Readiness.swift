import Synchronization

/// For `/readyz`.
final class Readiness: Sendable {
    enum State: Sendable { case starting, ready, stopping }

    private let current = Mutex((state: State.starting, isStorageFull: false))

    /// Only ever moved forward.
    var state: State {
        get { self.current.withLock { $0.state } }
        set { self.current.withLock { $0.state = newValue } }
    }

    /// Sends are refused because the disk is almost full.
    var isStorageFull: Bool {
        get { self.current.withLock { $0.isStorageFull } }
        set { self.current.withLock { $0.isStorageFull = newValue } }
    }
}
