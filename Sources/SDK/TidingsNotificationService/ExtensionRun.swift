import TidingsAppGroup
import UserNotifications

/// One push on its way through the extension. The system's content handler is called exactly once, with the best content there
/// is by then: when the work is done, when the time is up, or when nobody holds the run any more.
final class ExtensionRun: Sendable {
    /// The system's content handler and its content, which may be handed from one thread to another.
    private struct State: @unchecked Sendable {
        // Guarded by the lock around it: whoever takes the handler out is the only one who calls it.
        var handler: ((UNNotificationContent) -> Void)?
        /// As the system handed it over.
        let original: UNNotificationContent
        var best: UNNotificationContent
        /// What was decided; nil as long as nothing is.
        var decided: (push: Push, decision: Push.Decision)?
        var work: [Task<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ content: UNNotificationContent, handler: @escaping (UNNotificationContent) -> Void) {
        let state = State(handler: handler, original: content, best: content)
        self.state = Locked(state)
    }

    deinit { self.finish() }

    /// Whether the content handler has not been called yet.
    var isOpen: Bool { self.state.withLock { $0.handler != nil } }

    /// The best content so far.
    var best: UNNotificationContent { self.state.withLock { $0.best } }

    /// Keeps what was decided. It is asked about once more at the end.
    func take(_ decision: Push.Decision, of push: Push) {
        let content = push.content(decision, from: self.state.withLock { $0.original })
        self.state.withLock { state in
            guard state.handler != nil else { return }
            state.decided = (push, decision)
            state.best = content
        }
    }

    /// Keeps a better content for the end.
    func improve(_ content: UNNotificationContent) {
        self.state.withLock { if $0.handler != nil { $0.best = content } }
    }

    /// Notes work that is to stop when the run ends.
    func add(_ work: Task<Void, Never>) {
        let isOver = self.state.withLock { state in
            if state.handler != nil { state.work.append(work) }
            return state.handler == nil
        }
        if isOver { work.cancel() }
    }

    /// Ends the run with the best content, as far as it still holds.
    func finish() {
        let end = self.state.withLock { state in
            defer {
                state.handler = nil
                state.work = []
            }
            return state
        }
        if let handler = end.handler {
            // Whoever took it out is the only one who comes here, so that the question may take its time.
            let last = end.decided.map { $0.push.answer($0.decision, from: end.original, best: end.best) }
            handler(last ?? end.best)
        }
        for work in end.work { work.cancel() }
    }
}
